"""The draft of a release of a table: figures that may be published, from what is known of its rows."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

import numpy as np

from shoal.data.files import shown
from shoal.data.kinds.number_forms import date_parameters, unit_of
from shoal.data.roles import ColumnChoices, Kind
from shoal.errors import InputError
from shoal.pages.leak_card import leaks_html
from shoal.promises.joining import JOINED
from shoal.promises.values import crowd_figures
from shoal.release.figures import (
    DIGITS,
    DOMINANT,
    DOMINATED,
    FEW,
    FEW_MOVED,
    NO_VALUE,
    NOT_PUBLISHED,
    SAMPLE,
    TELLS_WHO_LEFT,
    Limits,
    euclidean_distances,
    limits_of,
    stated_loss,
)
from shoal.release.folders import GONE, LOSS, csv_text
from shoal.release.tables.columns import TableOptions
from shoal.release.tables.files import copy_of, described, file_name, text_columns
from shoal.release.tables.following import Following
from shoal.release.tables.labels import Concepts, generalisation
from shoal.release.tables.records import PreparedTable
from shoal.release.tables.released import ReleasedRows, TableFacts, coded_columns, estimates_csv
from shoal.release.tables.rows import Floats, Ints, TableLayout, spelt
from shoal.release.writing import Draft
from shoal.results.attacks import LeakCard, Rate
from shoal.results.claims import Withheld
from shoal.results.summary import (
    CellShares,
    ColumnChange,
    Distances,
    Generalisation,
    StatedLoss,
    Summary,
    TableFigures,
    TextColumn,
    WeightFigures,
)
from shoal.results.utility import Loss

CELLS = ("true", "coarser", "changed", "blank")
SHOWN = SAMPLE  # records of a table in parts whose distances the report shows


@dataclass(frozen=True)
class Spread:
    """How the numbers of a table are spread: figures that no record decides, and whether one decides others."""

    limits: Limits
    spread: Floats
    dominance: Floats


@dataclass(frozen=True)
class Findings:
    """What the owner's own attack found."""

    attacks: tuple[Rate, ...] = ()
    card: LeakCard | None = None  # for the owner alone: its weights would help an attacker
    linked: float | None = None  # the chance that equal labels link a record with its original


@dataclass(frozen=True)
class TablePublication:
    """The rows that will be released, and what may be said of them."""

    whole: ReleasedRows | None  # None: the rows are in parts, and written where they are
    facts: Sequence[TableFacts]
    spread: Spread
    steps: Floats  # of each number's grid
    error: float  # squared, before rounding
    bound: float  # the least error that any groups could have; 0 if that is not known
    reasons: tuple[str | None, ...]  # why figures of a column are withheld
    publishable: bool  # figures over all columns may be published
    anew: float | None = None  # what a release that follows no other would lose

    @property
    def rows(self) -> ReleasedRows:
        """The rows in one piece."""
        assert self.whole is not None
        return self.whole


def spread_of(table: PreparedTable, sample: Floats, person: Ints | None = None) -> Spread:
    """How the numbers are spread; the owner is warned of columns that one record, or person, decides."""
    layout = table.layout
    varies = ~layout.constant & (layout.squares > 0)
    dominance = np.divide(layout.largest_square, layout.squares, out=np.zeros_like(layout.squares), where=varies)
    for name, share in zip(layout.numbers, dominance.tolist(), strict=True):
        if share > DOMINANT and table.n_rows >= FEW:  # of very few records, one always decides
            warnings.warn(
                f"{shown(name)}: one record or person makes up {share:.0%} of what varies in this column, and the mean "
                "of its group tells it to whoever can guess the others; cap the largest values or leave it out",
                stacklevel=2,
            )
    most = 1 if person is None else int(np.unique(person, return_counts=True)[1].max())
    limits = limits_of(sample, table.method.k * most)
    return Spread(limits, limits.spread(sample), dominance)


