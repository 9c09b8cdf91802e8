"""The page that verifies a release, in a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from shoal import Roles, protect
from tests.verification.test_signatures import new_key
from tests.web.accessibility import check_accessible


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, people: Path) -> Path:
    folder = tmp_path_factory.mktemp("made")
    key = new_key(folder / "ann", "ann@office.org")
    protect(people, 5, folder / "release", roles=Roles(quasi=("age", "income")), attack=False, sign=key)
    return folder / "release"


def zipped(release: Path, folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder / "sent"), "zip", release.parent, release.name))


def verified(page: Page, sent: Path, signer: Path | None = None) -> None:
    """By keyboard alone."""
    page.get_by_role("link", name="Verify").first.press("Enter")
    page.wait_for_url("**/verify")  # with its script, which takes the file
    page.get_by_label("Choose a file").first.set_input_files(sent)
    if signer is not None:
        page.get_by_text("More", exact=True).press("Enter")
        check_accessible(page)
        page.locator("[data-drop=signer] [type=file]").set_input_files(signer)
        expect(page.locator("[data-drop=signer] .drop-state")).to_contain_text("is here")
    button = page.get_by_role("button", name="Verify")
    expect(button).to_be_enabled()
    button.press("Enter")


def lines_of(name: Locator, text: str) -> list[float]:
    """Where the first two lines begin, in pixels, when this is the name of a promise."""
    name.evaluate("(name, text) => { name.textContent = text; }", text)
    return list(
        name.evaluate(
            """name => {
            const text = document.createRange();
            text.selectNodeContents(name);
            return [...text.getClientRects()].slice(0, 2).map(line => line.left);
        }"""
        )
    )


def test_a_zip_that_keeps_its_promises_is_said_to(page: Page, release: Path, tmp_path: Path) -> None:
    page.goto(page.url + "verify")
    check_accessible(page)
    verified(page, zipped(release, tmp_path), signer=release.parent / "ann.pub")
    expect(page.get_by_role("status").first).to_contain_text("Every promise holds")
    expect(page.locator(".claims")).to_contain_text("nobody can tell which of so many records is a person's")
    expect(page.get_by_role("status").first).to_contain_text("Signed by ann@office.org (ssh-ed25519 SHA256:")
    assert "--signer signer/ann.pub" in (page.get_by_label("Command").text_content() or "")
    check_accessible(page)
    first, second = lines_of(page.locator(".claims b").first, "✓ a promise with a name of several long words")
    assert second > first  # not below the tick


def test_a_changed_byte_is_named_with_its_file(page: Page, release: Path, tmp_path: Path) -> None:
    copy = tmp_path / "release"
    shutil.copytree(release, copy)
    table = copy / "table.csv"
    table.write_bytes(table.read_bytes().replace(b"1", b"2", 1))
    verified(page, zipped(copy, tmp_path))
    expect(page.get_by_role("alert").first).to_contain_text("does not keep its promises")
    expect(page.locator(".claims .broken").first).to_contain_text("table.csv")


def test_a_file_that_is_no_zip_is_refused_in_one_line(page: Page, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK no")
    verified(page, tmp_path / "broken.zip")
    expect(page.get_by_role("alert").first).to_contain_text("broken.zip is no zip")
