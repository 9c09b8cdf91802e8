"""The option table, continued: what only `audit` takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

from shoal.request.option import TABLES, option
from shoal.request.values import Column, File, Number, OneOf, Whole

GAP_IS_VALUE, GAP_MATCHES = "group", "match"  # how gaps are read

audit_option = partial(option, of=(TABLES,), commands=("audit",), see="audit.md")


@dataclass(frozen=True)
class AuditOptions:
    """What is known of the population, and what to count."""

    out: str | os.PathLike[str] | None = audit_option(
        None,
        "Folder to make for the page and its figures; of an original, keep it to yourself.",
        File(),
        letter="o",
        otherwise="figures are printed, no file is written",
    )
    weight: str | None = audit_option(
        None, "Column with sampling weights: how many people a record stands for.", Column()
    )
    population: int | None = audit_option(
        None, "How many people the table was drawn from, where there are no weights.", Whole()
    )
    household: str | None = audit_option(None, "Column that names the household.", Column())
    missing: str = audit_option(
        GAP_IS_VALUE,
        "Gaps in quasi-identifiers: group (a gap is a value) or match (a gap stands for every value).",
        OneOf((GAP_IS_VALUE, GAP_MATCHES)),
    )
    max_size: int | None = audit_option(
        None, "Most columns of the combinations that are counted.", Whole(), otherwise="3, or fewer if there are many"
    )
    threshold: float = audit_option(
        0.2, "Risk above which records are counted as at risk, 0 to 1.", Number(most=1.0, unit="risk")
    )
