"""A table of any size looked at in bounded memory: its rows counted, its gaps counted, and a sample of it kept.

The sample is every n-th row from the first to the last: a file sorted by a column still shows all of it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.data.columns import MISSING, is_gap, is_text
from shoal.data.delimited import parse_table, stream_rows
from shoal.data.files import is_folder, kind_of, open_bytes, open_text, reading, shown
from shoal.data.formats.dialects import is_usual
from shoal.data.sources import TableFile, format_of
from shoal.data.table import read_table

SAMPLE = 25_000  # rows that are looked at closely, at most twice that
LARGE = 1 << 24  # bytes of a file that is read as a stream


@dataclass(frozen=True)
class TableSample:
    """Some rows of a table, and counts over all of them."""

    data: pa.Table
    rows: int
    missing: dict[str, int]
    format: str

    @property
    def whole(self) -> bool:
        """Whether all rows are in the sample."""
        return bool(self.data.num_rows == self.rows)


def sample_table(source: Any, most: int = SAMPLE) -> TableSample:
    """A sample of at most twice `most` rows from a file or a dataframe; all rows where there are no more."""
    plain = isinstance(source, str | os.PathLike) and not isinstance(source, TableFile) and format_of(source) is None
    if plain and not is_folder(source) and os.stat(source).st_size > LARGE:
        kind, packed = kind_of(source), os.fspath(source).lower().endswith(".gz")
        if kind in ("csv", "tsv") and is_usual_file(source, kind):
            with reading(source):
                return _of_text(source, kind, kind + ".gz" * packed, most)
        if kind == "parquet":
            with reading(source):
                return _of_parquet(source, most)
    table = read_table(source)
    thinned = _Thinned(most)
    thinned.add(table.data)
    return thinned.sample(table.format)


class _Thinned:
    """Rows as they go by, of which every n-th is kept; n doubles whenever there are too many."""

    def __init__(self, most: int) -> None:
        self.rows = 0
        self.missing: dict[str, int] = {}
        self._most = most
        self._step = 1
        self._kept: list[pa.Table] = []
        self._n_kept = 0

    def add(self, rows: pa.Table) -> None:
        """Take in the rows that follow."""
        for name in rows.column_names:
            self.missing[name] = self.missing.get(name, 0) + _gaps(rows[name])
        self._keep(rows, self.rows)
        self.rows += rows.num_rows
        while self._n_kept > 2 * self._most:
            self._step *= 2
            together, self._kept, self._n_kept = pa.concat_tables(self._kept), [], 0
            self._append(together.take(pa.array(range(0, together.num_rows, 2), pa.int64())))

    def _keep(self, rows: pa.Table, first: int) -> None:
        start = -first % self._step
        if self._step == 1:
            self._append(rows)
        elif start < rows.num_rows:
            self._append(rows.take(pa.array(range(start, rows.num_rows, self._step), pa.int64())))

    def _append(self, rows: pa.Table) -> None:
        self._kept.append(rows)
        self._n_kept += rows.num_rows

    def sample(self, format: str) -> TableSample:
        return TableSample(pa.concat_tables(self._kept), self.rows, self.missing, format)


def _gaps(column: Any) -> int:
    """How many cells hold no value. Of texts only short ones can stand for a missing value."""
    if is_text(column.type):
        column = column.cast(pa.large_string())
        short = pc.less_equal(pc.binary_length(column), max(map(len, MISSING)))
        return int(column.null_count + (pc.sum(is_gap(column.filter(short))).as_py() or 0))
    return int(pc.sum(is_gap(column)).as_py() or 0)


def _of_text(source: Any, kind: str, format: str, most: int) -> TableSample:
    """Every cell as text first; the sample then gets the types that the whole table would get."""
    with open_text(source, newline="") as stream:
        header, rows = stream_rows(stream, kind, shown(source))
    thinned = _Thinned(most)
    try:
        with pa.input_stream(os.fspath(source)) as stream, _batches(stream, header, rows.delimiter) as batches:
            for batch in batches:
                thinned.add(pa.Table.from_batches([batch]))
    except pa.ArrowInvalid:
        read_table(source)  # names the row
        raise
    sample = thinned.sample(format)
    text = io.BytesIO()
    pyarrow.csv.write_csv(sample.data, text, pyarrow.csv.WriteOptions(delimiter=","))
    return TableSample(parse_table(text.getvalue(), "csv", shown(source)), sample.rows, sample.missing, format)


@contextmanager
def _batches(stream: Any, header: list[str], delimiter: str) -> Iterator[Any]:
    reader = pyarrow.csv.open_csv(
        stream,
        pyarrow.csv.ReadOptions(block_size=LARGE),
        pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False),
    )
    with reader:
        yield reader


def _of_parquet(source: Any, most: int) -> TableSample:
    thinned = _Thinned(most)
    for batch in pq.ParquetFile(source).iter_batches(batch_size=1 << 17):
        thinned.add(pa.Table.from_batches([batch]).replace_schema_metadata(None))
    return thinned.sample("parquet")


def is_usual_file(source: Any, kind: str) -> bool:
    """Whether the first rows show that the file is written in the usual way; any other is read as a whole."""
    with reading(source), open_bytes(source) as stream:
        return is_usual(stream.read(1 << 18), kind, shown(source))
