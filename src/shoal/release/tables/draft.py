"""A table to the draft of a release, in one piece or in parts: only sums, samples and figures come together."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.assessment.leaks import leaks_of_release
from shoal.bundle.folders import GONE, LOSS, Writer, write_csv, write_text
from shoal.io.files import shown
from shoal.io.kinds.number_forms import date_parameters
from shoal.io.kinds.recognition import FEW_VALUES
from shoal.io.kinds.vocabulary import Kind
from shoal.io.row_order import sort_rows
from shoal.microaggregation import coarsened
from shoal.microaggregation.blocks.executors import Schedule
from shoal.ontology import WordNet
from shoal.pages.leak_card import leaks_html, learned_rates
from shoal.protection.coarsening import check_coarsened_columns
from shoal.protection.distances import NOT_PUBLISHED
from shoal.protection.publishable import FEW_MOVED, TELLS_WHO_LEFT, grid_of
from shoal.protection.rounding import chosen_steps
from shoal.protection.tables import TableProtection, table_method
from shoal.protection.tables.following import Following
from shoal.protection.tables.layout import Layout, MaskedBlock, carried_as, column_of
from shoal.protection.tables.people import grouped_by_person, warn_of_majority
from shoal.release.cluster import diverse_parts, write_parts
from shoal.release.draft import Draft
from shoal.release.part_facts import check_holding, crowd_figures, diversity_parameters, holding_of
from shoal.release.sources import TableSource
from shoal.release.tables import part as part_steps
from shoal.release.tables import reading
from shoal.release.tables.copies import Copy, copy_of
from shoal.release.tables.figures import (
    SHOWN,
    column_changes,
    distances_of,
    every_generalisation,
    generalisations_of,
    loss_to_state,
    measured_loss,
    reasons_of,
    spread_of,
)
from shoal.release.tables.files import described, file_name, text_columns
from shoal.release.tables.source import ReadTable, TableOptions, read_table_source
from shoal.results.claims import Withheld
from shoal.results.leaks import LeakCard
from shoal.results.promised import GroupPromises
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
    table = read_table_source(source, k, options, schedule)
    protection, layout, n_rows = table.protection, table.layout, table.n_rows
    coarsen = _checked_coarsening(options.coarsen, table)
    shown_rows = n_rows if source.whole else SHOWN
    spread = spread_of(table, shown_rows, schedule)
    rows = [schedule.submit(reading.rows_of, part, layout, protection) for part in table.parts]
    anew = protection.loss_anew(rows[0], layout, options.promises) if isinstance(protection, Following) else None
    table.parts.clear()  # what nobody holds any more need not be kept
    blocks, bound = _grouped(rows, n_rows, protection, layout, options.promises, schedule)
    masked = [schedule.submit(protection.masked, block, layout) for block in blocks]
    masked = _coarsened(masked, layout, coarsen, schedule)
    error, steps = _rounding(masked, table, spread.spread, schedule)
    _warn_of_few_values(table.few)
    name = file_name(table.outline.format, table.outline.dialect) if source.whole else None
    in_text = name is not None and not name.endswith(".parquet")
    parts = _arranged(masked, layout, protection, steps, in_text, schedule)

    if table.continuation is not None:
        table.continuation.check_kept(parts[0].released, parts[0].records, layout.roles.quasi)

    def write(number: int, target: str, mapping: str) -> Any:
        return schedule.submit(part_steps.write_part, parts[number], layout, protection, shown_rows, target, mapping)

    facts: list[part_steps.TableFacts] = write_parts("table", write, len(parts), name, folders, schedule)
    reasons = reasons_of(facts, layout, spread, table.continuation is not None)
    publishable = not {FEW_MOVED, TELLS_WHO_LEFT} & set(reasons)
    attacks, card = _attacked(parts[0], masked[0], layout, options, publishable) if source.whole else ((), None)
    outline = table.outline
    copy = copy_of(parts[0].released, outline.format, outline.dictionary, outline.dialect) if source.whole else None
    text = text_columns(parts[0].released, layout.roles) if in_text else ()
    figures = TableFigures(
        columns=column_changes(facts, layout, spread, steps, reasons),
        generalisations=generalisations_of(facts, protection, layout, publishable),
        coarsened=tuple(coarsen.items()),
        linked=_linked(parts[0], layout) if source.whole and publishable else None,
        insensitive=layout.roles.insensitive,
        text_columns=text,
        dropped_columns=len(table.outline.columns) - len(layout.released),
        few_values=table.few,
        medians_of=tuple(name for name, form in zip(layout.numbers, layout.forms, strict=True) if form.median),
        gaps=tuple((name, count) for name, count in _gaps(facts).items() if count),
        above_optimum=round(error / bound - 1.0, 3) if bound > 0 and not any(reasons) and not coarsen else None,
    )
    summary = Summary(
        k=protection.k,
        method=protection.name,
        promises_k=protection.k_anonymous,
        rows=n_rows,
        **_crowds(facts, table, options.promises),
        loss=loss_to_state(facts, reasons),
        distances=distances_of(facts, n_rows, layout, spread) if publishable and not layout.labels else NOT_PUBLISHED,
        withheld=_withheld(table),
        promised=options.promises,
        attacks=attacks,
        attacked=options.attack,
        figures=figures,
        files=_files(name, copy),
    )
    return Draft(
        summary=summary,
        columns=described(_schema(layout), layout.roles, text, _gaps(facts)),
        shared_columns=protection.together,
        parameters=_parameters(protection, coarsen, grid_of(layout.numbers, steps))
        | diversity_parameters(options.promises)
        | _kinds(table, options.missing)
        | ({} if table.continuation is None else table.continuation.parameters()),
        files={} if copy is None else {copy.name: copy.write},
        copy=None if copy is None else copy.about,
        private_files=_private_files(facts, table, card, anew),
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _files(name: str | None, copy: Copy | None) -> tuple[tuple[str, str], ...]:
    """What the release holds, for people."""
    if name is None:
        return (("table", "folder of parts, one row per record"),)
    return ((name, "one row per record"), *([] if copy is None else [(copy.name, copy.in_words)]))


def _checked_coarsening(asked: Mapping[str, int], table: ReadTable) -> dict[str, int]:
    """The columns to aggregate once more, in the order of the quasi-identifiers."""
    roles = table.layout.roles
    numbers = [name for name, form in zip(table.layout.numbers, table.layout.forms, strict=True) if not form.median]
    check_coarsened_columns(asked, table.outline.columns, roles, numbers, table.n_rows)
    return {name: asked[name] for name in roles.quasi if name in asked}


def _grouped(
    rows: list[Any],
    n_rows: int,
    protection: TableProtection,
    layout: Layout,
    promises: GroupPromises,
    schedule: Schedule,
) -> tuple[list[Any], float]:
    """Blocks of rows in groups (futures) that have what is promised, and the least SSE possible if it is known."""
    if layout.kept is not None:
        check_holding(holding_of(rows[0], ()), (), protection.k, promises)
        block, bound = grouped_by_person(rows[0], layout, protection)
        block = protection.diverse(block, layout, promises) if promises else block
        warn_of_majority(block)
        return [block], bound
    blocks = protection.group_parts(rows, n_rows, layout, schedule)
    if promises:
        carried = {name: carried_as(name) for name in layout.roles.confidential}
        merge = partial(schedule.submit, protection.diverse)
        blocks = diverse_parts(
            blocks, carried, protection.k, promises, lambda block, all: merge(block, layout, promises, all), schedule
        )
    return blocks, 0.0


def _coarsened(masked: list[Any], layout: Layout, coarsen: Mapping[str, int], schedule: Schedule) -> list[Any]:
    """The blocks with columns aggregated once more, in classes over all rows."""
    classes: dict[int, tuple[Floats, Floats]] = {}
    for name, least in coarsen.items():
        place = layout.numbers.index(name)
        counted = schedule.gather([schedule.submit(part_steps.masked_values, block, place) for block in masked])
        values, counts = (np.concatenate(side) for side in zip(*counted, strict=True))
        column = np.sort(np.repeat(values, counts))
        different, first = np.unique(column, return_index=True)
        classes[place] = different, np.asarray(coarsened(column, least))[first]
    return [schedule.submit(part_steps.coarse, block, classes) for block in masked] if classes else masked


def _rounding(masked: list[Any], table: ReadTable, spread: Floats, schedule: Schedule) -> tuple[float, Floats]:
    """The squared error of the masked numbers, and the step of each column's grid; 0 where nothing is rounded."""
    layout = table.layout
    error = _total(part_steps.squared_error, masked, schedule, layout)
    if table.continuation is not None:  # the grid of the rows that are kept
        return error, table.continuation.steps(layout.numbers)
    if not table.protection.averages:
        return error, np.zeros(len(layout.numbers))
    added = partial(_total, part_steps.added_error, masked, schedule, layout)
    steps = chosen_steps(error, table.n_rows, spread, added)
    units = np.array([form.step for form in layout.forms])
    # Ranks and periods are coarse as they are; dates and whole numbers have steps of at least one.
    coarse = np.array([form.median or getattr(form, "period", None) is not None for form in layout.forms], dtype=bool)
    return error, np.where(coarse | layout.constant, 0.0, np.maximum(steps, units))


