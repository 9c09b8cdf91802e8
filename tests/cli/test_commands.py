"""The commands at work: what they make, print and return."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.release.writing import dump, fingerprint
from tests.cli.run import PATIENCE, SHOAL, run, snapshot
from tests.cli.test_bad_input import (
    GOOD_DOCUMENTS,
    GOOD_LABELS,
    GOOD_TABLE,
    LABELS,
    LETTERS,
    TABLE,
    TEXTS,
    make,
)

pytestmark = pytest.mark.usefixtures("without_attack")

DOCUMENT_FILES = {"README.md", "certificate.json", "report.html", "terms.txt", "vectors.npz", "vectors.parquet"}
TABLE_FILES = {"README.md", "certificate.json", "report.html", "table.csv"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {f"texts/{'ab'[n % 2]}/{n:02d}.txt": text for n, text in enumerate(TEXTS)}
    make(tmp_path, {"t.csv": TABLE, "d.jsonl": LETTERS, **texts})
    return tmp_path


def good(folder: Path, command: str) -> str:
    ran = run(folder, *shlex.split(command))
    assert ran.code == 0, ran.err
    return ran.out


# -- protect and verify --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (GOOD_TABLE, TABLE_FILES),
        (f"{GOOD_TABLE} --l 2", TABLE_FILES),
        (f"{GOOD_TABLE} --method ranking", TABLE_FILES),
        (f"{GOOD_TABLE} --method z-scores", TABLE_FILES),
        (f"{GOOD_TABLE} --method principal-component", TABLE_FILES),
        (f"{GOOD_TABLE} --attribute-groups 1", TABLE_FILES),
        (f"{GOOD_TABLE} --attribute-groups {10**20}", TABLE_FILES),
        (f"{GOOD_TABLE} --missing refuse", TABLE_FILES),
        (f"{GOOD_TABLE} --no-attack", TABLE_FILES),
        (f"{GOOD_TABLE} --l 2 --coarsen income=30 --coarsen age=10", TABLE_FILES),
        (f"{GOOD_TABLE} --method rank-swap --percent 20 --coarsen income=9", TABLE_FILES),
        ("protect t.csv -o out -k 3 --quasi ,age, --confidential diagnosis --method ranking --l 2", TABLE_FILES),
        ("protect t.csv -o out -k 30 --quasi age", TABLE_FILES),
        (GOOD_DOCUMENTS, DOCUMENT_FILES),
        (f"{GOOD_DOCUMENTS} --label-column topic --l 2", DOCUMENT_FILES),
        (f"{GOOD_DOCUMENTS} --min-df 1 --max-terms 5 --no-stem --no-wordnet", DOCUMENT_FILES),
        (f"{GOOD_DOCUMENTS} --language german --no-wordnet", DOCUMENT_FILES),
        (f"{GOOD_DOCUMENTS} --max-terms {10**25}", DOCUMENT_FILES),
        ("protect texts -o out -k 3 --label-column folder", DOCUMENT_FILES),
        ("protect t.csv -o out -k 3 --text-column diagnosis --no-wordnet", DOCUMENT_FILES),
    ],
)  # fmt: skip
def test_a_release_is_made_and_verifies(command: str, files: set[str], folder: Path) -> None:
    if "--text-column diagnosis" in command:
        make(folder, {"t.csv": "diagnosis\n" + "\n".join(TEXTS)})
    printed = good(folder, command)
    assert set(os.listdir(folder / "out")) == files
    assert "mapping.parquet" in os.listdir(folder / "out-private")
    if "--no-attack" in command:
        assert "leaks.html" not in os.listdir(folder / "out-private")
    assert stat.S_IMODE((folder / "out-private").stat().st_mode) == 0o700
    assert sorted(os.listdir(folder)) == ["d.jsonl", "out", "out-private", "t.csv", "texts"]
    for word in ("release", "report", "records", "promise", "lost", "seal", "private"):
        assert f"\n{word} " in "\n" + printed
    checked = run(folder, "verify", "out")
    assert checked.code == 0
    assert "BROKEN" not in checked.out
    crowd = ", but NO crowd is promised: a record may be one of a kind" if "NO " in printed else ""
    assert checked.complaints == [
        f"shoal: all {len(checked.out.splitlines())} promises hold{crowd}; "
        "it is not signed, so nothing shows who made it; figures that the report marks as stated are the owner's word"
    ]


def numbers(*values: object) -> str:
    return "age,n\n" + "".join(f"{value},{row}\n" for row, value in enumerate(values))


VALID: dict[str, tuple[str, dict[str, Any]]] = {
    "a constant column": ("a.csv", {"a.csv": numbers(*[5] * 6)}),
    "hexadecimal numbers": ("a.csv", {"a.csv": numbers("0x1f", "0x2f", "0x3f", "0x4f")}),
    "as many rows as k": ("a.csv", {"a.csv": numbers(1, 2, 3)}),
    "rows that are all alike": ("a.csv", {"a.csv": "a,b\n" + "1,2\n" * 9}),
    "one column": ("a.csv", {"a.csv": "a\n1\n2\n3\n4\n"}),
    "semicolons": ("a.csv", {"a.csv": numbers(*range(6)).replace(",", ";")}),
    "Windows line ends": ("a.csv", {"a.csv": numbers(*range(6)).replace("\n", "\r\n")}),
    "a byte order mark": ("a.csv", {"a.csv": "\ufeff" + numbers(*range(6))}),
    "UTF-16": ("a.csv", {"a.csv": numbers(*range(6)).encode("utf-16")}),
    "no line end at the end": ("a.csv", {"a.csv": numbers(*range(6)).rstrip()}),
    "blank lines": ("a.csv", {"a.csv": numbers(*range(6)).replace("\n", "\n\n")}),
    "exponents and signs": ("a.csv", {"a.csv": numbers("1e3", "-2.5E-3", ".5", "+7", "-0.0", "0.0")}),
    "very small numbers": ("a.csv", {"a.csv": numbers(*(f"{n}e-310" for n in range(6)))}),
    "TSV": ("a.tsv", {"a.tsv": numbers(*range(6)).replace(",", "\t")}),
    "gzipped CSV": ("a.csv.gz", {"a.csv.gz": gzip.compress(numbers(*range(6)).encode(), mtime=0)}),
    "a suffix in capitals": ("a.CSV", {"a.CSV": numbers(*range(6))}),
    "Parquet": ("a.parquet", {"a.parquet": lambda path: pq.write_table(pa.table({"a": range(6)}), path)}),
    "a link to a file": ("l.csv", {"a.csv": numbers(*range(6)), "l.csv": lambda path: path.symlink_to("a.csv")}),
    "a name with blanks and umlauts": ("ä b.csv", {"ä b.csv": numbers(*range(6))}),
    "column names with a line end": ("a.csv", {"a.csv": '"a\nb",c\n1,2\n3,4\n5,6\n'}),
    "texts of which some are empty": ("e", {f"e/{n}.txt": text for n, text in enumerate([*TEXTS, "", " "])}),
    "JSONL of which some lines are broken": ("a.jsonl", {"a.jsonl": LETTERS + "{\n[]\n\xff\n"}),
    "a CSV of documents": ("a.csv", {"a.csv": "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(TEXTS))}),
    "a folder of JSONL": ("e", {"e/a.jsonl": LETTERS, "e/_SUCCESS": ""}),
    "an ndjson file, gzipped": ("a.ndjson.gz", {"a.ndjson.gz": gzip.compress(LETTERS.encode(), mtime=0)}),
}


@pytest.mark.parametrize("name", VALID)
def test_unusual_input_that_is_sound_is_protected(name: str, tmp_path: Path) -> None:
    source, files = VALID[name]
    make(tmp_path, files)
    good(tmp_path, f"protect '{source}' -o out -k 3")
    good(tmp_path, "verify out")


@pytest.mark.parametrize("out", ["a/b/c/out", "ünïcode out", "-out", "o" * 240, "new\nline", "\x1b[31m"])
def test_unusual_names_of_the_release_are_made_and_printed(out: str, folder: Path) -> None:
    ran = run(folder, *shlex.split(GOOD_TABLE.replace("-o out ", "")), f"--out={out}")
    assert ran.code == 0, ran.err
    assert all(line.isprintable() for line in ran.out.splitlines())
    assert set(os.listdir(folder / out)) == TABLE_FILES
    assert run(folder, "verify", "--", out).code == 0


def test_an_empty_folder_may_become_the_release(folder: Path) -> None:
    (folder / "out").mkdir()
    good(folder, GOOD_TABLE)
    good(folder, "verify out")


def test_columns_are_coarsened_and_a_name_may_hold_the_sign_between_name_and_number(folder: Path) -> None:
    (folder / "e.csv").write_text(TABLE.replace("income", "a=b", 1), encoding="utf-8")
    printed = good(folder, "protect e.csv -o out -k 3 --quasi age,a=b --coarsen a=b=9 --coarsen ' age = 6'")
    assert "a=b: each value shared by at least 9" in printed
    certificate = json.loads((folder / "out" / "certificate.json").read_text(encoding="utf-8"))
    assert certificate["stated"]["parameters"]["coarsen"] == {"a=b": 9, "age": 6}
    good(folder, "verify out")


def test_a_table_in_parts_is_protected_by_its_roles(tmp_path: Path) -> None:
    for part in range(2):
        rows = "".join(f"{20 + row},{row % 5},flu\n" for row in range(part * 9, part * 9 + 9))
        (tmp_path / f"people-{part}.csv").write_text(f"age,visits,illness\n{rows}")
    command = "protect people-*.csv -k 3 -o out --quasi age,visits --confidential illness"
    ran = run(tmp_path, *shlex.split(command))
    assert ran.code == 0, ran.err
    assert "18 released" in ran.out
    assert run(tmp_path, "verify", "out").code == 0
    assert (tmp_path / "out" / "table" / "part-00000.parquet").is_file()


def test_columns_of_a_table_in_parts_are_coarsened(folder: Path) -> None:
    printed = good(folder, "protect 't*.csv' -o out -k 3 --quasi age,income --confidential diagnosis --coarsen age=9")
    assert "age: each value shared by at least 9" in printed
    good(folder, "verify out")


def test_rows_that_lack_a_value_are_withheld_on_request_and_counted(folder: Path) -> None:
    make(folder, {"t.csv": TABLE + "x,,5,y\nx,7,NA,y\n"})
    assert "records      30 released, 2 withheld" in good(folder, f"{GOOD_TABLE} --missing withhold")


def test_nothing_is_replaced_without_force_and_all_of_it_with_force(folder: Path) -> None:
    good(folder, GOOD_TABLE)
    made = snapshot(folder)
    assert run(folder, *shlex.split(GOOD_TABLE)).code == 2
    assert run(folder, *shlex.split("protect d.jsonl -o out --private elsewhere -k 3")).code == 2
    assert snapshot(folder) == made
    good(folder, f"{GOOD_DOCUMENTS} --force")
    assert set(os.listdir(folder / "out")) == DOCUMENT_FILES
    assert sorted(os.listdir(folder)) == ["d.jsonl", "out", "out-private", "t.csv", "texts"]


def test_when_the_second_folder_cannot_be_put_in_place_the_first_goes_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(folder, GOOD_TABLE)
    made = snapshot(folder)
    rename = Path.rename

    def failing(self: Path, target: Any) -> Path:
        if Path(target).name == "out":
            monkeypatch.setattr(Path, "rename", rename)  # fails once
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    ran = run(folder, *shlex.split(f"{GOOD_DOCUMENTS} --force"))
    assert (ran.code, ran.complaints[0]) == (
        2,
        "shoal: the output cannot be written: no space left on device; choose another place",
    )
    assert snapshot(folder) == made


def test_a_fault_of_our_own_is_one_line_without_data_and_not_exit_code_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("s3cret")

    monkeypatch.setattr("shoal.release.protect.carry_out", broken)
    before = snapshot(folder)
    ran = run(folder, *shlex.split(GOOD_TABLE))
    assert ran.code == 2
    assert ran.err.startswith("shoal: this is a fault in Shoal, not in what you gave it (KeyError in test_commands.py")
    assert len(ran.err.splitlines()) == 1
    assert "s3cret" not in ran.err
    assert snapshot(folder) == before


# -- JSON ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [f"{GOOD_TABLE} --l 2", f"{GOOD_DOCUMENTS} --label-column topic"])
def test_protect_prints_json_and_nothing_else_on_stdout(command: str, folder: Path) -> None:
    found = json.loads(good(folder, f"{command} --json"))
    assert set(found) == {"release", "private", "certificate", "measured_loss"}
    assert (found["release"], found["private"]) == ("out", "out-private")
    assert found["certificate"] == json.loads((folder / "out/certificate.json").read_text())
    assert set(found["certificate"]) == {"format", "kind", "promises", "stated", "versions", "files", "seal"}


def test_verify_prints_json_whether_the_promises_hold_or_not(folder: Path) -> None:
    good(folder, GOOD_TABLE)
    found = json.loads(good(folder, "verify out --json"))
    assert found["holds"] is True
    assert all(set(claim) == {"promise", "holds", "detail", "file"} for claim in found["claims"])
    (folder / "out/README.md").write_text("mine")
    ran = run(folder, "verify", "out", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["holds"]) == (1, False)
    assert [claim["file"] for claim in found["claims"] if not claim["holds"]] == ["README.md"]


@pytest.mark.parametrize(
    ("options", "least", "code", "says"),
    [
        ("", "3", 0, "promises hold; it is not signed"),
        ("", "4", 1, "k=3 is promised, at least 4 was asked for"),
        (" --attribute-groups 1", "2", 1, "NO crowd is promised, at least 2 was asked for"),
        (" --method noise --percent 10", "2", 1, "NO crowd is promised, at least 2 was asked for"),
        (" --method noise --percent 10", None, 0, "promises hold, but NO crowd is promised: a record may be one of a"),
        (" --attribute-groups 1", None, 0, "promises hold, but NO crowd is promised"),
        ("", "1", 2, "'1' must be a whole number of at least 2"),
    ],
)
def test_verify_says_whether_a_crowd_is_promised_and_asks_for_it(
    folder: Path, options: str, least: str | None, code: int, says: str
) -> None:
    good(folder, GOOD_TABLE + options)
    ran = run(folder, "verify", "out", *(() if least is None else ("--min-k", least)))
    assert (ran.code, says in ran.err) == (code, True), ran.err


def test_an_error_prints_nothing_on_stdout_even_with_json(folder: Path) -> None:
    ran = run(folder, "protect", "no.csv", "-o", "out", "--json")
    assert (ran.code, ran.out) == (2, "")


# -- verify finds what was changed ---------------------------------------------------------------------------------


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def reseal(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the certificate and seal it anew, as a cheat would who knows how."""
    path = folder / "certificate.json"
    content = json.loads(path.read_bytes())
    content["files"] = {name: fingerprint(folder / name) for name in content["files"]}
    change(content)
    content.pop("seal")
    path.write_bytes(dump(content | {"seal": hashlib.sha256(dump(content)).hexdigest()}))


