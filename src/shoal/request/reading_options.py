"""The option table, continued: how a file or a database is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from shoal.request.option import TABLES, option
from shoal.request.values import Codes, Text, Whole

READING = ("protect", "explore", "assess", "audit", "board", "inspect", "map")

reading_option = partial(option, of=(TABLES,), commands=READING, heading="Reading files")


@dataclass(frozen=True)
class Reading:
    """How the file or database is read, where that is not recognised."""

    SECTION: ClassVar = "source"  # of a plan

    delimiter: str | None = reading_option(
        "CSV: comma, semicolon, tab or bar between cells.",
        Text(metavar="<sign>"),
        otherwise="recognised",
        see="formats.md#dialects-of-csv",
        label="Between cells",
    )
    decimal: str | None = reading_option(
        "CSV: the decimal sign, point or comma.",
        Text(metavar="<sign>"),
        otherwise="recognised",
        see="formats.md#dialects-of-csv",
        label="Decimal sign",
    )
    encoding: str | None = reading_option(
        "CSV, SPSS, Stata, SAS: how letters are encoded, such as windows-1252.",
        Text(metavar="<name>"),
        otherwise="recognised",
        see="formats.md#dialects-of-csv",
        label="Letters are encoded in",
    )
    sheet: str | None = reading_option(
        "Spreadsheet: the sheet to read.",
        Text(metavar="<name>"),
        otherwise="the only one",
        see="formats.md",
        label="Sheet",
    )
    skip_rows: int | None = reading_option(
        "Lines or rows above the header, such as a title, that are left out.",
        Whole(),
        otherwise="none",
        see="formats.md#rows-above-the-header",
        label="Rows above the header",
    )
    header_rows: int | None = reading_option(
        "Rows that the header takes: 2 where names stand above or below others.",
        Whole(),
        otherwise="1",
        see="formats.md#rows-above-the-header",
        label="Rows of the header",
    )
    missing_codes: Mapping[str, Any] | None = reading_option(
        "Values that stand for a missing one, by column, such as bmi=999,age=-9.",
        Codes(),
        word="missing-code",
        see="kinds.md#missing-codes",
        column="missing_codes",
    )
    query: str | None = reading_option(
        "Database: the SELECT whose answer is the table.", Text(metavar="<sql>"), see="formats.md#databases"
    )