def _total(figure: Callable[..., float], masked: list[Any], schedule: Schedule, *given: Any) -> float:
    return math.fsum(schedule.gather([schedule.submit(figure, block, *given) for block in masked]))


def _arranged(
    masked: list[Any], layout: Layout, protection: TableProtection, steps: Floats, in_text: bool, schedule: Schedule
) -> list[Any]:
    """The parts to write (futures), in the order of their first rows."""
    parts = [schedule.submit(part_steps.arranged, block, layout, protection, steps, in_text) for block in masked]
    first = schedule.gather([schedule.submit(part_steps.first_row, part) for part in parts])
    return [parts[number] for number in sort_rows(pa.concat_tables(first)).tolist()]


def _crowds(facts: Sequence[part_steps.TableFacts], table: ReadTable, promises: GroupPromises) -> dict[str, Any]:
    crowds = crowd_figures([fact.groups for fact in facts], table.layout.roles.confidential, promises)
    return crowds if table.protection.k_anonymous else crowds | {"smallest_group": min(one.smallest for one in facts)}


def _withheld(table: ReadTable) -> tuple[Withheld, ...]:
    found = (Withheld(INCOMPLETE, len(table.withheld)),) if table.withheld else ()
    if table.continuation is None:
        return found
    counts = Counter(reason for _, reason in table.continuation.withheld)
    return (*found, *(Withheld(reason, counts[reason]) for reason in sorted(counts)))


