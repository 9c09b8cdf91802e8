"""Whether packed bytes are one zstd frame and nothing else: readers skip over frames and bytes they need not unpack.

Source: RFC 8878, sections 3.1.1 and 3.1.2.
"""

from __future__ import annotations

__all__ = ["is_one_frame"]

MAGIC = b"\x28\xb5\x2f\xfd"
SINGLE, UNUSED, CHECKSUM, DICTIONARY = 0x20, 0x18, 0x04, 0x03
RAW, REPEATED, PACKED = 0, 1, 2
SIZE_BYTES = (0, 2, 4, 8)  # of the content's size, by the frame's first two bits


def is_one_frame(packed: bytes, size: int) -> bool:
    """One frame of `size` bytes unpacked that ends with the bytes, without a checksum, as Arrow writes it."""
    if packed[:4] != MAGIC or len(packed) < 6:
        return False
    about = packed[4]
    if about & (UNUSED | CHECKSUM | DICTIONARY):
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
