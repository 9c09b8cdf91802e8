"""The board's page of a release, in a real browser: the owner's version, and from there the public one."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.web.accessibility import check_accessible
from tests.web.clicks import clicks


def test_a_release_has_a_page_for_the_board_in_two_versions(page: Page, people: Path) -> None:
    page.goto(page.url + "protect")
    page.get_by_label("Choose a file").set_input_files(people)
    page.wait_for_url(re.compile(r"/protect/[0-9a-f]{16}"))
    page.get_by_role("button", name="Protect", exact=True).click()
    page.get_by_role("button", name="The board’s page").click()
    frame = page.frame_locator("iframe.report")
    expect(frame.locator("main")).to_contain_text("How risky was the table before?")
    expect(page.locator("main")).to_contain_text("Keep this to yourself")
    assert clicks(page) == 4
    check_accessible(page)
    page.get_by_role("button", name="The public version").click()
    expect(page.locator("main")).to_contain_text("It says nothing that the release does not")
    expect(frame.locator("main")).to_contain_text("Who decided?")
    assert frame.get_by_text("How risky was the table before?").count() == 0
    check_accessible(page)
