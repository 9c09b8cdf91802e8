"""Whatever is changed in a release of sketches, verification finds it and names it."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import InputError, verify
from tests.release.releases import certificate_of, copy_of, reseal
from tests.release.test_sketches import METHODS, baskets_file, release
from tests.verification.hostile.tricks import tricks

FILES = ["README.md", "certificate.json", "report.html", "sketches.parquet"]
KINDS = pytest.mark.parametrize("kind", METHODS)
CROWD = pytest.mark.parametrize("kind", ["crowd"])


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    source = baskets_file(folder / "in", labels=[f"shop {n % 5}" for n in range(24)])
    options = {"crowd": {"l": 2}}
    made = {
        kind: release(folder / kind, method, source=source, label_column="shop", **options.get(kind, {})).folder
        for kind, method in METHODS.items()
    }
    assert all(verify(folder) for folder in made.values())
    return made


@pytest.fixture
def sound(originals, tmp_path, kind):
    return copy_of(originals[kind], tmp_path / "copy")


def broken(folder):
    return {(claim.promise, claim.file) for claim in verify(folder).broken}


def rewritten(folder, change, **options):
    """Apply `change` to the rows, write, hash and seal; the promises that are broken."""
    path = folder / "sketches.parquet"
    rows = change(pq.read_table(path).to_pylist())
    fields = [(name, pa.list_(pa.float64()) if name == "sketch" else pa.string()) for name in rows[0]]
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    pq.write_table(table, path, **({"compression": "zstd", "row_group_size": 20_000} | options))
    reseal(folder)
    return {promise for promise, _ in broken(folder)}


def changed_promises(folder, **changes):
    content = certificate_of(folder)
    for place, value in changes.items():
        *path, name = place.split("__")
        within = content["promises"]
        for step in path:
            within = within[step]
        within[name] = value
    reseal(folder, content)
    return {promise for promise, _ in broken(folder)}


@KINDS
@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_found_wherever_it_is(sound, name):
    raw = (sound / name).read_bytes()
    for at in sorted({0, 1, len(raw) // 3, len(raw) // 2, len(raw) - 2, len(raw) - 1}):
        changed = bytearray(raw)
        changed[at] ^= 0x01
        (sound / name).write_bytes(changed)
        assert any(file == name for _, file in broken(sound)), at


@KINDS
@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(sound, name):
    (sound / name).unlink()
    if name == "certificate.json":
        with pytest.raises(InputError, match="is not a release"):
            verify(sound)
        return
    assert any(file == name for _, file in broken(sound))


@KINDS
@pytest.mark.parametrize("extra", ["sketch.key", "terms.txt", "vectors.parquet", "sketches/part-00000.parquet"])
def test_a_file_too_many_is_found_even_when_the_certificate_lists_it(sound, extra):
    (sound / extra).parent.mkdir(exist_ok=True)
    (sound / extra).write_text("who is who", encoding="utf-8")
    assert ("files", extra) in broken(sound)
    reseal(sound)
    assert broken(sound)


@KINDS
def test_the_rows_written_as_they_are_still_hold(sound):
    assert rewritten(sound, lambda rows: rows) == set()


@CROWD
def test_a_changed_number_breaks_the_crowd(sound):
    def change(rows):
        rows[0]["sketch"][0] = round(rows[0]["sketch"][0] - 0.5, 3)  # as many decimals as the others have
        return rows

    assert "k-anonymity" in rewritten(sound, change)


@KINDS
def test_swapped_rows_are_out_of_order(sound):
    assert rewritten(sound, lambda rows: [rows[-1], *rows[1:-1], rows[0]]) == {"order"}


@CROWD
def test_labels_out_of_order_within_a_crowd_are_found(sound):
    def change(rows):
        equal = [row for row in rows if row["sketch"] == rows[0]["sketch"]]
        return [*reversed(equal), *rows[len(equal) :]]

    assert rewritten(sound, change) == {"order"}


@CROWD
def test_a_crowd_of_one_label_is_found(sound):
    assert "l-diversity" in rewritten(sound, lambda rows: [row | {"shop": "shop 1"} for row in rows])


@KINDS
def test_a_row_less_is_found(sound):
    assert "rows" in rewritten(sound, lambda rows: rows[1:])


@KINDS
@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), -0.0, 0.1234, 1e300], ids=["nan", "inf", "minus zero", "digits", "huge"]
)
def test_a_number_that_no_release_has_is_found(sound, number):
    def change(rows):
        for row in rows:
            row["sketch"][-1] = number
        return rows

    assert "schema" in rewritten(sound, change)


@KINDS
@pytest.mark.parametrize("sketch", [None, [], [None]], ids=["missing", "empty", "of nothing"])
def test_a_sketch_of_nothing_is_found(sound, sketch):
    assert "schema" in rewritten(sound, lambda rows: [*rows[:-1], rows[-1] | {"sketch": sketch}])


@KINDS
def test_a_missing_label_is_found(sound):
    assert "schema" in rewritten(sound, lambda rows: [*rows[:-1], rows[-1] | {"shop": None}])


@CROWD
def test_a_shorter_crowd_tells_itself_apart(sound):
    def change(rows):
        first = rows[0]["sketch"]
        return [row | {"sketch": row["sketch"][:-1]} if row["sketch"] == first else row for row in rows]

    assert rewritten(sound, change) == {"lengths"}


@KINDS
def test_a_column_more_is_found(sound):
    assert "schema" in rewritten(sound, lambda rows: [row | {"basket": str(n)} for n, row in enumerate(rows)])


@KINDS
def test_single_precision_is_found_and_notes_of_the_writer_are_left_behind(sound, tmp_path):
    table = pq.read_table(sound / "sketches.parquet")
    narrow = table.set_column(0, "sketch", table["sketch"].cast(pa.list_(pa.float32())))
    pq.write_table(narrow, sound / "sketches.parquet", compression="zstd")
    reseal(sound)
    assert "schema" in {promise for promise, _ in broken(sound)}
    pq.write_table(table.replace_schema_metadata({"who": "is who"}), sound / "sketches.parquet", compression="zstd")
    reseal(sound)
    assert verify(sound, rewrite=tmp_path / "rewritten")
    assert b"is who" not in (tmp_path / "rewritten" / "sketches.parquet").read_bytes()


@KINDS
def test_row_groups_that_mark_rows_are_left_behind(sound, tmp_path):
    seal = certificate_of(sound)["seal"]
    assert rewritten(sound, lambda rows: rows, row_group_size=7, write_page_index=True) == set()
    assert certificate_of(sound)["seal"] != seal
    assert verify(sound, rewrite=tmp_path / "rewritten")
    assert certificate_of(tmp_path / "rewritten")["seal"] == seal


@KINDS
def test_another_compression_is_found(sound):
    assert rewritten(sound, lambda rows: rows, compression="snappy")


@pytest.mark.parametrize(
    ("kind", "changes", "promise"),
    [
        ("crowd", {"form": "delta sketches"}, "form"),
        ("crowd", {"anonymity__k": None, "anonymity__whole_rows": False}, "form"),
        ("crowd", {"anonymity__k": 9}, "k-anonymity"),
        ("crowd", {"anonymity__shared_columns": [["shop"]]}, "k-anonymity"),
        ("crowd", {"lengths__longest": 17}, "form"),
        ("crowd", {"lengths__longest": 17, "lengths__shortest": 17}, "lengths"),
        ("crowd", {"diversity__l": 9}, "l-diversity"),
        ("delta", {"form": "crowd sketches"}, "form"),
        ("delta", {"anonymity__k": 2, "anonymity__whole_rows": True}, "form"),
        ("delta", {"lengths__shortest": 1}, "lengths"),
        ("delta", {"lengths__longest": 10**15}, "lengths"),
        ("k-variance", {"form": "delta sketches, improved"}, "certificate"),
        ("k-variance", {"lengths": None}, "certificate"),
        ("k-variance", {"lengths__longest": 0}, "certificate"),
    ],
)
def test_a_promise_that_the_rows_do_not_keep_is_found(sound, changes, promise):
    assert promise in changed_promises(sound, **changes)


@KINDS
def test_sketches_that_call_themselves_documents_are_found(sound):
    content = certificate_of(sound)
    reseal(sound, content | {"kind": "documents"})
    assert broken(sound) == {("certificate", "certificate.json")}


@pytest.mark.parametrize("kind", ["delta"])
@pytest.mark.parametrize("value", [None, {}])
def test_what_is_stated_of_delta_never_breaks_the_reader(sound, value):
    content = certificate_of(sound)
    content["stated"]["parameters"]["sketch"] = value
    reseal(sound, content)
    result = verify(sound)
    assert result
    assert result.stated[0].detail == "the variance of every attribute's estimate is at least delta"


@KINDS
def test_a_pipe_in_place_of_the_sketches_does_not_block(sound):
    (sound / "sketches.parquet").unlink()
    os.mkfifo(sound / "sketches.parquet")
    assert ("files", "sketches.parquet") in broken(sound)


@CROWD
def test_a_forgers_trick_is_refused(originals, tmp_path, kind):
    passed = []
    for number, (name, change) in enumerate(tricks(originals[kind])):
        folder = copy_of(originals[kind], tmp_path / f"{number}" / "copy")
        change(folder)
        if verify(folder):
            passed.append(name)
    assert passed == []