def _parameters(protection: TableProtection, coarsen: dict[str, int], grid: dict[str, float]) -> dict[str, Any]:
    method = {"microaggregation" if protection.k > 1 else "masking": protection.parameters()}
    return method | ({"coarsen": coarsen} if coarsen else {}) | ({"rounded_to": grid} if grid else {})


def _private_files(
    facts: Sequence[part_steps.TableFacts], table: ReadTable, card: LeakCard | None, anew: float | None
) -> dict[str, Writer]:
    """For the owner alone. The card's weights would help an attacker, so a release does not hold them.

    `anew`: what would be lost by a release that follows no other.
    """
    continuation = table.continuation
    withheld = [(row, INCOMPLETE) for row in table.withheld]
    withheld += [] if continuation is None else continuation.withheld
    files = {"withheld.csv": write_csv(("row", "reason"), withheld)}
    if continuation is not None:
        files[GONE] = write_csv(("record",), [(record,) for record in continuation.gone])
        loss = {"information_loss": measured_loss(facts).information_loss, "starting_anew": anew}
        files[LOSS] = write_text(json.dumps(loss) + "\n")
    if table.layout.labels:
        files["generalisations.csv"] = every_generalisation(facts, table.layout)
    if card is not None:
        html = leaks_html(card, table.n_rows)
        files["leaks.html"] = write_text(html)
    return files


