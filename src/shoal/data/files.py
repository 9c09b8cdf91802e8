"""Opening what the user points at: which kind it is, plain or gzipped, UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import difflib
import gzip
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, cast

from shoal.errors import InputError

PathLike = str | os.PathLike[str]

_KIND_OF_SUFFIX = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".txt": "text", ".dat": "dat"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PASSWORD = re.compile(r"(?<=://)\S*(?=@)|(?<=:/)[^/\s]\S*(?=@)|(?<=password=)\S+", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def shown(name: PathLike) -> str:
    """The name for a one-line message, unprintable characters escaped; an address without its password."""
    text = os.fspath(name).encode("utf-8", "backslashreplace").decode("utf-8")
    text = _PASSWORD.sub("…", text)
    return text if text.isprintable() else ascii(text)


def counted(count: int, noun: str) -> str:
    """ "1 row" or "3 rows"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".svg", ".heic")


def kind_of(path: PathLike) -> str | None:
    """jsonl, csv, tsv, parquet, dat or text, by the suffix; None for any other."""
    name = os.fspath(path).lower()
    if name.endswith(".parquet"):
        return "parquet"
    return _KIND_OF_SUFFIX.get(Path(name.removesuffix(".gz")).suffix)


def unsupported(path: PathLike) -> InputError:
    """The error for a file of a kind that is not read."""
    if os.fspath(path).lower().endswith(".json"):
        return InputError(f"{shown(path)} is JSON; write one JSON object per line and name it .jsonl")
    kind = "an image" if os.fspath(path).lower().endswith(_IMAGES) else "of no known kind"
    return InputError(
        f"{shown(path)} is {kind}; give .csv, .tsv, .parquet, .jsonl or .dat, a folder of text files, or for "
        "a table also .xlsx, .sav, .dta, .sas7bdat, .xpt or .feather"
    )


def is_folder(path: PathLike) -> bool:
    """True for a folder, False for a regular file; anything else cannot be read and is refused before it is opened."""
    with reading(path):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return True
        if not stat.S_ISREG(mode):  # A pipe would block, a device might never end.
            raise InputError(f"{shown(path)} is not a regular file (a pipe or a device); save it to a file first")
        return False


@contextmanager
def reading(path: PathLike) -> Iterator[None]:
    """Turn everything that can go wrong while reading `path` into an InputError of one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        complaint = _complaint(problem)
        if complaint is None:
            raise
        # The cause is cut off (from None): parsers quote the data they choke on, and the data is confidential.
        raise InputError(f"{shown(path)} {complaint}") from None


def _complaint(problem: Exception) -> str | None:
    """What went wrong and what to do, in words; None for a mistake of this program."""
    if type(problem).__module__ == "pyarrow.lib":  # by its name: reading a text file does not load Arrow
        return "cannot be read as what its name says; write the file again"
    complaints = {
        FileNotFoundError: "does not exist; check the path",
        PermissionError: "cannot be read: no permission; change its mode or give another file",
        EOFError: "is a truncated gzip file; copy or compress it again",
        gzip.BadGzipFile: "is not a sound gzip file; compress it again or remove .gz from its name",
        zlib.error: "is not a sound gzip file; compress it again or remove .gz from its name",
        UnicodeError: "has a broken encoding; save it as UTF-8",
    }
    for kind, complaint in complaints.items():
        if isinstance(problem, kind):
            return complaint
    if isinstance(problem, OSError):
        return f"cannot be read ({problem.strerror or 'broken content'}); check the file"
    # An embedded NUL in the path, or a parser's complaint.
    return "cannot be read; check its name and content" if isinstance(problem, ValueError) else None


def open_bytes(path: PathLike) -> BinaryIO:
    """The file's bytes as a stream, unpacked when it is gzipped."""
    if os.fspath(path).lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    return open(path, "rb")


def read_bytes(path: PathLike) -> bytes:
    """All of the file's bytes, unpacked when it is gzipped."""
    with open_bytes(path) as stream:
        return stream.read()


def open_text(path: PathLike, newline: str) -> TextIOWrapper:
    """The file as a text stream; undecodable UTF-8 bytes become surrogates, which `broken_unicode` finds."""
    with open_bytes(path) as stream:
        start = stream.read(2)
    if start in _UTF16:  # Half a character shifts all that follows, so UTF-16 is read strictly.
        return TextIOWrapper(open_bytes(path), encoding="utf-16", newline=newline)
    return TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def decode(content: bytes) -> str:
    """The text of a whole file: UTF-16 when it says so by its mark, else UTF-8."""
    return content.decode("utf-16" if content[:2] in _UTF16 else "utf-8-sig")


def broken_unicode(text: str) -> bool:
    """Whether the text came from bytes that are not UTF-8, or holds half of a surrogate pair."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def unknown_column(name: str, existing: Iterable[str], where: str) -> InputError:
    """The error for a column that is not there: what there is, and what was probably meant."""
    names = list(existing)
    listed = ", ".join(shown(column) for column in names[:20]) + (", …" if len(names) > 20 else "")
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"; did you mean {shown(close[0])}?" if close else "; name one of them"
    return InputError(f"{where} has no column {shown(name)}, only: {listed}{meant}")


def check_names(columns: Iterable[str], where: str) -> None:
    """Every column must have a name, and one of its own."""
    names = list(columns)
    blank = [str(number) for number, column in enumerate(names, start=1) if not column.strip()]
    if blank:
        raise InputError(
            f"{where}: {counted(len(blank), 'column')} without a name (number {', '.join(blank[:5])}); name them"
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(shown(column) for column in twice[:5])
        raise InputError(
            f"{where}: {counted(len(twice), 'column name')} given more than once ({listed}); rename the columns"
        )


def check_private(path: Path, what: str) -> None:
    """Refuse a file with a secret that others can read."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise InputError(
            f"{shown(path)} has {what} and mode {mode:o}, so others can read it; make it yours alone: chmod 600"
        )
