"""Pictures for the docs, taken by the tests: SHOAL_PICTURES=docs/images pytest tests/web writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Locator, Page

__all__ = ["take_picture"]

LARGEST = 150_000  # bytes


def take_picture(page: Page, name: str, *, height: int = 800, top: Locator | None = None) -> None:
    """docs/images/workbench-NAME.png, if pictures are asked for; the page is scrolled so that it begins at `top`."""
    folder = os.environ.get("SHOAL_PICTURES")
    if not folder:
        return
    before = page.viewport_size
    page.set_viewport_size({"width": 1280, "height": height})
    if top is not None:
        top.evaluate("place => scrollTo(0, place.getBoundingClientRect().top + scrollY - 20)")
    path = Path(folder) / f"workbench-{name}.png"
    page.screenshot(path=path, animations="disabled")
    assert path.stat().st_size < LARGEST, f"{path.name} is too large for the docs"
    if before is not None:
        page.set_viewport_size(before)