def reasons_of(
    facts: Sequence[TableFacts], table: PreparedTable, dominance: Floats
) -> tuple[tuple[str | None, ...], bool]:
    """Why the figures of each column may not be published, numbers first; and whether those over all may."""
    layout = table.layout
    names = (*layout.numbers, *layout.labels)
    if table.follow_up is not None:
        return (TELLS_WHO_LEFT,) * len(names), False
    reasons: list[str | None] = []
    for name, share in zip(names, [*dominance.tolist(), *(0.0 for _ in layout.labels)], strict=True):
        moved = sum(part.moved[name] for part in facts)  # by the mean of their group, before any rounding of it
        reasons.append(FEW_MOVED if 0 < moved < FEW else DOMINATED if share > DOMINANT else None)
    return tuple(reasons), FEW_MOVED not in reasons


def draft_of(table: PreparedTable, publication: TablePublication, findings: Findings, options: TableOptions) -> Draft:
    """All that a release says beside its rows."""
    facts, layout, method = publication.facts, table.layout, table.method
    reasons, publishable = publication.reasons, publication.publishable
    error, bound = publication.error, publication.bound
    loss = Loss(math.fsum(part.loss.sse for part in facts), math.fsum(part.loss.ssa for part in facts))
    gaps = dict(sum((Counter(part.gaps) for part in facts), Counter()))
    cells = tuple(  # for the owner
        CellShares(name, *(sum(part.cells[name][what] for part in facts) / table.n_rows for what in CELLS))
        for name in layout.roles.quasi
    )
    withheld = Counter(reason for _, reason in table.withheld)
    if table.follow_up is not None:
        withheld.update(sorted(reason for _, reason in table.follow_up.withheld))
    rows, schema, copy = publication.whole, table.schema, None
    files, in_text, weights = [("table", "folder of parts, one row per record")], tuple[TextColumn, ...](), None
    if rows is not None:
        name, weights = file_name(schema.format, schema.dialect), rows.weights
        files = [(name, "one row per record")]
        in_text = () if name.endswith(".parquet") else text_columns(rows.released, layout.roles)
        if (copy := copy_of(rows.released, schema.format, schema.dictionary, schema.dialect)) is not None:
            files.append((copy.name, copy.in_words))
    sampled = _sampled(facts)
    figures = TableFigures(
        columns=_column_changes(publication, layout, *sampled),
        treated=tuple((name, table.treat[name]) for name in layout.roles.quasi if name in table.treat),
        cells=_rounded(cells, table.n_rows) if publishable else (),
        generalisations=_generalisations(publication, table) if layout.labels else (),
        coarsened=tuple(table.coarsen.items()),
        linked=findings.linked,
        insensitive=layout.roles.insensitive,
        text_columns=in_text,
        dropped_columns=len(table.schema.columns) - len(layout.released),
        allowed=options.allow,
        medians_of=tuple(name for name, form in zip(layout.numbers, layout.forms, strict=True) if form.median),
        gaps=tuple((name, count) for name, count in gaps.items() if count),
        weights=weights,
        above_optimum=(round(error / bound - 1.0, 3) if bound > 0 and not any(reasons) and not table.coarsen else None),
    )
    groups = [part.groups for part in facts]
    crowds = crowd_figures(sum(groups[1:], start=groups[0]), options.promises)
    if not method.k_anonymous:
        crowds["smallest_group"] = min(part.smallest for part in facts)
    summary = Summary(
        k=method.k,
        method=method.name,
        promises_k=method.k_anonymous,
        rows=table.n_rows,
        **crowds,
        loss=_stated_loss(loss, reasons),
        distances=_distances(publication, table, *sampled) if publishable and not layout.labels else NOT_PUBLISHED,
        withheld=tuple(Withheld(reason, count) for reason, count in withheld.items()),
        promised=options.promises,
        visible=() if rows is None else _visible(rows, options),
        attacks=findings.attacks,
        attacked=options.attack,
        figures=figures,
        files=tuple(files),
    )
    return Draft(
        summary=summary,
        columns=described(layout, in_text, gaps),
        shared_columns=method.shared_columns,
        parameters=_parameters(publication, table, options, weights),
        files={} if copy is None else {copy.name: copy.write},
        copy=None if copy is None else copy.about,
        private_files=_private_files(publication, table, loss, findings.card, options.choices),
        measured_loss=loss.information_loss,
        cells=cells,
        formulas=sum((part.formulas for part in facts), Counter()),
    )


