"""Baskets: every kind of file, what is skipped and why, and what is refused."""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.baskets import BasketFault, count_baskets, read_basket
from shoal.data.corpus import Corpus, looks_like_documents
from shoal.data.records import Skipped
from shoal.errors import InputError


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def baskets(corpus: Corpus) -> dict[str, dict[str, float]]:
    assert corpus.of_items
    return {document.id: dict(document.items or {}) for document in corpus}


def refusal(corpus: Corpus) -> str:
    with pytest.raises(InputError) as caught:
        list(corpus)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Files


def test_a_dat_file_has_a_basket_per_line_and_items_between_blanks(tmp_path: Path) -> None:
    path = written(tmp_path, "a.dat", "1 2 2 \r\n\ttea  green\u00a0tea\n\n7")
    corpus = Corpus(path)
    assert baskets(corpus) == {"1": {"1": 1, "2": 2}, "2": {"tea": 1, "green\u00a0tea": 1}, "4": {"7": 1}}
    assert corpus.skipped == (Skipped("line 3", "empty"),)
    assert looks_like_documents(path)


def test_a_dat_file_may_be_gzipped(tmp_path: Path) -> None:
    path = written(tmp_path, "a.dat.gz", gzip.compress(b"1 2\n3\n"))
    assert baskets(Corpus(path)) == {"1": {"1": 1, "2": 1}, "2": {"3": 1}}


def test_a_binary_dat_file_is_refused_whole(tmp_path: Path) -> None:
    assert "is binary, not text; write a basket per line" in refusal(
        Corpus(written(tmp_path, "a.dat", b"1 2\n\0\1\n3\n"))
    )


def test_lines_of_a_dat_file_with_broken_letters_are_skipped(tmp_path: Path) -> None:
    corpus = Corpus(written(tmp_path, "a.dat", b"1 2\ncaf\xe9\na\x07b\n3\n"))
    assert list(baskets(corpus)) == ["1", "4"]
    assert corpus.skipped == (
        Skipped("line 2", "not UTF-8 text"),
        Skipped("line 3", "an item has control characters"),
    )


def test_a_dat_file_has_no_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "a.dat", "1 2\n")
    for columns in ({"text_column": "a"}, {"id_column": "a"}, {"label_column": "a"}):
        assert "has no columns, only baskets" in refusal(Corpus(path, **columns))


def test_jsonl_has_a_list_per_line(tmp_path: Path) -> None:
    corpus = Corpus(written(tmp_path, "a.jsonl", lines(["tea", 7, "tea"], [], ["milk"])))
    assert baskets(corpus) == {"1": {"tea": 2, "7": 1}, "3": {"milk": 1}}
    assert corpus.skipped == (Skipped("line 2", "empty"),)


def test_jsonl_objects_hold_lists_or_counts_beside_ids_and_labels(tmp_path: Path) -> None:
    records = [{"id": "a", "items": ["tea"], "class": "x"}, {"id": "b", "items": {"tea": 3, "rice": 0}, "class": "y"}]
    corpus = Corpus(written(tmp_path, "a.jsonl", lines(*records)), label_column="class")
    assert baskets(corpus) == {"a": {"tea": 1}, "b": {"tea": 3}}
    assert [document.label for document in corpus] == ["x", "y"]
    assert [document.text for document in corpus] == ["", ""]


def test_any_column_of_lists_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", lines({"text": "a letter", "bought": ["tea"]}))
    assert baskets(Corpus(path, text_column="bought")) == {"1": {"tea": 1}}
    corpus = Corpus(path)
    assert not corpus.of_items
    assert [document.text for document in corpus] == ["a letter"]


