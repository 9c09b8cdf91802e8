"""What a user points at when a path is not enough: a file and how to read it, or a query of a database."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from shoal.errors import InputError
from shoal.io.files import shown

__all__ = ["DATABASES", "Query", "TableFile", "format_of", "is_address_of_database"]

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
    """sav, dta, sas7bdat, xpt, xlsx, feather or database, told by the name; None when it is none of them."""
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
    """A table in a file, and how to read it where the file does not tell.

    `delimiter`, `decimal` and `encoding` are of text files, `sheet` of a spreadsheet.

    >>> TableFile("people.csv", delimiter=";", decimal=",").delimiter
    ';'
    """

    path: str | os.PathLike[str]
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name, known in (("delimiter", DELIMITERS), ("decimal", DECIMALS)):
            given = getattr(self, name)
            if given is not None and given not in known:
                some = "comma, semicolon, tab or bar" if name == "delimiter" else "point or comma"
                raise InputError(f"{name} {shown(str(given))[:20]!r} is not known; give {some}")
            object.__setattr__(self, name, known.get(given) if given is not None else None)
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise InputError("delimiter and decimal are both a comma; give one of them another sign")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", checked_encoding(self.encoding))

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


def checked_encoding(name: str) -> str:
    """The encoding by its usual name."""
    try:
        found = codecs.lookup(name)
        "a".encode(found.name).decode(found.name)
    except (LookupError, ValueError, TypeError, UnicodeError):  # unknown, or no encoding of text
        raise InputError(
            f"encoding {shown(name)[:30]!r} is not known; give one such as utf-8, windows-1252 or latin-1"
        ) from None
    return {"cp1252": "windows-1252", "iso8859-1": "latin-1"}.get(found.name, found.name)


@dataclass(frozen=True, repr=False)
class Query:
    """What a database answers to one SELECT, in a transaction that only reads.

    `database` is an address such as postgresql://host/name, or a file of SQLite (.sqlite, .db) or DuckDB (.duckdb).

    >>> Query("postgresql://ann:secret@host/study", "select age from people")
    Query of postgresql://host/study
    """

    database: str | os.PathLike[str]
    sql: str

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
