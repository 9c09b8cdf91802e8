"""vectors.npz as SciPy writes it: six members in their order, each header as it must be, no byte between them.

Members are read as streams, beside the rows they are compared with: never more is unpacked than the rows call for.

Sources: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (zip), numpy.lib.format (npy)
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from shoal.verification.release_files import Refused

MEMBERS = ("indices", "indptr", "format", "shape", "data", "_is_array")
PIECE = 1 << 20
LOCAL = struct.Struct("<4s5H3L2H")  # of each member
ZIP64 = struct.Struct("<2H2Q")  # NumPy leaves room for large sizes
CENTRAL = struct.Struct("<4s6H3L5H2L")  # at the end, once more for each member
END = struct.Struct("<4s4H2LH")
DEFLATED, ON_1980_01_01 = 8, 33
LARGE = 0xFFFFFFFF
PRIVATE_FILE = 0o600 << 16
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([<|][a-zS]\d)', 'fortran_order': False, 'shape': \(((?:[1-9]\d{0,14},)?)\), \} *\n",
    re.DOTALL,
)
HEADER_LENGTH = 128  # bytes, of an array of one dimension or none


@dataclass(frozen=True)
class _Member:
    name: str
    start: int  # of what is packed
    packed: int
    unpacked: int
    checksum: int


class Matrix:
    """The members of the file, read side by side."""

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        try:
            with path.open("rb") as file:
                members = _members(file, path.stat().st_size)
            self._streams = {member.name: _Unpacked(path, member) for member in members}
            self.arrays = {name: stream.about for name, stream in self._streams.items()}  # type and length
        except (ValueError, struct.error, OSError, zlib.error):
            detail = "is not written as SciPy writes a matrix: something may ride along"
            raise Refused("same data", detail, name) from None

    def read(self, member: str, size: int) -> bytes:
        """The next bytes of a member; fewer when it ends."""
        try:
            return self._streams[member].read(size)
        except (ValueError, zlib.error):
            raise Refused("same data", f"{member} cannot be unpacked", self._name) from None

    def ends(self) -> bool:
        """Whether all of every member was read, and its checksum is right."""
        return all(stream.ends() for stream in self._streams.values())


def _members(file: BinaryIO, size: int) -> list[_Member]:
    """The members, if the file is what zipfile writes for NumPy and nothing else."""
    file.seek(max(size - END.size, 0))
    mark, disk, first_disk, here, count, length, start, comment = END.unpack(file.read(END.size))
    if (mark, disk, first_disk, here, count, comment) != (b"PK\5\6", 0, 0, len(MEMBERS), len(MEMBERS), 0):
        raise ValueError("not the end of an archive of six members")
    if start + length + END.size != size or length > 1000:
        raise ValueError("bytes that belong to nothing")
    file.seek(start)
    central = file.read(length)
    members, at, place = [], 0, 0
    for name in MEMBERS:
        members.append(_member(file, name, at, central[place:]))
        at = members[-1].start + members[-1].packed
        place += CENTRAL.size + len(name) + 4
    if at != start or place != length:
        raise ValueError("bytes between the members")
    return members


def _member(file: BinaryIO, name: str, at: int, central: bytes) -> _Member:
    spelt = f"{name}.npy".encode()
    mark, made, needed, *about, checksum, packed, unpacked, named, extra, comment, disk, inner, outer, offset = (
        CENTRAL.unpack_from(central)
    )
    if (mark, about, disk, inner, outer) != (b"PK\1\2", [0, DEFLATED, 0, ON_1980_01_01], 0, 0, PRIVATE_FILE):
        raise ValueError("a member that NumPy does not write")
    if (made & 0xFF, needed, made >> 8 in (0, 3)) != (45, 45, True):
        raise ValueError("a member of another version")
    if (named, extra, comment, offset) != (len(spelt), 0, 0, at) or central[CENTRAL.size :][:named] != spelt:
        raise ValueError("a member of another name or at another place")
    file.seek(at)
    local = file.read(LOCAL.size + named + ZIP64.size)
    expected = LOCAL.pack(b"PK\3\4", needed, 0, DEFLATED, 0, ON_1980_01_01, checksum, LARGE, LARGE, named, ZIP64.size)
    if local != expected + spelt + ZIP64.pack(1, 16, unpacked, packed):
        raise ValueError("a member that is not as the list of members says")
    return _Member(name, at + len(local), packed, unpacked, checksum)


class _Unpacked:
    """A member as a stream of what follows the header of its array."""

    def __init__(self, path: Path, member: _Member) -> None:
        self._file = path.open("rb")
        self._file.seek(member.start)
        self._left = member.packed
        self._to_come = member.unpacked
        self._member = member
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._checksum = 0
        header = self.read(HEADER_LENGTH)
        found = HEADER.fullmatch(header)
        if found is None or int.from_bytes(found[1], "little") + 10 != HEADER_LENGTH:
            raise ValueError("not the header that NumPy writes")
        self.about = found[2].decode(), int(found[3][:-1]) if found[3] else None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, or what is left."""
        pieces = []
        while size and not self._inflate.eof:
            packed = self._packed()
            piece = self._inflate.decompress(packed, min(size, PIECE))
            if not packed and not piece:
                break
            pieces.append(piece)
            size -= len(piece)
            self._to_come -= len(piece)
            self._checksum = zlib.crc32(piece, self._checksum)
        return b"".join(pieces)

    def _packed(self) -> bytes:
        """What is to be unpacked next: left over, or more of the file."""
        if self._inflate.unconsumed_tail:
            return self._inflate.unconsumed_tail
        piece = self._file.read(min(PIECE, self._left))
        self._left -= len(piece)
        return piece

    def ends(self) -> bool:
        if self.read(1):
            return False
        self._file.close()
        inflate = self._inflate
        nothing_left = not (self._left or self._to_come or inflate.unconsumed_tail or inflate.unused_data)
        return inflate.eof and nothing_left and self._checksum == self._member.checksum
