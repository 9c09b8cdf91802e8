"""audit: how risky a table is as it stands, before it is protected or after."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from shoal.assessment.audit.attackers import attackers, household_risks, individual_risks, riskiest, summed_up
from shoal.assessment.audit.combinations import (
    affordable_size,
    below_limits,
    count_combinations,
    named_combinations,
    rank_columns,
    special_uniques,
)
from shoal.assessment.audit.key_columns import Floats
from shoal.assessment.audit.population import population_uniques
from shoal.assessment.audit.tables import AuditedTable, read_audited
from shoal.assessment.audit.values import confidential_values
from shoal.data.files import shown
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.data.sources import table_source
from shoal.errors import InputError
from shoal.language import Sayable, sayable, speaking
from shoal.pages.audit import audit_html
from shoal.release.folders import PUBLIC_FOLDER, check_free, folders_written_aside
from shoal.request.judging_options import AuditOptions
from shoal.request.options import ColumnOptions, Reading
from shoal.request.plan import planned
from shoal.request.request import checked_part
from shoal.results.audit import LIMITS, Audit

FILES = {"report.html", "audit.json", "combinations.csv", "columns.csv", "records.csv"}
LARGEST_POPULATION = 10**12
CROWDS = (1, 2, 3, 5, 10, 20, 50)  # where bands of crowd sizes begin


def audit(
    source: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    lang: str = "en",
    quasi: Sequence[str] | None = None,
    confidential: Sequence[str] | None = None,
    roles: Any = None,
    person: str | None = None,
    weight: str | None = None,
    population: int | None = None,
    household: str | None = None,
    missing: str = "group",
    max_size: int | None = None,
    threshold: float = 0.2,
    force: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    query: str | None = None,
) -> Audit:
    """How risky one table is: crowds, uniques, attackers, the population, special uniques. See docs/audit.md.

    The options are those of `shoal audit`; docs/cli.md has a sentence on each.

    Parameters
    ----------
    source : path, any dataframe, the folder of a release, or a plan (.toml), which has its source and columns
    out : path
        A folder to make for the page, its figures as JSON and CSV, and the risk of each record. Of an original, keep
        it to yourself. None: nothing is written.
    roles : path or Roles

    >>> import pyarrow as pa
    >>> from shoal import audit
    >>> people = pa.table({"town": ["A", "A", "B", "B"], "sex": ["f", "f", "f", "m"], "ill": ["no", "yes", "no", "no"]})
    >>> found = audit(people, quasi=["town", "sex"], confidential=["ill"])
    >>> found.k, found.below[0], found.attackers[0].average
    (1, 2, 0.75)
    """
    options = dict(locals())  # all of them, before any other name is bound
    source, options = planned(options.pop("source"), options)
    asked, reading = checked_part(AuditOptions, options), checked_part(Reading, options)
    columns = ColumnOptions(quasi=asked.quasi, confidential=asked.confidential, roles=asked.roles)
    if out is not None:
        check_free(Path(out), force, lambda content: set(content) <= FILES)
    found = audit_table(read_audited(table_source(source, reading), columns, asked.person, asked), asked)
    if out is not None:
        with speaking(asked.lang):
            write_audit(Path(out), found)
    return found


def audit_table(table: AuditedTable, asked: AuditOptions) -> Audit:
    """Every measure of a table that was read."""
    keys, weights = table.keys, table.weights
    n_rows, n_columns = keys.n_rows, len(keys.names)
    if keys.gaps_match and keys.person is not None:
        raise InputError("{option} counts records, not people; leave out one of the two", "missing match")
    size = _population_size(n_rows, weights, asked.population)
    exact = keys.keys()
    frequencies = keys.frequencies()
    people_like = _people_like(table, frequencies, size)
    risks = individual_risks(frequencies, people_like)
    uniques = np.flatnonzero(frequencies < 2)
    counted = count_combinations(keys, min(asked.max_size or affordable_size(n_rows, n_columns), n_columns), uniques)
    fraction = None if size is None else n_rows / size
    n_in_pairs = int(np.count_nonzero(frequencies == 2))
    sampled = size is not None and size > n_rows and keys.person is None and not keys.gaps_match
    values = (
        confidential_values(column.name, exact, column.codes, column.ordered, keys.person)
        for column in table.confidential
    )
    return Audit(
        rows=n_rows,
        release=table.release,
        quasi=keys.names,
        proposed=table.proposed,
        confidential=tuple(column.name for column in table.confidential),
        missing=asked.missing,
        people=None if keys.person is None else len(np.unique(keys.person)),
        threshold=asked.threshold,
        known_from="weights" if weights is not None else "size" if size is not None else "nowhere",
        k=int(frequencies.min()),
        keys=len(exact.count),
        below=below_limits(frequencies),
        crowds=_crowds(frequencies),
        attackers=attackers(frequencies, people_like, asked.threshold),
        individual=summed_up(risks if keys.person is None else riskiest(risks, keys.person), asked.threshold),
        household=None
        if table.household is None
        else summed_up(household_risks(risks, table.household), asked.threshold),
        population=population_uniques(keys, exact.count, frequencies, size) if sampled and size is not None else None,
        values=tuple(one for one in values if one is not None),
        combinations=named_combinations(keys.names, counted),
        columns=rank_columns(keys, counted),
        special=special_uniques(keys.names, counted, len(uniques), n_in_pairs, fraction, asked.threshold),
        notes=tuple(_notes(table, asked, size)),
        risks=risks,
    )


def _people_like(table: AuditedTable, frequencies: Floats, size: int | None) -> Floats | None:
    """How many people of the population have the key of each record; None where nothing is known of it."""
    if size is None:
        return None
    if table.weights is None:
        return frequencies * (size / table.keys.n_rows)
    return table.keys.frequencies(weights=table.weights)


def _population_size(n_rows: int, weights: Floats | None, population: int | None) -> int | None:
    if weights is not None:
        if population is not None:
            raise InputError("the weights add up to the population; leave out {option}", "population")
        return round(float(weights.sum()))
    if population is not None and not n_rows <= population <= LARGEST_POPULATION:
        raise InputError(
            f"population={population} must be from {n_rows:,}, the records there are, to {LARGEST_POPULATION:,}; give "
            "the number of people that the table was drawn from"
        )
    return population


def _crowds(frequencies: Floats) -> tuple[tuple[int, int, int], ...]:
    """Records by how many share their key."""
    largest = max(int(frequencies.max()), CROWDS[-1])
    ends = (*(start - 1 for start in CROWDS[1:]), largest)
    band = np.searchsorted(CROWDS, frequencies, side="right") - 1
    counts = np.bincount(band, minlength=len(CROWDS)).tolist()
    return tuple(zip(CROWDS, ends, counts, strict=True))


def _notes(table: AuditedTable, asked: AuditOptions, size: int | None) -> list[Sayable]:
    """What a reader must know to judge the figures, a sentence each."""
    notes, keys = list[Sayable](), table.keys
    if table.found:
        columns = [sayable("{column} ({role})", column=name, role=sayable(role)) for role, name in table.found.items()]
        listed = reduce(lambda listed, column: sayable("{listed}, {column}", listed=listed, column=column), columns)
        notes.append(sayable("Columns that nobody named were used for what they are: {listed}.", listed=listed))
    if table.unscaled is not None and size is None:
        notes.append(
            sayable(
                "{column} is like a sampling weight, but does not add up to a population: scale it so that it does, as "
                "some programs write weights without the point, or give the size of the population.",
                column=shown(table.unscaled),
            )
        )
    gaps = sum(int(np.count_nonzero(codes == 0)) for codes in keys.codes)
    if gaps and keys.gaps_match:
        notes.append(
            sayable(
                "Gaps in quasi-identifiers ({gaps}) stand for every value, so that crowds overlap; the measures of "
                "confidential values take a gap as a value of its own.",
                gaps=gaps,
            )
        )
    elif gaps:
        notes.append(sayable("Gaps in quasi-identifiers ({gaps}) count as a value of their own.", gaps=gaps))
    if size is None:
        notes.append(
            sayable(
                "Nothing is known of the population, so a key counts as if nobody outside the table had it. Sampling "
                "weights, or the size of the population, tell how many have."
            )
        )
    elif keys.person is not None or keys.gaps_match:
        notes.append(
            sayable(
                "Unique people in the population are estimated only where every record is a person and gaps are values."
            )
        )
    elif table.weights is not None and np.ptp(table.weights) > 0:
        notes.append(
            sayable(
                "The models for unique people take all records as sampled with one fraction; weights that differ "
                "widely make them less certain. The individual risk uses each record's own weight."
            )
        )
    if table.release and size is not None:
        notes.append(
            sayable(
                "Averaged values are nobody's own: estimates for the population hold only where the release has "
                "recoded categories that people outside it share."
            )
        )
    return notes


def write_audit(out: Path, found: Audit) -> None:
    """Write everything aside first: the folder appears whole or not at all."""
    below = [f"below_{limit}" for limit in LIMITS]
    combinations = [
        {"columns": " + ".join(one.columns), "size": len(one.columns)} | dict(zip(below, one.below, strict=True))
        for one in found.combinations
    ]
    page = audit_html(found)
    with folders_written_aside((out, PUBLIC_FOLDER if found.release else PRIVATE_FOLDER)) as (aside,):
        text = json.dumps(found.data(), indent=2, ensure_ascii=False, allow_nan=False)
        (aside / "audit.json").write_text(text + "\n", encoding="utf-8")
        (aside / "report.html").write_text(page, encoding="utf-8", newline="\n")
        _write_table(aside / "combinations.csv", combinations)
        _write_table(aside / "columns.csv", [vars(one) for one in found.columns])
        records = pa.table({"row": np.arange(1, found.rows + 1), "risk": np.round(found.risks, 6)})
        pyarrow.csv.write_csv(records, aside / "records.csv")


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)
