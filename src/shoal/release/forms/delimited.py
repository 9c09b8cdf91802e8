"""CSV and TSV of a release: protected numbers bare, everything else in quotes, one line per row; .gz around it.

Read as a stream: what is in memory is a few blocks, however much a file unpacks to.
"""

from __future__ import annotations

import io
import re
import threading
import zlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.release.forms.refused import Refused

__all__ = ["BLOCK", "LARGEST_BLOCK", "delimiter", "is_number", "rows_as_written"]

BLOCK = 1 << 22
LARGEST_BLOCK = 1 << 26  # bytes; no row is longer
PIECE = 1 << 20
GZIP_HEADER = re.compile(rb"\x1f\x8b\x08\x00\x00\x00\x00\x00[\x00\x02][\x03\x0b\x13\xff]")  # no name, no time, no more
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?(?:e[+-]?\d{1,3})?", re.ASCII)


def delimiter(file: str) -> str:
    """What is between the cells, by the name of the file."""
    return "\t" if ".tsv" in file else ","


def is_number(text: str) -> bool:
    """Whether a protected number is spelt as Shoal spells it: finite, no minus zero, no digit more than needed."""
    if not NUMBER.fullmatch(text):
        return False
    value = float(text)
    return abs(value) < float("inf") and (value != 0.0 or text == "0") and Decimal(text) == Decimal(repr(value))


def rows_as_written(path: Path, names: Sequence[str], bare: set[str], block: int) -> Iterator[pa.Table]:
    """The rows in batches, every cell as text; refused where the file is not written as a release is."""
    source = _Kept(path)
    try:
        reader = pyarrow.csv.open_csv(
            pa.PythonFile(source, mode="r"),
            read_options=pyarrow.csv.ReadOptions(block_size=block),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter(path.name), newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
        if reader.schema.names != list(names):
            raise Refused("schema", "the columns differ", path.name)
        between = delimiter(path.name)
        source.expect(between.join(_quoted(pa.array(names, pa.string())).to_pylist()).encode() + b"\n")
        for batch in reader:
            table = pa.Table.from_batches([batch])
            source.expect(_rewritten(table, bare, between))
            yield table
        source.expect_end()
    except pa.ArrowInvalid:
        source.check()  # what Arrow could not read may be what gzip could not unpack
        raise
    finally:
        source.close()


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
    return memoryview(text)[first:last]


def _quoted(texts: Any) -> Any:
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")


class _NotOurs(Exception):
    """Bytes that a release does not have, in words."""


class _Kept(io.RawIOBase):
    """A stream that keeps what was read of it until it is compared."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._name = path.name
        self._source: Any = _Gunzipped(path) if path.suffix == ".gz" else path.open("rb")
        self._kept = bytearray()
        self._turn = threading.Lock()  # Arrow reads ahead in a thread of its own.
        self._problem: _NotOurs | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            piece: bytes = self._source.read(PIECE if size < 0 else size)
        except _NotOurs as problem:
            self._problem = problem
            return b""
        except zlib.error:
            self._problem = _NotOurs("the gzip file cannot be unpacked")
            return b""
        with self._turn:
            self._kept += piece
        return piece

    def check(self) -> None:
        """Refuse what could not be unpacked."""
        if self._problem is not None:
            raise Refused("nothing else", str(self._problem), self._name)

    def expect(self, written: Any) -> None:
        """Compare the next bytes with those written anew."""
        with self._turn:
            same = self._kept.startswith(written)
            del self._kept[: len(written)]
        if not same:
            raise Refused("schema", "quotes, line ends or the like are not those of a release: they mark rows", self._name)

    def expect_end(self) -> None:
        more = self._kept or self.read(1)
        self.check()
        if more:
            raise Refused("schema", "the file goes on after its last row", self._name)

    def close(self) -> None:
        self._source.close()
        super().close()


class _Gunzipped:
    """A gzip file of one member: no name, no time, no note, nothing after it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._checksum = self._size = 0
        self._ended = False

    def read(self, size: int) -> bytes:
        if self._file.tell() == 0 and not GZIP_HEADER.fullmatch(self._file.read(10)):
            raise _NotOurs("the gzip header has a name, a time or a note")
        pieces: list[bytes] = []
        while size and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._file.read(PIECE)
            piece = self._inflate.decompress(packed, min(size, PIECE))
            if not packed and not piece:
                raise _NotOurs("the gzip file ends too early")
            pieces.append(piece)
            size -= len(piece)
            self._checksum = zlib.crc32(piece, self._checksum)
            self._size += len(piece)
        if self._inflate.eof and not self._ended:
            self._check_end()
        return b"".join(pieces)

    def _check_end(self) -> None:
        self._ended = True
        trailer = self._inflate.unused_data + self._file.read(PIECE)
        stated = self._checksum.to_bytes(4, "little") + (self._size % 2**32).to_bytes(4, "little")
        if trailer != stated:
            raise _NotOurs("the gzip file goes on after its only member, or its checksum is wrong")

    def close(self) -> None:
        self._file.close()
