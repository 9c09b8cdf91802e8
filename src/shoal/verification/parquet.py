"""Parquet files of a release: how much memory their rows take, known before anything is unpacked.

Only the footer and the headers of pages are parsed. What else the bytes of a file may hold is not looked for: rewriting
a release leaves it behind.

Sources: https://github.com/apache/parquet-format (thrift and encodings),
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.verification.release_files import Refused, ReleaseFolder, owned_by_arrow

MAGIC = b"PAR1"
LARGEST_FOOTER = 8_000_000  # bytes; some 25,000 column chunks
LARGEST_HEADER = 40_000  # bytes of a page's header: Arrow leaves out statistics of more than 4,096
LARGEST_ROW_GROUP = 320_000_000  # bytes that the rows of one row group may take when unpacked
MOST_TIMES = 1000  # how much larger rows may be than their file
DATA, DICTIONARY = 0, 2  # kinds of pages
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8  # encodings that unpack to no more than a page says
ZSTD = 6
WIDTH = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4, 7: 16}  # bytes of a value by physical type; of a text its number
TEXT, FIXED = 6, 7  # physical types: byte arrays, and those of one length
DEEPEST = 12
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12
Struct = dict[int, Any]  # values by the number of their field


@dataclass(frozen=True)
class Chunk:
    """A column of a row group."""

    path: str
    is_text: bool
    values: int
    memory: int  # bytes when unpacked; of a text that is repeated, only its number is
    end: int


@dataclass(frozen=True)
class RowGroup:
    rows: int
    chunks: tuple[Chunk, ...]

    @property
    def memory(self) -> int:
        return sum(chunk.memory for chunk in self.chunks)


@dataclass(frozen=True)
class Layout:
    """The row groups of a Parquet file."""

    row_groups: tuple[RowGroup, ...]

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.row_groups)

    @property
    def texts(self) -> list[str]:
        """Paths of the columns of texts."""
        return [chunk.path for chunk in self.row_groups[0].chunks if chunk.is_text]


def layout_of(release: ReleaseFolder, name: str, most_rows: int) -> Layout:
    """The layout of a file that can be read in bounded memory: at most `most_rows` rows of known size at a time."""
    size = release.size(name)
    try:
        with release.open(name) as file:
            layout = Layout(tuple(_row_groups(file, size)))
        if not layout.row_groups:
            raise _Strange("there are no rows")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as problem:
        detail = str(problem) if isinstance(problem, _Strange) else "its footer or a page cannot be read"
        raise Refused("data", f"the file is not laid out as a release is: {detail}", name) from None
    memory = sum(group.memory for group in layout.row_groups)
    if memory > LARGEST_ROW_GROUP + MOST_TIMES * size:
        raise Refused("size", f"its {size:,} bytes unpack to {memory:,}", name)
    for group in layout.row_groups:
        check_memory(group.memory, name)
        if group.rows > most_rows:
            raise Refused("size", f"a row group has {group.rows:,} rows, at most {most_rows:,} are read", name)
    return layout


def check_memory(memory: int, name: str) -> None:
    """Refuse rows that would take too much memory."""
    if memory > LARGEST_ROW_GROUP:
        detail = f"a row group takes {memory:,} bytes unpacked, at most {LARGEST_ROW_GROUP:,} are read"
        raise Refused("size", detail, name)


def parquet_file(release: ReleaseFolder, name: str, repeated_texts: list[str] | None = None) -> pq.ParquetFile:
    """The file opened; a text of these columns that many rows have is then in memory once."""
    with release.open(name) as file:
        in_memory = isinstance(file, BytesIO)
        content = owned_by_arrow(file.read()) if in_memory else None
    source = pa.OSFile(str(release.path / name)) if content is None else pa.BufferReader(content)
    return pq.ParquetFile(source, read_dictionary=repeated_texts)


class _Strange(ValueError):
    """A layout that no release has, in words."""


def _row_groups(file: BufferedIOBase, size: int) -> Iterator[RowGroup]:
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    start = size - 8 - length
    if tail[4:] != MAGIC or start < 4 or length > LARGEST_FOOTER:
        raise _Strange("there is no footer, or it is too large")
    file.seek(start)
    footer, _ = read_struct(file.read(length))
    leaves = [element for element in footer[2] if 1 in element]
    position, rows = len(MAGIC), 0
    for group in footer[4]:
        chunks = []
        for leaf, column in zip(leaves, group[1], strict=True):
            chunks.append(_chunk(file, column[3], position, start, leaf))
            position = chunks[-1].end
            flat = len(column[3][3]) == 1
            if group[3] < 1 or group[3] > chunks[-1].values or (flat and group[3] != chunks[-1].values):
                raise _Strange("a column does not have the values of its rows")
        rows += group[3]
        yield RowGroup(int(group[3]), tuple(chunks))
    if footer[3] != rows:
        raise _Strange("it does not have as many rows as its footer says")


def _chunk(file: BufferedIOBase, about: Struct, position: int, end_of_pages: int, leaf: Struct) -> Chunk:
    if about[4] != ZSTD:
        raise _Strange("a column is not compressed with zstd")
    start = min(about[9], about.get(11, about[9]))
    end = start + about[7]
    if start < position or end > end_of_pages or about[1] != leaf[1]:
        raise _Strange("a column is not where the footer says")
    memory = values = 0
    for header in _page_headers(file, start, end):
        memory += header[2]
        values += header[5][1] if header[1] == DATA else 0
    if values != about[5]:
        raise _Strange("a column does not have as many values as the footer says")
    width = leaf.get(2, WIDTH[FIXED]) if about[1] == FIXED else WIDTH[about[1]]
    path = ".".join(part.decode() for part in about[3])
    return Chunk(path, about[1] == TEXT, values, memory + values * (width + 4), end)


def _page_headers(file: BufferedIOBase, position: int, end: int) -> Iterator[Struct]:
    while position < end:
        file.seek(position)
        header, length = read_struct(file.read(min(LARGEST_HEADER, end - position)))
        encodings = [header[5][2], header[5][3], header[5][4]] if header[1] == DATA else [header[7][2]]
        if header[1] not in (DATA, DICTIONARY) or not {*encodings} <= {PLAIN, RLE, RLE_DICTIONARY}:
            raise _Strange("an encoding that Shoal does not use")
        if header[3] < 1 or header[2] < 0 or (header[1] == DATA and header[5][1] < 1):
            raise _Strange("a page that has nothing in it")
        position += length + header[3]
        if position > end:
            raise _Strange("a page that leaves its column")
        yield header


def read_struct(data: bytes) -> tuple[Struct, int]:
    """The struct that the data begins with, and where it ends; ValueError if there is none."""
    reader = _Reader(data)
    try:
        return reader.struct(0), reader.position
    except (IndexError, struct.error):
        raise ValueError("a struct that ends too early") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def struct(self, depth: int) -> Struct:
        if depth > DEEPEST:
            raise ValueError("structs nested too deep")
        fields: Struct = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = self._value(kind, depth, in_list=False)
        return fields

    def _value(self, kind: int, depth: int, in_list: bool) -> Any:
        if kind in (TRUE, FALSE):
            return self._byte() == 1 if in_list else kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in (I16, I32, I64):
            return self._signed()
        if kind == DOUBLE:
            return struct.unpack("<d", self._bytes(8))[0]
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind == LIST:
            return self._list(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value of kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self._unsigned() if size == 15 else size
        if size > len(self.data) - self.position:  # Each takes a byte at least.
            raise ValueError("a list longer than its file")
        return [self._value(kind, depth + 1, in_list=True) for _ in range(size)]

    def _byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def _bytes(self, size: int) -> bytes:
        if size > len(self.data) - self.position:
            raise ValueError("a text longer than its file")
        self.position += size
        return bytes(self.data[self.position - size : self.position])

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
