"""The page that puts an original and its protected version side by side, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as csv
import pytest
from playwright.sync_api import Page, expect

from shoal import Roles, protect
from tests.web.accessibility import check_accessible


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, people: Path) -> Path:
    """Three columns of 90 people: enough to attack, and quick."""
    path = tmp_path_factory.mktemp("few") / "people.csv"
    csv.write_csv(csv.read_csv(people).slice(0, 90).select(["age", "height_cm", "income"]), path)
    return path


def choose(page: Page, which: int, path: Path) -> None:
    page.locator("[data-drop]").nth(which).get_by_label("Choose a file").set_input_files(path)
    expect(page.locator("[data-drop]").nth(which).get_by_role("status")).to_contain_text("is here")


def assess_release(page: Page, table: Path, method: str) -> None:
    """Protect a table on the workbench by a method, and assess what came of it."""
    page.goto(page.url + "protect")
    page.get_by_label("Choose a file").set_input_files(table)
    page.wait_for_url("**/protect/*")
    page.get_by_text("How groups are made", exact=True).click()
    page.get_by_label("Method", exact=True).select_option(method)
    if method:
        page.get_by_label("Different confidential values in each group").fill("")  # it needs groups of whole rows
    page.get_by_role("button", name="Protect", exact=True).click()
    page.get_by_role("button", name="Attack and measure it").click()
    expect(page.get_by_role("heading", name="What leaks")).to_be_visible()


def test_where_all_have_a_crowd_a_larger_one_is_the_remedy(page: Page, few: Path) -> None:
    assess_release(page, few, "")
    expect(page.get_by_role("region", name="Columns that leak")).not_to_contain_text("not tried")
    expect(page.get_by_role("button", name="Coarsen")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("so whoever compares them finds one in 5 at most")
    check_accessible(page)


def test_a_release_without_crowds_is_assessed_and_a_column_coarsened_by_one_click(page: Page, few: Path) -> None:
    assess_release(page, few, "ranking")
    check_accessible(page)
    bar = page.locator("meter").first
    assert bar.evaluate("bar => getComputedStyle(bar).appearance") == "none"  # in the colours of the page
    button = page.get_by_role("button", name="Coarsen").first
    column = (button.get_attribute("aria-label") or "").split()[1]
    button.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    page.get_by_text("The same in a shell or in Python").click()
    expect(page.get_by_label("Command", exact=True)).to_contain_text(f"--coarsen {column}=")
    page.reload()
    expect(page.locator(".measured")).to_contain_text(f"{column} coarsened")
    page.goto("/".join(page.url.split("/")[:3]))
    expect(page.locator(".jobs li").first).to_contain_text("coarsened")
    expect(page.locator(".jobs li").first).to_contain_text("assess")


def test_a_pair_of_another_tool_is_put_side_by_side_by_its_place(page: Page, few: Path, tmp_path: Path) -> None:
    table = csv.read_csv(few)
    masked = table.set_column(2, "income", [[value // 1000 * 1000 for value in table["income"].to_pylist()]])
    csv.write_csv(masked, tmp_path / "people.csv")
    page.goto(page.url + "assess")
    check_accessible(page)
    choose(page, 0, few)
    choose(page, 1, tmp_path / "people.csv")
    page.get_by_role("button", name="Put them side by side").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("side by side by their place")
    expect(page.get_by_role("region", name="First records")).to_contain_text(str(table["age"][0]))
    check_accessible(page)
    page.get_by_role("button", name="Attack and measure").press("Enter")
    report = page.frame_locator("iframe.report")
    expect(report.locator("h1")).to_be_visible()
    expect(page.get_by_text("protect the table on the workbench")).to_be_visible()


def test_tables_that_do_not_belong_together_are_refused_with_the_reason(page: Page, few: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("age,height_cm,income\n1,2,3\n", encoding="utf-8")
    page.goto(page.url + "assess")
    choose(page, 0, few)
    choose(page, 1, tmp_path / "other.csv")
    page.get_by_role("button", name="Put them side by side").click()
    expect(page.get_by_role("alert").first).to_contain_text("cannot be put side by side yet")
    expect(page.get_by_role("button", name="Attack and measure")).to_have_count(0)


def test_a_release_of_elsewhere_needs_its_private_part(page: Page, few: Path, tmp_path: Path) -> None:
    made = protect(few, 3, tmp_path / "release", roles=Roles(quasi=("age", "height_cm", "income")), attack=False)
    page.goto(page.url + "assess")
    choose(page, 0, few)
    release = page.locator("[data-drop]").nth(1)
    release.get_by_label("Choose a folder").set_input_files(made.folder)
    expect(release.get_by_role("status")).to_contain_text("is here")
    page.get_by_role("button", name="Put them side by side").click()
    expect(page.get_by_role("alert").first).to_contain_text("choose its private part, or for tables a column")
    expect(page.get_by_role("alert").first).not_to_contain_text("uploads")
    page.wait_for_load_state()
    page.get_by_label("Choose a folder").set_input_files(made.private)
    expect(page.get_by_role("status").first).to_contain_text("by the private mapping")
