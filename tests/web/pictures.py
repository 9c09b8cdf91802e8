"""Pictures for the documentation, taken where the pages are tested.

With SHOAL_PICTURES=1 in the environment they replace those in docs/images; else they are only taken.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

__all__ = ["take_picture"]

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def take_picture(page: Page, name: str) -> None:
    """What the window shows, in light colours."""
    page.emulate_media(color_scheme="light")
    picture = page.screenshot()
    if os.environ.get("SHOAL_PICTURES"):
        (IMAGES / f"{name}.png").write_bytes(picture)
