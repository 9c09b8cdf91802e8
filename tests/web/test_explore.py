"""The map of an exploration, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.csv as csv
import pytest
from playwright.sync_api import Page, expect

from tests.web.accessibility import check_accessible


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, people: Path) -> Path:
    path = tmp_path_factory.mktemp("few") / "people.csv"
    csv.write_csv(csv.read_csv(people).slice(0, 60).select(["age", "income"]), path)
    return path


def test_the_map_fills_can_be_limited_and_compared_and_leads_to_a_release(page: Page, few: Path) -> None:
    page.goto(page.url + "explore")
    check_accessible(page)
    page.get_by_label("Choose a file").set_input_files(few)
    page.wait_for_url("**/explore/*")
    check_accessible(page)
    page.get_by_role("button", name="Try them all").press("Enter")
    page.wait_for_url("**/jobs/*")
    page.reload()  # the job goes on, and so does the page
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)  # a second tab shows the same job
    expect(page.locator("#points circle").first).to_be_visible()
    some = page.locator("#points circle").count()
    expect(page.get_by_role("link", name="The report")).to_be_visible()
    expect(page.locator("#points circle").nth(some - 1)).to_be_visible()  # the page was loaded anew
    expect(other.locator("#points circle")).to_have_count(page.locator("#points circle").count())
    other.close()
    check_accessible(page)

    # Limits: what is outside fades, and what promises no crowd is outside from the start.
    assert page.locator("#trials tr.outside").count() >= page.locator("circle.crowdless").count()
    page.get_by_label("Loss at most").fill("1")
    expect(page.locator("#points line.limit")).to_have_count(1)
    page.get_by_label("Loss at most").fill("")

    # By keyboard: compare two, then protect with the recommended one.
    for box in page.locator("#trials input").all()[:2]:
        box.focus()
        page.keyboard.press("Space")
    expect(page.get_by_role("region", name="Comparison")).to_contain_text("Records that an attacker finds")
    expect(page.locator("#points circle.chosen")).to_have_count(2)
    best = page.locator("#trials tr.recommended")
    k = re.search(r"k=(\d+)", best.locator("td").nth(1).inner_text())
    assert k is not None
    best.get_by_role("button").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    page.get_by_text("The same in a shell or in Python").click()
    expect(page.get_by_label("Command", exact=True)).to_contain_text(f"-k {k[1]}" if k[1] != "5" else "protect")


def test_nothing_is_recommended_while_a_confidential_column_has_no_promise(page: Page, few: Path) -> None:
    page.goto(page.url + "explore")
    page.get_by_label("Choose a file").set_input_files(few)
    page.wait_for_url("**/explore/*")
    page.locator("#l").fill("")
    page.get_by_role("button", name="Try them all").click()
    alert = page.get_by_role("alert").filter(has_text="No protection is recommended")
    expect(alert).to_contain_text("Nothing is promised of income")
    expect(page.locator("#points circle").first).to_be_visible()
    expect(page.locator(".recommended")).to_have_count(0)
    alert.get_by_role("button").click()
    page.wait_for_url("**/explore/*")
    expect(page.locator("#l")).to_have_value("2")


def test_a_limit_that_is_no_per_cent_is_refused_with_all_as_it_was(page: Page, few: Path) -> None:
    page.goto(page.url + "explore")
    page.get_by_label("Choose a file").set_input_files(few)
    page.wait_for_url("**/explore/*")
    page.get_by_text("What is recommended").click()
    page.get_by_label("Most risk").evaluate("input => { input.type = 'text'; input.value = '200' }")
    page.get_by_role("button", name="Try them all").click()
    expect(page.get_by_role("alert").first).to_contain_text("Most risk, in per cent: 200 must be")


def test_a_cancelled_exploration_leads_back_to_what_was_chosen(page: Page, few: Path) -> None:
    page.goto(page.url + "explore")
    page.get_by_label("Choose a file").set_input_files(few)
    page.wait_for_url("**/explore/*")
    page.locator(".column").last.get_by_label("Protect").check()
    page.get_by_role("button", name="Try them all").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="Change the settings").click()
    expect(page.locator("#summary")).to_contain_text("2 columns protected, 0 released")


def test_labels_are_explored_as_plain_categories_without_rows_with_gaps_and_released_so(
    page: Page, people: Path, tmp_path: Path
) -> None:
    towns = tmp_path / "towns.csv"
    csv.write_csv(csv.read_csv(people).slice(0, 30).select(["age", "town"]), towns)
    towns.write_text(towns.read_text() + ',"Saltmere"\n')
    page.goto(page.url + "explore")
    page.get_by_label("Choose a file").set_input_files(towns)
    page.wait_for_url("**/explore/*")
    expect(page.locator("#summary")).to_contain_text("2 columns protected")
    page.get_by_role("button", name="Try them all").click()
    expect(page.get_by_role("link", name="The report")).to_be_visible()
    page.locator("#trials button").first.click()
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    command = page.get_by_label("Command", exact=True).text_content() or ""
    assert "--quasi age,town" in command and "--missing withhold" in command and "town=average" not in command