def _visible(rows: ReleasedRows, options: TableOptions) -> tuple[tuple[str, str, int], ...]:
    """Columns, values that keep their share, and how many rows show each: all that had it."""
    counted = []
    for name, values in options.visible.items():
        before, after = (
            Counter(spelt(value) for value in column.to_pylist())
            for column in (rows.before.columns[name], rows.released[name])
        )
        for value in values:
            if not before[value]:
                raise InputError(
                    "{option}: no record with this value is left: none has it, or fewer than k do; check how it is "
                    "spelt, or lower k",
                    f"keep_visible {shown(name)}={value}",
                )
            if after[value] != before[value]:
                raise InputError(
                    f"{{option}}: {before[value]:,} records with this value are left and {after[value]:,} would show "
                    "it; at least k must have it, in a column that is generalised",
                    f"keep_visible {shown(name)}={value}",
                )
            counted.append((name, value, after[value]))
    return tuple(counted)


def _rounded(cells: Sequence[CellShares], n_rows: int) -> tuple[CellShares, ...]:
    """The shares as they may be published: so coarse that a record more or less hardly ever changes them."""
    step = 0.01 if n_rows >= 1000 else 0.05
    if n_rows < 100:
        return ()
    return tuple(
        CellShares(one.name, *(round(round(share / step) * step, 2) for share in astuple(one)[1:])) for one in cells
    )


def _stated_loss(loss: Loss, reasons: Sequence[str | None]) -> StatedLoss:
    """The loss as far as it may be published."""
    if TELLS_WHO_LEFT in reasons:
        return StatedLoss(0.0, 1.0, reason=TELLS_WHO_LEFT)
    reason = next((f"in some column {reason}" for reason in reasons if reason is not None), None)
    return stated_loss(loss, reason is None, reason, DIGITS)


def _column_changes(
    publication: TablePublication, layout: TableLayout, before: Floats, after: Floats
) -> tuple[ColumnChange, ...]:
    """What may be published of each number; of dates and ranks in days and the like."""
    lost, squares = (np.sum([getattr(part, name) for part in publication.facts], axis=0) for name in ("lost", "spread"))
    share = np.divide(lost, squares, out=np.zeros_like(lost), where=squares > 0)
    limits, steps, changes = publication.spread.limits, publication.steps, []
    spreads = [limits.spread(side) for side in (before, after)] if layout.numbers else []
    for place, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        values, step = after[~np.isnan(after[:, place]), place], float(steps[place]) or None
        unit = None
        if form.kind in (Kind.DATE, Kind.ORDERED):
            unit = "steps" if form.kind is Kind.ORDERED else f"{unit_of(form)}s"
        reason = publication.reasons[place] if len(values) else NO_VALUE
        if reason is not None:
            changes.append(ColumnChange(name, None, None, None, None, step, reason, unit))
            continue
        median = float(np.median(values))
        spread_before, spread_after = (float(f"{spread[place]:.3g}") for spread in spreads)
        text = None
        if unit is not None:
            text = str(form.written(form.rounded(np.array([median])), np.zeros(1, dtype=bool))[0])
        loss = round(float(share[place]), 3)
        changes.append(ColumnChange(name, median, spread_before, spread_after, loss, step, None, unit, text))
    return tuple(changes)


def _sampled(facts: Sequence[TableFacts]) -> tuple[Floats, Floats]:
    """Numbers of the rows with the smallest keys, before and after; all rows of a table in one piece; gaps are NaN."""
    before, after = (np.concatenate([part.sample[side] for part in facts]) for side in (1, 2))
    if len(facts) == 1:
        return before, after
    rows = np.argsort(np.concatenate([part.sample[0] for part in facts]), kind="stable")[:SHOWN]
    return before[rows], after[rows]


