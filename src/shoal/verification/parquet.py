"""Parquet files of a release: every byte belongs to a page or to the footer, and says what the rows say.

First the layout is read, which unpacks nothing: sizes, counts and encodings that no release has are refused before any
row is read. Then the rows that were read are written anew, and the pages are compared, unpacked:
what compression makes of a page depends on the version of zstd, its content does not.

Sources: https://github.com/apache/parquet-format (thrift and encodings), RFC 8878, sections 3.1.1 and 3.1.2 (zstd)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from shoal.verification.release_files import Refused
from shoal.verification.thrift import Struct, read_struct

MAGIC = b"PAR1"
LARGEST_FOOTER = 8_000_000  # bytes; some 25,000 column chunks
LARGEST_HEADER = 40_000  # bytes of a page's header: Arrow leaves out statistics of more than 4,096
ROOM = 320_000_000  # bytes that the rows of one row group may take when unpacked
MOST_TIMES = 1000  # how much larger rows may be than their file
CREATED_BY = re.compile(rb"parquet-cpp-arrow version \d{1,4}\.\d{1,4}\.\d{1,4}")
INSTALLED = f"parquet-cpp-arrow version {pa.cpp_version}".encode()

# Fields by number, as Arrow writes them: no indexes, no bloom filters, no keys, no other files, no notes.
FILE_FIELDS = {1, 2, 3, 4, 5, 6, 7}
ROW_GROUP_FIELDS = {1, 2, 3, 5, 6, 7}
CHUNK_FIELDS = {2, 3}
COLUMN_FIELDS = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16}
PAGE_FIELDS = {0: {1, 2, 3, 5}, 2: {1, 2, 3, 7}}  # data page (version 1), dictionary page
DATA, DICTIONARY = 0, 2
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
ZSTD = 6
WIDTH = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4, 7: 16}  # bytes of a value by physical type; of a text its number
TEXT = 6  # physical type: byte array


@dataclass(frozen=True)
class Page:
    """A page: where its header and its body are, and what the header says."""

    start: int
    body: int
    end: int
    header: Struct

    @property
    def unpacked(self) -> int:
        return int(self.header[2])


@dataclass(frozen=True)
class Chunk:
    """A column of a row group."""

    path: str
    is_text: bool
    values: int
    room: int  # bytes when unpacked; of a text that is repeated, only its number is
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class RowGroup:
    rows: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Layout:
    """What is where in a Parquet file."""

    footer: Struct
    row_groups: tuple[RowGroup, ...]
    size: int

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.row_groups)

    @property
    def writer(self) -> bytes:
        return bytes(self.footer[6])

    @property
    def texts(self) -> list[str]:
        """Paths of the columns of texts."""
        return [chunk.path for chunk in self.row_groups[0].chunks if chunk.is_text]


def layout_of(path: Path, name: str, rows_at_once: int) -> Layout:
    """The layout of a file whose row groups have `rows_at_once` rows each, the last one what is left."""
    try:
        with path.open("rb") as file:
            layout = _layout(file, os.fstat(file.fileno()).st_size)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as problem:
        detail = str(problem) if isinstance(problem, _Strange) else "its footer or a page cannot be read"
        raise Refused("nothing else", f"the file is not laid out as Shoal writes it: {detail}", name) from None
    *full, last = [group.rows for group in layout.row_groups]
    if set(full) - {rows_at_once} or not 0 < last <= rows_at_once:
        raise Refused("nothing else", f"row groups have not {rows_at_once:,} rows each: their sizes mark rows", name)
    room = sum(chunk.room for group in layout.row_groups for chunk in group.chunks)
    if room > ROOM + MOST_TIMES * layout.size:
        raise Refused("size", f"its {layout.size:,} bytes unpack to {room:,}", name)
    return layout


def check_room(room: int, name: str) -> None:
    """Refuse rows that would take too much memory."""
    if room > ROOM:
        raise Refused("size", f"a row group takes {room:,} bytes unpacked, at most {ROOM:,} are read", name)


class _Strange(ValueError):
    """A layout that no release has, in words."""


def _layout(file: BinaryIO, size: int) -> Layout:
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    start = size - 8 - length
    if tail[4:] != MAGIC or start < 4 or length > LARGEST_FOOTER:
        raise _Strange("there is no footer, or it is too large")
    file.seek(0)
    if file.read(4) != MAGIC:
        raise _Strange("its first bytes are not those of Parquet")
    file.seek(start)
    raw = file.read(length)
    footer, end = read_struct(raw)
    _check_fields(footer, FILE_FIELDS, "footer")
    if end != length:
        raise _Strange("bytes after the footer")
    if not CREATED_BY.fullmatch(footer[6]):
        raise _Strange("the name of the program that wrote it is not the one Arrow gives")
    if [note[1] for note in footer.get(5, [])] != [b"ARROW:schema"]:
        raise _Strange("it has notes of its writer")
    if not footer[4]:
        raise _Strange("there are no rows")
    at = len(MAGIC)
    groups = []
    for number, group in enumerate(footer[4]):
        groups.append(_row_group(file, group, number, at, footer))
        at = groups[-1].chunks[-1].pages[-1].end
    if at != start:
        raise _Strange("bytes that belong to no page")
    if footer[3] != sum(group.rows for group in groups):
        raise _Strange("it does not have as many rows as its footer says")
    return Layout(footer, tuple(groups), size)


def _row_group(file: BinaryIO, group: Struct, number: int, at: int, footer: Struct) -> RowGroup:
    _check_fields(group, ROW_GROUP_FIELDS, "row group")
    leaves = [element for element in footer[2] if 1 in element]
    start, chunks = at, []
    for leaf, column in zip(leaves, group[1], strict=True):
        chunks.append(_chunk(file, column, at, leaf))
        at = chunks[-1].pages[-1].end
    alone = [chunk for chunk, column in zip(chunks, group[1], strict=True) if len(column[3][3]) == 1]
    if any(chunk.values != group[3] for chunk in alone):
        raise _Strange("a column has not one value per row")
    unpacked = sum(column[3][6] for column in group[1])
    stated = group.get(2), group.get(5, start), group.get(6, at - start), group.get(7, number)
    if stated != (unpacked, start, at - start, number):
        raise _Strange("sizes of a row group are not those of its pages")
    return RowGroup(int(group[3]), tuple(chunks))


def _chunk(file: BinaryIO, column: Struct, start: int, leaf: Struct) -> Chunk:
    _check_fields(column, CHUNK_FIELDS, "column")
    about = column[3]
    _check_fields(about, COLUMN_FIELDS, "column")
    if about[4] != ZSTD:
        raise _Strange("a column is not compressed with zstd")
    end = start + about[7]
    pages = tuple(_pages(file, start, end))
    data = [page for page in pages if page.header[1] == DATA]
    first = next(page.start for page in pages if page.header[1] == DATA)
    unpacked = sum(page.body - page.start + page.unpacked for page in pages)
    values = sum(page.header[5][1] for page in data)
    if (about[5], about[6], about[9]) != (values, unpacked, first):
        raise _Strange("what the footer says of a column is not what its pages are")
    if about.get(11, start) != start or column[2] not in (0, start, end):
        raise _Strange("a column is not where the footer says")
    if any(page.header[1] == DICTIONARY for page in pages[1:]) or about[1] != leaf[1]:
        raise _Strange("a column has more than one dictionary, or another type than its schema")
    width = leaf.get(2, WIDTH[about[1]]) if about[1] == 7 else WIDTH[about[1]]
    room = sum(page.unpacked for page in pages) + values * (width + 4)
    path = ".".join(part.decode() for part in about[3])
    return Chunk(path, about[1] == TEXT, values, room, pages)


def _pages(file: BinaryIO, at: int, end: int) -> Iterator[Page]:
    while at < end:
        file.seek(at)
        window = file.read(min(LARGEST_HEADER, end - at))
        header, length = read_struct(window)
        kind = header[1]
        _check_fields(header, PAGE_FIELDS.get(kind, set()), "page")
        body = at + length
        page = Page(at, body, body + header[3], header)
        encodings = [header[5][2], header[5][3], header[5][4]] if kind == DATA else [header[7][2]]
        if encodings not in ([PLAIN, RLE, RLE], [RLE_DICTIONARY, RLE, RLE], [RLE, RLE, RLE], [PLAIN]):
            raise _Strange("an encoding that Shoal does not use")
        if page.end > end or header[3] < 1 or header[2] < 0 or (kind == DATA and header[5][1] < 1):
            raise _Strange("a page that leaves its column, or has nothing in it")
        check = window[length : length + header[3]]
        if len(check) < header[3]:
            check += file.read(header[3] - len(check))
        if not is_one_frame(check, page.unpacked):
            raise _Strange("a page has bytes that unpacking leaves out")
        yield page
        at = page.end


def _check_fields(found: Struct, known: set[int], what: str) -> None:
    if not set(found) <= known:
        raise _Strange(f"a {what} has a field that Shoal does not write")


def pages_unpacked(path: Path, group: RowGroup) -> Iterator[bytes]:
    """The pages of a row group as they would be in a file without compression: headers and bodies in turns."""
    codec = pa.Codec("zstd")
    with path.open("rb") as file:
        for page in (page for chunk in group.chunks for page in chunk.pages):
            file.seek(page.start)
            header = file.read(page.body - page.start)
            yield _says_unpacked(header)
            yield codec.decompress(file.read(page.end - page.body), page.unpacked, asbytes=True)


def _says_unpacked(header: bytes) -> bytes:
    """A page's header with the packed size made the unpacked one: its second and third field, each a number."""
    ends = [at for at, byte in enumerate(header[:32]) if byte < 0x80]
    # kind, number of field 1; kind, number of field 2; kind, number of field 3
    kind_end, unpacked_end, packed_end = ends[1], ends[3], ends[5]
    unpacked = header[kind_end + 1 : unpacked_end + 1]
    return header[: unpacked_end + 1] + unpacked + header[packed_end + 1 :]


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SINGLE, UNUSED, CHECKSUM, WITH_DICTIONARY = 0x20, 0x18, 0x04, 0x03
RAW, REPEATED, PACKED = 0, 1, 2
SIZE_BYTES = (0, 2, 4, 8)  # of the content's size, by the frame's first two bits


def is_one_frame(packed: bytes, size: int) -> bool:
    """One frame of `size` bytes unpacked that ends with the bytes, without a checksum, as Arrow writes it."""
    if packed[:4] != ZSTD_MAGIC or len(packed) < 6:
        return False
    about = packed[4]
    if about & (UNUSED | CHECKSUM | WITH_DICTIONARY):
        return False
    single = bool(about & SINGLE)
    wide = SIZE_BYTES[about >> 6] or (1 if single else 0)
    at = 5 + (not single)
    stated = int.from_bytes(packed[at : at + wide], "little") + (256 if wide == 2 else 0)
    if wide and stated != size:
        return False
    at += wide
    while at + 3 <= len(packed):
        head = int.from_bytes(packed[at : at + 3], "little")
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        if kind not in (RAW, REPEATED, PACKED) or (length == 0 and not last):
            return False
        at += 3 + (1 if kind == REPEATED else length)
        if last:
            return at == len(packed)
    return False
