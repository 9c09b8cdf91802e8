"""Archives and text files in which something rides along: npz, gzip, CSV, the list of terms."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.release.releases import write_matrix
from tests.verification.hostile.cases import BYTES, Change, Hostile, rewrite

MATRIX, TERMS, NOTE = "vectors.npz", "terms.txt", b"Ann has the flu."


def matrix(change: Callable[[dict[str, Any]], dict[str, Any]] = lambda parts: parts, **options: Any) -> Change:
    """The arrays written anew."""

    def write(release: Path) -> None:
        with np.load(release / MATRIX) as file:
            parts = dict(file)
        write_matrix(list(change(parts).items()), release / MATRIX, **options)

    return write


def members(change: Callable[[str, bytes], bytes] = lambda name, raw: raw, **about: Any) -> Change:
    """The members copied into another archive, whose entries say something else of them."""

    def write(release: Path) -> None:
        with zipfile.ZipFile(release / MATRIX) as file:
            raws = {one.filename: change(one.filename, file.read(one)) for one in file.infolist()}
        with zipfile.ZipFile(release / MATRIX, "w", zipfile.ZIP_DEFLATED) as file:
            for name, raw in raws.items():
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                for key, value in ({"external_attr": 0o600 << 16} | about).items():
                    setattr(entry, key, value)
                with file.open(entry, "w", force_zip64=True) as member:
                    member.write(raw)

    return write


def between_members(release: Path) -> None:
    """Bytes before the list of members, whose place is moved behind them."""
    data = (release / MATRIX).read_bytes()
    start = int.from_bytes(data[-6:-2], "little")
    moved = (start + len(NOTE)).to_bytes(4, "little")
    (release / MATRIX).write_bytes(data[:start] + NOTE + data[start:-6] + moved + data[-2:])


def header_with(note: bytes) -> Callable[[str, bytes], bytes]:
    """A note in the spaces that fill the header of an array."""

    def change(name: str, raw: bytes) -> bytes:
        return raw[:100] + note + raw[100 + len(note) :] if name == "data.npy" else raw

    return change


def gz(**about: Any) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        text = io.BytesIO()
        with gzip.GzipFile(fileobj=text, mode="wb", **({"mtime": 0, "filename": ""} | about)) as file:
            file.write(gzip.decompress(data))
        return text.getvalue()

    return change


def flagged(flag: int, more: bytes) -> Callable[[bytes], bytes]:
    """A gzip file whose header has a part more."""
    return lambda data: data[:3] + bytes([flag]) + data[4:10] + more + data[10:]


def two_members(data: bytes) -> bytes:
    text = gzip.decompress(data)
    return gzip.compress(text[:40], mtime=0) + gzip.compress(text[40:], mtime=0)


def first_number(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """The first protected number of the first row spelt in another way."""

    def spelt(data: bytes) -> bytes:
        header, rest = data.split(b"\n", 1)
        number, rest = rest.split(b",", 1)
        return header + b"\n" + change(number) + b"," + rest

    return spelt


def every_number(spelling: bytes) -> Callable[[bytes], bytes]:
    """All numbers of the first column become one spelling."""

    def spelt(data: bytes) -> bytes:
        header, *rows = data.rstrip(b"\n").split(b"\n")
        return b"\n".join([header, *(spelling + b"," + row.split(b",", 1)[1] for row in rows)]) + b"\n"

    return spelt


def as_dtype(name: str, kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda parts: parts | {name: parts[name].astype(kind)}


SAME = "same data"
ARCHIVE_CHANGES = [
    Hostile("a comment on the matrix", "documents", matrix(comment=NOTE), BYTES),
    Hostile("a member more", "documents", matrix(lambda parts: parts | {"names": np.array(["Ann"])}), BYTES),
    Hostile("a member less", "documents", matrix(lambda parts: {name: parts[name] for name in parts if name != "_is_array"}), BYTES),
    Hostile("members in another order", "documents", matrix(lambda parts: dict(reversed(parts.items()))), BYTES),
    Hostile("members of some day", "documents", members(date_time=(2024, 2, 29, 12, 0, 0)), BYTES),
    Hostile("members that others may read", "documents", members(external_attr=0o644 << 16), BYTES),
    Hostile("members with extra fields", "documents", members(extra=b"\xfe\xca\x10\x00" + NOTE), BYTES),
    Hostile("members with comments", "documents", members(comment=NOTE), BYTES),
    Hostile("members of another system", "documents", members(create_system=19), BYTES),
    Hostile("bytes between the members and their list", "documents", between_members, BYTES),
    Hostile("bytes before the matrix", "documents", rewrite(MATRIX, lambda data: NOTE + data), BYTES),
    Hostile("bytes after the matrix", "documents", rewrite(MATRIX, lambda data: data + NOTE), BYTES),
    Hostile("a note in the header of an array", "documents", members(header_with(NOTE)), BYTES),
    Hostile("a tab in the header of an array", "documents", members(header_with(b"\t")), BYTES),
    Hostile("bytes after an array", "documents", members(lambda name, raw: raw + NOTE if name == "data.npy" else raw), SAME, "does not hold"),
    Hostile("weights of another width", "documents", matrix(as_dtype("data", "<f4")), SAME, "does not hold"),
    Hostile("weights in another byte order", "documents", matrix(as_dtype("data", ">f8")), BYTES),
    Hostile("minus zeros in the matrix", "documents", matrix(lambda parts: parts | {"data": -parts["data"]}), SAME, "does not hold"),
    Hostile("a matrix that is not CSR", "documents", matrix(lambda parts: parts | {"format": np.array(b"Ann")}), SAME, "does not hold"),
    Hostile("a shape with a column more", "documents", matrix(lambda parts: parts | {"shape": parts["shape"] + 1}), SAME, "does not hold"),
    Hostile("a gzip file with a name", "table.csv.gz", rewrite("table.csv.gz", gz(filename="ann.csv")), BYTES),
    Hostile("a gzip file with a time", "table.csv.gz", rewrite("table.csv.gz", gz(mtime=1_700_000_000)), BYTES),
    Hostile("a gzip file with a comment", "table.csv.gz", rewrite("table.csv.gz", flagged(16, NOTE + b"\0")), BYTES),
    Hostile("a gzip file with an extra field", "table.csv.gz", rewrite("table.csv.gz", flagged(4, b"\x10\0" + NOTE)), BYTES),
    Hostile("a gzip file with a checksum of its header", "table.csv.gz", rewrite("table.csv.gz", flagged(2, b"\0\0")), BYTES),
    Hostile("a gzip file of two members", "table.csv.gz", rewrite("table.csv.gz", two_members), BYTES),
    Hostile("an empty member after the gzip file", "table.csv.gz", rewrite("table.csv.gz", lambda data: data + gzip.compress(b"", mtime=0)), BYTES),
    Hostile("bytes after the gzip file", "table.csv.gz", rewrite("table.csv.gz", lambda data: data + NOTE), BYTES),
    Hostile("a wrong checksum of the gzip file", "table.csv.gz", rewrite("table.csv.gz", lambda data: data[:-8] + b"Ann!" + data[-4:]), BYTES),
    Hostile("a gzip file cut off", "table.csv.gz", rewrite("table.csv.gz", lambda data: data[:-12]), BYTES),
    Hostile("another line end", "table.csv", rewrite("table.csv", lambda data: data.replace(b"\n", b"\r\n", 3)), "schema", "first line"),
    Hostile("an empty line at the end", "table.csv", rewrite("table.csv", lambda data: data + b"\n"), "schema", "mark rows"),
    Hostile("a byte order mark", "table.csv", rewrite("table.csv", lambda data: b"\xef\xbb\xbf" + data), "schema"),
    Hostile("a number with a zero more", "table.csv", rewrite("table.csv", first_number(lambda number: number + b".50")), "k-anonymity", "spelt"),
    Hostile("a number with a sign", "table.csv", rewrite("table.csv", first_number(lambda number: b"+" + number)), "k-anonymity", "spelt"),
    Hostile("a number with an exponent", "table.csv", rewrite("table.csv", first_number(lambda number: number + b"e0")), "k-anonymity"),
    Hostile("a number in quotes", "table.csv", rewrite("table.csv", first_number(lambda number: b'"' + number + b'"')), "schema", "mark rows"),
    Hostile("no number at all", "table.csv", rewrite("table.csv", every_number(b"nan")), "k-anonymity", "spelt"),
    Hostile("infinite numbers", "table.csv", rewrite("table.csv", every_number(b"inf")), "k-anonymity", "spelt"),
    Hostile("minus zeros", "table.csv", rewrite("table.csv", every_number(b"-0")), "k-anonymity", "spelt"),
    Hostile("digits that no double has", "table.csv", rewrite("table.csv", every_number(b"31.00000000000000000007")), "k-anonymity", "spelt"),
    Hostile("a list of terms without its last line end", "documents", rewrite(TERMS, lambda data: data[:-1]), "schema", "line ended"),
    Hostile("a name after the last line of terms", "documents", rewrite(TERMS, lambda data: data + b"zebulon"), "schema", "line ended"),
    Hostile("an empty line in the terms", "documents", rewrite(TERMS, lambda data: data + b"\n"), "schema", "one term per line"),
    Hostile("a term that no row has", "documents", rewrite(TERMS, lambda data: data + b"zzz\n"), "schema", "no row has"),
    Hostile("terms with other line ends", "documents", rewrite(TERMS, lambda data: data.replace(b"\n", b"\r\n")), "schema", "not listed"),
    Hostile("a term twice", "documents", rewrite(TERMS, lambda data: data.split(b"\n")[0] + b"\n" + data), "schema", "in order"),
    Hostile("terms out of order", "documents", rewrite(TERMS, lambda data: b"\n".join(data.split(b"\n")[-2::-1]) + b"\n"), "schema", "in order"),
    Hostile("terms of a release in parts without an end", "documents in parts", rewrite(TERMS, lambda data: data[:-1]), "schema", "line ended"),
]  # fmt: skip
