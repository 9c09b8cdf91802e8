"""A table to the draft of a release, in one piece or in parts: only sums, samples and figures come together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.leaks import leaks_of_release
from shoal.bundle.folders import Writer, write_csv
from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.files import shown
from shoal.io.row_order import sort_rows
from shoal.microaggregation import coarsened
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.diversity import JOINED
from shoal.microaggregation.exact_sums import mean_of_sums, scale_of
from shoal.ontology.value_mapping import check_mapping, explained_columns
from shoal.pages.leak_card import leaks_html, learned_rates
from shoal.protection.coarsening import check_coarsened_columns
from shoal.protection.distances import NOT_TOLD, SAMPLE, euclidean_distances, spread_out
from shoal.protection.extremes import Limits, limits_of
from shoal.protection.generalisations import generalisation
from shoal.protection.groups import stated_loss
from shoal.protection.publishable import (
    DIGITS,
    FEW_MOVED,
    changes_of,
    grid_of,
    reason_of_all,
    reasons_withheld,
    warn_of_dominance,
)
from shoal.protection.rounding import chosen_steps
from shoal.protection.tables import TableProtection, averaged, table_method, table_protection, unexplained
from shoal.protection.tables.concepts import Concepts
from shoal.protection.tables.layout import Layout, MaskedBlock, carried_as, column_of
from shoal.release import table_part as work
from shoal.release.cluster import diverse_parts, write_parts
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures
from shoal.release.sources import TableSource
from shoal.release.table_files import described, file_name
from shoal.results.claims import Withheld
from shoal.results.leaks import LeakCard
from shoal.results.loss import Loss
from shoal.results.rates import Rate
from shoal.results.summary import ColumnChange, Distances, Summary, TableFigures
from shoal.risk.distance import DistanceLinkage
from shoal.risk.equality import linked_by_equality
from shoal.risk.intervals import IntervalDisclosure

__all__ = ["TableOptions", "draft_table"]

INCOMPLETE = "a quasi-identifier is missing"
MOST_ATTACKED = 100_000  # rows up to which a release is attacked before it is handed out
SHOWN = SAMPLE  # records of a table in parts whose distances the report shows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TableOptions:
    """What is asked for a table beside k."""

    method: Any  # an estimator, a function that chooses one by the columns, or None
    l: int | None
    missing: str
    coarsen: Mapping[str, int]
    attack: bool


@dataclass(frozen=True)
class _Spread:
    """How the numbers of a table are spread: figures that no record decides, and whether one decides others."""

    limits: Limits
    spread: Floats
    dominance: Floats


def draft_table(
    source: TableSource, k: int, options: TableOptions, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Protect the table and write its rows into the folders (private, release); the draft has the rest."""
    submit, gather = schedule.submit, schedule.gather
    read, outline, protection, layout, readings = _read(source, k, options, schedule)
    roles, l, n_rows = layout.roles, options.l, sum(reading.n_rows for reading in readings)
    withheld = [name for reading in readings for name in reading.withheld]
    check_coarsened_columns(options.coarsen, outline.columns, roles, layout.numbers, n_rows)
    coarsen = {name: options.coarsen[name] for name in roles.quasi if name in options.coarsen}
    shown_rows = n_rows if source.whole else SHOWN
    spread = _spread(read, layout, protection, readings, shown_rows, schedule)
    rows = [submit(work.rows_of, part, layout, protection) for part in read]
    read.clear()  # what nobody holds any more need not be kept

    bound = 0.0
    if source.whole:
        block, bound = protection.group(rows[0], layout)
        blocks = [block] if l is None else [protection.diverse(block, layout, l)]
    else:
        blocks = protection.group_parts(rows, n_rows, layout, schedule)
        if l is not None:
            carried = {name: carried_as(name) for name in roles.confidential}
            blocks = diverse_parts(
                blocks, carried, l, lambda block: submit(protection.diverse, block, layout, l), schedule
            )
    masked = [submit(protection.masked, block, layout) for block in blocks]
    masked = _coarsened(masked, layout, coarsen, schedule)
    error = math.fsum(gather([submit(work.squared_error, block, layout) for block in masked]))
    steps = _steps(masked, layout, spread.spread, error, n_rows, schedule) if protection.averages else _none(layout)
    name = file_name(outline.format) if source.whole else None
    form = "parquet" if name is None else name.partition(".")[2]
    parts = [submit(work.arranged, block, layout, protection, steps, form) for block in masked]
    order = sort_rows(pa.concat_tables(gather([submit(work.first_row, part) for part in parts]))).tolist()
    parts = [parts[number] for number in order]

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(work.write_part, parts[number], layout, protection, shown_rows, target, mapping)

    facts: list[work.Facts] = write_parts("table", write, len(parts), name, folders, schedule)
    reasons = _reasons(facts, layout, spread)
    attacks, card = (
        _attacked(parts[0], masked[0], layout, options, FEW_MOVED not in reasons) if source.whole else ((), None)
    )
    loss = Loss(math.fsum(fact.loss.sse for fact in facts), math.fsum(fact.loss.ssa for fact in facts))
    reason = reason_of_all(reasons)
    told = FEW_MOVED not in reasons
    crowds = crowd_figures([fact.groups for fact in facts], roles.confidential)
    if not protection.k_anonymous:
        crowds["smallest_group"] = min(fact.smallest for fact in facts)
    summary = Summary(
        k=protection.k,
        method=protection.name,
        promises_k=protection.k_anonymous,
        rows=n_rows,
        **crowds,
        loss=stated_loss(loss, reason is None, reason, DIGITS),
        distances=_distances(facts, n_rows, layout, spread) if told and not layout.labels else NOT_TOLD,
        withheld=(Withheld(INCOMPLETE, len(withheld)),) if withheld else (),
        l_promised=l,
        attacks=attacks,
        attacked=options.attack,
        figures=TableFigures(
            columns=_changes(facts, layout, spread, steps, reasons),
            generalisations=_generalisations(facts, protection, told),
            coarsened=tuple(coarsen.items()),
            linked=_linked(parts[0], layout) if source.whole and told else None,
            insensitive=roles.insensitive,
            dropped_columns=len(outline.columns) - len(layout.released),
            above_optimum=round(error / bound - 1.0, 3) if bound > 0 and reason is None and not coarsen else None,
        ),
        files=((name, "one row per record"),) if name else (("table", "folder of parts, one row per record"),),
    )
    grid = grid_of(layout.numbers, steps)
    return Draft(
        summary=summary,
        columns=described(_schema(layout), roles),
        shared_columns=protection.together,
        parameters={"microaggregation" if protection.k > 1 else "masking": protection.parameters()}
        | ({"coarsen": dict(coarsen)} if coarsen else {})
        | ({} if l is None else {"diversity": JOINED})
        | ({"rounded_to": grid} if grid else {}),
        files={},
        private_files={
            "withheld.csv": write_csv(("row", "reason"), [(row, INCOMPLETE) for row in withheld]),
            **({"generalisations.csv": _all_generalisations(facts, layout)} if layout.labels else {}),
            **_card_files(card, n_rows),
        },
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _read(
    source: TableSource, k: int, options: TableOptions, schedule: Schedule
) -> tuple[list[Any], work.Outline, TableProtection, Layout, list[work.Reading]]:
    """The parts (futures), their columns, what protects them, and what they agree on."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    ontology, mapping = _meanings(options.method, source.roles)
    unchanged = () if source.roles is None else (*source.roles.confidential, *source.roles.insensitive)
    verbatim = (*unchanged, *explained_columns(ontology, mapping))
    if not source.whole:
        progress.step("reading", 0, n_parts)
    opened = [submit(work.open_part, part, source.roles, verbatim, source.whole) for part in source.parts]
    outlines: list[work.Outline] = []
    for part in opened:
        outlines += gather([submit(work.outline_of, part)])
        if not source.whole:
            progress.step("reading", len(outlines), n_parts)
    outline, roles = outlines[0], outlines[0].roles
    _check_columns(source.parts, outlines)
    check_mapping(mapping, outline.columns)
    if options.l is not None and not roles.confidential:
        raise InputError(f"l={options.l} needs a confidential column; name it with --confidential")
    of_numbers = tuple(name for name in roles.quasi if all(name in one.numbers for one in outlines))
    of_labels = tuple(name for name in roles.quasi if name not in of_numbers)
    method = table_method(options.method, of_numbers, of_labels)
    protection, numbers = table_protection(method, k), averaged(method, roles.quasi, of_numbers)
    as_labels = isinstance(protection, Concepts)
    checked = unexplained(method, of_labels) if as_labels else None
    hierarchy = as_labels and method.ontology is not None
    read = [submit(work.complete_part, part, numbers, options.missing, checked, hierarchy) for part in opened]
    readings: list[work.Reading] = gather([submit(work.reading_of, part) for part in read])
    n_rows = sum(reading.n_rows for reading in readings)
    if n_rows < protection.k:
        raise _too_few_rows(protection.k, n_rows, sum(len(reading.withheld) for reading in readings))
    schema = _agreed_schema(source.parts, readings)
    mean = mean_of_sums([reading.sums for reading in readings], n_rows)
    deviations = gather([submit(work.deviations_of, part, mean) for part in read])
    lowest, highest = _range(readings)
    scale = scale_of(np.sqrt(mean_of_sums(deviations, n_rows)), np.maximum(np.abs(lowest), np.abs(highest)))
    layout = Layout(
        roles=roles,
        schema=schema,
        numbers=numbers,
        labels=tuple(name for name in roles.quasi if name not in numbers),
        mean=mean,
        scale=scale,
        constant=lowest == highest,
        released=tuple(name for name in outline.columns if name in (*numbers, *schema.names)),
        kept=read[0].others if source.whole else None,
    )
    return read, outline, protection.prepared(layout, _all_labels(readings, layout)), layout, readings


def _meanings(method: Any, roles: Roles | None) -> tuple[Any, Any]:
    """The ontology and the mapping that the user gave for labels, if any; a chooser is asked as if all were labels."""
    labels = ("",) if roles is None else roles.quasi
    for numbers in ((), labels[:1]):
        try:
            chosen = table_method(method, numbers, labels)
        except InputError:  # what it has is for numbers
            continue
        return getattr(chosen, "ontology", None), getattr(chosen, "mapping", None)
    return None, None


def _all_labels(readings: Sequence[work.Reading], layout: Layout) -> dict[str, tuple[pa.Array, Ints]]:
    """The different labels of each column over all parts, and how many records have each."""
    found: dict[str, tuple[pa.Array, Ints]] = {}
    for name in layout.labels:
        kind = layout.schema.field(name).type
        values = pa.concat_arrays([reading.labels[name][0].cast(kind) for reading in readings])
        counts = np.concatenate([reading.labels[name][1] for reading in readings])
        encoded = values.dictionary_encode(null_encoding="encode")
        found[name] = encoded.dictionary, np.bincount(np.asarray(encoded.indices), weights=counts).astype(np.int64)
    return found


def _too_few_rows(k: int, left: int, withheld: int) -> InputError:
    why = f" ({withheld} withheld)" if withheld else ""
    return InputError(f"k={k} needs at least {k} rows, got {left}{why}; lower k or add rows")


def _check_columns(parts: Sequence[Any], outlines: Sequence[work.Outline]) -> None:
    for part, outline in zip(parts, outlines, strict=True):
        if outline.columns != outlines[0].columns:
            raise InputError(
                f"{shown(part)} has {_listed(outline.columns)} where {shown(parts[0])} has "
                f"{_listed(outlines[0].columns)}; give all parts the same columns in the same order"
            )


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(shown(name) for name in columns[:10]) + (", …" if len(columns) > 10 else "")


def _agreed_schema(parts: Sequence[Any], readings: Sequence[work.Reading]) -> pa.Schema:
    """The types that every part has; a column that is empty in a part may have any type there."""
    schema = readings[0].schema
    for part, reading in zip(parts, readings, strict=True):
        for place, field in enumerate(reading.schema):
            agreed = schema.field(place)
            if pa.types.is_null(agreed.type):
                schema = schema.set(place, field)
            elif field.type != agreed.type and not pa.types.is_null(field.type):
                raise InputError(
                    f"{shown(part)}: column {shown(field.name)} is {field.type}, in the parts before it {agreed.type}; "
                    "write all parts with the same types"
                )
    return schema


def _range(readings: Sequence[work.Reading]) -> tuple[Floats, Floats]:
    lowest: Floats = np.min([reading.lowest for reading in readings], axis=0)
    highest: Floats = np.max([reading.highest for reading in readings], axis=0)
    return lowest, highest


def _spread(
    read: list[Any],
    layout: Layout,
    protection: TableProtection,
    readings: Sequence[work.Reading],
    most: int,
    schedule: Schedule,
) -> _Spread:
    """How the numbers are spread; the owner is warned of columns that one record decides."""
    submit, gather = schedule.submit, schedule.gather
    n_rows = sum(reading.n_rows for reading in readings)
    farthest = np.max(gather([submit(work.largest_deviation, part, layout.mean) for part in read]), axis=0)
    deviations = gather([submit(work.deviations_of, part, layout.mean) for part in read])
    total = n_rows * mean_of_sums(deviations, n_rows)
    varies = ~layout.constant & (total > 0)
    dominance = np.divide(farthest, total, out=np.zeros_like(total), where=varies)
    warn_of_dominance(layout.numbers, dominance, n_rows)
    samples = gather([submit(work.sample_of, part, layout, most) for part in read])
    keys, values = (np.concatenate(side) for side in zip(*samples, strict=True))
    sample: Floats = values[np.argsort(keys, kind="stable")[:most]]
    limits = limits_of(sample, protection.k)
    return _Spread(limits, limits.spread(sample), dominance)


def _coarsened(masked: list[Any], layout: Layout, coarsen: Mapping[str, int], schedule: Schedule) -> list[Any]:
    """The blocks with columns aggregated once more, in classes over all rows."""
    classes: dict[int, tuple[Floats, Floats]] = {}
    for name, least in coarsen.items():
        place = layout.numbers.index(name)
        counted = schedule.gather([schedule.submit(work.masked_values, block, place) for block in masked])
        values, counts = (np.concatenate(side) for side in zip(*counted, strict=True))
        column = np.sort(np.repeat(values, counts))
        different, first = np.unique(column, return_index=True)
        classes[place] = different, np.asarray(coarsened(column, least))[first]
    return [schedule.submit(work.coarse, block, classes) for block in masked] if classes else masked


def _steps(masked: list[Any], layout: Layout, spread: Floats, error: float, n_rows: int, schedule: Schedule) -> Floats:
    """The step of each column's grid."""

    def added(steps: Floats) -> float:
        jobs = [schedule.submit(work.added_error, block, layout, steps) for block in masked]
        return math.fsum(schedule.gather(jobs))

    return chosen_steps(error, n_rows, spread, added)


def _none(layout: Layout) -> Floats:
    return np.zeros(len(layout.numbers))


def _reasons(facts: Sequence[work.Facts], layout: Layout, spread: _Spread) -> tuple[str | None, ...]:
    """Why the figures of a column may not be published, numbers first; None: they may."""
    names = (*layout.numbers, *layout.labels)
    moved = np.array([sum(fact.moved[name] for fact in facts) for name in names], dtype=np.int64)
    return reasons_withheld(moved, np.concatenate([spread.dominance, np.zeros(len(layout.labels))]))


def _changes(
    facts: Sequence[work.Facts], layout: Layout, spread: _Spread, steps: Floats, reasons: tuple[str | None, ...]
) -> tuple[ColumnChange, ...]:
    """What may be published of each number."""
    if not layout.numbers:
        return ()
    before, after = _shown(facts)
    lost, squares = (np.sum([getattr(fact, name) for fact in facts], axis=0) for name in ("lost", "spread"))
    share = np.divide(lost, squares, out=np.zeros_like(lost), where=squares > 0)
    return changes_of(layout.numbers, before, after, spread.limits, share, steps, reasons[: len(layout.numbers)])


def _shown(facts: Sequence[work.Facts]) -> tuple[Floats, Floats]:
    """Numbers of the rows with the smallest keys, before and after; all rows of a table in one piece."""
    before, after = (np.concatenate([fact.sample[side] for fact in facts]) for side in (1, 2))
    if len(facts) == 1:
        return before, after
    rows = np.argsort(np.concatenate([fact.sample[0] for fact in facts]), kind="stable")[:SHOWN]
    return before[rows], after[rows]


def _distances(facts: Sequence[work.Facts], n_rows: int, layout: Layout, spread: _Spread) -> Distances:
    """On a scale that no record decides: distances on it do not tell how far out the most unusual one is."""
    inner = np.where(spread.spread > 0.0, spread.spread, layout.scale)
    before, after = _shown(facts)
    rows = spread_out(len(before), SAMPLE)
    return euclidean_distances(before[rows] / inner, after[rows] / inner, n_rows)


def _generalisations(facts: Sequence[work.Facts], protection: TableProtection, told: bool) -> tuple[Any, ...]:
    """What became of each column of labels."""
    if not isinstance(protection, Concepts):
        return ()
    found = []
    for name, reading in protection.readings.items():
        moves = sum((fact.concepts[name] for fact in facts), Counter())
        spelt = {concept: text for fact in reversed(facts) for concept, text in fact.spelt[name].items()}
        found.append(generalisation(reading, moves, spelt, protection.k, told))
    return tuple(found)


def _linked(part: work.Arranged, layout: Layout) -> float | None:
    """The chance that equal labels link a record with its original, where all quasi-identifiers are labels."""
    if layout.numbers or not layout.labels:
        return None
    sides = ([getattr(part.labels[name], side) for name in layout.labels] for side in ("before", "after"))
    return round(linked_by_equality(*(np.column_stack(side) for side in sides)), 6)


def _attacked(
    part: work.Arranged, masked: MaskedBlock, layout: Layout, options: TableOptions, many_moved: bool
) -> tuple[tuple[Rate, ...], LeakCard | None]:
    """What intruders find who know the originals, and the leak card for the owner."""
    if not options.attack:
        return (), None
    order = pa.array(part.order)
    columns: dict[str, Any] = {name: column_of(masked.block, layout, name).take(order) for name in layout.labels}
    columns |= dict(zip(layout.numbers, map(pa.array, part.values.T), strict=True))
    quasi = pa.table({name: columns[name] for name in layout.roles.quasi})
    ontology = getattr(table_method(options.method, layout.numbers, layout.labels), "ontology", None)
    card = leaks_of_release(quasi, part.released.select(quasi.column_names), layout.numbers, ontology)
    if layout.labels or not many_moved or quasi.num_rows > MOST_ATTACKED:
        return (), card
    linkage = (DistanceLinkage(metric).run(part.values, part.masked) for metric in ("euclidean", "mahalanobis"))
    return (*linkage, IntervalDisclosure().run(part.values, part.masked), *learned_rates(card)), card


def _card_files(card: LeakCard | None, rows: int) -> dict[str, Writer]:
    """The card as a private file: its weights would help an attacker, so a release does not hold them."""
    if card is None:
        return {}
    html = leaks_html(card, rows)
    return {"leaks.html": lambda path: _write(path, html)}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _all_generalisations(facts: Sequence[work.Facts], layout: Layout) -> Writer:
    """For the owner alone: what every label became, how often."""
    rows: list[tuple[Any, ...]] = []
    for name in layout.labels:
        pairs = sum((fact.texts[name] for fact in facts), Counter())
        listed = [(name, before, after, count) for (before, after), count in pairs.items()]
        rows += sorted(listed, key=lambda row: (str(row[1]), str(row[2])))
    return write_csv(("column", "before", "after", "records"), rows)


def _schema(layout: Layout) -> pa.Schema:
    """The released columns: numbers as such, labels as text, the rest as it came."""
    types = dict.fromkeys(layout.numbers, pa.float64()) | dict.fromkeys(layout.labels, pa.string())
    return pa.schema([(name, types.get(name) or layout.schema.field(name).type) for name in layout.released])
