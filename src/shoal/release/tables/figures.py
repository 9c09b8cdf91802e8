"""Figures of a release of a table that may be published, from the facts of its parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.bundle.folders import Writer, write_csv
from shoal.io.kinds.choices import SET
from shoal.io.kinds.number_forms import NumberForm, unit_of
from shoal.io.kinds.vocabulary import Kind
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.exact_sums import mean_of_sums
from shoal.protection.distances import SAMPLE, euclidean_distances, spread_out
from shoal.protection.extremes import Limits, limits_of
from shoal.protection.generalisations import generalisation
from shoal.protection.groups import stated_loss
from shoal.protection.publishable import (
    DIGITS,
    TELLS_WHO_LEFT,
    changes_of,
    reason_of_all,
    reasons_withheld,
    warn_of_dominance,
)
from shoal.protection.tables import TableProtection
from shoal.protection.tables.concepts import Concepts
from shoal.protection.tables.following import Following
from shoal.protection.tables.layout import Layout
from shoal.release.tables import reading as parts_read
from shoal.release.tables.part import TableFacts
from shoal.release.tables.source import ReadTable
from shoal.results.loss import Loss
from shoal.results.summary import ColumnChange, Distances, Generalisation, StatedLoss

SHOWN = SAMPLE  # records of a table in parts whose distances the report shows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """How the numbers of a table are spread: figures that no record decides, and whether one decides others."""

    limits: Limits
    spread: Floats
    dominance: Floats


def spread_of(table: ReadTable, most: int, schedule: Schedule) -> Spread:
    """How the numbers are spread; the owner is warned of columns that one record decides."""
    submit, gather = schedule.submit, schedule.gather
    read, layout, n_rows = table.parts, table.layout, table.n_rows
    farthest = np.max(gather([submit(parts_read.largest_deviation, part, layout.mean) for part in read]), axis=0)
    deviations = gather([submit(parts_read.deviations_of, part, layout.mean) for part in read])
    total = n_rows * mean_of_sums(deviations, n_rows)
    varies = ~layout.constant & (total > 0)
    dominance = np.divide(farthest, total, out=np.zeros_like(total), where=varies)
    warn_of_dominance(layout.numbers, dominance, n_rows)
    samples = gather([submit(parts_read.sample_of, part, layout, most) for part in read])
    keys, values = (np.concatenate(side) for side in zip(*samples, strict=True))
    sample: Floats = values[np.argsort(keys, kind="stable")[:most]]
    limits = limits_of(sample, table.protection.k)
    return Spread(limits, limits.spread(sample), dominance)


def reasons_of(facts: Sequence[TableFacts], layout: Layout, spread: Spread, follows: bool) -> tuple[str | None, ...]:
    """Why the figures of a column may not be published, numbers first; None: they may."""
    names = (*layout.numbers, *layout.labels)
    if follows:
        return (TELLS_WHO_LEFT,) * len(names)
    moved = np.array([sum(fact.moved[name] for fact in facts) for name in names], dtype=np.int64)
    return reasons_withheld(moved, np.concatenate([spread.dominance, np.zeros(len(layout.labels))]))


def measured_loss(facts: Sequence[TableFacts]) -> Loss:
    """Of all parts together; for the owner."""
    return Loss(math.fsum(fact.loss.sse for fact in facts), math.fsum(fact.loss.ssa for fact in facts))


def loss_to_state(facts: Sequence[TableFacts], reasons: Sequence[str | None]) -> StatedLoss:
    """The loss as far as it may be published."""
    if TELLS_WHO_LEFT in reasons:
        return StatedLoss(0.0, 1.0, reason=TELLS_WHO_LEFT)
    reason = reason_of_all(reasons)
    return stated_loss(measured_loss(facts), reason is None, reason, DIGITS)


def column_changes(
    facts: Sequence[TableFacts], layout: Layout, spread: Spread, steps: Floats, reasons: tuple[str | None, ...]
) -> tuple[ColumnChange, ...]:
    """What may be published of each number."""
    if not layout.numbers:
        return ()
    before, after = _shown(facts)
    lost, squares = (np.sum([getattr(fact, name) for fact in facts], axis=0) for name in ("lost", "spread"))
    share = np.divide(lost, squares, out=np.zeros_like(lost), where=squares > 0)
    changes = changes_of(layout.numbers, before, after, spread.limits, share, steps, reasons[: len(layout.numbers)])
    return tuple(_in_words(change, form) for change, form in zip(changes, layout.forms, strict=True))


def _in_words(change: ColumnChange, form: NumberForm) -> ColumnChange:
    """Dates and ranks as they are written; what is said of them is counted in days and the like."""
    if form.kind not in (Kind.DATE, Kind.ORDERED):
        return change
    unit = "steps" if form.kind is Kind.ORDERED else f"{unit_of(form)}s"
    if change.median is None:
        return replace(change, unit=unit)
    numbers = form.rounded(np.array([change.median]))
    text = str(form.written(numbers, np.zeros(1, dtype=bool))[0])
    return replace(change, unit=unit, median_in_words=text)


def _shown(facts: Sequence[TableFacts]) -> tuple[Floats, Floats]:
    """Numbers of the rows with the smallest keys, before and after; all rows of a table in one piece; gaps are NaN."""
    before, after = (np.concatenate([fact.sample[side] for fact in facts]) for side in (1, 2))
    if len(facts) == 1:
        return before, after
    rows = np.argsort(np.concatenate([fact.sample[0] for fact in facts]), kind="stable")[:SHOWN]
    return before[rows], after[rows]


def distances_of(facts: Sequence[TableFacts], n_rows: int, layout: Layout, spread: Spread) -> Distances:
    """On a scale that no record decides: distances on it do not tell how far out the most unusual one is."""
    inner = np.where(spread.spread > 0.0, spread.spread, layout.scale)
    before, after = (parts_read.filled(rows, layout.mean) for rows in _shown(facts))
    rows = spread_out(len(before), SAMPLE)
    return euclidean_distances(before[rows] / inner, after[rows] / inner, n_rows)


def generalisations_of(
    facts: Sequence[TableFacts], protection: TableProtection, layout: Layout, published: bool
) -> tuple[Generalisation, ...]:
    """What became of each column of labels. Of sets nothing more is told: counts would say what is frequent in them."""
    follows = isinstance(protection, Following)
    concepts = protection.newcomers if isinstance(protection, Following) else protection
    if not isinstance(concepts, Concepts):
        return ()
    found = []
    for name, reading in concepts.readings.items():
        category = layout.categories.get(name)
        if category == SET or follows:  # how many had a label before would tell whose label left
            found.append(Generalisation(name, (), 0, None, category))
            continue
        moves = sum((fact.concepts[name] for fact in facts), Counter())
        spelt = {concept: text for fact in reversed(facts) for concept, text in fact.spelt[name].items()}
        found.append(replace(generalisation(reading, moves, spelt, concepts.k, published), category=category))
    return tuple(found)


def every_generalisation(facts: Sequence[TableFacts], layout: Layout) -> Writer:
    """For the owner alone: what every label became, how often."""
    rows: list[tuple[Any, ...]] = []
    for name in layout.labels:
        pairs = sum((fact.texts[name] for fact in facts), Counter())
        listed = [(name, before, after, count) for (before, after), count in pairs.items()]
        rows += sorted(listed, key=lambda row: (str(row[1]), str(row[2])))
    return write_csv(("column", "before", "after", "records"), rows)
