"""The page that protects a file, in a real browser: from a file to a verified release."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from shoal.sample import letters
from tests.verification.test_signatures import new_key
from tests.web.accessibility import check_accessible
from tests.web.conftest import PATIENCE, Workbench, start_workbench
from tests.web.pictures import take_picture

MARKUP = "<img src=x onerror=alert(1)>"
GROUP = "constructor"  # every object of JavaScript has one


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """80 invented patients; a column and its values look like HTML."""
    draw = random.Random(0)
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "age", "height_cm", "<b>town</b>", "diagnosis"])
        for number in range(80):
            town = draw.choice([MARKUP, "Saltmere", "Wexcombe", "Osmerby"])
            illness = draw.choice(["asthma", "gout", "migraine"])
            rows.writerow([f"P{number:04d}", draw.randint(20, 90), draw.randint(150, 200), town, illness])
    return path


def chosen(page: Page, path: Path) -> None:
    """Go to Protect and give it the file."""
    page.goto(f"{page.url.split('/protect')[0].rstrip('/')}/protect")
    page.get_by_label("Choose a file").set_input_files(path)
    page.wait_for_url(re.compile(r"/protect/[0-9a-f]{16}"))


def signed(page: Page, workbench: Workbench, folder: Path) -> None:
    """The key is asked for its passphrase, and stays nowhere."""
    key = new_key(folder / "ann", passphrase=" with spaces ")
    page.get_by_text("Sign it", exact=True).press("Enter")
    for file, passphrase, line in (
        (key.with_suffix(".pub"), "", "is a public key"),
        (key, "", "is locked with a passphrase"),
        (key, "wrong", "The passphrase does not open"),
    ):
        page.get_by_label("Your private key").set_input_files(file)
        page.get_by_label("Passphrase of the key").fill(passphrase)
        page.get_by_role("button", name="Sign", exact=True).press("Enter")
        expect(page.locator("#sign [role=alert]")).to_contain_text(line)
    check_accessible(page)
    page.get_by_label("Passphrase of the key").fill(" with spaces ")
    page.get_by_role("button", name="Sign", exact=True).press("Enter")
    expect(page.locator("main")).to_contain_text("Signed with the key ssh-ed25519 SHA256:")
    kept = [path for path in workbench.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "certificate.json.sig" for path in kept)
    assert not any(b"PRIVATE KEY" in path.read_bytes() for path in kept)


def test_a_table_becomes_a_verified_release_in_six_clicks(
    page: Page, patients: Path, workbench: Workbench, tmp_path: Path
) -> None:
    page.get_by_role("link", name="Protect").first.click()  # click 1
    check_accessible(page)
    page.get_by_label("Choose a file").set_input_files(patients)  # clicks 2 and 3, in the system's dialog
    expect(page.get_by_role("heading", level=1)).to_have_text("Protect patients.csv")
    expect(page.locator(".first")).to_contain_text("P0000")
    town = page.get_by_role("group", name="<b>town</b>")
    expect(town).to_contain_text("label")
    expect(page.get_by_role("group", name="patient_id").get_by_label("Drop")).to_be_checked()
    expect(page.get_by_role("group", name="age").get_by_label("Protect")).to_be_checked()
    expect(page.get_by_role("group", name="diagnosis").get_by_label("Confidential")).to_be_checked()
    expect(page.locator("#curve[data-state=there] svg")).to_be_visible()
    expect(page.locator("#curve-words")).to_contain_text("An estimate")
    page.locator(".curve .band").nth(1).click()  # a click more, to choose k
    expect(page.get_by_label("Records that look alike")).to_have_value("3")
    check_accessible(page)
    page.get_by_role("button", name="Protect", exact=True).click()  # click 4
    page.wait_for_url(re.compile("/jobs/"))
    page.reload()  # in the middle of it
    second = page.context.new_page()
    second.goto(page.url)
    for tab in (page, second):
        expect(tab.get_by_role("status").first).to_contain_text("The release is made")
    second.close()
    expect(page.locator(".figures")).to_contain_text("Every record looks like at least 2 others")
    expect(page.frame_locator("iframe.report").first.locator("h1")).to_contain_text("80 protected records")
    expect(page.locator(".private")).to_contain_text("Never hand this out")
    check_accessible(page)
    take_picture(page, "release", height=620)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the release").click()
    assert saved.value.suggested_filename == "release.zip"
    signed(page, workbench, tmp_path)
    page.get_by_role("button", name="Verify it").click()  # click 5
    expect(page.get_by_role("status").first).to_contain_text("Every promise holds")
    expect(page.locator(".claims")).to_contain_text("vouches for the certificate")

    page.go_back()
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Protect patients.csv")
    page.go_forward()
    page.get_by_role("link", name="Protect again with other settings").click()
    expect(page.get_by_label("Records that look alike")).to_have_value("3")
    assert page.locator("img[src=x]").count() == 0


def test_values_are_put_into_groups_by_dragging_and_by_keyboard(
    page: Page, patients: Path, workbench: Workbench
) -> None:
    chosen(page, patients)
    town = page.get_by_role("group", name="<b>town</b>")
    town.get_by_text("More about this column").press("Enter")
    town.get_by_role("button", name="Make groups").click()
    editor = page.get_by_role("dialog")
    expect(editor.get_by_text(MARKUP)).to_be_visible()
    editor.get_by_text("Saltmere").drag_to(editor.locator(".group").nth(1))
    editor.get_by_label("Wexcombe").press("Space")
    editor.get_by_role("button", name="Move here").nth(1).press("Enter")
    editor.get_by_label("Name of the group").first.fill(GROUP)
    check_accessible(page)
    editor.get_by_role("button", name="Save the groups").press("Enter")
    expect(editor).to_be_hidden()
    expect(town.get_by_label("Labels are compared")).to_contain_text("by the hierarchy in groups-4.csv")
    check_accessible(page)
    page.get_by_text("Attack, and an earlier release").press("Enter")
    page.get_by_label("Attack the release").uncheck()
    expect(page.locator("#plan-line")).to_contain_text("--no-attack")
    page.reload()  # what was chosen is there
    expect(page.get_by_role("group", name="<b>town</b>")).to_contain_text("Labels are compared groups-4.csv")
    before = len(list((workbench.folder / "jobs").iterdir()))
    page.evaluate("addEventListener('submit', ({ submitter }) => (sessionStorage.busy = submitter.ariaBusy))")
    page.get_by_role("button", name="Protect", exact=True).dblclick()
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    assert len(list((workbench.folder / "jobs").iterdir())) == before + 1
    assert page.evaluate("sessionStorage.busy") == "true"
    work = workbench.folder / "jobs" / page.url.rpartition("/")[2] / "work"
    assert f"Saltmere,{GROUP}\n" in (work / "column-1" / "groups-4.csv").read_text(encoding="utf-8")
    command = page.get_by_label("Command").text_content() or ""
    assert "--ontology '<b>town</b>=column-1/groups-4.csv'" in command and "--no-attack" in command
    page.get_by_role("link", name="Protect again").press("Enter")
    town.get_by_text("Labels are compared groups-4.csv").press("Enter")
    town.get_by_role("button", name="Make groups").click()
    expect(editor.get_by_label("Name of the group")).to_have_value(GROUP)


def test_documents_are_protected_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    lines = [json.dumps({"id": one.id, "text": one.text, "speciality": one.speciality}) for one in letters()[:60]]
    (tmp_path / "letters.jsonl").write_text("\n".join(lines), encoding="utf-8")
    chosen(page, tmp_path / "letters.jsonl")
    expect(page.locator("main")).to_contain_text("A collection of 60 documents.")
    label = page.get_by_label("Label", exact=True)
    label.focus()
    page.keyboard.type("speciality")
    expect(label).to_have_value("speciality")
    slider = page.get_by_label("Choose on the curve")
    expect(page.locator("#curve[data-state=there]")).to_be_visible()
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Records that look alike")).to_have_value("3")
    check_accessible(page)
    page.get_by_role("button", name="Protect", exact=True).press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("The release is made")
    expect(page.locator(".figures")).to_contain_text("Every record looks like at least")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("binary.csv", b"\x00\x01\x02" * 99, "is binary, not text"),
        ("empty.csv", b"", "is empty"),
        ("ragged.csv", b"age,pay\n1,2\n3\n", "row 2"),
        ("picture.png", b"\x89PNG", "picture.png"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(page: Page, tmp_path: Path, name: str, content: bytes, line: str) -> None:
    (tmp_path / name).write_bytes(content)
    chosen(page, tmp_path / name)
    expect(page.get_by_role("alert").first).to_contain_text(line)


def test_a_mistake_is_said_on_the_page_and_keeps_what_was_chosen(page: Page, patients: Path) -> None:
    chosen(page, patients)
    page.get_by_text("More promises").click()
    page.get_by_text("How groups are made").click()
    age = page.get_by_role("group", name="age")
    page.get_by_label("Column with a larger k").select_option("age")
    expect(age.get_by_label("Own k")).to_be_checked()  # for as long as it is chosen
    page.get_by_label("Column with a larger k").select_option("")
    expect(age.get_by_label("Protect")).to_be_checked()
    page.get_by_label("What l counts").select_option("recursive")
    expect(page.get_by_label("Most frequent value, below")).to_be_visible()
    page.get_by_label("What l counts").select_option("distinct")
    for name in ("age", "height_cm", "<b>town</b>"):
        page.get_by_role("group", name=name).get_by_label("Drop").check()
    expect(page.get_by_role("button", name="Protect", exact=True)).to_be_disabled()
    page.get_by_role("group", name="age").get_by_label("Protect").check()
    page.get_by_label("Records that look alike").fill("7")
    page.get_by_label("Records that look alike").blur()
    page.get_by_label("Method").select_option("noise")
    page.locator("#percent").evaluate("field => { field.required = false; }")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("enter it in per cent")
    expect(page.get_by_label("Records that look alike")).to_have_value("7")
    expect(page.get_by_role("group", name="height_cm").get_by_label("Drop")).to_be_checked()
    check_accessible(page)


def test_a_file_of_200_mb_is_taken_and_shown(page: Page, tmp_path: Path) -> None:
    block = "".join(f"{20 + row % 70},{row % 997},{'x' * 240}\n" for row in range(4_000)).encode()
    with (tmp_path / "large.csv").open("wb") as file:
        file.write(b"age,pay,remark\n")
        while file.tell() < 200_000_000:
            file.write(block)
    chosen(page, tmp_path / "large.csv")
    expect(page.get_by_role("heading", level=1)).to_have_text("Protect large.csv")
    expect(page.locator("main")).to_contain_text("evenly spread")
    page.goto(page.url.split("/protect")[0])
    page.get_by_role("button", name="Remove large.csv").click()
    expect(page.get_by_text("large.csv")).to_have_count(0)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows enough to be busy with for a while."""
    draw = random.Random(1)
    path = tmp_path_factory.mktemp("many") / "many.csv"
    lines = (",".join(str(draw.randint(0, 10**6)) for _ in range(6)) for _ in range(20_000))
    path.write_text("a,b,c,d,e,f\n" + "\n".join(lines), encoding="utf-8")
    return path


