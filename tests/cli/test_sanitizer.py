"""The commands of the sanitizer: from letters to a verified release and back; every mistake is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.sanitizer.review.review import Review
from tests.cli.run import Ran, run, snapshot
from tests.sanitizer.reading.files import pdf_of
from tests.sanitizer.reading.test_sources import encrypted_pdf
from tests.sanitizer.review.folders import work_folder

SMITH = (
    "Prof. Smith asked Imagine Inc. to start the project in New York, where the NY University could provide a "
    "laboratory near the Washington Square Park. Prof. Smith wants to study the birds of the Washington Square Park."
)


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)


def ok(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


def test_from_a_letter_to_a_verified_release_and_back(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text(SMITH)
    ok(run(tmp_path, "sanitize", "letters", "-o", "work", "--policy", "none", "--threshold", "0.1"))
    listed = json.loads(ok(run(tmp_path, "review", "work", "--list", "--json")).out)
    assert {"PERSON", "ORG", "LOC"} <= {item["kind"] for group in listed for item in group}
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", stdin=b"a" * len(listed) + b"q"))
    ok(run(tmp_path, "redact", "work", "-o", "release", "--format", "html"))
    masked = (tmp_path / "release" / "documents" / "document-0001.txt").read_text()
    assert masked.startswith("Pers1 asked Org1 to start the project in Loc1")
    assert masked.endswith("Pers1 wants to study the birds of the Loc2.")
    ok(run(tmp_path, "verify", "release"))
    assert "vault" in ok(run(tmp_path, "verify", "release", "--private", "release-private")).out
    ok(run(tmp_path, "unmask", "release", "-o", "back"))
    assert (tmp_path / "back" / "a.txt").read_text() == SMITH
    assert run(tmp_path, "review", "work", "--undo", "0").code == 2  # locked


def test_keys_accept_reject_undo_put_off_and_quit(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", stdin=b"ra u w not sure\nRAq"))
    decisions = [(d.document, d.item, d.action, d.reason) for d in work.log.read()]
    assert decisions[:3] == [("d1", "e1", "reject", ""), ("d2", "e0", "reject", ""), ("d1", "e0", "accept", "")]
    assert decisions[3] == ("d1", "e0", "undo", "")
    assert decisions[4][2:] == ("reject", "not sure")


def test_a_block_is_shrunk_and_a_string_added_at_the_keyboard(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", stdin=b"ra+ Girona\nLOC\ns dose was\n"))
    last = work.log.read()[-2:]
    assert [(d.action, d.kind, d.span) for d in last] == [("add", "LOC", (25, 31)), ("shrink", "", (37, 45))]


def test_equal_entities_are_shrunk_undone_and_redone_at_the_keyboard(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", stdin=b"s Ray\nuyq"))
    lines = [(d.document, d.item, d.action, d.span, d.of) for d in work.log.read()]
    assert lines == [
        ("d1", "e1", "shrink", (18, 21), None),
        ("d2", "e0", "shrink", (4, 7), None),
        ("d1", "e1", "undo", None, 0),
        ("d2", "e0", "undo", None, 1),
        ("d1", "e1", "undo", None, 2),
        ("d2", "e0", "undo", None, 3),
    ]
    history = json.loads(ok(run(tmp_path, "review", "work", "--history", "--json")).out)
    assert [line["holds"] for line in history] == [True, True, False, False, True, True]
    shown = ok(run(tmp_path, "review", "work", "--history")).out.splitlines()
    assert "ana" in shown[0] and "shrink 18-21" in shown[0] and "(taken back)" in shown[2]
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", "--undo", "0"))
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", "--redo"))
    assert "2 masked, 0 left as they are, 2 pending, 0 disputed" in run(tmp_path, "review", "work", "--list").err


def test_two_reviewers_and_a_third_who_settles(tmp_path: Path) -> None:
    work_folder(tmp_path / "work", reviewers=2)
    for reviewer, keys in (("ana", b"aaaaaaaa"), ("ben", b"raaaaaaa")):
        ok(run(tmp_path, "review", "work", "--reviewer", reviewer, stdin=keys))
    shown = json.loads(ok(run(tmp_path, "review", "work", "--differences", "--json")).out)
    assert [(one["document"], one["item"]) for one in shown] == [("d1", "e1"), ("d2", "e0")]
    assert "3 items are undecided" in run(tmp_path, "redact", "work", "-o", "release").err
    ok(run(tmp_path, "review", "work", "--reviewer", "chair", "--adjudicate", stdin=b"aaaaaa"))
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", stdin=b"aaaaaa"))
    ok(run(tmp_path, "review", "work", "--reviewer", "ben", stdin=b"aaaaaa"))
    ok(run(tmp_path, "redact", "work", "-o", "release"))


def test_decisions_come_from_a_file_all_or_none(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    good = [
        {"document": "d1", "item": "e0", "action": "accept", "reason": "a patient"},
        {"document": "d1", "action": "add", "span": [25, 31], "kind": "LOC"},
        {"document": "d1", "item": "b0", "action": "shrink", "span": [37, 41]},
    ]
    (tmp_path / "good.jsonl").write_text("".join(json.dumps(one) + "\n" for one in good))
    bad = [*good, {"document": "d1", "item": "e77", "action": "accept"}]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(one) + "\n" for one in bad))
    assert run(tmp_path, "review", "work", "--decisions", "bad.jsonl").code == 2
    assert work.log.read() == ()
    ok(run(tmp_path, "review", "work", "--reviewer", "ana", "--decisions", "good.jsonl"))
    assert {decision.action for decision in work.log.read()} == {"accept", "add", "shrink"}


def test_a_file_of_decisions_that_one_may_not_make_changes_nothing(tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work")
    Review(work, "ana").decide([("d1", "e0")], "accept")
    given = [
        {"document": "d1", "item": name, "action": action} for name, action in (("b0", "accept"), ("e0", "reject"))
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(one) + "\n" for one in given))
    ran = run(tmp_path, "review", "work", "--reviewer", "ana", "--adjudicate", "--decisions", "d.jsonl")
    assert ran.code == 2 and "cannot adjudicate" in ran.err
    assert len(work.log.read()) == 1


UNKNOWN_SENSE = """name = "p"
title = "p"
[[topics]]
id = "t"
title = "t"
[[topics.concepts]]
word = "gun"
senses = ["gun.n.99"]
"""


@pytest.mark.parametrize(
    ("name", "content", "options", "line"),
    [
        ("a.pdf", encrypted_pdf(), "", "is encrypted"),
        ("a.pdf", pdf_of([[]], picture=True), "", "without a text layer"),
        ("a.docx", b"PK\x03\x04", "", "a damaged DOCX"),
        ("a.txt", b"\x00\xff", "", "not text in UTF-8"),
        ("a.txt", b"word " * 10_000_001, "", "50,000,005 characters"),
        ("a.txt", b"Ann", "--policy p.toml", "gun.n.99.*choose from: gun.n.01"),
        ("a.txt", b"Ann", "--policy nothing", "policy 'nothing' is unknown"),
        ("a.txt", b"Ann", "--model xx_none", "xx_none"),
        ("a.txt", b"Ann", "--threshold 1.5", "from 0 to 1"),
        ("a.txt", b"Ann", "--style funny", "is not known"),
        ("a.txt", b"Ann", "--reviewers 3", "give 1 or 2"),
        ("a.txt", b"Ann", "--text-column body", "has no columns"),
        ("a.txt", b"Ann", "--stays missing.txt", "does not exist"),
        ("a.txt", b"Ann", "--weights p.toml", "p.toml"),
    ],
)
def test_what_cannot_be_sanitized_is_one_line_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, content: bytes, options: str, line: str
) -> None:
    import re

    monkeypatch.setattr("shoal.sanitizer.reading.pdf.OCR", "not-installed")
    (tmp_path / name).write_bytes(content)
    (tmp_path / "p.toml").write_text(UNKNOWN_SENSE)
    before = snapshot(tmp_path)
    ran = run(tmp_path, "sanitize", name, "-o", "work", *options.split())
    assert ran.code == 2
    assert len(ran.complaints) == 1
    assert re.search(line, ran.err), ran.err
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("review nothing", "not a work folder"),
        ("review work --decisions none.jsonl", "does not exist"),
        ("review work --undo 5", "there is no decision 5"),
        ("review work --list --differences", "exclude each other"),
        ("redact work -o release", "items are undecided"),
        ("redact work -o release --accept-rest 7", "from 0 to 1"),
        ("redact work -o work/release", "must not be inside"),
        ("redact work -o release --recipient age1nonsense", "no public key"),
        ("redact nothing -o release", "not a work folder"),
        ("unmask nothing -o back", "does not exist"),
        ("verify work --key k", "--private"),
        ("train-sanitizer work -o weights.toml", "items are undecided"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(tmp_path: Path, command: str, line: str) -> None:
    work_folder(tmp_path / "work")
    (tmp_path / "work" / "decisions.jsonl").touch()
    before = snapshot(tmp_path / "work")
    ran = run(tmp_path, *command.split())
    assert ran.code == 2, ran.err
    assert line in ran.err
    assert snapshot(tmp_path / "work") == before
    assert not (tmp_path / "release").exists()
    assert "Smith" not in ran.err


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    for name in ("a", "b"):
        (tmp_path / "letters" / f"{name}.txt").write_text(f"{SMITH} {name}")
    ok(run(tmp_path, "sanitize", "letters", "-o", "work", "--policy", "none"))
    whole = (tmp_path / "work" / "proposals.jsonl").read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    (tmp_path / "work" / "proposals.jsonl").unlink()
    (tmp_path / "work" / "proposals.part.jsonl").write_bytes(first + b'{"half')
    ok(run(tmp_path, "sanitize", "letters", "-o", "work", "--policy", "none"))
    assert (tmp_path / "work" / "proposals.jsonl").read_bytes() == whole
    assert run(tmp_path, "sanitize", "letters", "-o", "work", "--policy", "none").code == 2  # finished
