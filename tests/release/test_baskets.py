"""Baskets are protected, verified, loaded and judged as documents are; their items are the terms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shoal import (
    Corpus,
    InputError,
    SemanticMicroaggregation,
    SphericalMicroaggregation,
    VectorSpace,
    assess,
    load,
    protect,
    verify,
)
from tests.release.releases import files_of, quietly, release_texts

PLAIN = SphericalMicroaggregation(refine=False)


def baskets(n: int, seed: int = 0) -> list[list[str]]:
    """Baskets of 3 to 8 of 30 items, some of them with blanks and capitals in their names."""
    random = np.random.default_rng(seed)
    names = [f"Green tea {number}" if number % 3 else str(number) for number in range(30)]
    chance = 1 / np.arange(1, 31)
    return [
        sorted(random.choice(names, random.integers(3, 9), replace=False, p=chance / chance.sum())) for _ in range(n)
    ]


def dat(folder: Path, name: str, records: list[list[str]]) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(" ".join(item.replace(" ", "-") for item in record) + "\n" for record in records))
    return path


def test_a_file_of_baskets_becomes_a_release_that_holds_loads_and_can_be_judged(tmp_path: Path) -> None:
    source = dat(tmp_path, "a.dat", baskets(60))
    made = quietly(protect, source, 3, tmp_path / "out", method=PLAIN)
    assert verify(made.folder).holds
    release = load(made.folder)
    assert release.counts is not None
    assert release.terms is not None
    assert set(release.terms) <= {item.replace(" ", "-") for record in baskets(60) for item in record}
    rows = [tuple(row.tolist()) for row in release.counts.toarray()]
    assert min(map(rows.count, rows)) >= 3
    stated = made.certificate["stated"]["parameters"]["vector_space"]
    assert stated == {
        "items": True, "min_df": 3, "weighting": "tf-idf", "max_terms": None, "terms_per_document": None
    }  # fmt: skip
    found = quietly(assess, source, made.folder)
    assert found.rows == len(rows)
    assert found.smallest_group >= 3
    assert "60 protected baskets" in (made.folder / "README.md").read_text()
    assert "Terms are items." in (made.folder / "README.md").read_text()


def test_the_same_baskets_make_the_same_rows_whatever_file_they_come_from(tmp_path: Path) -> None:
    records = baskets(40)
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    counts = [{"items": dict.fromkeys(reversed(record), 1)} for record in records]
    (tmp_path / "counts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in counts))
    sources = [tmp_path / "lists.jsonl", tmp_path / "counts.jsonl", Corpus.from_baskets(records)]
    rows = []
    for number, source in enumerate(sources):
        made = quietly(protect, source, 3, tmp_path / str(number), method=PLAIN)
        assert verify(made.folder).holds
        rows.append(files_of(made.folder)["vectors.parquet"])
    assert rows[0] == rows[1] == rows[2]


def test_baskets_are_released_as_texts_of_the_same_words_are(tmp_path: Path) -> None:
    records = [
        [item.replace(" ", "").translate(str.maketrans("0123456789", "abcdefghij")) for item in record]
        for record in baskets(40)
    ]
    words = VectorSpace(drop_stop_words=False, wordnet=False, min_letters=1, stem=False, min_df=3)
    texts = release_texts(
        [" ".join(record).lower() for record in records], ["x"] * 40, 3, tmp_path / "texts", space=words, method=PLAIN
    )
    lowered = Corpus.from_baskets([[item.lower() for item in record] for record in records], labels=["x"] * 40)
    made = quietly(protect, lowered, 3, tmp_path / "baskets", method=PLAIN, label_column="label")
    assert load(made.folder).terms.tolist() == load(texts.folder).terms.tolist()
    assert np.array_equal(load(made.folder).counts.toarray(), load(texts.folder).counts.toarray())


def test_baskets_in_parts_make_a_release_in_parts(tmp_path: Path) -> None:
    for number in range(3):
        dat(tmp_path / "in", f"{number}.dat", baskets(30, seed=number))
    made = quietly(protect, f"{tmp_path}/in/*.dat", 3, tmp_path / "out", method=PLAIN)
    assert verify(made.folder).holds
    assert load(made.folder).table.num_rows == 90
    assert quietly(assess, f"{tmp_path}/in/*.dat", made.folder).rows == 90


def test_parts_of_two_kinds_are_refused(tmp_path: Path) -> None:
    dat(tmp_path / "in", "a.dat", baskets(30))
    (tmp_path / "in" / "b.jsonl").write_text('{"text": "the tide is out"}\n' * 9)
    with pytest.raises(InputError, match=r"b\.jsonl has texts, and the first part baskets; give parts of one kind"):
        quietly(protect, f"{tmp_path}/in/*", 3, tmp_path / "out", method=PLAIN)
    assert not (tmp_path / "out").exists()


def test_items_have_no_meaning_and_spaces_must_fit(tmp_path: Path) -> None:
    records = Corpus.from_baskets(baskets(30))
    with pytest.raises(InputError, match="these are baskets, and only words have meanings"):
        protect(records, 3, tmp_path / "out", method=SemanticMicroaggregation())
    with pytest.raises(InputError, match="these are baskets, and the space has items=False; give it items=True"):
        protect(records, 3, tmp_path / "out", space=VectorSpace())
    with pytest.raises(InputError, match="these are texts, and the space has items=True; give it items=False"):
        protect(["the tide is out"] * 9, 3, tmp_path / "out", space=VectorSpace(items=True))


def test_the_items_are_not_released_as_a_label(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"items": ["tea"]}\n' * 9)
    with pytest.raises(InputError, match="the label column items is also the text or the id"):
        protect(source, 3, tmp_path / "out", label_column="items")


def test_baskets_that_are_a_table_are_told_to_be_one(tmp_path: Path) -> None:
    """Six columns of two or three values: the pools show them, and more baskets are recovered than can be read off."""
    random = np.random.default_rng(2)
    kind = random.integers(0, 4, 200)
    usual = random.integers(0, 3, (4, 6))
    values = np.where(random.random((200, 6)) < 0.15, random.integers(0, 3, (200, 6)), usual[kind])
    source = dat(tmp_path, "table.dat", [[f"c{column}v{value}" for column, value in enumerate(row)] for row in values])
    with pytest.warns(UserWarning, match="this is a table: every basket has exactly one item") as warned:
        made = protect(source, 3, tmp_path / "release", method=PLAIN)
    assert not any("copies" in str(warning.message) for warning in warned)
    exact = made.certificate["stated"]["attacks"][0]
    assert exact["low"] > exact["baseline"]
    assert assess(source, made.folder).is_table
