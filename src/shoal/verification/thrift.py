"""Thrift's compact protocol, as far as the footer and the page headers of a Parquet file need it.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import struct
from typing import Any

DEEPEST = 12
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12
Struct = dict[int, Any]  # values by the number of their field


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