def _distances(publication: TablePublication, table: PreparedTable, before: Floats, after: Floats) -> Distances:
    """On a scale that no record decides: distances on it do not reveal how far out the most unusual one is."""
    spread, layout = publication.spread.spread, table.layout
    inner = np.where(spread > 0.0, spread, layout.scale)
    before, after = (np.where(np.isnan(rows), layout.mean, rows) for rows in (before, after))
    return euclidean_distances(before / inner, after / inner, table.n_rows)


def _generalisations(publication: TablePublication, table: PreparedTable) -> tuple[Generalisation, ...]:
    """What became of each column of labels."""
    method, facts = table.method, publication.facts
    concepts = method.newcomers if isinstance(method, Following) else method
    if not isinstance(concepts, Concepts):
        return ()
    trees = []
    for name, reading in concepts.readings.items():
        category = name in table.layout.categories
        if table.follow_up is not None:  # how many had a label before would reveal whose label left
            trees.append(Generalisation(name, (), 0, None, category))
            continue
        moves = sum((part.concepts[name] for part in facts), Counter())
        spelt = {concept: text for part in reversed(facts) for concept, text in part.spelt[name].items()}
        tree = generalisation(reading, moves, spelt, concepts.k, publication.publishable)
        trees.append(replace(tree, category=category))
    return tuple(trees)


def _parameters(
    publication: TablePublication, table: PreparedTable, options: TableOptions, weights: WeightFigures | None
) -> dict[str, Any]:
    """How the rows were made, as far as it may be published."""
    method, layout = table.method, table.layout
    forms = dict(zip(layout.numbers, layout.forms, strict=True))
    steps = dict(zip(layout.numbers, publication.steps.tolist(), strict=True))
    stated = {
        "recoded": dict(options.choices.recode),
        "treated": dict(table.treat),
        "coarsen": dict(table.coarsen),
        "rounded_to": {name: step for name, step in steps.items() if step},
        "dates": {name: date_parameters(form) for name, form in forms.items() if form.kind is Kind.DATE},
        "medians_of": [name for name, form in forms.items() if form.kind is Kind.ORDERED],
        "whole_numbers": [name for name, form in forms.items() if form.kind is Kind.WHOLE],
        "categories": sorted(layout.categories | coded_columns(layout, options.choices)),
        "missing": options.missing if layout.has_gaps else None,
        "sampling_weights": None if weights is None else asdict(weights),
    }
    return (
        {"microaggregation" if method.k > 1 else "masking": method.parameters()}
        | {name: value for name, value in stated.items() if value}
        | ({"diversity": JOINED} if options.promises.asked else {})
        | ({} if table.follow_up is None else table.follow_up.parameters())
    )


def _private_files(
    publication: TablePublication, table: PreparedTable, loss: Loss, card: LeakCard | None, choices: ColumnChoices
) -> dict[str, str]:
    """For the owner alone."""
    follow_up, facts = table.follow_up, publication.facts
    withheld = [*table.withheld, *([] if follow_up is None else follow_up.withheld)]
    files = {"withheld.csv": csv_text(("row", "reason"), withheld)}
    if follow_up is not None:
        files[GONE] = csv_text(("record",), [(record,) for record in follow_up.gone])
        compared = {"information_loss": loss.information_loss, "starting_anew": publication.anew}
        files[LOSS] = json.dumps(compared) + "\n"
    if table.layout.roles.weight:
        files["estimates.csv"] = estimates_csv(publication.rows, table.layout, choices)
    if table.layout.labels:
        files["generalisations.csv"] = _every_generalisation(facts, table.layout)
    if card is not None:
        files["leaks.html"] = leaks_html(card, table.n_rows)
    return files


def _every_generalisation(facts: Sequence[TableFacts], layout: TableLayout) -> str:
    """What every label became, how often."""
    rows: list[tuple[Any, ...]] = []
    for name in layout.labels:
        pairs = sum((part.texts[name] for part in facts), Counter())
        listed = [(name, before, after, count) for (before, after), count in pairs.items()]
        rows += sorted(listed, key=lambda row: (str(row[1]), str(row[2])))
    return csv_text(("column", "before", "after", "records"), rows)
