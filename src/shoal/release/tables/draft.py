"""A table to the draft of a release, in one piece or in parts: only sums, samples and figures come together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.assessment.leaks import leaks_of_release
from shoal.bundle.folders import Writer, write_csv
from shoal.io.row_order import sort_rows
from shoal.microaggregation import coarsened
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.diversity import JOINED
from shoal.pages.leak_card import leaks_html, learned_rates
from shoal.protection.coarsening import check_coarsened_columns
from shoal.protection.distances import NOT_PUBLISHED
from shoal.protection.groups import stated_loss
from shoal.protection.publishable import DIGITS, FEW_MOVED, grid_of, reason_of_all
from shoal.protection.rounding import chosen_steps
from shoal.protection.tables import TableProtection, table_method
from shoal.protection.tables.layout import Layout, MaskedBlock, carried_as, column_of
from shoal.release.cluster import diverse_parts, write_parts
from shoal.release.draft import Draft
from shoal.release.part_facts import crowd_figures
from shoal.release.sources import TableSource
from shoal.release.tables import part as work
from shoal.release.tables import reading
from shoal.release.tables.figures import (
    SHOWN,
    column_changes,
    distances_of,
    every_generalisation,
    generalisations_of,
    reasons_of,
    spread_of,
)
from shoal.release.tables.files import described, file_name, text_columns
from shoal.release.tables.source import TableOptions, read_table_source
from shoal.results.claims import Withheld
from shoal.results.leaks import LeakCard
from shoal.results.loss import Loss
from shoal.results.rates import Rate
from shoal.results.summary import Summary, TableFigures
from shoal.risk.distance import DistanceLinkage
from shoal.risk.equality import linked_by_equality
from shoal.risk.intervals import IntervalDisclosure

INCOMPLETE = "a quasi-identifier is missing"
MOST_ATTACKED = 100_000  # rows up to which a release is attacked before it is handed out

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def draft_table(
    source: TableSource, k: int, options: TableOptions, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Protect the table and write its rows into the folders (private, release); the draft has the rest."""
    submit, gather = schedule.submit, schedule.gather
    read, outline, protection, layout, readings = read_table_source(source, k, options, schedule)
    roles, l, n_rows = layout.roles, options.l, sum(reading.n_rows for reading in readings)
    withheld = [name for reading in readings for name in reading.withheld]
    check_coarsened_columns(options.coarsen, outline.columns, roles, layout.numbers, n_rows)
    coarsen = {name: options.coarsen[name] for name in roles.quasi if name in options.coarsen}
    shown_rows = n_rows if source.whole else SHOWN
    spread = spread_of(read, layout, protection, readings, shown_rows, schedule)
    rows = [submit(reading.rows_of, part, layout, protection) for part in read]
    read.clear()  # what nobody holds any more need not be kept

    blocks, bound = _grouped(rows, n_rows, protection, layout, l, schedule)
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
    in_text = text_columns(parts[0].released, roles) if form != "parquet" else ()
    reasons = reasons_of(facts, layout, spread)
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
        distances=distances_of(facts, n_rows, layout, spread) if told and not layout.labels else NOT_PUBLISHED,
        withheld=(Withheld(INCOMPLETE, len(withheld)),) if withheld else (),
        l_promised=l,
        attacks=attacks,
        attacked=options.attack,
        figures=TableFigures(
            columns=column_changes(facts, layout, spread, steps, reasons),
            generalisations=generalisations_of(facts, protection, told),
            coarsened=tuple(coarsen.items()),
            linked=_linked(parts[0], layout) if source.whole and told else None,
            insensitive=roles.insensitive,
            text_columns=in_text,
            dropped_columns=len(outline.columns) - len(layout.released),
            above_optimum=round(error / bound - 1.0, 3) if bound > 0 and reason is None and not coarsen else None,
        ),
        files=((name, "one row per record"),) if name else (("table", "folder of parts, one row per record"),),
    )
    grid = grid_of(layout.numbers, steps)
    return Draft(
        summary=summary,
        columns=described(_schema(layout), roles, in_text),
        shared_columns=protection.together,
        parameters={"microaggregation" if protection.k > 1 else "masking": protection.parameters()}
        | ({"coarsen": dict(coarsen)} if coarsen else {})
        | ({} if l is None else {"diversity": JOINED})
        | ({"rounded_to": grid} if grid else {}),
        files={},
        private_files={
            "withheld.csv": write_csv(("row", "reason"), [(row, INCOMPLETE) for row in withheld]),
            **({"generalisations.csv": every_generalisation(facts, layout)} if layout.labels else {}),
            **_card_files(card, n_rows),
        },
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _grouped(
    rows: list[Any], n_rows: int, protection: TableProtection, layout: Layout, l: int | None, schedule: Schedule
) -> tuple[list[Any], float]:
    """Blocks of rows in groups (futures), diverse if that is asked for, and the least SSE possible if it is known."""
    if layout.kept is not None:
        block, bound = protection.group(rows[0], layout)
        return [block if l is None else protection.diverse(block, layout, l)], bound
    blocks = protection.group_parts(rows, n_rows, layout, schedule)
    if l is not None:
        carried = {name: carried_as(name) for name in layout.roles.confidential}
        merge = partial(schedule.submit, protection.diverse)
        blocks = diverse_parts(blocks, carried, l, lambda block: merge(block, layout, l), schedule)
    return blocks, 0.0


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


def _schema(layout: Layout) -> pa.Schema:
    """The released columns: numbers as such, labels as text, the rest as it came."""
    types = dict.fromkeys(layout.numbers, pa.float64()) | dict.fromkeys(layout.labels, pa.string())
    return pa.schema([(name, types.get(name) or layout.schema.field(name).type) for name in layout.released])