@pytest.mark.parametrize("command", [GOOD_TABLE, f"{GOOD_DOCUMENTS} --label-column topic"])
def test_one_flipped_bit_in_any_file_is_found_and_the_file_named(command: str, folder: Path) -> None:
    good(folder, command)
    for path in sorted((folder / "out").iterdir()):
        sound = path.read_bytes()
        flip(path)
        ran = run(folder, "verify", "out")
        assert ran.code == 1
        assert any(line.startswith("BROKEN") and path.name in line for line in ran.out.splitlines())
        assert len(ran.complaints) == 1
        assert path.name in ran.complaints[0] or "certificate" in ran.complaints[0]
        path.write_bytes(sound)
    assert run(folder, "verify", "out").code == 0


def first_row_changed(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    lines[1] = "19.5," + lines[1].split(",", 1)[1]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")


def rows_swapped(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    lines[1], lines[-1] = lines[-1], lines[1]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")


def row_taken_out(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    (folder / "table.csv").write_text("\n".join(lines[:-1]) + "\n")


def kept(_: object) -> None:
    """Change nothing."""


@pytest.mark.parametrize(
    ("damage", "lie", "promise"),
    [
        (first_row_changed, kept, "k-anonymity"),
        (rows_swapped, kept, "order"),
        (row_taken_out, kept, "rows"),
        (kept, lambda content: content["promises"]["anonymity"].update(k=9), "k-anonymity"),
        (kept, lambda content: content["promises"]["anonymity"].update(k=1), "certificate"),
        (kept, lambda content: content["promises"]["diversity"].update(l=9), "l-diversity"),
        (kept, lambda content: content["promises"]["columns"].reverse(), "schema"),
        (kept, lambda content: content["promises"].update(rows=31), "rows"),
        (kept, lambda content: content["promises"].clear(), "certificate"),
        (kept, lambda content: content.update(kind="poems"), "certificate"),
        (kept, lambda content: content.update(files=[]), "certificate"),
    ],
)
def test_a_release_changed_and_sealed_anew_breaks_the_promise_by_name(
    damage: Callable[[Path], None], lie: Callable[[dict[str, Any]], None], promise: str, folder: Path
) -> None:
    good(folder, GOOD_TABLE)
    damage(folder / "out")
    reseal(folder / "out", lie)
    ran = run(folder, "verify", "out")
    assert ran.code == 1
    broken = [line.split()[1] for line in ran.out.splitlines() if line.startswith("BROKEN")]
    assert promise in broken
    # A promise that no certificate can make is no certificate; else the seal fits.
    assert ("certificate" in broken) == (promise == "certificate")
    assert len(ran.complaints) == 1
    assert "broken promises: " in ran.complaints[0]


FOREIGN: dict[str, Callable[[Path], object]] = {
    "a file too many": lambda path: (path / "extra.txt").write_text("x"),
    "a hidden file": lambda path: (path / ".DS_Store").write_text("x"),
    "a folder too many": lambda path: (path / "more").mkdir(),
    "a file whose name is no UTF-8": lambda path: (path / "\udcff").write_text("x"),
    "a file whose name is a line that says ok": lambda path: (path / "x\nok      certificate").write_text("x"),
    "a file missing": lambda path: (path / "report.html").unlink(),
    "the data missing": lambda path: (path / "table.csv").unlink(),
    "the data a pipe": lambda path: ((path / "table.csv").unlink(), os.mkfifo(path / "table.csv")),
    "the data a folder": lambda path: ((path / "table.csv").unlink(), (path / "table.csv").mkdir()),
    "the data a device": lambda path: ((path / "table.csv").unlink(), (path / "table.csv").symlink_to("/dev/zero")),
    "the certificate a folder": lambda path: (
        (path / "certificate.json").unlink(),
        (path / "certificate.json").mkdir(),
    ),
    "the certificate a pipe": lambda path: ((path / "certificate.json").unlink(), os.mkfifo(path / "certificate.json")),
    "the certificate empty": lambda path: (path / "certificate.json").write_text(""),
    "the certificate a list": lambda path: (path / "certificate.json").write_text("[]"),
    "the certificate of another format": lambda path: (path / "certificate.json").write_text('{"format": "x/2"}'),
    "the certificate bytes": lambda path: (path / "certificate.json").write_bytes(bytes(range(256))),
    "the certificate nested without end": lambda path: (path / "certificate.json").write_text("[" * 100_000),
    "the certificate a number of many digits": lambda path: (path / "certificate.json").write_text("9" * 10_000),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_release_that_is_not_as_it_was_fails_with_exit_code_1(name: str, folder: Path) -> None:
    good(folder, GOOD_TABLE)
    FOREIGN[name](folder / "out")
    ran = run(folder, "verify", "out")
    assert ran.code == 1, ran.err
    assert len(ran.complaints) == 1
    assert all(line.isprintable() and line.startswith(("ok", "BROKEN")) for line in ran.out.splitlines())
    assert sum("certificate.json" in line and line.startswith("ok") for line in ran.out.splitlines()) <= 1


@pytest.mark.parametrize("files", ["certificate.json", "*"])
def test_a_folder_without_a_certificate_is_no_release(files: str, folder: Path) -> None:
    good(folder, GOOD_TABLE)
    for path in (folder / "out").glob(files):
        path.unlink()
    ran = run(folder, "verify", "out")
    assert (ran.code, ran.out) == (2, "")
    assert ran.complaints == ["shoal: 'out' is not a release: it has no certificate.json; give the folder of one"]


@pytest.mark.parametrize("file", ["vectors.parquet", "terms.txt", "vectors.npz"])
def test_a_pipe_in_place_of_documents_does_not_block(file: str, folder: Path) -> None:
    good(folder, GOOD_DOCUMENTS)
    (folder / "out" / file).unlink()
    os.mkfifo(folder / "out" / file)
    ran = run(folder, "verify", "out")
    assert ran.code == 1
    assert f"({file}: is not a plain file)" in ran.err


def test_the_seal_can_be_compared_with_the_one_the_maker_gave(folder: Path) -> None:
    seal = json.loads(good(folder, f"{GOOD_TABLE} --json"))["certificate"]["seal"]
    assert run(folder, "verify", "out", "--expect", f" {seal.upper()}\n").code == 0
    for other in (seal[:-1], "", "x", seal[::-1]):
        assert run(folder, "verify", "out", "--expect", other).code == 1


# -- demo ----------------------------------------------------------------------------------------------------------


def test_the_demo_makes_releases_that_verify_and_with_force_replaces_what_an_earlier_one_left(tmp_path: Path) -> None:
    make(tmp_path, {"demo/sample/subjects.csv": "left"})
    assert run(tmp_path, "demo").code == 2
    make(tmp_path, {"demo/mine.txt": "mine"})
    assert run(tmp_path, "demo", "--force").code == 2
    (tmp_path / "demo/mine.txt").unlink()
    found = json.loads(good(tmp_path, "demo -o demo --force --json"))
    assert [place["release"] for place in found] == ["demo/letters", "demo/subjects", "demo/snapshot", "demo/sanitized"]
    assert [place["private"] for place in found[:2]] == ["demo/letters-private", "demo/subjects-private"]
    assert (found[2]["put"], found[2]["deleted"]) == (360, 10)
    assert sorted(os.listdir(tmp_path)) == ["demo"]
    assert sorted(os.listdir(tmp_path / "demo")) == [
        "letters",
        "letters-private",
        "review",
        "sample",
        "sanitized",
        "sanitized-private",
        "snapshot",
        "subjects",
        "subjects-private",
    ]
    assert (tmp_path / "demo/sample/subjects.csv").read_text() != "left"
    for place in found[:3]:
        good(tmp_path, f"verify {place['release']} --min-k 5")
    good(tmp_path, "verify demo/sanitized --private demo/sanitized-private --key demo/sanitized-private/owner.key")


# -- Labels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        "--ontology h.csv",
        "--ontology sport=h.csv --method sa-mdav",
        "--ontology wordnet",
        "--no-refine",
        "--time-budget 0.1 --l 2 --confidential age",
    ],
)
def test_labels_are_protected_and_verified(tmp_path: Path, options: str) -> None:
    make(tmp_path, LABELS | {"l.csv": "sport,age\n" + "".join(f"{s},{n}\n" for n, s in enumerate(NINE_SPORTS))})
    good(tmp_path, f"{GOOD_LABELS} {options}")
    good(tmp_path, "verify out")


NINE_SPORTS = ["golf", "tennis", "rugby"] * 3


@pytest.mark.parametrize("method", ["sa-mdav-static", "s-mdav", "mdav-lcs", "mdav-mode"])
def test_methods_that_are_for_comparison_only_protect_nothing(tmp_path: Path, method: str) -> None:
    make(tmp_path, LABELS)
    assert run(tmp_path, f"{GOOD_LABELS} --method {method}").code == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options", ["--importance age=2,sport=1", "--ontology sport=h.csv --no-refine", "--method mdav"]
)
def test_numbers_and_labels_are_protected_together(tmp_path: Path, options: str) -> None:
    rows = "".join(f"{sport},{n},{n % 2 == 0}\n" for n, sport in enumerate(NINE_SPORTS))
    make(tmp_path, LABELS | {"l.csv": "sport,age,smokes\n" + rows})
    good(tmp_path, f"protect l.csv -o out -k 3 --quasi sport,age,smokes {options}")
    good(tmp_path, "verify out")


def test_a_mapping_is_proposed_and_refused_until_it_is_confirmed(tmp_path: Path) -> None:
    make(tmp_path, {"l.csv": "sport,n\n" + "golf,1\nrugbi,2\n?,3\n" * 3})
    made = good(tmp_path, "map l.csv sport -o m.csv")
    assert "3, of which 1 found" in made
    proposed = (tmp_path / "m.csv").read_text(encoding="utf-8")
    assert proposed.startswith("column,value,concept,gloss,records,other concepts\n")
    assert "sport,?,?(missing)" in proposed
    assert "sport,rugbi,?rugby.n.01" in proposed
    assert "not confirmed" in run(tmp_path, *shlex.split(f"{GOOD_LABELS} --mapping m.csv")).err
    (tmp_path / "m.csv").write_text(proposed.replace(",?(", ",(").replace(",?rugby", ",rugby"), encoding="utf-8")
    good(tmp_path, f"{GOOD_LABELS} --mapping m.csv")
    good(tmp_path, "verify out")
    assert json.loads(good(tmp_path, "map l.csv sport -o m.csv --force --json"))["guessed"] == 2


# -- Judging -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rank-swap", "noise", "correlated-noise"])
def test_masking_without_groups_is_released_and_says_that_no_crowd_is_promised(folder: Path, method: str) -> None:
    assert "NO crowd" in good(folder, f"{GOOD_TABLE} --method {method} --percent 20")
    assert "none is promised" in good(folder, "verify out")


def test_a_release_is_assessed_and_a_table_explored(folder: Path) -> None:
    good(folder, GOOD_TABLE)
    assert "score " in good(folder, "assess t.csv out -o judged")
    assert json.loads(good(folder, "assess t.csv out -o judged --force --json"))["smallest_group"] >= 3
    good(folder, GOOD_DOCUMENTS.replace("-o out", "-o letters"))
    assert "queries " in good(folder, "assess d.jsonl letters -o letters-judged")
    explored = good(folder, "explore t.csv -o explored --quasi age,income --no-refine --max-risk 90")
    assert "make it      shoal protect t.csv" in explored
    again = json.loads(good(folder, "explore t.csv -o explored --quasi age,income --no-refine --json"))
    assert len(again["outcomes"]) >= 20


# -- The program ---------------------------------------------------------------------------------------------------


def test_the_version_is_printed_and_nothing_else_is_done(tmp_path: Path) -> None:
    for argv in (["--version"], ["--version", "demo"]):
        ran = run(tmp_path, *argv)
        assert (ran.code, ran.out, ran.err) == (0, f"shoal {shoal.__version__}\n", "")
    assert list(tmp_path.iterdir()) == []


def test_without_a_command_the_help_is_printed(tmp_path: Path) -> None:
    assert good(tmp_path, "") == good(tmp_path, "--help")


@pytest.mark.parametrize("command", ["protect", "verify", "demo", "map", "assess", "explore"])
def test_the_help_of_every_command_has_an_example(command: str, tmp_path: Path) -> None:
    assert f"  {command} " in good(tmp_path, "--help")
    example = good(tmp_path, f"{command} --help").split("Examples:\n")[1]
    assert f"  shoal {command} " in example


def test_there_is_no_other_command() -> None:
    """A new command needs its happy path, its bad input and its example here."""
    commands = {command.callback.__name__ for command in shoal.cli.app.registered_commands}
    here = {"protect", "verify", "demo", "map_values", "assess", "explore", "sketch", "sign", "inspect", "workbench"}
    service = {
        "serve",
        "backup",
        "restore",
        "audit",
        "board",
        "count",
    }  # in tests of their own, and so is the sanitizer
    assert commands == here | service | {"sanitize", "review", "redact", "unmask", "train_sanitizer"}
    assert {group.typer_instance.info.name for group in shoal.cli.app.registered_groups} == {"index", "token"}


# -- Real processes ------------------------------------------------------------------------------------------------


def test_a_real_process_shows_no_bars_when_piped_and_says_data_on_stdout(folder: Path) -> None:
    done = subprocess.run(
        [SHOAL, *shlex.split(f"{GOOD_TABLE} --l 2 --no-attack")],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("release      out\n")
    assert "\x1b" not in done.stdout
    checked = subprocess.run([SHOAL, "verify", "out"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert checked.returncode == 0
    (folder / "out/extra").write_text("x")
    for reader in ("cat", "true"):  # that nobody reads the output does not change the exit code
        piped = subprocess.run(
            ["bash", "-c", f"{SHOAL} verify out | {reader}; exit ${{PIPESTATUS[0]}}"],
            cwd=folder,
            capture_output=True,
            timeout=PATIENCE,
        )
        assert piped.returncode == 1
        assert b"Traceback" not in piped.stderr


def test_progress_is_shown_on_a_terminal(folder: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [SHOAL, *shlex.split(GOOD_DOCUMENTS)],
        cwd=folder,
        env={**os.environ, "SHOAL_PROGRESS": ""},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the terminal's other end has closed
            break
        if not part:
            break
        shown += part
    assert b"\x1b" not in done.communicate(timeout=PATIENCE)[0]
    os.close(ours)
    assert done.returncode == 0
    assert b"writing" in shown


def test_a_full_disk_behind_stdout_is_said_in_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SHOAL, "--version"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    assert done.returncode == 2
    assert done.stderr == "shoal: the output cannot be written: No space left on device; make room for it\n"


def test_processes_that_a_command_starts_import_nothing_from_the_folder_it_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "")  # so that it is put back afterwards
    monkeypatch.delenv("PYTHONSAFEPATH")
    assert run(tmp_path, "--version").code == 0
    (tmp_path / "pickle.py").write_text("raise SystemExit(1)")
    code = "import multiprocessing.spawn"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True).returncode == 0
