"""The page of an audit: how risky one table is, for the people who decide about it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.pages.charts import Picture, picture, shares, sideways, upright
from shoal.pages.words import count, number, page, percent
from shoal.results.audit import Audit, Combination, ExpectedRisk

MOST_COMBINATIONS = 12  # in the picture; all are in combinations.csv
MOST_COLUMNS = 15
LARGEST_BAND = 50  # records of a crowd from which on bands have no end


def audit_html(audit: Audit) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    return page(
        "audit.html.jinja",
        a=audit,
        limit=f"{100 * audit.threshold:g}%",
        whose="person" if audit.people is not None else "record",
        crowds=_crowds(audit),
        risks=_risks(audit.individual, "Chance to be found"),
        households=None if audit.household is None else _risks(audit.household, "Chance that a member is found"),
        columns=_columns(audit),
        combinations=_combinations(_telling(audit.combinations), audit.rows),
        special=_special(audit) if audit.special.records else None,
        population=None if audit.population is None else _population(audit),
        unique_people=None if audit.population is None else audit.population.uniques(audit.population.chosen),
    )


def _crowds(audit: Audit) -> Picture:
    bars = [(_band(low, high), records / audit.rows) for low, high, records in audit.crowds]
    rows = [(name, number(band[2]), percent(share)) for (name, share), band in zip(bars, audit.crowds, strict=True)]
    description = f"Bars: the share of the records in crowds of each size; {percent(bars[0][1])} are alone."
    return picture(_upright(bars, "Records who share a key"), description, ("Crowd", "Records", "Share"), rows)


def _band(low: int, high: int) -> str:
    return f"{low}+" if low == LARGEST_BAND else str(low) if low == high else f"{low}–{high}"


def _risks(risk: ExpectedRisk, title: str) -> Picture:
    total = sum(records for _, _, records in risk.bands)
    bars = [(f"≤ {high:.1%}".replace(".0%", "%"), records / total) for _, high, records in risk.bands]
    rows = [
        (f"{low:.1%} to {high:.1%}", number(records), percent(records / total)) for low, high, records in risk.bands
    ]
    description = f"Bars: the share of the records by the chance that they are found; at most {percent(risk.highest)}."
    return picture(_upright(bars, title), description, ("Chance", "Records", "Share"), rows)


def _upright(bars: Sequence[tuple[str, float]], title: str) -> str:
    """A bar of a share of the records for each band, from left to right."""
    return upright(bars, title, shares("Share of the records", [share for _, share in bars]))


def _sideways(bars: Sequence[tuple[str, float]], title: str, longest: int = 170) -> str:
    """A bar of a share for each name, from top to bottom."""
    return sideways(bars, shares(title, [share for _, share in bars]), longest)


def _columns(audit: Audit) -> Picture:
    bars = [(one.column, one.added / audit.rows) for one in audit.columns[:MOST_COLUMNS]]
    rows = [
        (
            one.column,
            number(one.values),
            number(one.missing),
            number(one.alone),
            number(round(one.added, 1)),
            number(one.without),
        )
        for one in audit.columns
    ]
    header = ("Column", "Values", "Gaps", "Unique alone", "Uniques added, mean", "Unique without it")
    drawing = _sideways(bars, "Records made unique, on average")
    return picture(drawing, f"Bars: {bars[0][0]} makes most records unique.", header, rows)


def _telling(combinations: Sequence[Combination]) -> list[Combination]:
    """Combinations that single out more than any part of them does, the most first; few columns before many."""
    uniques = {frozenset(one.columns): one.uniques for one in combinations}
    parts = {one: [frozenset(one.columns) - {column} for column in one.columns] for one in combinations}
    telling = [one for one in combinations if one.uniques > max(uniques.get(part, 0) for part in parts[one])]
    return sorted(telling, key=lambda one: (-one.uniques, len(one.columns)))[:MOST_COMBINATIONS]


def _combinations(telling: Sequence[Combination], n_rows: int) -> Picture | None:
    if not telling:
        return None
    bars = [(" + ".join(one.columns), one.uniques / n_rows) for one in telling]
    rows = [(name, *map(number, one.below)) for (name, _), one in zip(bars, telling, strict=True)]
    description = f"Bars: {bars[0][0]} single out {percent(bars[0][1])} of the records."
    drawing = _sideways(bars, "Records singled out", longest=260)
    return picture(drawing, description, ("Columns", "Alone", "Below 3", "Below 5"), rows)


def _special(audit: Audit) -> Picture:
    bars = [(name, share) for name, share in audit.special.contributions if share > 0][:MOST_COLUMNS]
    rows = [(name, percent(share)) for name, share in audit.special.contributions]
    drawing = _sideways(bars, "Share of the score in which the column takes part")
    return picture(drawing, f"Bars: {bars[0][0]} takes part in most of the score.", ("Column", "Share"), rows)


def _population(audit: Audit) -> Picture:
    assert audit.population is not None
    size = audit.population.size
    known = [(one.model, one.uniques) for one in audit.population.estimates if one.uniques is not None]
    rows = [
        (one.model, *("no solution",) * 2)
        if one.uniques is None
        else (one.model, number(round(one.uniques)), percent(one.uniques / size))
        for one in audit.population.estimates
    ]
    drawing = _sideways([(model, uniques / size) for model, uniques in known], "People who are one of a kind")
    description = f"Bars: unique people among {count(size, 'person', 'people')}, by {len(known)} models."
    return picture(drawing, description, ("Model", "Unique people", "Share"), rows)
