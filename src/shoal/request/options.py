"""The option table, each option declared once: columns, promises, the release, and how files are read."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.language import ENGLISH, LANGUAGES
from shoal.request.option import BASKETS, DOCUMENTS, TABLES, option
from shoal.request.values import (
    Codes,
    Column,
    Columns,
    File,
    Number,
    OneOf,
    Orders,
    Pairs,
    Switch,
    Text,
    Value,
    Whole,
)

PROTECT, EXPLORE = ("protect",), ("protect", "explore")

# What becomes of a protected column: true in every row; true, and as coarse as its group needs it; true, or left blank
# where it must be; or what stands for its group (mean, median, most frequent value).
KEEP, GENERALISE, BLANK, AVERAGE = "keep", "generalise", "blank", "average"
TREATMENTS = (KEEP, GENERALISE, BLANK, AVERAGE)

DISTINCT, ENTROPY, RECURSIVE = "distinct", "entropy", "recursive"
DIVERSITIES = (DISTINCT, ENTROPY, RECURSIVE)  # how the values of a group are counted for l

READING = ("protect", "explore", "assess", "audit", "board", "inspect", "map")
reading_option = partial(option, of=(TABLES,), commands=READING, heading="Reading files")
table_option = partial(option, of=(TABLES,), commands=EXPLORE, heading="Tables")
promise_option = partial(option, commands=EXPLORE, heading="Promises")
release_option = partial(option, heading="Release")


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
        "Rows that the header takes up: 2 if names stand above or below others.",
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


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns are, and what becomes of each."""

    SECTION: ClassVar = "source"  # of a plan

    quasi: Sequence[str] | None = option(
        "Columns to protect, comma-separated: others may know them of a person.",
        Columns(),
        of=(TABLES,),
        commands=EXPLORE,
        otherwise="all, if all are numbers",
        label="Protect",
        role="protect",
    )
    confidential: Sequence[str] | None = option(
        "Columns that nobody should learn, released as they are and watched.",
        Columns(),
        of=(TABLES,),
        commands=EXPLORE,
        label="Confidential",
        role="confidential",
    )
    insensitive: Sequence[str] | None = table_option(
        "Columns released as they are.",
        Columns(),
        label="Keep",
        role="keep",
    )
    drop: Sequence[str] | None = table_option(
        "Columns to leave out; columns without a role are left out, too.",
        Columns(),
        label="Drop",
        role="drop",
    )
    weight: str | None = table_option(
        "Column with sampling weights: each group shows their mean.",
        Column(),
        see="weights.md",
        label="Sampling weight",
        role="weight",
    )
    calibrate: Sequence[str] | None = table_option(
        "Columns whose weighted totals hold in the release, comma-separated; group weights are calibrated to them.",
        Columns(),
        see="weights.md#calibration",
        label="Weighted totals that hold",
    )
    roles: Any = table_option("Roles(...), in place of the four lists.", Value(), section="-", only_python=True)
    text_column: str | None = option(
        "Column with the text, or with lists of items.",
        Column(),
        of=(DOCUMENTS, BASKETS),
        commands=("protect", "explore", "assess"),
        heading="Documents",
        otherwise="text, or items",
        label="Text",
        role="text",
    )
    label_column: str | None = option(
        "Column with a confidential label, released as it is.",
        Column(),
        of=(DOCUMENTS, BASKETS),
        commands=EXPLORE,
        heading="Documents",
        label="Label",
        role="label",
    )
    id_column: str | None = option(
        "Column that names the records; it stays private.",
        Column(),
        commands=("protect", "explore", "assess"),
        heading="Documents",
        otherwise="id if there is one, for documents",
        label="Column that names the records",
        role="id",
    )
    kinds: Mapping[str, str] | None = table_option(
        "What columns hold, such as zip=code,birth=date.",
        Pairs(example="zip=code"),
        word="kind",
        otherwise="recognised",
        see="kinds.md",
        label="Values are",
        column="kind",
    )
    categorical: Any = table_option(
        "Plain categories, comma-separated: values that are equal or not.",
        Columns(),
        otherwise="codes and truth values",
        see="kinds.md",
        label="Labels are",
        column="categorical",
    )
    order: Mapping[str, Any] | None = table_option(
        "Ordered labels, whose median stands for a group.",
        Orders(),
        see="kinds.md",
        label="In this order",
        column="order",
    )
    round: Any = table_option(
        "Numbers to release as whole numbers, comma-separated.",
        Columns(),
        label="Whole numbers stay whole",
        column="round",
    )
    recode: Mapping[str, str] | None = table_option(
        "Coarser values for a whole column: bands, limits, prefixes, classes of codes, periods of dates.",
        Pairs(example="age=0-17,18-64,65+", repeated=True, metavar="<column=rule>"),
        see="treatments.md#recoding",
        label="Recoded first by",
        column="recode",
    )
    treat: Mapping[str, str] | None = table_option(
        "What becomes of protected columns, such as region=keep,age=generalise: keep, generalise, blank or average.",
        Pairs(OneOf(TREATMENTS), example="region=keep"),
        see="treatments.md",
        label="Treatment",
        column="treat",
    )
    keep_visible: Mapping[str, str] | None = table_option(
        "Values that keep their share, such as people=Sami: every record that has one shows it, and no other does.",
        Pairs(example="people=Sami|Roma", repeated=True, metavar="<column=value>"),
        see="treatments.md#values-that-stay-visible",
        label="Values that keep their share",
        column="keep_visible",
    )
    coarsen: Mapping[str, int] | None = table_option(
        "Numbers to average once more after masking, so that at least K records share a value.",
        Pairs(Whole(least=2), example="COLUMN=K, income=40", repeated=True, metavar="<column=k>"),
        see="methods/numeric-microaggregation.md#coarsening",
        label="Records that share a value, at least",
        column="coarsen",
    )
    allow: Sequence[str] | None = table_option(
        "Columns released as they are although they single records out, comma-separated; the report names them.",
        Columns(),
        see="crowds.md#a-column-that-is-released-as-it-is",
        label="Release although it singles records out",
        column="allow",
    )
    missing: str = table_option(
        "Rows with gaps in protected columns: refuse, withhold, group (a gap is a value) or impute.",
        OneOf(("refuse", "withhold", "group", "impute")),
        default="refuse",
        see="kinds.md#missing-values",
        label="Rows with gaps in protected columns",
    )

    def __post_init__(self) -> None:
        if self.calibrate is not None and self.weight is None and self.roles is None:
            raise InputError("calibrated weights need weights; name their column", "weight")
        lists = ("quasi", "confidential", "insensitive", "drop")
        if self.roles is not None and any(getattr(self, name) is not None for name in lists):
            raise InputError("roles are given twice, as a whole and by {option}; give one or the other", lists)


