"""Nothing private rides along, and the private side is right and stays apart."""

from __future__ import annotations

import gzip
import json
import stat
import time
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import Roles, protect, verify
from shoal.terms.vector_space import VectorSpace
from tests.release.releases import (
    LETTERS,
    TABLE_MDAV,
    files_of,
    quietly,
    release_frame,
    release_letters,
    release_table,
    release_texts,
    rows_of,
    steps_of,
)

pytestmark = pytest.mark.usefixtures("without_attack")


def everything_in(release) -> str:
    """All the text of a release: its bytes, and what unpacks from them."""
    found = []
    for path in release.iterdir():
        raw = path.read_bytes()
        found.append(raw.decode("utf-8", "replace"))
        found.append(raw.decode("utf-16-le", "replace"))
        if path.suffix == ".gz":
            found.append(gzip.decompress(raw).decode("utf-8"))
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as parts:
                found += [parts.read(name).decode("latin-1") for name in parts.namelist()]
                found += [repr(vars(info) if hasattr(info, "__dict__") else info) for info in parts.infolist()]
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            found.append(repr(table.to_pylist()))
            found.append(repr(pq.ParquetFile(path).metadata.metadata))
            found.append(str(table.schema.metadata))
    return "\n".join(found).lower()


def test_no_name_place_or_identifier_is_in_a_tables_release(tmp_path):
    owner = tmp_path / "owner-s-secret-folder"
    everything = everything_in(release_table(owner).folder)
    for private in ("oakley", "pike", "ann ", "people.csv", "secret-folder", str(tmp_path).lower(), '"name": "name"'):
        assert private not in everything
    assert "illness" in everything  # the search does find what is there


def test_no_name_place_identifier_or_withheld_word_is_in_a_release_of_documents(tmp_path):
    owner = tmp_path / "owner-s-secret-folder"
    made = release_letters(owner)
    everything = everything_in(made.folder)
    private = ["zebulon", "letters.jsonl", "secret-folder", str(tmp_path).lower(), *(name for name, _, _ in LETTERS)]
    for word in private:
        assert word not in everything
    assert "fever" in everything
    withheld = {row["word"] for row in rows_of(made.private / "words_left_out.csv") if row["step"] != "stop words"}
    assert {"zebulon", "broken", "heals"} <= withheld
    released = set((made.folder / "terms.txt").read_text(encoding="utf-8").split())
    assert not withheld & released
    for word in ("zebulon", "heals", "stays"):
        assert word not in everything


def test_a_word_of_one_document_is_withheld_unless_asked_for(tmp_path):
    texts = [f"heron fish {word}" for word in ("boat", "boat", "wind", "wind", "walrus")]
    default, asked = tmp_path / "default", tmp_path / "asked"
    release_texts(texts, list("ababa"), 2, default)
    release_texts(texts, list("ababa"), 2, asked, space=VectorSpace(min_df=1))
    assert "walru" not in everything_in(default)
    assert "walru" in everything_in(asked)


def test_metadata_of_the_input_stays_behind(tmp_path):
    field = pa.field("age", pa.float64(), metadata={"comment": "typed in by Oakley"})
    codes = pa.DictionaryArray.from_arrays([0, 0, 1, 1], ["flu", "gout", "a patient named Oakley"])
    table = pa.table([[1.0, 2, 3, 4], codes], schema=pa.schema([field, ("illness", codes.type)]))
    table = table.replace_schema_metadata({"owner": "Oakley", "pandas": '{"creator": "Oakley"}'})
    pq.write_table(table, tmp_path / "in.parquet")
    roles = Roles(quasi=("age",), confidential=("illness",))
    release_frame(tmp_path / "in.parquet", 2, tmp_path / "file", roles)
    release_frame(table, 2, tmp_path / "memory", roles)
    assert "oakley" not in everything_in(tmp_path / "file")
    assert "oakley" not in everything_in(tmp_path / "memory")


def test_the_index_of_a_dataframe_stays_behind(tmp_path):
    frame = pd.DataFrame({"age": [1.0, 2, 3, 4]}, index=pd.Index(["ann", "bob", "cyril", "di"], name="person"))
    release_frame(frame, 2, tmp_path / "release")
    everything = everything_in(tmp_path / "release")
    assert "cyril" not in everything
    assert "person" not in rows_of(tmp_path / "release" / "table.parquet")[0]


@pytest.mark.parametrize("make", [release_table, release_letters])
def test_where_and_when_it_was_made_makes_no_difference(tmp_path, make, monkeypatch):
    here = make(tmp_path / "here").folder
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + 86_400 * 400)
    there = make(tmp_path / "another" / "place" / "far away").folder
    assert files_of(here) == files_of(there)


