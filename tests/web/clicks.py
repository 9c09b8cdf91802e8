"""How many clicks a job takes, counted in the page: a key that presses a button is one, a choice in a list two."""

from __future__ import annotations

from playwright.sync_api import Page

COUNT = """
if (top === self) {
  const add = (more) => sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + more);
  addEventListener("pointerdown", () => add(1), true);
  addEventListener("keydown", ({ key }) => ["Enter", " "].includes(key) && add(1), true);
  const more = { file: 1, "select-one": 2 };
  addEventListener("change", ({ target }) => add(more[target.type] ?? 0), true);
}
"""


def clicks(page: Page) -> int:
    """Since the page was opened, with the one in the menu that a test saves by its address."""
    counted: int = page.evaluate("Number(sessionStorage.getItem('clicks'))")
    return counted + 1