@dataclass(frozen=True)
class GroupPromises:
    """What is promised of every group beside its size: of confidential values in it, and of the people behind it."""

    SECTION: ClassVar = "promise"  # of a plan

    l: float | None = option(
        "Smallest number of different values of each confidential column in a group.",
        Number(above=1, most=math.inf, bound="must be a whole number of at least 2, or with entropy a number above 1"),
        commands=EXPLORE,
        see="methods/diversity.md",
        label="Different confidential values in each group, at least (l)",
    )
    diversity: str = promise_option(
        "How l counts values: distinct (also called p-sensitive), entropy or recursive.",
        OneOf(DIVERSITIES),
        default=DISTINCT,
        see="methods/diversity.md#kinds-of-diversity",
        label="What l counts",
    )
    c: float | None = promise_option(
        "Recursive diversity: the most frequent value occurs less than C times as often as those from the l-th on.",
        Number(),
        see="methods/diversity.md#kinds-of-diversity",
        label="Most frequent value, below (c)",
    )
    t: float | None = promise_option(
        "Largest distance between a group's confidential values and those of all records, 0 to 1.",
        Number(most=1),
        see="methods/diversity.md#t-closeness",
        label="Closeness of confidential values (t)",
    )
    beta: float | None = promise_option(
        "How much more frequent a confidential value may be in a group than among all records, relative to its share.",
        Number(),
        see="methods/diversity.md#likeness",
        label="Gain of confidential values (β)",
    )
    person: str | None = promise_option(
        "Column that names the person or author: whole people are grouped. It is not released.",
        Column(),
        see="methods/people.md",
        label="Column that says whose a record is",
        role="person",
    )
    household: str | None = promise_option(
        "Column that names the household: whole households are grouped, also where people are named. Not released.",
        Column(),
        of=(TABLES,),
        see="methods/people.md#households",
        label="Column that names the household",
        role="household",
    )
    pseudonym: bool = promise_option(
        "Release a new number for each person or household, which shows whose rows belong together.",
        Switch(),
        default=False,
        of=(TABLES,),
        see="methods/people.md#a-number-for-each-person",
        label="Number people or households anew",
    )
    k_column: str | None = promise_option(
        "Column with a larger k that single records ask for. It is not released.",
        Column(),
        of=(TABLES,),
        see="methods/people.md#a-records-own-k",
        label="Column with a larger k that single records ask for",
        role="own-k",
    )
    # The first option that promises anything, with its value, for messages; empty where nothing is promised beside k.
    asked: str = field(init=False, repr=False, compare=False)
    of_values: bool = field(init=False, repr=False, compare=False)  # anything is promised of confidential values
    # The column whose values are grouped whole: households where they are named, else people.
    unit: str | None = field(init=False, repr=False, compare=False)
    units: str = field(init=False, repr=False, compare=False)  # what crowds are counted in then, in words

    def __post_init__(self) -> None:
        if self.diversity != DISTINCT and self.l is None:
            raise InputError(f"diversity={self.diversity!r} needs l; give {{option}}, or leave diversity out", "l 2")
        if self.l is not None and self.diversity != ENTROPY:
            if not float(self.l).is_integer():
                raise InputError(f"l={self.l!r} must be a whole number of at least 2; raise it, or leave it out")
            object.__setattr__(self, "l", int(self.l))
        if self.diversity == RECURSIVE and self.c is None:
            raise InputError("diversity='recursive' needs c, how frequent a value may be; give {option}", "c 3")
        if self.diversity != RECURSIVE and self.c is not None:
            raise InputError(f"c={self.c:g} is for diversity='recursive'; ask for that, or leave c out")
        fractions = ("c", "t", "beta", "l") if self.diversity == ENTROPY else ("c", "t", "beta")
        for name in fractions:  # as a certificate has them
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        given = ((name, getattr(self, name)) for name in ("l", "t", "beta", "household", "person", "k_column"))
        object.__setattr__(self, "asked", next((f"{name} {value}" for name, value in given if value is not None), ""))
        object.__setattr__(self, "of_values", any(bound is not None for bound in (self.l, self.t, self.beta)))
        object.__setattr__(self, "unit", self.person if self.household is None else self.household)
        object.__setattr__(self, "units", "people" if self.household is None else "households")
        if self.pseudonym and self.unit is None:
            raise InputError("numbers need people or households; name their column: {option}", ["household", "person"])
        if self.pseudonym and self.of_values:
            raise InputError(
                f"{self.asked.replace(' ', '=', 1)} holds in groups of rows, and a number joins a person's: a value "
                "that all people of a crowd have in some row would be certain; leave out that or {option}",
                "pseudonym",
            )


