"""Pictures for the documentation, taken where the pages are tested.

With SHOAL_PICTURES=1 in the environment they replace those in docs/images; else they are only taken.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Locator, Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 150_000  # bytes


def take_picture(page: Page, name: str, *, height: int | None = None, top: Locator | None = None) -> None:
    """workbench-NAME.png: what the window shows, in light colours, from `top` on if that is given."""
    before = page.viewport_size
    page.emulate_media(color_scheme="light")
    if height is not None:
        page.set_viewport_size({"width": 1280, "height": height})
    if top is not None:
        top.evaluate("place => scrollTo(0, place.getBoundingClientRect().top + scrollY - 20)")
    picture = page.screenshot(animations="disabled")
    assert len(picture) < LARGEST, f"{name} is too large for the docs"
    if os.environ.get("SHOAL_PICTURES"):
        (IMAGES / f"workbench-{name}.png").write_bytes(picture)
    if before is not None:
        page.set_viewport_size(before)
