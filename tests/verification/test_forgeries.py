"""Generated forgeries: each is refused, or what it hides is gone from the release that --rewrite makes of it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import InputError, Roles, load, protect, verify
from tests.release.releases import certificate_of, copy_of, quietly, reseal
from tests.verification.hostile import generated
from tests.verification.hostile.tricks import tricks

pytestmark = pytest.mark.usefixtures("without_attack")
FEWEST = 150


def is_passed_on(release, out):
    """Whether a release is accepted, and the mark is in what is rewritten of it."""
    accepted = verify(release, rewrite=out)
    assert bool(accepted) == out.exists()
    return bool(accepted) and generated.holds_mark(out)


@pytest.mark.parametrize("kind", [*generated.KINDS, "table.csv.gz"])
def test_a_mark_anywhere_is_refused_or_left_behind(honest, tmp_path, kind):
    original = honest[kind]
    forgeries = dict(generated.in_certificate(certificate_of(original))) | dict(generated.in_files(original))
    forgeries |= dict(generated.in_pages()) if kind in ("documents", "table.csv") else {}
    passed_on = []
    for number, (name, change) in enumerate(forgeries.items()):
        release = copy_of(original, tmp_path / f"{number}" / "copy")
        change(release)
        if is_passed_on(release, tmp_path / f"{number}" / "rewritten"):
            passed_on.append(name)
    assert passed_on == []
    assert len(forgeries) >= 40


@pytest.mark.parametrize(("kind", "fewest"), [("table.parquet", 80), ("documents", 60), ("table in parts", 80)])
def test_a_forgers_trick_is_refused(honest, tmp_path, kind, fewest):
    passed = []
    for number, (name, change) in enumerate(tricks(honest[kind])):
        release = copy_of(honest[kind], tmp_path / f"{number}" / "copy")
        change(release)
        if verify(release):
            passed.append(name)
    assert passed == []
    assert number + 1 >= fewest


def test_there_are_at_least_150_forgeries(honest):
    generated_ones = [len(dict(generated.in_certificate(certificate_of(honest[kind])))) for kind in generated.KINDS]
    assert sum(generated_ones) + len(dict(generated.in_pages())) >= FEWEST


def test_a_page_that_was_changed_is_refused_and_made_anew_by_rewriting(honest, tmp_path):
    release = copy_of(honest["table.csv"], tmp_path / "copy")
    name, change = next(generated.in_pages())
    change(release)
    assert {claim.promise for claim in verify(release).broken} == {"page"}, name
    assert verify(release, rewrite=tmp_path / "rewritten")
    assert (tmp_path / "rewritten" / "report.html").read_bytes() == (honest["table.csv"] / "report.html").read_bytes()


def test_a_page_by_another_version_is_not_vouched_for(honest, tmp_path):
    release = copy_of(honest["table.csv"], tmp_path / "copy")
    changes = dict(generated.in_pages())
    changes["a sentence in report.html at <main>, by another version"](release)
    result = verify(release)
    assert result
    assert any("not ours to vouch for" in statement.detail for statement in result.stated)


def test_bits_of_values_that_are_no_numbers_are_written_in_one_way(honest, tmp_path):
    release = copy_of(honest["table.parquet"], tmp_path / "copy")
    generated.payload(release)
    result = verify(release, rewrite=tmp_path / "rewritten")
    if result:
        column = pq.read_table(tmp_path / "rewritten" / "table.parquet")["town"].combine_chunks().to_numpy()
        assert len({value.tobytes() for value in column}) == 1


def test_a_binary_column_is_refused(tmp_path):
    table = pa.table({"age": [1.0] * 6, "scan": [b"Ann"] * 6})
    folder = quietly(protect, table.drop_columns(["scan"]), 3, tmp_path / "release", roles=Roles(quasi=("age",))).folder
    content = certificate_of(folder)
    content["promises"]["columns"].append({"name": "scan", "role": "insensitive", "type": "binary"})
    pq.write_table(table, folder / "table.parquet", compression="zstd")
    reseal(folder, content)
    assert ("schema", "a column is binary, which no release has") in [
        (claim.promise, claim.detail) for claim in verify(folder).broken
    ]


def test_a_cell_that_grows_when_it_is_normalised_is_refused(tmp_path):
    values = ["\ufdfa" * 500_000, "flu", "gout"] * 2
    table = pa.table({"age": [1.0] * 6, "illness": values})
    roles = Roles(quasi=("age",), confidential=("illness",))
    short = table.set_column(1, "illness", pa.array(["a", "flu", "gout"] * 2))
    folder = quietly(protect, short, 3, tmp_path / "release", roles=roles).folder
    rows = pq.read_table(folder / "table.parquet")
    longer = pa.array([values[0] if value == "a" else value for value in rows["illness"].to_pylist()])
    pq.write_table(rows.set_column(1, "illness", longer), folder / "table.parquet", compression="zstd")
    reseal(folder)
    assert [claim.promise for claim in verify(folder).broken] == ["size"]


def test_load_reads_no_release_that_does_not_hold_unless_told_to(honest, tmp_path):
    release = copy_of(honest["table.parquet"], tmp_path / "copy")
    rows = pq.read_table(release / "table.parquet")
    pq.write_table(rows.slice(1), release / "table.parquet", compression="zstd")
    reseal(release)
    with pytest.raises(InputError, match="does not hold its promises"):
        load(release)
    assert load(release, check=False).table.num_rows == rows.num_rows - 1


def test_load_follows_no_link(honest, tmp_path):
    release = copy_of(honest["table.parquet"], tmp_path / "copy")
    (release / "table.parquet").rename(tmp_path / "elsewhere")
    (release / "table.parquet").symlink_to(tmp_path / "elsewhere")
    for check in (True, False):
        with pytest.raises(InputError):
            load(release, check=check)


def test_a_file_that_is_exchanged_while_it_is_verified_is_not_counted(honest, tmp_path, monkeypatch):
    """Whatever is in the folder after the hash was taken: the bytes that were hashed are those that are counted."""
    release = copy_of(honest["table.parquet"], tmp_path / "copy")
    alone = pq.read_table(release / "table.parquet").slice(0, 1)
    from shoal.verification import verify as module

    def exchanged(*arguments):
        pq.write_table(alone, release / "table.parquet", compression="zstd")
        return counted(*arguments)

    counted = module.COUNTED["table"]
    monkeypatch.setitem(module.COUNTED, "table", exchanged)
    assert verify(release)  # what was hashed held
    monkeypatch.undo()
    assert not verify(release)


def test_a_label_of_a_concept_is_in_the_rows_or_the_owners_word(honest, tmp_path):
    """A report shows the tree of concepts; what it says that rows have, they have."""
    forged = copy_of(honest["table of labels"], tmp_path / "copy")
    content = certificate_of(forged)
    trees = content["stated"]["report"]["figures"]["generalisations"]
    released = next(line for tree in trees for line in tree["concepts"] if line["after"])
    released["label"] = generated.MARK
    reseal(forged, content)
    broken = verify(forged, rewrite=tmp_path / "rewritten").broken
    assert [claim.detail for claim in broken] == ["the figures that are stated make no report"]
    assert not (tmp_path / "rewritten").exists()
    above = [
        line
        for tree in certificate_of(honest["table of labels"])["stated"]["report"]["figures"]["generalisations"]
        for line in tree["concepts"]
        if not line["after"]
    ]
    stated = [statement.detail for statement in verify(honest["table of labels"]).stated]
    assert stated == [f"the labels of {len(above)} concepts that no row has: the owner's word"]
