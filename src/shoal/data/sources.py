"""What a user points at: a file and how to read it, a query of a database, a collection in parts."""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shoal.data.files import PathLike, kind_of, shown
from shoal.errors import InputError
from shoal.request.options import Reading

FORMATS = {
    ".sav": "sav",
    ".zsav": "sav",
    ".dta": "dta",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".feather": "feather",
    ".arrow": "feather",
}
DATABASES = {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".duckdb": "duckdb"}
ADDRESSES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite", "duckdb": "duckdb"}
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "pipe": "|", "\\t": "\t"}
DELIMITERS |= {sign: sign for sign in (",", ";", "\t", "|")}
DECIMALS = {".": ".", ",": ",", "point": ".", "comma": ","}


def format_of(path: object) -> str | None:
    """sav, dta, sas7bdat, xpt, xlsx, feather or database, by the name; None for any other."""
    if not isinstance(path, str | os.PathLike):
        return None
    if is_address_of_database(path):
        return "database"
    suffix = Path(os.fspath(path).lower()).suffix
    return "database" if suffix in DATABASES else FORMATS.get(suffix)


def is_address_of_database(source: object) -> bool:
    """Whether this is the address of a database, which may have a password in it and must not be shown."""
    return isinstance(source, str) and source.partition("://")[0].lower() in ADDRESSES and "://" in source


@dataclass(frozen=True)
class TableFile(os.PathLike[str]):
    """A table in a file, and how to read it where the file does not show it.

    `delimiter`, `decimal` and `encoding` are of text files, `sheet` of a spreadsheet, `skip_rows` and `header_rows` of
    both. `missing_codes` has the values of columns that stand for a missing one.

    >>> TableFile("people.csv", delimiter=";", decimal=",").delimiter
    ';'
    """

    path: str | os.PathLike[str]
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    skip_rows: int | None = None
    header_rows: int | None = None
    missing_codes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, known in (("delimiter", DELIMITERS), ("decimal", DECIMALS)):
            given = getattr(self, name)
            if given is not None and given not in known:
                choices = "comma, semicolon, tab or bar" if name == "delimiter" else "point or comma"
                raise InputError(f"{name} {shown(str(given))[:20]!r} is not known; give {choices}")
            object.__setattr__(self, name, known.get(given) if given is not None else None)
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise InputError("delimiter and decimal are both a comma; give one of them another sign")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True)
class TableInMemory:
    """A dataframe, and the values of its columns that stand for a missing one."""

    data: Any
    missing_codes: Mapping[str, Sequence[Any]]


def table_source(source: Any, how: Reading) -> Any:
    """The source with what was said of reading it: a file or a query of a database where anything was."""
    said = {name: value for name, value in vars(how).items() if value is not None and name != "query"}
    codes = said.get("missing_codes", {})
    if how.query is not None or is_address_of_database(source):
        for name in said.keys() - {"missing_codes"}:
            raise InputError("{option} is for files, and this is a database; leave it out", name)
        if how.query is None:
            raise InputError(f"{Query(source, '…')} is a database; say what to read", "query select * from …")
        return Query(source, how.query, codes)
    if not said:
        return source
    if not isinstance(source, str | os.PathLike):
        for name in said.keys() - {"missing_codes"}:
            raise InputError("{option} is for files, and this is a table in memory; leave it out", name)
        return TableInMemory(source, codes)
    kind = kind_of(source) or format_of(source)
    for name in said:
        if kind is not None and kind not in _READ_WITH.get(name, (kind,)):
            raise InputError(f"{{option}} is not for {shown(source)}, a file of another kind; leave it out", name)
    return TableFile(source, **said)


_TEXT = ("csv", "tsv")
_READ_WITH = {"sheet": ("xlsx",), "encoding": (*_TEXT, "sav", "dta", "sas7bdat", "xpt")}
_READ_WITH |= {"delimiter": _TEXT, "decimal": _TEXT}
_READ_WITH |= dict.fromkeys(("skip_rows", "header_rows"), (*_TEXT, "xlsx"))


def checked_encoding(name: str) -> str:
    """The encoding by its usual name."""
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name).decode(codec.name)
    except (LookupError, ValueError, TypeError, UnicodeError):  # unknown, or no encoding of text
        raise InputError(
            f"encoding {shown(name)[:30]!r} is not known; give one such as utf-8, windows-1252 or latin-1"
        ) from None
    return {"cp1252": "windows-1252", "iso8859-1": "latin-1"}.get(codec.name, codec.name)


