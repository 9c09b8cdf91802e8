"""What axe finds on a page, in both themes."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def check_accessible(page: Page) -> None:
    """No serious violation, in light and in dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found = Axe().run(page).response["violations"]
        serious = [
            f"{one['id']}: {node['html'][:120]}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]
        assert serious == [], f"{page.url} ({scheme})"
    page.emulate_media(color_scheme="light")
