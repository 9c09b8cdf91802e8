"""Whatever is changed in a release, verification finds it, names it, and never breaks down."""

from __future__ import annotations

import json
import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from shoal import InputError, Microaggregation, Roles, verify
from tests.release.releases import (
    certificate_of,
    copy_of,
    release_frame,
    release_letters,
    release_table,
    reseal,
    write_documents,
    write_matrix,
    written,
)

pytestmark = pytest.mark.usefixtures("without_attack")

DOCUMENT_FILES = ["README.md", "certificate.json", "report.html", "terms.txt", "vectors.npz", "vectors.parquet"]
TABLE_FILES = ["README.md", "certificate.json", "report.html", "table.csv"]
EVERY_FILE = [("letters", name) for name in DOCUMENT_FILES] + [("table", name) for name in TABLE_FILES]
EITHER = pytest.mark.parametrize("kind", ["letters", "table"])


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    letters = release_letters(folder / "letters", l=2).folder
    table = release_table(folder / "table", l=2).folder
    assert verify(letters)
    assert verify(table)
    return {"letters": letters, "table": table}


@pytest.fixture
def release(originals, tmp_path, request):
    return copy_of(originals[request.getfixturevalue("kind")], tmp_path / "copy")


def broken(release, expect=None):
    """What does not hold, as (promise, file)."""
    return {(claim.promise, claim.file) for claim in verify(release, expect).broken}


def test_the_files_are_those_tampered_with_here(originals):
    assert sorted(os.listdir(originals["letters"])) == DOCUMENT_FILES
    assert sorted(os.listdir(originals["table"])) == TABLE_FILES


# Bytes and files