@dataclass(frozen=True, repr=False)
class Query:
    """What a database answers to one SELECT, in a transaction that only reads.

    `database` is an address such as postgresql://host/name, or a file of SQLite (.sqlite, .db) or DuckDB (.duckdb).

    >>> Query("postgresql://ann:secret@host/study", "select age from people")
    Query of postgresql://host/study
    """

    database: str | os.PathLike[str]
    sql: str
    missing_codes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if format_of(self.database) != "database":
            raise InputError(
                f"{_without_secrets(os.fspath(self.database))} is not a database; "
                "give postgresql://…, or a file .sqlite or .duckdb"
            )
        if not self.sql.strip():
            raise InputError("the query is empty; write one such as: select * from people")

    def __repr__(self) -> str:
        return f"Query of {self}"

    def __str__(self) -> str:
        return _without_secrets(os.fspath(self.database))

    @property
    def kind(self) -> str:
        """postgresql, sqlite or duckdb."""
        text = os.fspath(self.database)
        if is_address_of_database(text):
            return ADDRESSES[text.partition("://")[0].lower()]
        return DATABASES[Path(text.lower()).suffix]

    @property
    def file(self) -> Path:
        """The file of an SQLite or DuckDB database."""
        return Path(re.sub(r"^[A-Za-z]+://(localhost(?=/))?/?", "", os.fspath(self.database)))


def _without_secrets(address: str) -> str:
    """Scheme, host and name of a database: no user, no password, no parameters."""
    if "://" not in address:
        return shown(address)
    scheme, _, rest = address.partition("://")
    try:
        parts = urlsplit(f"x://{rest.rpartition('@')[2]}")
        return shown(f"{scheme.lower()}://{parts.hostname or ''}{parts.path}")
    except ValueError:
        return f"{scheme.lower()}://…"


def in_parts(source: object) -> bool:
    """Whether the source is a pattern or the address of a store, which stand for any number of files."""
    if not isinstance(source, str | os.PathLike) or os.path.exists(source) or is_address_of_database(source):
        return False
    return "*" in os.fspath(source) or "://" in os.fspath(source)


def list_parts(source: PathLike) -> list[Any]:
    """The files of a folder, of a pattern such as letters/*.parquet, or at an address such as s3://bucket/letters.

    Each is read as the source is said to be read.
    """
    pattern = os.fspath(source)
    try:
        files = _listed(pattern) if "://" in pattern else _globbed(pattern)
    except (OSError, ValueError) as problem:  # Arrow complains of an address with a ValueError
        raise InputError(f"{shown(source)} cannot be listed ({shown(str(problem))}); check the address") from None
    if not files:
        raise InputError(f"{shown(source)} has 0 files; give a folder or a pattern that has some")
    return [replace(source, path=file) if isinstance(source, TableFile) else file for file in sorted(files)]


@contextmanager
def local_copy(part: PathLike) -> Iterator[PathLike]:
    """The part as a file on this machine, for as long as it is needed."""
    if "://" not in os.fspath(part):
        yield part
        return
    from pyarrow import fs  # slow to load, and most sources are local

    system, path = fs.FileSystem.from_uri(os.fspath(part))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        with system.open_input_stream(path) as there, copy.open("wb") as here:
            while chunk := there.read(1 << 24):
                here.write(chunk)
        yield replace(part, path=copy) if isinstance(part, TableFile) else copy


def _globbed(pattern: str) -> list[str]:
    if os.path.isdir(pattern):
        pattern = os.path.join(pattern, "*")
    return [os.path.abspath(path) for path in glob(pattern) if os.path.isfile(path) and _is_data(path)]


def _listed(address: str) -> list[str]:
    from pyarrow import fs

    folder, _, pattern = address.rpartition("/") if "*" in address else (address, "", "")
    system, path = fs.FileSystem.from_uri(folder)
    info = system.get_file_info(path)
    infos = [info] if info.is_file else system.get_file_info(fs.FileSelector(path))
    scheme = address.partition("://")[0]
    names = [file.path for file in infos if file.is_file and _is_data(file.path)]
    fitting = [name for name in names if not pattern or Path(name).match(pattern)]
    return [f"{scheme}://{name.lstrip('/') if scheme != 'file' else name}" for name in fitting]


def _is_data(path: str) -> bool:
    """Whether a file is a part; markers such as _SUCCESS and hidden files are not."""
    return not os.path.basename(path).startswith(("_", "."))
