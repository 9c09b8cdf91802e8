"""The page of the index, with a real server on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shoal.sample import letters
from tests.web.accessibility import check_accessible


@pytest.fixture(scope="module")
def begun_with(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A third of the sample's letters."""
    path = tmp_path_factory.mktemp("letters") / "letters.jsonl"
    chosen = list(letters())[:120]
    path.write_text("".join(json.dumps({"id": one.id, "text": one.text}) + "\n" for one in chosen), encoding="utf-8")
    return path


def test_documents_are_put_found_read_and_deleted_by_keyboard_alone(page: Page, begun_with: Path) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(page.url + "index")
    check_accessible(page)
    page.get_by_role("button", name="Start one here").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("This server has no index yet")
    check_accessible(page)
    page.get_by_label("Choose a file").set_input_files(begun_with)
    begin = page.get_by_role("button", name="Begin the index")
    expect(begin).to_be_enabled()
    begin.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("120 of 120 documents")

    page.get_by_role("link", name="Search the index").press("Enter")
    search = page.get_by_label("Search")
    search.fill("chest pain")
    search.press("Enter")
    hits = page.locator(".hits li")
    expect(hits.first).to_contain_text("similar, by")
    check_accessible(page)
    before, name = hits.count(), hits.first.get_by_role("link").inner_text()
    hits.first.get_by_role("link").press("Enter")
    wanted = next(one for one in letters() if one.id == name)
    expect(page.get_by_role("region", name="Text")).to_have_text(wanted.text)
    check_accessible(page)
    page.get_by_role("button", name="Delete it").press("Enter")
    expect(page.locator("dd").nth(3)).to_have_text("119")
    assert before

    page.get_by_role("button", name="Disconnect").press("Enter")
    expect(page.get_by_role("heading", name="Connect to a server")).to_be_visible()


@pytest.mark.parametrize(
    "server, line",
    [
        ("http://127.0.0.1:9", "no server answers"),
        ("http://evil.example", "https"),
        ("ftp://x", "address"),
    ],
)
def test_what_cannot_be_reached_is_said_in_one_line(page: Page, server: str, line: str) -> None:
    page.goto(page.url + "index")
    page.get_by_label("Address").fill(server)
    page.get_by_label("Token").fill("shoal_x")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert").first).to_contain_text(line)
    expect(page.get_by_label("Address")).to_have_value(server)
