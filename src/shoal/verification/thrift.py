"""Thrift's compact protocol, read strictly: what could be written in two ways is accepted in one.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

DEEPEST = 12
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12


class Struct(dict[int, Any]):
    """Values by the number of their field, and of which kind each was."""

    def __init__(self, values: Mapping[int, Any], kinds: Mapping[int, int]) -> None:
        super().__init__(values)
        self.kinds = dict(kinds)

    def without(self, fields: set[int]) -> Struct:
        return Struct({number: value for number, value in self.items() if number not in fields}, self.kinds)


class Items(list[Any]):
    """A list, and of which kind its items were, if there were any."""

    def __init__(self, items: Iterable[Any], kind: int) -> None:
        super().__init__(items)
        self.kind = kind


def read_struct(data: bytes, start: int = 0) -> tuple[Struct, int]:
    """The struct that begins at `start`, and where it ends; ValueError for what no writer writes."""
    reader = _Reader(data, start)
    try:
        return reader.struct(0), reader.at
    except (IndexError, struct.error):
        raise ValueError("a struct that ends too early") from None


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def struct(self, depth: int) -> Struct:
        if depth > DEEPEST:
            raise ValueError("structs nested too deep")
        fields = Struct({}, {})
        last = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = last + step if step else self._signed()
            if number <= last or (not step and number - last < 16):
                raise ValueError("fields out of order, or written the long way")
            fields[number] = self._value(kind, depth, in_list=False)
            fields.kinds[number] = kind
            last = number
        return fields

    def _value(self, kind: int, depth: int, in_list: bool) -> Any:
        if kind in (TRUE, FALSE):
            return self._byte() == 1 if in_list else kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in (I16, I32, I64):
            return self._signed()
        if kind == DOUBLE:
            self.at += 8
            return struct.unpack_from("<d", self.data, self.at - 8)[0]
        if kind == BINARY:
            return self._bytes(self._unsigned())
        if kind == LIST:
            return self._list(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value of kind {kind}")

    def _list(self, depth: int) -> Items:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15 and (size := self._unsigned()) < 15:
            raise ValueError("a list whose length is written the long way")
        if size > len(self.data) - self.at:  # Each takes a byte at least.
            raise ValueError("a list longer than its file")
        return Items((self._value(kind, depth + 1, in_list=True) for _ in range(size)), kind)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("a text longer than its file")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        if (byte == 0 and shift) or value >= 1 << 64:
            raise ValueError("a number written the long way")
        return value

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
