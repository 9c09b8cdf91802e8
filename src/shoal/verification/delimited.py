"""CSV and TSV of a release: protected numbers bare, everything else in quotes, one line per row; .gz around it.

Read as a stream: what is in memory is a few blocks, however much a file unpacks to.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import BufferedIOBase
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.verification.release_files import Refused, ReleaseFolder, owned_by_arrow

BLOCK = 1 << 22
LONGEST_ROW = 1 << 25  # bytes
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?(?:e[+-]?\d{1,3})?", re.ASCII)
WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)
MISSING = ("", ".", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
# What can be read as a number of a type without a loss: 007 may be a code, and a double has 15 digits.
NUMBERS = {"int64": r"^-?(0|[1-9]\d{0,17})$", "double": r"^-?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,2})?$"}


def are_numbers(column: Any, kind: str) -> bool:
    """Whether every cell can be read as a number of this type, or is missing."""
    cells = pc.unique(column)
    missing = pc.is_in(cells, pa.array(MISSING, cells.type))
    return bool(pc.all(pc.or_(missing, pc.match_substring_regex(cells, NUMBERS[kind]))).as_py())


def delimiter(file: str) -> str:
    """What is between the cells, by the name of the file."""
    return "\t" if ".tsv" in file else ","


def is_number(text: str) -> bool:
    """Whether a protected number is spelt as Shoal spells it: finite, no minus zero, no digit more than needed."""
    if not NUMBER.fullmatch(text):
        return False
    value = float(text)
    return abs(value) < float("inf") and (value != 0.0 or text == "0") and Decimal(text) == Decimal(repr(value))


def is_whole(text: str) -> bool:
    """Whether a protected number is spelt as a whole one."""
    return WHOLE.fullmatch(text) is not None


def rows_as_written(release: ReleaseFolder, file: str, names: Sequence[str], bare: set[str]) -> Iterator[pa.Table]:
    """The rows in batches, every cell as text; refused where the file is not written as a release is."""

    def refused(detail: str) -> Refused:
        return Refused("schema", detail, file)

    between = delimiter(file)
    header = between.join(_quoted(pa.array(names, pa.string())).to_pylist()).encode() + b"\n"
    source: Any = text_of(release, file)
    try:
        if source.read(len(header)) != header:
            raise refused("its first line does not have the promised columns, or is not written as Shoal writes it")
        for block in _blocks(source, file):
            table = _parsed(block, names, between)
            if _rewritten(table, bare, between) != block:
                raise refused("quotes, line ends or the like are not those of a release: they mark rows")
            yield table
    except pa.ArrowInvalid:
        raise refused("its rows do not have the promised columns") from None
    except (EOFError, zlib.error, OSError):
        raise Refused("data", "the gzip file cannot be unpacked", file) from None
    finally:
        source.close()


def text_of(release: ReleaseFolder, file: str) -> BufferedIOBase:
    """The text of a file, unpacked as it is read."""
    opened = release.open(file)
    return gzip.GzipFile(fileobj=opened) if file.endswith(".gz") else opened


def _blocks(source: Any, name: str) -> Iterator[bytes]:
    """Whole rows, many at a time: a row ends with a line that ends outside of quotes."""
    rest = b""
    while piece := source.read(BLOCK):
        rest += piece
        bytes_of_block = np.frombuffer(rest, dtype=np.uint8)
        inside = bytes_of_block == ord('"')
        np.logical_xor.accumulate(inside, out=inside)
        ends = np.flatnonzero((bytes_of_block == ord("\n")) & ~inside)
        if len(ends):
            yield rest[: ends[-1] + 1]
            rest = rest[ends[-1] + 1 :]
        elif len(rest) > LONGEST_ROW:
            raise Refused("size", f"a row is longer than {LONGEST_ROW:,} bytes", name)
    if rest:
        raise Refused("schema", "its last row does not end", name)


def _parsed(block: bytes, names: Sequence[str], between: str) -> pa.Table:
    return pyarrow.csv.read_csv(
        pa.BufferReader(owned_by_arrow(block)),
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=list(names)),
        parse_options=pyarrow.csv.ParseOptions(delimiter=between, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.string() for name in names}, strings_can_be_null=False
        ),
    )


def _rewritten(table: pa.Table, bare: set[str], between: str) -> Any:
    """The rows as Shoal writes them, as bytes."""
    if table.num_rows == 0:
        return b""
    columns = zip(table.column_names, table.columns, strict=True)
    cells = [column if name in bare else _quoted(column) for name, column in columns]
    cells = [column.combine_chunks() for column in cells]
    lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*cells, between), "", "\n")
    _, offsets, text = lines.buffers()
    first, last = (memoryview(offsets).cast("i")[lines.offset + place] for place in (0, len(lines)))
    return memoryview(text).cast("B")[first:last]  # unsigned, as bytes are


def _quoted(texts: Any) -> Any:
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
