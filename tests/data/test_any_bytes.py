"""Whatever bytes a file holds, reading it succeeds or says in one line why not."""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.columns import column_numbers
from shoal.data.corpus import Corpus, looks_like_documents
from shoal.data.roles import Roles, resolve_roles
from shoal.data.table import read_table
from shoal.errors import InputError

TABULAR = st.lists(
    st.sampled_from(
        [
            b"text",
            b"id",
            b"1",
            b"2.5",
            b"NA",
            b"inf",
            b"-",
            b"9" * 25,
            b'"',
            b",",
            b";",
            b"\t",
            b"\n",
            b"\r",
            b"\xff",
            b"\0",
            b" ",
        ]
    )
).map(b"".join)
LINES = st.lists(
    st.sampled_from(
        [
            b'{"text": "a"}',
            b'{"text": ',
            b'{"id": 1, ',
            b'"text": "b"}',
            b"[",
            b"null",
            b"\n",
            b"\xff",
            b'["a", 1]',
            b'{"items": {"a": 2, ',
            b'"b": -1}}',
        ]
    )
).map(b"".join)


def _parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"text": ["one", "two", None], "id": [1, 2, 3]}), stream)
    return stream.getvalue()


PARQUET = _parquet()


@st.composite
def damaged_parquet(draw: st.DrawFn) -> bytes:
    content = bytearray(PARQUET)
    for _ in range(draw(st.integers(1, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


def read_table_fully(path: Path) -> None:
    table = read_table(path)
    roles = resolve_roles(table, Roles(quasi=tuple(table.data.column_names)))
    for name in roles.quasi:
        column_numbers(table.data[name], name)


READERS: list[Callable[[Path], object]] = [
    lambda path: list(Corpus(path)),
    lambda path: list(Corpus(path, text_column="1", label_column="id")),
    looks_like_documents,
    read_table_fully,
]


@pytest.mark.parametrize(
    "suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".dat", ".csv.gz", ".jsonl.gz", ".txt", ".toml"]
)
@settings(max_examples=60, deadline=None)
@given(content=st.one_of(st.binary(max_size=400), TABULAR, LINES, damaged_parquet()), packed=st.booleans())
def test_any_bytes_are_read_or_refused_in_one_line(suffix: str, content: bytes, packed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input{suffix}"
        path.write_bytes(gzip.compress(content) if packed else content)
        for read in [*READERS, lambda path: list(Corpus(path.parent))]:
            try:
                read(path)
            except InputError as problem:
                assert "\n" not in str(problem)
                assert problem.__cause__ is None


@settings(max_examples=300, deadline=None)
@given(content=damaged_parquet())
def test_a_damaged_parquet_file_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.parquet"
        path.write_bytes(content)
        for read in READERS:
            try:
                read(path)
            except InputError as problem:
                assert "\n" not in str(problem)
