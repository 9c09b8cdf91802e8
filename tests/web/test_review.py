"""The review desk, in a real browser: from a letter to a verified release, and what a desk must withstand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.sanitizer.review.folders import entity, named_folder, work_folder
from tests.web.accessibility import check_accessible
from tests.web.conftest import Workbench, let_in, running_workbench
from tests.web.pictures import take_picture
from tests.web.reviews import cases, long_report, review_folder

LETTERS_JOB, PAIR_JOB, TRAP_JOB, CASES_JOB, LOCKED_JOB, *LONG_JOBS = (digit * 16 for digit in "1234567")
TRAP = "<img src=x onerror=alert(1)>"
# How many parts of the text, before and after, and lines of the list are made anew from now on.
COUNT_WHAT_IS_BUILT = """() => {
  window.built = 0;
  const count = (node) => node.matches?.(".chunk, .m, li") ?? false;
  new MutationObserver((changes) => {
    for (const change of changes) built += [...change.addedNodes].filter(count).length;
  }).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """With reviews in it, and a folder for keys that is not the user's own."""
    folder = tmp_path_factory.mktemp("workbench")
    work_folder(review_folder(folder, LETTERS_JOB, "letters"))
    for job in LONG_JOBS:
        named_folder(review_folder(folder, job, "report.txt"), long_report(500_000, 300))
    work_folder(review_folder(folder, PAIR_JOB, "two readers"), reviewers=2)
    trap = f"{TRAP} wrote to Ann Smith."
    named_folder(review_folder(folder, TRAP_JOB, TRAP), (trap, (entity(trap, "ORG", TRAP, probability=0.5),)))
    cases(review_folder(folder, CASES_JOB, "cases"))
    work_folder(review_folder(folder, LOCKED_JOB, "soon locked"))
    with mock.patch.dict(os.environ, {"SHOAL_CONFIG": str(folder / "config")}), running_workbench(folder) as running:
        yield running


@pytest.fixture(scope="module")
def context(browser: Browser, workbench: Workbench) -> Iterator[BrowserContext]:
    with let_in(browser, workbench) as context:
        yield context


def desk(page: Page, workbench: Workbench, job: str, reviewer: str = "Ana", query: str = "") -> None:
    """The desk of a review; the first time it asks who is there."""
    page.goto(f"{workbench.origin}/review/{job}{query}")
    if page.get_by_label("Your name").count():
        page.get_by_label("Your name").fill(reviewer)
        page.keyboard.press("Enter")
    page.locator("[data-ready]").wait_for()


def tab_to(page: Page, name: str) -> None:
    """As somebody without a mouse does: Tab, until what has the focus has this name."""
    for _ in range(60):
        page.keyboard.press("Tab")
        named = page.evaluate(
            "() => { const here = document.activeElement; if (here === document.body) return '';"
            " return here.labels?.[0]?.innerText ?? here.getAttribute('aria-label') ?? here.innerText ?? ''; }"
        )
        if name in named:
            return
    raise AssertionError(f"{name} cannot be reached with Tab")


def stands(page: Page) -> list[str]:
    """How each proposal of the document shown stands, in the order of the list."""
    return page.locator("#list li").evaluate_all("rows => rows.map((row) => row.className)")


def expect_stands(page: Page, *expected: str) -> None:
    """`below` is not shown, and left out."""
    page.wait_for_function(
        "expected => JSON.stringify([...document.querySelectorAll('#list li:not([hidden])')]"
        ".map((row) => row.className)) === expected",
        arg=json.dumps(list(expected), separators=(",", ":")),
    )


def test_from_a_letter_to_a_verified_release_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    page.context.clear_cookies(name="shoal-reviewer")  # as if nobody had reviewed anything here yet
    letter = tmp_path / "letter.txt"
    letter.write_text("Prof. Smith called Maria Garcia on 972 418 000. The submarine fired a missile at the fortress.")
    tab_to(page, "Review")
    page.keyboard.press("Enter")
    check_accessible(page)
    page.bring_to_front()  # Chromium opens no dialog for a page behind another
    tab_to(page, "Choose a file")
    page.on("filechooser", lambda chooser: chooser.set_files(letter))
    for _ in range(10):  # a busy browser may miss a key
        page.keyboard.press("Enter")
        page.wait_for_timeout(3_000)
        if page.get_by_text("letter.txt is here").count():
            break
    expect(page.get_by_text("letter.txt is here")).to_be_visible()
    tab_to(page, "Find what to hide")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 document")).to_be_visible()
    check_accessible(page)
    tab_to(page, "Open the desk")
    page.keyboard.press("Enter")
    page.get_by_label("Your name").wait_for()
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Ana")
    page.keyboard.press("Enter")
    page.locator("[data-ready]").wait_for()
    overall = page.locator("#overall-words")
    while (words := overall.inner_text()) != "everything is decided":
        page.keyboard.press("a")
        expect(overall).not_to_have_text(words)
    page.keyboard.press("v")
    expect(page.locator("#after")).to_contain_text("Pers")
    expect(page.locator("#after")).not_to_contain_text("Smith")
    check_accessible(page)
    tab_to(page, "Make the release")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Everything is decided")
    check_accessible(page)
    tab_to(page, "Make the release")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("The release is ready")
    expect(page.locator(".private")).to_contain_text("never hand this out")
    check_accessible(page)
    tab_to(page, "Verify it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Every promise holds")
    page.go_back()
    page.get_by_role("link", name="Back to the desk").click()
    expect(page.locator("#locked")).to_contain_text("locked")
    page.locator("[data-ready]").wait_for()
    page.keyboard.press("r")
    expect(page.locator("#refused")).to_contain_text("locked")


def test_a_decision_rebuilds_little_of_500_kb_with_300_marks(page: Page, workbench: Workbench) -> None:
    """So that it is painted within 50 ms: marks are only coloured, and of the redacted text few parts are new."""
    desk(page, workbench, LONG_JOBS.pop())  # the other one if the test is run once more: decisions stay
    assert page.locator("#list li").count() == 300
    page.evaluate(COUNT_WHAT_IS_BUILT)
    for decided, key in enumerate("arararararar", start=1):
        page.keyboard.press(key)
        expect(page.locator("#list .masked, #list .kept")).to_have_count(3 * decided)  # each about three equal ones
    expect(page.locator("#list .masked")).to_have_count(18)
    assert page.evaluate("built") == 0
    page.set_viewport_size({"width": 1920, "height": 900})
    page.keyboard.press("v")
    expect(page.locator("#after .piece")).to_have_count(18)
    page.evaluate("built = 0")
    for decided, key in enumerate("aaaa", start=1):
        page.keyboard.press(key)
        expect(page.locator("#after .piece")).to_have_count(18 + 3 * decided)
    # Four decisions that made all anew would build 2,900; the list may be filled once, when repeats of names come in.
    assert page.evaluate("built") < 1_000
    page.set_viewport_size({"width": 1280, "height": 720})


def test_a_letter_is_decided_undone_and_redone_its_marks_shrink_and_what_nobody_proposed_is_added(
    page: Page, workbench: Workbench
) -> None:
    """In this order: what is shrunk and saved was decided before."""
    decide_undo_and_redo(page, workbench)
    shrink_add_and_save(page, workbench)


def decide_undo_and_redo(page: Page, workbench: Workbench) -> None:
    """Equal ones are decided at once, and every step is undone and redone."""
    desk(page, workbench, LETTERS_JOB)
    expect_stands(page, "open", "open", "open")  # Bob Ray (60 %), Ann Smith, the passage
    page.keyboard.press("w")
    page.keyboard.type("a witness")
    page.keyboard.press("Enter")
    page.keyboard.press("a")
    expect_stands(page, "masked", "open", "open")
    expect(page.locator("#document-d2")).to_contain_text("done")  # Bob Ray is there, too
    page.keyboard.press("r")
    page.keyboard.press("a")
    expect_stands(page, "masked", "kept", "masked")
    for expected in (("masked", "kept", "open"), ("masked", "open", "open"), ("open", "open", "open")):
        page.keyboard.press("u")
        expect_stands(page, *expected)
    page.keyboard.press("u")
    expect(page.locator("#said")).to_contain_text("nothing of yours to undo")
    for expected in (("masked", "open", "open"), ("masked", "kept", "open"), ("masked", "kept", "masked")):
        page.keyboard.press("U")
        expect_stands(page, *expected)
    page.keyboard.press("h")
    expect(page.locator("#history-rows")).to_contain_text("a witness")
    check_accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="b.txt").click()
    expect(page.locator("#name")).to_have_text("b.txt")
    page.keyboard.press("n")
    page.go_back()
    expect(page.locator("#name")).to_have_text("a.txt")
    ann = page.get_by_role("option").filter(has_text="Ann Smith")
    ann.click()
    item = str(ann.get_attribute("id")).removeprefix("row-")
    page.wait_for_url(f"**item={item}")  # it is remembered
    page.reload()
    page.locator("[data-ready]").wait_for()
    expect(page.locator("#name")).to_have_text("a.txt")
    expect(page.locator("#list [aria-selected=true]")).to_contain_text("Ann Smith")