def test_texts_among_baskets_and_baskets_among_texts_are_skipped(tmp_path: Path) -> None:
    corpus = Corpus(written(tmp_path, "a.jsonl", lines({"items": ["tea"]}, {"items": "tea"}, {"items": None}, "tea")))
    assert list(baskets(corpus)) == ["1"]
    assert corpus.skipped == (
        Skipped("line 2", "neither a list of items nor a mapping of items to counts"),
        Skipped("line 3", "no items"),
        Skipped("line 4", "neither a JSON list nor an object"),
    )
    corpus = Corpus(written(tmp_path, "b.jsonl", lines({"text": "tea"}, {"text": ["tea"]}, ["tea"])))
    assert [document.text for document in corpus] == ["tea"]
    assert corpus.skipped == (Skipped("line 2", "text is not a string"), Skipped("line 3", "not a JSON object"))


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ({"tea": -1}, "a count is not a number from 0 to 1,000,000,000"),
        ({"tea": 10**9 + 1}, "a count is not a number from 0 to 1,000,000,000"),
        ({"tea": float("nan")}, "a count is not a number from 0 to 1,000,000,000"),
        ({"tea": True}, "a count is not a number from 0 to 1,000,000,000"),
        ({"e\u0301": 10**9, "\u00e9": 1}, "a count is not a number from 0 to 1,000,000,000"),
        ({"tea": 0.5}, "a count is not a whole number"),
        ({"tea": 0}, "empty"),
        (["a\u2028b"], "an item has control characters"),
        (["a\u0007"], "an item has control characters"),
        (["\ud800"], "an item has control characters"),
        (["tea", " "], "an item is empty or has more than 1,000 letters"),
        (["x" * 1001], "an item is empty or has more than 1,000 letters"),
        ([1.5], "an item is neither text nor a whole number"),
        ([None], "an item is neither text nor a whole number"),
        ([["tea"]], "an item is neither text nor a whole number"),
    ],
)
def test_a_basket_with_a_fault_is_skipped_and_nothing_of_it_is_quoted(
    tmp_path: Path, items: object, reason: str
) -> None:
    corpus = Corpus(written(tmp_path, "a.jsonl", lines({"items": ["milk"]}, {"items": items})))
    assert baskets(corpus) == {"1": {"milk": 1}}
    assert corpus.skipped == (Skipped("line 2", reason),)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_has_a_column_of_lists(tmp_path: Path, kind: pa.DataType) -> None:
    items = pa.array([["tea", "tea", "milk"], [], None, ["rice", None]], pa.list_(kind))
    pq.write_table(pa.table({"items": items, "id": [7, 8, 9, 10]}), tmp_path / "a.parquet")
    corpus = Corpus(tmp_path / "a.parquet")
    assert baskets(corpus) == {"7": {"tea": 2, "milk": 1}}
    assert corpus.skipped == (
        Skipped("row 2", "empty"),
        Skipped("row 3", "no items"),
        Skipped("row 4", "an item is neither text nor a whole number"),
    )
    assert looks_like_documents(tmp_path / "a.parquet")


def test_whole_numbers_are_names_of_items(tmp_path: Path) -> None:
    pq.write_table(pa.table({"basket": [[1, 2], [2, -3]]}), tmp_path / "a.parquet")
    assert not looks_like_documents(tmp_path / "a.parquet")
    corpus = Corpus(tmp_path / "a.parquet", text_column="basket")
    assert baskets(corpus) == {"1": {"1": 1, "2": 1}, "2": {"2": 1, "-3": 1}}


def test_a_column_of_items_that_are_numbers_makes_a_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"items": [3, 5], "age": [20, 30]}), tmp_path / "a.parquet")
    assert not looks_like_documents(tmp_path / "a.parquet")
    assert not looks_like_documents(written(tmp_path, "a.csv", "items,age\n3,20\n"))


def test_a_folder_of_dat_files_is_one_collection(tmp_path: Path) -> None:
    written(tmp_path, "b.dat", "3\n")
    written(tmp_path, "a.dat", "1 2\n")
    assert baskets(Corpus(tmp_path)) == {"a.dat:1": {"1": 1, "2": 1}, "b.dat:1": {"3": 1}}


def test_baskets_in_memory_have_ids_and_labels() -> None:
    corpus = Corpus.from_baskets([["tea"], {"tea": 2}, []], ids=["a", "b", "c"], labels=["x", "y", "z"])
    assert baskets(corpus) == {"a": {"tea": 1}, "b": {"tea": 2}}
    assert corpus.skipped == (Skipped("basket 3", "empty"),)


# Records


def test_letters_are_composed_so_that_equal_items_are_one() -> None:
    decomposed = unicodedata.normalize("NFD", "café")
    assert read_basket(["café", decomposed]) == {"café": 2}
    assert read_basket({"café": 1, decomposed: 2}) == {"café": 3}


def test_a_basket_may_be_any_collection_of_items() -> None:
    assert read_basket(("tea", "tea")) == read_basket(iter(["tea", "tea"])) == {"tea": 2}
    assert read_basket(np.array([3, 3])) == {"3": 2}
    for wrong in ("tea", b"tea", 7, None):
        with pytest.raises(BasketFault):
            read_basket(wrong)


ITEMS = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=3))


@given(st.lists(ITEMS, max_size=8))
def test_counted_rows_are_the_counts_of_each_basket(records: list[list[str]]) -> None:
    X, items = count_baskets(records)
    composed = [[unicodedata.normalize("NFC", item) for item in record] for record in records]
    assert items == sorted({item for record in composed for item in record})
    assert X.shape == (len(records), len(items))
    for row, record in zip(X.toarray(), composed, strict=True):
        assert {item: count for item, count in zip(items, row, strict=True) if count} == Counter(record)