def test_archives_carry_no_time(tmp_path):
    made = release_letters(tmp_path)
    with zipfile.ZipFile(made.folder / "vectors.npz") as parts:
        assert {info.date_time for info in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    source = tmp_path / "people.tsv.gz"
    source.write_bytes(gzip.compress(b"age\tpay\n1\t2\n3\t4\n5\t6\n7\t8\n"))
    quietly(protect, source, 2, tmp_path / "packed", method=TABLE_MDAV)
    packed = (tmp_path / "packed" / "table.tsv.gz").read_bytes()
    assert packed[3] & 0b1000 == 0  # no name
    assert packed[4:8] == b"\0\0\0\0"  # no time


def test_the_certificate_states_no_path_and_no_object(tmp_path):
    text = (release_letters(tmp_path).folder / "certificate.json").read_text(encoding="utf-8")
    assert "/tmp" not in text
    assert " at 0x" not in text
    assert json.loads(text)["stated"]["parameters"]["microaggregation"]["k"] == 3


# The private side


def test_the_mapping_leads_each_letter_to_the_row_that_replaced_it(tmp_path):
    made = release_letters(tmp_path)
    mapping = rows_of(made.private / "mapping.parquet")
    released = rows_of(made.folder / "vectors.parquet")
    label_of = {name: part for name, _, part in LETTERS}
    assert sorted(row["id"] for row in mapping) == sorted(label_of)
    assert [row["released_row"] for row in mapping] == list(range(1, len(released) + 1))
    for row in mapping:
        assert released[row["released_row"] - 1]["part"] == label_of[row["id"]]
    space = VectorSpace(min_df=2)
    counts = space.fit([text for _, text, _ in LETTERS]).count_rows(space.count([text for _, text, _ in LETTERS]))
    place = {name: number for number, (name, _, _) in enumerate(LETTERS)}
    columns = [space.terms_.tolist().index(term) for term in (made.folder / "terms.txt").read_text().split()]
    for group in {row["group"] for row in mapping}:
        members = [row for row in mapping if row["group"] == group]
        assert len(members) >= 3
        total = np.asarray(counts[[place[row["id"]] for row in members]].sum(axis=0)).ravel()[columns]
        for row in members:
            assert released[row["released_row"] - 1]["counts"] == total[total > 0].tolist()


def test_the_mapping_leads_each_row_of_a_table_to_the_rounded_mean_that_replaced_it(tmp_path):
    made = release_table(tmp_path)
    mapping = rows_of(made.private / "mapping.parquet")
    released, steps = rows_of(made.folder / "table.csv"), steps_of(made)
    original = rows_of(tmp_path / "people.csv")
    assert sorted(int(row["id"]) for row in mapping) == list(range(1, 9))
    for group in {row["group"] for row in mapping}:
        members = [row for row in mapping if row["group"] == group]
        for column in ("age", "pay"):
            mean = np.mean([float(original[int(row["id"]) - 1][column]) for row in members])
            for row in members:
                shown = float(released[row["released_row"] - 1][column])
                assert abs(shown - mean) <= steps[column] / 2 + 1e-9
        for row in members:
            for column in ("town", "illness"):
                assert released[row["released_row"] - 1][column] == original[int(row["id"]) - 1][column]


@pytest.mark.parametrize("make", [release_table, release_letters])
def test_the_private_folder_is_the_owners_alone_and_beside_the_release(tmp_path, make):
    made = make(tmp_path)
    assert stat.S_IMODE(made.private.stat().st_mode) == 0o700
    assert made.private == tmp_path / "release-private"
    assert made.folder not in made.private.parents
    assert not set(files_of(made.private)) & set(files_of(made.folder))
    assert verify(made.folder)


def test_withheld_documents_are_counted_in_public_and_named_in_private(tmp_path):
    texts = [text for _, text, _ in LETTERS] + ["Qwertz Zxcvb", "   "]
    made = release_texts(texts, ["a", "b"] * 5, 2, tmp_path / "release", space=VectorSpace(min_df=2))
    withheld = made.certificate["stated"]["withheld"]
    assert sorted((row["count"], row["reason"]) for row in withheld) == [
        (1, "empty"),
        (1, "no term left after the vector space's steps"),
    ]
    named = {row["document"]: row["reason"] for row in rows_of(made.private / "withheld.csv")}
    assert named["id-8"].startswith("no term")
    assert "empty" in named.values()
    assert "id-8" not in everything_in(made.folder)
