"""The page of an audit: how risky one table is, for the people who decide about it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.language import N_, _, fixed
from shoal.pages.charts import Picture, picture, shares, sideways, upright
from shoal.pages.words import count, number, page, percent
from shoal.results.audit import Audit, Combination, ExpectedRisk

MOST_COMBINATIONS = 12  # in the picture; all are in combinations.csv
MOST_COLUMNS = 15
AVERAGES = (N_("average prosecutor risk"), N_("average journalist risk"), N_("average marketer risk"))
LARGEST_BAND = 50  # records of a crowd from which on bands have no end


def audit_html(audit: Audit) -> str:
    """The whole page: style and pictures inside, nothing to fetch, nothing to run."""
    return page(
        "audit.html.jinja",
        a=audit,
        limit=fixed(100 * audit.threshold, "g") + _("%"),
        few=_("one column")
        if audit.special.max_size == 1
        else _("{columns} columns or fewer").format(columns=audit.special.max_size),
        whose="person" if audit.people is not None else "record",
        crowds=_crowds(audit),
        risks=_risks(audit.individual, _("Chance to be found")),
        households=None if audit.household is None else _risks(audit.household, _("Chance that a member is found")),
        columns=_columns(audit),
        combinations=_combinations(_telling(audit.combinations), audit.rows),
        special=_special(audit) if audit.special.records else None,
        population=None if audit.population is None else _population(audit),
        unique_people=None if audit.population is None else audit.population.uniques(audit.population.chosen),
    )


def _crowds(audit: Audit) -> Picture:
    bars = [(_band(low, high), records / audit.rows) for low, high, records in audit.crowds]
    rows = [(name, number(band[2]), percent(share)) for (name, share), band in zip(bars, audit.crowds, strict=True)]
    description = _("Bars: the share of the records in crowds of each size; {alone} are alone.").format(
        alone=percent(bars[0][1])
    )
    header = (_("Crowd"), _("Records"), _("Share"))
    return picture(_upright(bars, _("Records who share a key")), description, header, rows)


def _band(low: int, high: int) -> str:
    return f"{low}+" if low == LARGEST_BAND else str(low) if low == high else f"{low}–{high}"


def _risks(risk: ExpectedRisk, title: str) -> Picture:
    total = sum(records for _, _, records in risk.bands)
    bars = [(f"≤ {_short(high)}", records / total) for _low, high, records in risk.bands]
    between = _("{low} to {high}")
    rows = [
        (
            between.format(low=fixed(low, ".1%"), high=fixed(high, ".1%")),
            number(records),
            percent(records / total),
        )
        for low, high, records in risk.bands
    ]
    description = _("Bars: the share of the records by the chance that they are found; at most {highest}.").format(
        highest=percent(risk.highest)
    )
    return picture(_upright(bars, title), description, (_("Chance"), _("Records"), _("Share")), rows)


def _short(share: float) -> str:
    """A decimal only where it says something."""
    return fixed(share, ".0%" if f"{share:.1%}".endswith(".0%") else ".1%")


def _upright(bars: Sequence[tuple[str, float]], title: str) -> str:
    """A bar of a share of the records for each band, from left to right."""
    return upright(bars, title, shares(_("Share of the records"), [share for _, share in bars]))


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
    header = (
        _("Column"),
        _("Values"),
        _("Gaps"),
        _("Unique alone"),
        _("Uniques added, mean"),
        _("Unique without it"),
    )
    drawing = _sideways(bars, _("Records made unique, on average"))
    description = _("Bars: {column} makes most records unique.").format(column=bars[0][0])
    return picture(drawing, description, header, rows)


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
    description = _("Bars: {columns} single out {share} of the records.").format(
        columns=bars[0][0], share=percent(bars[0][1])
    )
    drawing = _sideways(bars, _("Records singled out"), longest=260)
    return picture(drawing, description, (_("Columns"), _("Alone"), _("Below 3"), _("Below 5")), rows)


def _special(audit: Audit) -> Picture:
    bars = [(name, share) for name, share in audit.special.contributions if share > 0][:MOST_COLUMNS]
    rows = [(name, percent(share)) for name, share in audit.special.contributions]
    drawing = _sideways(bars, _("Share of the score in which the column takes part"))
    description = _("Bars: {column} takes part in most of the score.").format(column=bars[0][0])
    return picture(drawing, description, (_("Column"), _("Share")), rows)


def _population(audit: Audit) -> Picture:
    assert audit.population is not None
    size = audit.population.size
    known = [(one.model, one.uniques) for one in audit.population.estimates if one.uniques is not None]
    rows = [
        (one.model, *(_("no solution"),) * 2)
        if one.uniques is None
        else (one.model, number(round(one.uniques)), percent(one.uniques / size))
        for one in audit.population.estimates
    ]
    drawing = _sideways([(model, uniques / size) for model, uniques in known], _("People who are one of a kind"))
    description = _("Bars: unique people among {people}, by {models} models.").format(
        people=count(size, "person", "people"), models=len(known)
    )
    return picture(drawing, description, (_("Model"), _("Unique people"), _("Share")), rows)