@pytest.mark.parametrize(("kind", "name"), EVERY_FILE)
def test_a_flipped_byte_is_found_wherever_it_is(release, kind, name):
    sound = (release / name).read_bytes()
    for at in sorted({0, 1, len(sound) // 3, len(sound) // 2, len(sound) - 2, len(sound) - 1}):
        for flip in (0x01, 0x80):
            changed = bytearray(sound)
            changed[at] ^= flip
            (release / name).write_bytes(changed)
            found = broken(release)
            assert any(file == name for _, file in found), (at, flip, found)
    (release / name).write_bytes(sound)
    assert verify(release)


@pytest.mark.parametrize(("kind", "name"), EVERY_FILE)
def test_a_missing_file_is_named(release, kind, name):
    (release / name).unlink()
    if name == "certificate.json":
        with pytest.raises(InputError, match="is not a release"):
            verify(release)
        return
    assert any(file == name for _, file in broken(release))


@pytest.mark.parametrize(("kind", "name"), EVERY_FILE)
def test_a_truncated_or_longer_file_is_named(release, kind, name):
    sound = (release / name).read_bytes()
    for changed in (sound[:-1], b"", sound + b"\n", sound + b"\0"):
        (release / name).write_bytes(changed)
        assert any(file == name for _, file in broken(release))


@pytest.mark.parametrize(("kind", "name"), EVERY_FILE)
def test_a_link_in_place_of_a_file_is_named(release, kind, name, tmp_path):
    (release / name).rename(tmp_path / name)
    (release / name).symlink_to(tmp_path / name)
    assert any(file == name for _, file in broken(release))


@EITHER
@pytest.mark.parametrize("extra", ["notes.txt", ".hidden", "table.parquet", "original.csv"])
def test_a_file_too_many_is_named(release, kind, extra):
    (release / extra).write_text("who is who", encoding="utf-8")
    assert ("files", extra) in broken(release)


@EITHER
@pytest.mark.parametrize("extra", ["notes.txt", "table.parquet", "table.tsv"])
def test_a_file_too_many_is_found_even_when_the_certificate_lists_it(release, kind, extra):
    (release / extra).write_text("who is who", encoding="utf-8")
    reseal(release)
    assert broken(release)


@EITHER
def test_a_folder_too_many_is_named(release, kind):
    (release / "more").mkdir()
    assert ("files", "more") in broken(release)


@EITHER
def test_a_pipe_in_place_of_a_file_does_not_block(release, kind):
    name = "table.csv" if kind == "table" else "vectors.parquet"
    (release / name).unlink()
    os.mkfifo(release / name)
    assert ("files", name) in broken(release)


# Rows changed, everything hashed and sealed anew


def rewritten_table(release, change):
    """Apply `change` to the lines of the table, hash and seal."""
    path = release / "table.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, *change(lines)]) + "\n", encoding="utf-8")
    reseal(release)
    return {promise for promise, _ in broken(release)}


@pytest.mark.parametrize("kind", ["table"])
def test_a_changed_number_breaks_k_anonymity(release, kind):
    assert "k-anonymity" in rewritten_table(release, lambda lines: ["1" + lines[0], *lines[1:]])


@pytest.mark.parametrize("kind", ["table"])
def test_a_number_written_in_another_way_breaks_k_anonymity(release, kind):
    """31.5 and 31.50 are equal to a reader of numbers; whoever reads the file can tell the rows apart."""

    def change(lines):
        first, rest = lines[0].split(",", 1)
        return [f"{first}{'' if '.' in first else '.'}00,{rest}", *lines[1:]]

    assert "k-anonymity" in rewritten_table(release, change)


@pytest.mark.parametrize("kind", ["table"])
def test_a_changed_confidential_value_is_found(release, kind):
    changed = rewritten_table(
        release, lambda lines: [line.replace("gout", "flu").replace("asthma", "flu") for line in lines]
    )
    assert "l-diversity" in changed


@pytest.mark.parametrize("kind", ["table"])
def test_swapped_rows_are_out_of_order(release, kind):
    assert rewritten_table(release, lambda lines: [lines[-1], *lines[1:-1], lines[0]]) == {"order"}


@pytest.mark.parametrize("kind", ["table"])
def test_a_row_less_is_found(release, kind):
    assert "rows" in rewritten_table(release, lambda lines: lines[1:])


@pytest.mark.parametrize("kind", ["table"])
def test_a_missing_number_is_found(release, kind):
    assert "k-anonymity" in rewritten_table(release, lambda lines: ["," + lines[0].split(",", 1)[1], *lines[1:]])


@pytest.mark.parametrize("kind", ["table"])
def test_a_column_more_is_found(release, kind):
    path = release / "table.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [f'{line},"person {number}"' for number, line in enumerate(lines)]
    path.write_text("\n".join([header + ',"name"', *rows]) + "\n", encoding="utf-8")
    reseal(release)
    assert {promise for promise, _ in broken(release)} >= {"schema"}


def rewritten_letters(release, change, matrix=True):
    """Apply `change` to the rows of the documents, write the matrix to match, hash and seal."""
    table = pq.read_table(release / "vectors.parquet")
    rows = change(table.to_pylist())
    write_documents(rows, release / "vectors.parquet")
    if matrix:
        terms = (release / "terms.txt").read_text(encoding="utf-8").split()
        dense = np.zeros((len(rows), len(terms)))
        for number, row in enumerate(rows):
            for term, weight in zip(row["terms"], row["weights"], strict=True):
                dense[number, terms.index(term)] = weight
        sp.save_npz(release / "vectors.npz", sp.csr_array(dense))
    reseal(release)
    return {promise for promise, _ in broken(release)}


@pytest.mark.parametrize("kind", ["letters"])
def test_letters_rewritten_without_a_change_hold(release, kind):
    assert rewritten_letters(release, lambda rows: rows) == set()


@pytest.mark.parametrize("kind", ["letters"])
def test_a_changed_weight_breaks_k_anonymity(release, kind):
    def change(rows):
        rows[0]["weights"] = [weight * (1 + 1e-12) for weight in rows[0]["weights"]]
        return rows

    assert "k-anonymity" in rewritten_letters(release, change)


@pytest.mark.parametrize("kind", ["letters"])
def test_a_changed_weight_that_the_matrix_does_not_have_is_found(release, kind):
    def change(rows):
        group = [row for row in rows if row["weights"] == rows[0]["weights"]]
        for row in group:
            row["weights"] = list(reversed(row["weights"]))
        return rows

    assert "same data" in rewritten_letters(release, change, matrix=False)


@pytest.mark.parametrize("kind", ["letters"])
def test_swapped_letters_are_out_of_order(release, kind):
    assert rewritten_letters(release, lambda rows: rows[::-1]) == {"order"}


@pytest.mark.parametrize("kind", ["letters"])
def test_changed_labels_are_found(release, kind):
    assert "l-diversity" in rewritten_letters(release, lambda rows: [row | {"part": "bone"} for row in rows])


@pytest.mark.parametrize("kind", ["letters"])
def test_weights_that_are_not_of_unit_length_are_found(release, kind):
    changed = rewritten_letters(
        release, lambda rows: [row | {"weights": [2 * weight for weight in row["weights"]]} for row in rows]
    )
    assert changed == {"unit length", "form"}


@pytest.mark.parametrize("kind", ["letters"])
def test_a_withheld_word_smuggled_into_the_terms_is_found(release, kind):
    with (release / "terms.txt").open("a", encoding="utf-8") as terms:
        terms.write("zebulon\n")
    reseal(release)
    assert broken(release)


@pytest.mark.parametrize("kind", ["letters"])
def test_something_smuggled_into_the_matrix_is_found(release, kind):
    with np.load(release / "vectors.npz") as matrix:
        parts = dict(matrix)
    np.savez(release / "vectors.npz", names=np.array(["Ann", "Bob"]), **parts)
    reseal(release)
    assert ("same data", "vectors.npz") in broken(release)


def rewritten_matrix(release, comment=b"", first=(), **changed):
    """The matrix written anew by hand, member by member."""
    with np.load(release / "vectors.npz") as matrix:
        parts = dict(matrix) | changed
    write_matrix([*first, *parts.items()], release / "vectors.npz", comment)
    reseal(release)
    return broken(release)


@pytest.mark.parametrize("kind", ["letters"])
def test_what_no_reader_compares_does_not_ride_along_in_the_matrix(release, kind):
    assert rewritten_matrix(release) == set()
    names = np.array(["Ann", "Bob"])
    for options in (
        {"_is_array": names},
        {"format": names},
        {"first": [("data", np.arange(9.0))]},  # some readers take the first of a name, some the last
    ):
        original = (release / "vectors.npz").read_bytes()
        assert rewritten_matrix(release, **options) == {("same data", "vectors.npz")}, options
        (release / "vectors.npz").write_bytes(original)


@pytest.mark.parametrize("kind", ["letters"])
def test_digits_that_no_double_has_do_not_mark_rows(release, kind):
    table = pq.read_table(release / "vectors.parquet")
    marked = [
        [Decimal(f"{weight:.24f}{row:03}") for weight in weights]
        for row, weights in enumerate(table["weights"].to_pylist(), start=1)
    ]
    table = table.set_column(2, "weights", pa.array(marked, pa.list_(pa.decimal128(38, 27))))
    pq.write_table(table, release / "vectors.parquet", compression="zstd")
    reseal(release)
    assert ("schema", "vectors.parquet") in broken(release)


@pytest.mark.parametrize("kind", ["letters"])
def test_notes_of_the_writer_of_a_parquet_file_are_left_behind_by_rewriting(release, kind, tmp_path):
    table = pq.read_table(release / "vectors.parquet")
    noted = table.replace_schema_metadata({"names": "Ann, Bob"})
    pq.write_table(noted, release / "vectors.parquet", compression="zstd")
    reseal(release)
    assert verify(release, rewrite=tmp_path / "rewritten")
    assert b"Bob" in (release / "vectors.parquet").read_bytes()
    assert b"Bob" not in (tmp_path / "rewritten" / "vectors.parquet").read_bytes()


@pytest.mark.parametrize("kind", ["letters"])
def test_a_group_split_over_parts_is_no_group(release, kind):
    table = pq.read_table(release / "vectors.parquet")
    (release / "vectors").mkdir()
    write_documents(table.slice(0, 2).to_pylist(), release / "vectors" / "part-00000.parquet")
    write_documents(table.slice(2).to_pylist(), release / "vectors" / "part-00001.parquet")
    for name in ("vectors.parquet", "vectors.npz"):
        (release / name).unlink()
    reseal(release)
    assert "k-anonymity" in {promise for promise, _ in broken(release)}


@pytest.mark.parametrize("kind", ["table"])
def test_parts_beside_a_table_are_found(release, kind):
    (release / "table").mkdir()
    assert ("files", "table") in broken(release)
    pq.write_table(pa.table({"name": ["Ann"]}), release / "table" / "part-00000.parquet")
    reseal(release)
    assert ("files", "table.csv") in broken(release)


@pytest.mark.parametrize("kind", ["table"])
@pytest.mark.parametrize(
    "mark",
    [
        lambda text: text.replace(b"\n", b"\r\n", 1),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text + b"\n",
        lambda text: b'\n"'.join(text.split(b"\n", 1)).replace(b",", b'",', text.split(b"\n")[0].count(b",") + 1),
    ],
    ids=["line end", "byte order mark", "empty line", "quotes"],
)
def test_the_way_a_row_is_written_does_not_mark_it(release, kind, mark):
    text = (release / "table.csv").read_bytes()
    (release / "table.csv").write_bytes(mark(text))
    reseal(release)
    assert ("schema", "table.csv") in broken(release) or ("data", None) in broken(release)


# Certificates that promise something else, sealed anew


def edited(release, change):
    content = certificate_of(release)
    change(content["promises"])
    reseal(release, content)
    return {promise for promise, _ in broken(release)}


def setting(*path):
    *above, last, value = path

    def change(promises):
        for key in above:
            promises = promises[key]
        promises[last] = value

    return change


EDITS = [
    (setting("anonymity", "k", 9), "k-anonymity"),
    (setting("anonymity", "k", 10**30), "k-anonymity"),
    (setting("anonymity", "k", 1), "k-anonymity"),
    (setting("anonymity", "k", -5), "k-anonymity"),
    (setting("anonymity", "smallest_group", 99), "k-anonymity"),
    (setting("anonymity", "smallest_group", 2), "k-anonymity"),
    (setting("anonymity", "shared_columns", []), "k-anonymity"),
    (setting("diversity", "l", 7), "l-diversity"),
    (setting("diversity", "columns", []), "l-diversity"),
    (setting("diversity", "columns", 0, "least", 9), "l-diversity"),
    (setting("diversity", "columns", 0, "single_valued_groups", 5), "l-diversity"),
    (setting("diversity", "l", -3), "l-diversity"),
    (setting("diversity", "l", True), "l-diversity"),
    (setting("columns", 0, "role", "quasi "), "schema"),
    (setting("columns", 0, "role", "Confidential"), "schema"),
    (setting("diversity", "columns", 0, "groups", 77), "l-diversity"),
    (setting("diversity", "columns", 0, "values", 99), "l-diversity"),
    (setting("diversity", "columns", 0, "column", "wealth"), "l-diversity"),
    (setting("rows", 9), "rows"),
    (setting("rows", 7), "rows"),
    (lambda promises: promises["columns"].pop(), "schema"),
    (lambda promises: promises["columns"].reverse(), "schema"),
]


@EITHER
@pytest.mark.parametrize(("change", "promise"), EDITS)
def test_a_promise_that_the_data_does_not_hold_is_broken_however_it_is_sealed(release, kind, change, promise):
    found = edited(release, change)
    assert promise in found or "certificate" in found  # a promise that none can be is none of the format


@EITHER
def test_a_protected_column_that_is_not_there_is_found(release, kind):
    more = {"name": "more", "role": "quasi", "type": "double"}
    assert edited(release, lambda promises: promises["columns"].append(more)) & {"schema", "k-anonymity"}


@pytest.mark.parametrize("kind", ["table"])
def test_a_promise_that_leaves_out_a_protected_column_is_broken(release, kind):
    assert "k-anonymity" in edited(release, setting("anonymity", "shared_columns", [["age"]]))


@pytest.mark.parametrize("kind", ["table"])
def test_a_promise_of_whole_rows_is_not_one_of_parts(release, kind):
    assert "k-anonymity" in edited(release, setting("anonymity", "shared_columns", [["age"], ["pay"]]))


@pytest.mark.parametrize("kind", ["table"])
@pytest.mark.parametrize("shared", [[], [[]]])
def test_a_promise_about_no_column_is_none(release, kind, shared):
    def hide(promises):
        for column in promises["columns"]:
            column["role"] = "insensitive"
        promises["anonymity"] |= {"shared_columns": shared, "smallest_group": promises["rows"]}
        promises["diversity"] = {"l": None, "columns": []}

    assert "k-anonymity" in edited(release, hide)


@EITHER
def test_k_is_a_number(release, kind):
    assert edited(release, setting("anonymity", "k", "3")) == {"certificate"}


@pytest.mark.parametrize("kind", ["table"])
def test_l_is_not_promised_of_nothing(release, kind):
    def hide(promises):
        promises["columns"][-1]["role"] = "insensitive"
        promises["diversity"]["columns"] = []

    assert "l-diversity" in edited(release, hide)


@pytest.mark.parametrize("kind", ["table"])
def test_a_column_declared_insensitive_is_not_counted_and_only_the_expected_seal_tells(release, kind):
    """Which columns could point to a person is the owner's word; nobody can count that. The seal is what holds it."""
    seal = certificate_of(release)["seal"]

    def hide(promises):
        promises["columns"][0] |= {"role": "insensitive", "type": "string"}
        promises["anonymity"]["shared_columns"] = [["pay"]]

    header, *rows = (release / "table.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith('"age",')
    quoted = ['"{}",{}'.format(*row.split(",", 1)) for row in rows]  # as columns that are not protected are
    (release / "table.csv").write_text("\n".join([header, *quoted, ""]), encoding="utf-8")
    assert edited(release, hide) == {"page"}  # a report would say so
    assert ("certificate", "certificate.json") in broken(release, expect=seal)


@EITHER
def test_a_certificate_edited_and_not_sealed_is_found(release, kind):
    content = certificate_of(release)
    content["stated"]["information_loss"] = 0.0
    (release / "certificate.json").write_bytes(written(content))
    assert broken(release) == {("certificate", "certificate.json")}


@EITHER
def test_the_same_certificate_written_in_another_way_is_found(release, kind):
    content = certificate_of(release)
    (release / "certificate.json").write_text(json.dumps(content), encoding="utf-8")
    assert broken(release) == {("certificate", "certificate.json")}


@EITHER
def test_the_expected_seal_finds_out_what_was_sealed_anew(release, kind):
    content = certificate_of(release)
    seal = content["seal"]
    assert verify(release, expect=f" {seal.upper()}\n")
    content["stated"]["information_loss"] = 0.0
    reseal(release, content)
    assert verify(release)
    assert broken(release, expect=seal) == {("certificate", "certificate.json")}


# Hostile certificates


def nested(depth):
    return b'{"format": ' + b"[" * depth + b"]" * depth + b"}"


@EITHER
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not JSON",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{}",
        b'{"format": "shoal-certificate/1"}',
        b'{"format": "shoal-certificate/3"}',
        b'{"format": NaN}',
        b'{"seal": "\\ud800", "format": "shoal-certificate/1"}',
        b'{"format": ' + b"9" * 5000 + b"}",
        b'{"format": "shoal-certificate/1", "rows": 1e999}',
        nested(100),
        nested(100_000),
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_what_is_no_certificate_is_a_broken_promise(release, kind, raw):
    (release / "certificate.json").write_bytes(raw)
    assert ("certificate", "certificate.json") in broken(release)


STRANGE = [None, [], {}, "text", 10**40, -1, 1.5, True, [[]], [None], [{}], {"k": []}, {"": {}}]


@EITHER
@pytest.mark.parametrize("strange", STRANGE, ids=repr)
@pytest.mark.parametrize(
    "path",
    [
        ("kind",),
        ("files",),
        ("promises",),
        ("promises", "rows"),
        ("promises", "columns"),
        ("promises", "anonymity"),
        ("promises", "anonymity", "k"),
        ("promises", "anonymity", "shared_columns"),
        ("promises", "anonymity", "smallest_group"),
        ("promises", "diversity"),
        ("promises", "diversity", "columns"),
    ],
    ids=lambda path: ".".join(path),
)
def test_strange_values_in_a_sealed_certificate_break_a_promise_and_nothing_else(release, kind, strange, path):
    content = certificate_of(release)
    setting(*path, strange)(content)
    reseal(release, content, rehash=False)
    assert broken(release)


@EITHER
@pytest.mark.parametrize(
    "path", [("promises",), ("files",), ("kind",), ("promises", "anonymity"), ("promises", "rows")]
)
def test_missing_parts_break_a_promise(release, kind, path):
    content = certificate_of(release)
    *above, last = path
    inner = content
    for key in above:
        inner = inner[key]
    del inner[last]
    reseal(release, content, rehash=False)
    assert broken(release)


@EITHER
@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "more/inside.txt", "", ".", "..", "a\0b", "\x1b[2J"])
def test_file_names_that_lead_elsewhere_are_not_followed(release, kind, name, tmp_path):
    (tmp_path / "outside.txt").write_text("not part of the release", encoding="utf-8")
    content = certificate_of(release)
    content["files"][name] = {"sha256": "0" * 64, "bytes": 23}
    reseal(release, content, rehash=False)
    assert ("files", name) in broken(release)


@pytest.mark.parametrize("kind", ["letters"])
def test_a_kind_that_is_not_that_of_the_data_is_found(release, kind):
    content = certificate_of(release)
    content["kind"] = "table"
    reseal(release, content)
    assert broken(release)


def test_what_is_no_folder_is_the_callers_mistake(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for place in (tmp_path / "absent", tmp_path / "file", "a\0b"):
        with pytest.raises(InputError, match="not a folder that can be read"):
            verify(place)


def test_an_empty_folder_is_said_to_be_no_release(tmp_path):
    with pytest.raises(InputError, match="is not a release"):
        verify(tmp_path)


def test_a_release_without_k_for_whole_rows_says_so_in_its_claims(tmp_path):
    roles = Roles(quasi=("age", "pay"))
    made = release_table(tmp_path, roles=roles, method=Microaggregation(method="ranking"))
    promises = [claim.promise for claim in verify(made.folder).claims]
    assert "shared values" in promises
    assert "k-anonymity" not in promises


def test_types_other_than_promised_are_found(tmp_path):
    table = pa.table({"age": [1.0, 2, 8, 9], "seen": [1, 2, 3, 4]})
    roles = Roles(quasi=("age",), insensitive=("seen",))
    folder = release_frame(table, 2, tmp_path / "release", roles).folder
    content = certificate_of(folder)
    content["promises"]["columns"][1]["type"] = "string"
    reseal(folder, content)
    assert ("schema", "table.parquet") in broken(folder)
