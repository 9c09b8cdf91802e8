"""Parquet files taken apart and put together again: footer, pages, and whatever a test puts between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

TRUE, FALSE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 5, 6, 8, 9, 12
ZSTD = pa.Codec("zstd")

Fields = dict[int, tuple[int, Any]]  # a struct: kind and value by number of field


def varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


class Reading:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while (byte := self.byte()) > 0x7F:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def struct(self) -> Fields:
        fields: Fields = {}
        last = 0
        while head := self.byte():
            last += head >> 4
            fields[last] = (head & 15, self.value(head & 15))
        return fields

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == STRUCT:
            return self.struct()
        if kind == BINARY:
            size = self.number()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == LIST:
            head = self.byte()
            size = self.number() if head >> 4 == 15 else head >> 4
            return [(head & 15, self.value(head & 15)) for _ in range(size)]
        value = self.number()
        return (value >> 1) ^ -(value & 1)


def written_struct(fields: Fields) -> bytes:
    written, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        kind = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else kind
        written += bytes([number - last << 4 | kind]) + written_value(kind, value)
        last = number
    return written + b"\0"


def written_value(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == STRUCT:
        return written_struct(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of = value[0][0] if value else I64
        head = bytes([len(value) << 4 | of]) if len(value) < 15 else bytes([0xF0 | of]) + varint(len(value))
        return head + b"".join(written_value(of, one) for _, one in value)
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


@dataclass
class Page:
    header: Fields
    body: bytes  # unpacked
    packed_more: bytes = b""  # bytes after the packed body

    @property
    def is_dictionary(self) -> bool:
        return self.header[1][1] == 2


@dataclass
class Parquet:
    """A file of one row group."""

    footer: Fields
    chunks: list[list[Page]]
    before_footer: bytes = b""
    after_chunk: dict[int, bytes] = field(default_factory=dict)

    @property
    def row_group(self) -> Fields:
        return self.footer[4][1][0][1]

    def column(self, place: int) -> Fields:
        """What the footer says of a column."""
        return self.row_group[1][1][place][1][3][1]

    def write(self, path: Path) -> None:
        """The file, with sizes and places that fit what is in it."""
        data = b"PAR1"
        start_of_group, unpacked_of_group = len(data), 0
        for place, pages in enumerate(self.chunks):
            start, first, unpacked, values = len(data), None, 0, 0
            for page in pages:
                packed = ZSTD.compress(page.body, asbytes=True) + page.packed_more
                page.header[2], page.header[3] = (I32, len(page.body)), (I32, len(packed))
                header = written_struct(page.header)
                if not page.is_dictionary:
                    first = len(data) if first is None else first
                    values += page.header[5][1][1][1]
                data += header + packed
                unpacked += len(header) + len(page.body)
            about = self.column(place)
            about |= {5: (I64, values), 6: (I64, unpacked), 7: (I64, len(data) - start), 9: (I64, first)}
            if 11 in about:
                about[11] = (I64, start)
            data += self.after_chunk.get(place, b"")
            unpacked_of_group += unpacked
        group = self.row_group
        group |= {2: (I64, unpacked_of_group), 6: (I64, len(data) - start_of_group)}
        if 5 in group:
            group[5] = (I64, start_of_group)
        footer = written_struct(self.footer)
        path.write_bytes(data + self.before_footer + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def parsed(path: Path) -> Parquet:
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = Reading(data, len(data) - 8 - length).struct()
    chunks, at = [], 4
    for _, column in footer[4][1][0][1][1][1]:
        end, pages = at + column[3][1][7][1], []
        while at < end:
            reading = Reading(data, at)
            header = reading.struct()
            at = reading.at + header[3][1]
            pages.append(Page(header, ZSTD.decompress(data[reading.at : at], header[2][1], asbytes=True)))
        chunks.append(pages)
    return Parquet(footer, chunks)