@dataclass(frozen=True)
class Publication:
    """Where the release goes, and what it follows."""

    SECTION: ClassVar = "release"  # of a plan

    out: str | os.PathLike[str] = option(
        "Folder to make for the release.", File(), default="release", commands=EXPLORE, letter="o"
    )
    force: bool = option(
        "Replace earlier output, its private side included.", Switch(), default=False, commands=READING, section="-"
    )
    private: str | os.PathLike[str] | None = release_option(
        "Folder for the private side.", File(), otherwise="OUT-private"
    )
    after: str | os.PathLike[str] | None = release_option(
        "Earlier release whose crowds this one keeps.",
        File(metavar="<release>"),
        of=(TABLES,),
        see="crowds.md#releases-that-follow-one-another",
        label="The earlier release",
        instead="documents that come and go are kept by the index",
    )
    earlier_private: str | os.PathLike[str] | None = release_option(
        "Private folder of the earlier release.",
        File(),
        of=(TABLES,),
        otherwise="AFTER-private",
        label="Its private part",
    )
    lang: str = release_option(
        "Language of the release's pages, such as de; the certificate stays English.",
        OneOf(LANGUAGES),
        default=ENGLISH,
        label="Language of the pages",
    )
    sign: Any = release_option(
        "Sign the release with your OpenSSH private key (Ed25519).", File(metavar="<file>"), see="signature.md"
    )
    client: Any = release_option(
        "Input in parts: address of a Dask scheduler, such as tcp://host:8786.",
        Value(metavar="<address>"),
        word="scheduler",
        otherwise="this machine",
        see="cluster.md",
    )
