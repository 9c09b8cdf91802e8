"""Options of every command that reads a table: how a text file is written, which sheet, which query."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError

Delimiter = Annotated[
    str | None,
    typer.Option(help="CSV: comma, semicolon, tab or bar between cells.  [default: recognised]", metavar="<sign>"),
]
Decimal = Annotated[
    str | None, typer.Option(help="CSV: decimal sign, point or comma.  [default: recognised]", metavar="<sign>")
]
Encoding = Annotated[
    str | None,
    typer.Option(help="CSV, SPSS, Stata, SAS: such as windows-1252.  [default: recognised]", metavar="<name>"),
]
Sheet = Annotated[
    str | None, typer.Option(help="Spreadsheet: the sheet to read.  [default: the only one]", metavar="<name>")
]
Query = Annotated[
    str | None,
    typer.Option(help="Database: the SELECT whose answer is the table.", metavar="<sql>"),
]

NAMES = ("--delimiter", "--decimal", "--encoding", "--sheet", "--query")


def table_source(source: Path | str, *given: str | None) -> Any:
    """The source with what is said of it: delimiter, decimal, encoding, sheet and query, in this order."""
    said = dict(zip(NAMES, given, strict=True))
    text = str(source)
    if "://" not in text and not any(value is not None for value in given):
        return source
    from shoal.data.sources import Query, TableFile, is_address_of_database

    query = said.pop("--query")
    if query is not None or is_address_of_database(text):
        for name, value in said.items():
            if value is not None:
                raise InputError(f"{name} is for files, and a database is asked by --query; leave it out")
        if query is None:
            raise InputError(f"{Query(text, '…')} is a database; say what to read: --query 'select * from …'")
        return Query(text, query)
    if not any(value is not None for value in said.values()):
        return source
    _check_kinds(text, said)
    delimiter, decimal, encoding, sheet = said.values()
    return TableFile(text, delimiter=delimiter, decimal=decimal, encoding=encoding, sheet=sheet)


def _check_kinds(name: str, said: dict[str, str | None]) -> None:
    """An option that has no bearing on such a file is a mistake."""
    from shoal.data.files import kind_of, shown
    from shoal.data.sources import format_of

    kind = kind_of(name) or format_of(name)
    fits = {"--sheet": ("xlsx",), "--encoding": ("csv", "tsv", "sav", "dta", "sas7bdat", "xpt")}
    fits |= {"--delimiter": ("csv", "tsv"), "--decimal": ("csv", "tsv")}
    for option, value in said.items():
        if value is not None and kind is not None and kind not in fits[option]:
            raise InputError(f"{option} is not for {shown(name)}, a file of another kind; leave it out")


def repeated(given: Iterable[str | None]) -> list[str]:
    """The options as they would be given again."""
    return [part for name, value in zip(NAMES, given, strict=True) if value is not None for part in (name, value)]