def shrink_add_and_save(page: Page, workbench: Workbench) -> None:
    """Marks shrink by keys and by mouse, what nobody proposed is added, and the decisions are saved."""
    desk(page, workbench, LETTERS_JOB, query="?document=d1&item=b0")
    page.keyboard.press("s")
    for key in ("ArrowLeft", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#text .m.block.masked")).to_have_text("dose was")
    name = page.locator("#text .m").filter(has_text="Bob Ray")
    box = name.bounding_box()
    assert box is not None
    page.mouse.dblclick(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)  # selects the word Ray
    page.keyboard.press("s")
    expect(page.locator("#text .m.masked").first).to_have_text("Ray")
    expect(page.locator("#document-d2")).to_contain_text("done")  # Bob Ray shrank there, too
    page.keyboard.press("+")
    page.get_by_label("Text", exact=True).wait_for()
    page.keyboard.type("left")
    page.keyboard.press("Enter")
    expect(page.locator("#row-a0")).to_contain_text("added: person · masked")
    page.get_by_role("option").filter(has_text="Ann Smith").click()
    page.keyboard.press("a")
    expect(page.locator("#document-d2")).to_contain_text("1 open")  # ANN-SMITH is a repeat
    page.keyboard.press("v")
    expect(page.locator("#after")).to_contain_text("Pers")
    page.keyboard.press("v")
    page.keyboard.press("?")
    expect(page.get_by_text("The desk in a minute")).to_be_visible()
    check_accessible(page)
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save decisions").click()
    lines = [json.loads(line) for line in saved.value.path().read_text().splitlines()]
    assert {line["reviewer"] for line in lines} == {"Ana"}
    assert lines[0]["reason"] == "a witness"


def test_two_readers_decide_apart_and_a_third_settles_where_they_differ(
    browser: Browser, page: Page, context: BrowserContext, workbench: Workbench
) -> None:
    def as_reader(name: str) -> Page:
        other = context.new_page()
        other.goto(f"{workbench.origin}/review/{PAIR_JOB}?rename")
        other.get_by_label("Your name").fill(name)
        other.keyboard.press("Enter")
        other.locator("[data-ready]").wait_for()
        return other

    ana, ben = as_reader("Ana"), as_reader("Ben")
    ana.keyboard.press("a")
    expect_stands(ana, "waiting", "open", "open")
    for _ in range(2):  # the first may have been asked for before
        with ben.expect_response("**/news?*"):
            pass
    expect_stands(ben, "open", "open", "open")
    expect(ben.locator("#now-by")).not_to_contain_text("Ana")  # nobody sees the other's answer before their own
    ben.keyboard.press("r")
    expect_stands(ben, "disputed", "open", "open")
    expect_stands(ana, "disputed", "open", "open")  # it comes by itself
    ana.keyboard.press("k")
    ana.keyboard.press("k")
    expect(ana.locator("#now-by")).to_contain_text("Ben left")
    chair = as_reader("Chair")
    chair.get_by_label("Show").select_option("differences")
    expect(chair.locator("#now-facts")).to_contain_text("your answer settles it")
    chair.keyboard.press("a")
    chair.get_by_label("Show").select_option("all")
    expect_stands(chair, "masked", "open", "open")
    expect_stands(ben, "masked", "open", "open")
    for one in (ana, ben, chair):
        one.close()
    page.goto(f"{workbench.origin}/review/{LETTERS_JOB}?rename")
    page.get_by_label("Your name").fill("Ana")
    page.keyboard.press("Enter")
    page.locator("[data-ready]").wait_for()


def test_markup_in_names_and_texts_stays_text(page: Page, workbench: Workbench) -> None:
    desk(page, workbench, TRAP_JOB)
    expect(page.get_by_role("heading", level=1)).to_have_text(TRAP)
    expect(page.locator("#text")).to_contain_text(TRAP)
    expect(page.locator("#list")).to_contain_text(TRAP)
    page.keyboard.press("a")
    page.keyboard.press("h")
    expect(page.locator("#history-rows")).to_contain_text(TRAP)
    assert page.locator("main img").count() == 0


def test_a_decision_that_is_refused_is_taken_back_with_the_reason(page: Page, workbench: Workbench) -> None:
    desk(page, workbench, LOCKED_JOB)
    expect_stands(page, "open", "open", "open")
    (workbench.folder / "jobs" / LOCKED_JOB / "work" / "review" / "locked").write_text("a seal\n")
    page.keyboard.press("a")
    expect(page.locator("#refused")).to_contain_text("locked")
    expect_stands(page, "open", "open", "open")
    expect(page.locator("#locked")).to_contain_text("nothing can be decided any more")  # by the next news
    expect(page.get_by_role("button", name="Mask")).to_be_disabled()


def test_no_release_is_made_while_something_is_open(page: Page, workbench: Workbench) -> None:
    page.goto(f"{workbench.origin}/review/{PAIR_JOB}/release")
    expect(page.get_by_role("status").first).to_contain_text("still to decide")
    check_accessible(page)
    page.get_by_role("button", name="Make the release").click()
    expect(page.get_by_role("alert").first).to_contain_text("items are undecided")


def test_the_list_shows_what_the_filters_ask_for(page: Page, workbench: Workbench) -> None:
    desk(page, workbench, CASES_JOB)
    shown = page.locator("#list li:visible b")
    page.get_by_label("Kind").first.select_option("PERSON")
    expect(shown).to_have_text(["Dr. Weber", "Jonas Krämer", "Marta Oliveira"])
    page.get_by_label("Order").select_option("risk")
    expect(shown).to_have_text(["Marta Oliveira", "Jonas Krämer", "Dr. Weber"])
    page.get_by_label("Order").select_option("place")
    expect(shown).to_have_text(["Dr. Weber", "Marta Oliveira", "Jonas Krämer"])
    page.get_by_label("Show").select_option("unsure")
    expect(shown).to_have_text(["Dr. Weber"])  # 74 %
    page.get_by_label("Show").select_option("below")
    expect(page.locator("#nothing")).to_have_text("Nothing here with this filter.")


def test_a_whole_kind_is_masked_after_a_look_and_taken_back_as_one_step(page: Page, workbench: Workbench) -> None:
    desk(page, workbench, CASES_JOB)
    page.keyboard.press("m")
    page.get_by_role("dialog").get_by_label("Kind").select_option("LOC")
    expect(page.locator("#whole-kind-told")).to_contain_text("open in 3 documents")
    expect(page.locator("#whole-kind-names")).to_contain_text("Lindenau")
    check_accessible(page)
    page.get_by_role("button", name="Mask them all").click()
    expect(page.locator("#said")).to_contain_text("Masked: 3")
    page.keyboard.press("u")
    expect(page.locator("#said")).to_contain_text("Taken back: 3")


def test_the_desk_fits_narrow_and_wide_windows(page: Page, workbench: Workbench) -> None:
    desk(page, workbench, CASES_JOB)
    for key in "arn":
        page.keyboard.press(key)
    page.set_viewport_size({"width": 1280, "height": 800})
    take_picture(page, "review", height=640)
    for width in (360, 768, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelector('#text').getBoundingClientRect().right") <= width  # not cut
    page.keyboard.press("v")  # on a wide screen, before and after stand side by side
    expect(page.locator("#after .piece").first).to_be_visible()
    expect(page.locator("#text")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.locator("#after")).to_be_hidden()
    page.locator("#list li", has_text="2011").first.click()  # within a passage that is open
    page.keyboard.press("a")
    expect(page.locator("#text .masked.in-open")).to_have_text("2011")
    page.set_viewport_size({"width": 1280, "height": 800})
    check_accessible(page)