def test_a_job_is_cancelled_and_run_again(page: Page, many: Path) -> None:
    chosen(page, many)
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.locator(".step").first).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".box").first).to_contain_text("You cancelled this job. Nothing was written.")
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator(".step").first).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Close and remove its files").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What would you like to do?")


def test_a_job_of_a_stopped_workbench_can_be_run_again(browser: Browser, many: Path, tmp_path: Path) -> None:
    first = start_workbench(tmp_path / "private")
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(first.address)
        chosen(page, many)
        page.get_by_role("button", name="Protect", exact=True).click()
        expect(page.locator(".step").first).to_be_visible(timeout=PATIENCE)
        first.process.terminate()
        first.process.wait()
        expect(page.get_by_text("The workbench does not answer.")).to_be_visible()
    second = start_workbench(tmp_path / "private")
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(second.address)
        page.get_by_role("link", name="Release of many.csv").click()
        expect(page.locator(".box").first).to_contain_text("The workbench was stopped before this job was done.")
        page.get_by_role("button", name="Run it again").click()
        expect(page.locator(".step").first).to_be_visible(timeout=PATIENCE)
    second.process.terminate()
    second.process.wait()


def test_the_sample_leads_to_the_page(page: Page) -> None:
    check_accessible(page)
    take_picture(page, "start", height=800)
    page.get_by_role("button", name="Try a table").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Protect subjects.csv")
    take_picture(page, "columns", height=800, top=page.locator("form > .card").first)
    expect(page.locator("#curve[data-state=there]")).to_be_visible()
    take_picture(page, "crowd", top=page.locator(".crowd"), height=520)
    page.get_by_role("group", name="town").get_by_text("More about this column").click()
    page.get_by_role("group", name="town").get_by_role("button", name="Make groups").click()
    for town in ("Saltmere", "Thornley Quay", "Marram Sands"):
        page.get_by_label(town).check()
    page.get_by_role("button", name="Move here").nth(1).click()
    page.get_by_label("Name of the group").first.fill("by the sea")
    take_picture(page, "groups", height=760)
    page.keyboard.press("Escape")
    page.go_back()
    page.get_by_role("button", name="Try letters").first.click()
    expect(page.locator("main")).to_contain_text("A collection of 360 documents.")
