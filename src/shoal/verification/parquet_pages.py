"""The rows of a Parquet file written anew, and compared page by page with the file they were read from."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.results.claims import Claim
from shoal.verification.parquet import INSTALLED, LARGEST_FOOTER, MAGIC, Layout, pages_unpacked
from shoal.verification.thrift import Items, Struct, read_struct

# Fields of the footer that tell where pages are and how they are packed: they were checked against the pages.
OF_THE_PACKING = {4, 6, 7, 9, 11}  # of a column
OF_THE_ROW_GROUP = {2, 5, 6}
OF_THE_CHUNK = {2}
WRITER = 6  # of the file
SLACK = 64  # bytes by which a page more or less may differ, beside its header
ROWS_OF_A_PAGE = 20_000  # at most, in the versions of Arrow that limit them


class PageComparison:
    """Takes the rows in the order in which they are read; `claim` says whether the file holds anything else."""

    def __init__(self, path: Path, name: str, layout: Layout, schema: pa.Schema) -> None:
        self._name = name
        self._layout = layout
        pages = (pages_unpacked(path, group) for group in layout.row_groups)
        self._comparison = _Comparison(chain([MAGIC], chain.from_iterable(pages)))
        self._writer = pq.ParquetWriter(self._comparison, schema, compression="none")

    def add(self, table: pa.Table) -> None:
        """The rows of the next row group."""
        self._writer.write_table(table, row_group_size=max(table.num_rows, 1))

    def claim(self) -> Claim:
        """After the last row: whether every byte of the file was due to the rows."""
        self._writer.close()
        return Claim("nothing else", *self._found(), self._name)

    def _found(self) -> tuple[bool, str]:
        theirs, ours = self._layout.footer, self._comparison.footer()
        same_writer = self._layout.writer == INSTALLED
        if not _within(_content_of_footer(theirs), _content_of_footer(ours)) or (
            same_writer and not _within(_content_of_footer(ours), _content_of_footer(theirs))
        ):
            return False, "what the footer tells of the rows is not what they are"
        if self._comparison.same:
            return True, "holds the rows and nothing else: written anew, its pages are the same"
        if same_writer or not self._about_as_long():
            return False, "its pages hold something that the rows do not account for"
        writer = self._layout.writer.decode().rpartition(" ")[2]
        return True, f"was written by Arrow {writer}, which cuts pages in another way: their length was compared"

    def _about_as_long(self) -> bool:
        """Whether the pages take as many bytes as those written anew, but for what each page has of its own."""
        pages = [page for group in self._layout.row_groups for chunk in group.chunks for page in chunk.pages]
        header = max(page.body - page.start for page in pages)
        theirs = sum(page.body - page.start + page.unpacked for page in pages)
        columns = len(self._layout.row_groups[0].chunks)
        other_pages = columns * (self._layout.rows // ROWS_OF_A_PAGE + 1)
        return abs(theirs - self._comparison.written) <= (len(pages) + other_pages) * (header + SLACK)


class _Comparison(io.RawIOBase):
    """A file to write to that keeps nothing: what is written is compared with what is expected, all but the footer."""

    def __init__(self, expected: Iterator[bytes]) -> None:
        super().__init__()
        self.same = True
        self.written = -len(MAGIC)  # bytes of pages
        self._expected = expected
        self._piece = memoryview(b"")
        self._tail = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        self.written += len(left)
        while self.same and len(left):
            if not len(self._piece):
                piece = next(self._expected, None)
                if piece is None:
                    break
                self._piece = memoryview(piece)
            length = min(len(left), len(self._piece))
            self.same = left[:length] == self._piece[:length]
            left, self._piece = left[length:], self._piece[length:]
        self._tail = (self._tail + bytes(left))[-LARGEST_FOOTER:]
        return len(memoryview(data).cast("B"))

    def footer(self) -> Struct:
        length = int.from_bytes(self._tail[-8:-4], "little")
        self.written -= length + 8
        self.same = self.same and not len(self._piece) and next(self._expected, None) is None
        self.same = self.same and len(self._tail) == length + 8
        return read_struct(self._tail[-8 - length : -8])[0]


def _content_of_footer(footer: Struct) -> Struct:
    """The footer without the name of the writer and all that depends on packing."""
    stated = footer.without({WRITER})
    stated[4] = Items([_of_row_group(group) for group in footer[4]], footer[4].kind)
    return stated


def _of_row_group(group: Struct) -> Struct:
    stated = group.without(OF_THE_ROW_GROUP)
    stated[1] = Items([column.without(OF_THE_CHUNK) for column in group[1]], group[1].kind)
    for column in stated[1]:
        column[3] = column[3].without(OF_THE_PACKING)
    return stated


def _within(one: Any, other: Any) -> bool:
    """Equal, but that structs of the other may have fields more: later versions of Arrow tell more."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Struct):
        return all(
            number in other and one.kinds[number] == other.kinds[number] and _within(value, other[number])
            for number, value in one.items()
        )
    if isinstance(one, Items):
        return one.kind == other.kind and len(one) == len(other) and all(map(_within, one, other))
    return bool(one == other)