def _linked(part: part_steps.Arranged, layout: Layout) -> float | None:
    """The chance that equal labels link a record with its original, where all quasi-identifiers are labels."""
    if layout.numbers or not layout.labels:
        return None
    sides = ([getattr(part.labels[name], side) for name in layout.labels] for side in ("before", "after"))
    return round(linked_by_equality(*(np.column_stack(side) for side in sides)), 6)


def _attacked(
    part: part_steps.Arranged, masked: MaskedBlock, layout: Layout, options: TableOptions, publishable: bool
) -> tuple[tuple[Rate, ...], LeakCard | None]:
    """What intruders find who know the originals, and the leak card for the owner."""
    if not options.attack:
        return (), None
    order = pa.array(part.order)
    columns: dict[str, Any] = {name: column_of(masked.block, layout, name).take(order) for name in layout.labels}
    columns |= dict(zip(layout.numbers, map(pa.array, part.values.T), strict=True))
    quasi = pa.table({name: columns[name] for name in layout.roles.quasi})
    # Dates, ranks and gaps as the numbers behind them: whoever attacks, computes.
    columns = {name: part.released[name] for name in layout.labels}
    columns |= dict(zip(layout.numbers, map(pa.array, part.masked.T), strict=True))
    released = pa.table({name: columns[name] for name in layout.roles.quasi})
    ontology = getattr(table_method(options.method, layout.numbers, layout.labels), "ontology", None)
    if layout.categories:
        ontology = _by_meaning(ontology, [name for name in layout.labels if name not in layout.categories])
    card = leaks_of_release(quasi, released, layout.numbers, ontology)
    if layout.labels or not publishable or quasi.num_rows > MOST_ATTACKED:
        return (), card
    linkage = (DistanceLinkage(metric).run(part.values, part.masked) for metric in ("euclidean", "mahalanobis"))
    return (*linkage, IntervalDisclosure().run(part.values, part.masked), *learned_rates(card)), card


def _by_meaning(ontology: Any, names: Sequence[str]) -> dict[str, Any]:
    """The ontologies of columns that have one; plain categories are equal or not."""
    if isinstance(ontology, Mapping):
        return {name: ontology.get(name) or WordNet() for name in names}
    return dict.fromkeys(names, WordNet() if ontology is None else ontology) if names else {}


def _warn_of_few_values(names: Sequence[str]) -> None:
    """Tell the owner what was averaged that may be codes."""
    for name in names:
        warnings.warn(
            f"column {shown(name)} holds at most {FEW_VALUES} different whole numbers and was averaged; if they are "
            f"codes, pass --categorical {shown(name)}",
            stacklevel=2,
        )


def _gaps(facts: Sequence[part_steps.TableFacts]) -> dict[str, int]:
    """Cells of each number in which a gap stands for the group."""
    return dict(sum((Counter(fact.gaps) for fact in facts), Counter()))


def _kinds(table: ReadTable, missing: str) -> dict[str, Any]:
    """What was done with columns that are not plain numbers or labels, and with gaps."""
    layout = table.layout
    forms = dict(zip(layout.numbers, layout.forms, strict=True))
    dates = {name: date_parameters(form) for name, form in forms.items() if form.kind is Kind.DATE}
    ordered = [name for name, form in forms.items() if form.kind is Kind.ORDERED]
    rounded = [name for name, form in forms.items() if form.kind is Kind.WHOLE]
    stated = {"dates": dates, "medians_of": ordered, "whole_numbers": rounded}
    stated |= {"categories": dict(layout.categories), "few_values": list(table.few)}
    if layout.has_gaps:
        stated["missing"] = missing
    return {name: value for name, value in stated.items() if value}


def _schema(layout: Layout) -> pa.Schema:
    """The released columns: numbers as their forms write them, labels as text, the rest as it came."""
    forms = dict(zip(layout.numbers, layout.forms, strict=True))
    types = {name: form.type for name, form in forms.items()} | dict.fromkeys(layout.labels, pa.string())
    return pa.schema([(name, types.get(name) or layout.schema.field(name).type) for name in layout.released])
