"""The option table, continued: what only `assess`, `audit`, `board` and `explore` take."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from shoal.language import ENGLISH, LANGUAGES
from shoal.request.option import DOCUMENTS, TABLES, TEXTS, option
from shoal.request.values import Column, Columns, File, Files, Number, OneOf, Switch, Text, Texts, Value, Whole

table_option = partial(option, of=(TABLES,), heading="Tables", see="assess.md")
survey_option = partial(option, of=(TABLES,), heading="Surveys", see="methods/utility.md#surveys")
text_option = partial(option, of=(TEXTS,), heading="Sanitized texts", see="sanitizer/measure.md")
audit_option = partial(option, of=(TABLES,), see="audit.md")
board_option = partial(option, of=(TABLES,), see="board.md")
PROPOSED = "those of the release, or proposed"


@dataclass(frozen=True)
class AssessOptions:
    """How the rows of original and protected belong together, and what to measure."""

    out: str | os.PathLike[str] | None = option(
        "Folder to make for the report; it is made from the original: keep it to yourself.",
        File(),
        letter="o",
        otherwise="figures are printed, no file is written",
    )
    private: str | os.PathLike[str] | None = option(
        "Private folder of the release.", File(), otherwise="PROTECTED-private"
    )
    lang: str | None = table_option(
        "Language of the page, such as de.", OneOf(LANGUAGES), otherwise=ENGLISH, see="report.md#in-german"
    )
    aligned: bool = option(
        "Take the rows as they come: do not check that they belong together.", Switch(), default=False
    )
    random_state: int = option("Seed of samples and trained attackers.", Whole(0), default=0, only_python=True)
    key: str | None = table_option("Column of both tables that names the rows.", Column())
    columns: Sequence[str] | None = table_option(
        "Columns to compare, comma-separated.", Columns(), otherwise="the protected ones, or all in common"
    )
    control: Any = table_option("Table of people who are not in the original, for comparison.", File())
    target: str | None = table_option(
        "Column that models learn to predict from the protected table.",
        Column(),
        see="methods/utility.md#models-from-tables",
    )
    ontology: Any = table_option(
        "How the trained attacker compares labels: a hierarchy for all columns, or COLUMN=FILE.",
        Files(),
        of=(TABLES, DOCUMENTS),
        otherwise="labels are equal or not",
        see="methods/ontologies.md",
    )
    sample: int | None = table_option(
        "Records that trained attackers learn from; more take longer.",
        Whole(20),
        otherwise="400",
        see="leaks.md",
    )
    prove: float | None = table_option(
        "Seconds to spend on proving how many records any distance can link.",
        Number(unit="number of seconds", metavar="<seconds>"),
        see="leaks.md#the-proof",
    )
    distance: str | None = table_option(
        "Family of distances for the proof: weighted-mean, owa, choquet, bilinear, ...",
        Text(metavar="<name>"),
        otherwise="weighted-mean",
        see="methods/learned-linkage.md#distances",
    )
    differencing: int | None = table_option(
        "Number of records to leave out, one at a time: the protection is repeated and subtracted.",
        Whole(),
        see="methods/disclosure-risk.md#differencing",
    )
    earlier: str | os.PathLike[str] | None = table_option(
        "Earlier release of the same people: judges the pair.",
        File(metavar="<release>"),
        word="with",
        see="crowds.md#two-releases-are-subtracted",
    )
    earlier_private: str | os.PathLike[str] | None = table_option(
        "Private folder of that release.", File(), word="with-private", otherwise="WITH-private"
    )
    person: str | None = table_option(
        "Column of the original that names the person: counts who carries all the rows that a person carries.",
        Column(),
        see="assess.md#who-has-which-confidential-value",
    )
    weight: str | None = survey_option(
        "Column with sampling weights: totals, means, shares, quantiles and the Gini index before and after.",
        Column(),
        otherwise="every record counts once",
    )
    strata: str | None = survey_option("Column of the original that names the stratum.", Column())
    cluster: str | None = survey_option("Column of the original that names the cluster.", Column())
    tabulate: Sequence[str] | None = survey_option(
        "Two columns to tabulate, such as region:sex, or region:income for means.",
        Texts(metavar="<a:b>"),
        otherwise="the columns with the fewest labels",
    )
    model: Sequence[str] | None = survey_option(
        "Model to fit before and after, such as 'income ~ age + region'.", Texts(metavar="<y ~ x + z>")
    )
    queries: Any = text_option(
        "File of searches that readers make, one per line.",
        File(),
        otherwise="one per subject",
        see="sanitizer/measure.md#the-queries",
    )
    policy: Any = text_option(
        "Policy whose topics are risky: a name or a TOML file.", Value(metavar="<name>"), otherwise="eo13526"
    )
    relevance: float | None = text_option(
        "Lowest relevance at which a search finds a document.",
        Number(most=1),
        otherwise="the knee of each query",
        see="sanitizer/measure.md#the-search-engine",
    )
    background: Any = text_option(
        "Documents among which the originals are searched for.",
        File(),
        otherwise="the originals",
        see="sanitizer/measure.md#can-the-originals-be-found",
    )
    language: str | None = text_option("Language of the texts.", Text(metavar="<name>"), otherwise="english")


@dataclass(frozen=True)
class ExploreOptions:
    """Where the results go, and the limits that what is recommended must keep."""

    out: str | os.PathLike[str] = option(
        "Folder for the results; it is made from the original: keep it to yourself.",
        File(),
        default="exploration",
        letter="o",
    )
    max_risk: float | None = option(
        "Largest risk you accept, in per cent.",
        Number(most=100, unit="number of per cent", metavar="<per cent>"),
        see="assess.md#what-loss-and-risk-are",
        label="Most risk, in per cent",
    )
    max_loss: float | None = option(
        "Largest loss you accept, in per cent.",
        Number(unit="number of per cent", metavar="<per cent>"),
        see="assess.md#what-loss-and-risk-are",
        label="Most loss, in per cent",
    )
    min_k: int | None = option("Recommend only protections with at least this k.", Whole(2), label="Least crowd")
    max_withheld: float | None = option(
        "Largest share of records withheld that you accept, in per cent.",
        Number(most=100, unit="number of per cent", metavar="<per cent>"),
        of=(TABLES,),
        otherwise="any; recoding of whole columns 5",
        see="assess.md#what-is-tried",
        label="Most records withheld, in per cent",
    )
    min_overlap: float | None = option(
        "Smallest mean overlap that you accept of the intervals of survey estimates before and after, in per cent.",
        Number(most=100, unit="number of per cent", metavar="<per cent>"),
        of=(TABLES,),
        see="methods/utility.md#surveys",
        label="Least overlap of survey estimates, in per cent",
    )
    stay_true: Sequence[str] | None = option(
        "Protected columns that must show no false value, comma-separated: kept, generalised or blanked.",
        Columns(),
        of=(TABLES,),
        see="assess.md#what-is-tried",
        label="Columns without false values",
    )
    crowd: bool = option("Recommend only what promises a crowd, or anything.", Switch(), default=True)
    harden: bool = option(
        "Coarsen the columns that leak until a trained attacker links no more than the largest risk.",
        Switch(),
        default=False,
        see="leaks.md#what-to-do",
    )
    workers: int | None = option("Processes.", Whole(), otherwise="one per core", only_python=True)
    on_trial: Callable[[Any], None] | None = option("Called with each outcome as it comes.", Value(), only_python=True)


@dataclass(frozen=True)
class AuditOptions:
    """Which columns of a table are known to others, whom its records stand for, and what is counted."""

    out: str | os.PathLike[str] | None = audit_option(
        "Folder to make for the page and its figures; of an original, keep it to yourself.",
        File(),
        letter="o",
        otherwise="figures are printed, no file is written",
    )
    lang: str = audit_option("Language of the page, such as de.", OneOf(LANGUAGES), default=ENGLISH)
    quasi: Sequence[str] | None = audit_option(
        "Columns that others may know of a person, comma-separated.", Columns(), otherwise=PROPOSED
    )
    confidential: Sequence[str] | None = audit_option(
        "Columns that nobody should learn, comma-separated.", Columns(), otherwise=PROPOSED
    )
    roles: Any = audit_option("Roles(...), in place of these.", Value(), only_python=True)
    person: str | None = audit_option("Column that names the person: people are counted, not records.", Column())
    weight: str | None = audit_option(
        "Column with sampling weights, which add up to the population.",
        Column(),
        label="Column with sampling weights",
    )
    population: int | None = audit_option(
        "How many people the table was drawn from, where there are no weights.",
        Whole(),
        otherwise="unknown",
        label="People the table was drawn from",
    )
    household: str | None = audit_option(
        "Column that names the household.", Column(), label="Column that names the household"
    )
    missing: str = audit_option(
        "Gaps: group (a gap is a value) or match (it stands for every value).",
        OneOf(("group", "match")),
        default="group",
    )
    max_size: int | None = audit_option(
        "Largest number of columns in the combinations that are counted.",
        Whole(),
        otherwise="3, or fewer if there are many",
    )
    threshold: float = audit_option(
        "Risk above which records are counted, 0 to 1.",
        Number(most=1),
        default=0.2,
        label="Risk above which records are counted",
    )


@dataclass(frozen=True)
class BoardOptions:
    """What is behind a release whose page a board reads."""

    out: str | os.PathLike[str] | None = board_option(
        "Folder to make for the page; made with the original, keep it to yourself.",
        File(),
        letter="o",
        otherwise="a few lines are printed, no file is written",
    )
    lang: str = board_option("Language of the page, such as de.", OneOf(LANGUAGES), default=ENGLISH)
    original: Any = board_option(
        "The table behind the release: adds the risk before, why each column has its role, and which analyses hold.",
        File(metavar="<table>"),
    )
    private: str | os.PathLike[str] | None = board_option(
        "Private folder of the release.", File(), otherwise="RELEASE-private"
    )
    person: str | None = board_option("Column of the original that names the person.", Column())
    weight: str | None = board_option("Column with sampling weights.", Column())
    population: int | None = board_option(
        "How many people the table was drawn from, where there are no weights.", Whole(), otherwise="unknown"
    )
    household: str | None = board_option("Column of the original that names the household.", Column())
    tabulate: Sequence[str] | None = board_option(
        "Two columns to tabulate before and after, such as region:sex.", Texts(metavar="<a:b>")
    )
    model: Sequence[str] | None = board_option(
        "Model to fit before and after, such as 'income ~ age + region'.", Texts(metavar="<y ~ x + z>")
    )


OWN = {"assess": AssessOptions, "audit": AuditOptions, "board": BoardOptions, "explore": ExploreOptions}
