"""One plan of a file, which Protect, Explore and Audit show and change, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.accessibility import check_accessible
from tests.web.clicks import clicks


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 columns of answers, an age and an illness."""
    names = ["age", "illness", *(f"answer_{number}" for number in range(30))]
    rows = [[20 + row % 40, "abc"[row % 3], *(row * column % 7 for column in range(30))] for row in range(60)]
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]), encoding="utf-8")
    return path


def test_what_is_set_on_one_page_is_on_the_others_and_many_columns_get_a_role_at_once(
    page: Page, wide: Path, tmp_path: Path
) -> None:
    page.goto(page.url + "audit")
    check_accessible(page)
    page.get_by_label("Choose a file").set_input_files(wide)
    page.wait_for_url("**/audit/*")
    page.get_by_label("Show columns with").fill("answer_")
    expect(page.locator("#matching")).to_have_text("30 of 32")
    page.locator("[data-bulk=drop]").click()
    page.get_by_label("Show columns with").fill("")
    page.get_by_role("group", name="illness").get_by_label("Confidential").check()
    page.get_by_role("group", name="answer_3", exact=True).get_by_label("Keep").check()
    expect(page.locator("#summary")).to_contain_text("1 column protected, 2 released as they are, 29 left out")
    expect(page.locator("#plan-line")).to_contain_text("--insensitive answer_3")
    check_accessible(page)
    upload = page.url.rpartition("/")[2]
    page.goto(page.url.replace("/audit/", "/explore/"))
    expect(page.locator("#summary")).to_contain_text("1 column protected, 2 released as they are, 29 left out")
    page.get_by_label("Different confidential values").fill("3")
    page.get_by_label("Different confidential values").blur()
    expect(page.locator("#plan-line")).to_contain_text("--l 3")
    page.goto(page.url.replace("/explore/", "/protect/"))
    expect(page.get_by_label("Different confidential values")).to_have_value("3")
    page.get_by_text("The plan as a file").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the plan").click()
    saved.value.save_as(tmp_path / "plan.toml")
    plan = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert 'file = "wide.csv"' in plan and "l = 3" in plan and upload not in plan
    (tmp_path / "plan.toml").write_text(plan.replace("l = 3", "l = 2").replace("k = 5", "k = 9"), encoding="utf-8")
    page.locator("[data-drop=plan]").get_by_label("Choose a file").set_input_files(tmp_path / "plan.toml")
    expect(page.get_by_label("Records that look alike")).to_have_value("9")
    expect(page.get_by_label("Different confidential values")).to_have_value("2")


def test_an_audit_says_how_many_are_one_of_a_kind_and_leads_on(page: Page, wide: Path) -> None:
    page.goto(page.url + "audit")
    page.get_by_label("Choose a file").set_input_files(wide)
    page.wait_for_url("**/audit/*")
    page.locator("[data-bulk=drop]").click()
    page.get_by_role("group", name="age").get_by_label("Protect").check()
    assert clicks(page) == 4
    page.get_by_label("People the table was drawn from").fill("6000")
    page.get_by_role("button", name="Count", exact=True).click()
    # 60 records, 40 ages: 20 ages have two records, 20 have one.
    expect(page.get_by_role("status").first).to_contain_text("20 records of 60 (33.3%) are one of a kind by age")
    check_accessible(page)
    page.get_by_role("link", name="Protect it").click()
    expect(page.locator("#summary")).to_contain_text("1 column protected")


def test_a_survey_and_its_plan_on_another_machine_take_few_clicks(page: Page, tmp_path: Path) -> None:
    """The household is recognised and the weight, too: what is left is one role, one treatment, k and l."""
    survey, plan = tmp_path / "survey.csv", tmp_path / "plan.toml"
    rows = [f"{row // 3},{20 + row * 7 % 50},{'NESW'[row // 3 % 4]},{row % 2},{1 + row % 9 / 10}" for row in range(90)]
    survey.write_text("\n".join(["hhid,age,region,sick,weight", *rows]), encoding="utf-8")
    page.goto(page.url + "protect")
    page.get_by_label("Choose a file").set_input_files(survey)
    page.wait_for_url("**/protect/*")
    expect(page.locator("#summary")).to_contain_text("1 household, 1 weight")
    page.get_by_role("group", name="sick").get_by_label("Confidential").check()
    page.get_by_label("Records that look alike").fill("3")
    page.get_by_label("Different confidential values").fill("2")
    page.get_by_role("group", name="region").get_by_text("More about this column").click()
    page.get_by_role("group", name="region").get_by_label("Treatment").select_option("keep")
    expect(page.locator("#plan-line")).to_contain_text("region=keep")
    page.get_by_text("The plan as a file").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the plan").click()
    saved.value.save_as(plan)
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    page.get_by_role("link", name="Save the release").click()
    assert clicks(page) <= 12
    before = clicks(page)
    page.goto(page.url.partition("/jobs/")[0] + "/protect")  # as on another machine: the file and its plan
    page.get_by_label("Choose a file").set_input_files(survey)
    page.wait_for_url("**/protect/*")
    page.get_by_text("The plan as a file").click()
    page.locator("[data-drop=plan]").get_by_label("Choose a file").set_input_files(plan)
    expect(page.get_by_label("Records that look alike")).to_have_value("3")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    assert clicks(page) - before + 1 == 5
