"""A table in parts to a release in parts: only sums, samples and figures ever come together in one place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from shoal import progress
from shoal.bundle.folders import write_csv
from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.files import shown
from shoal.io.row_order import sort_rows
from shoal.microaggregation import Microaggregation
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.diversity import JOINED
from shoal.microaggregation.exact_sums import mean_of_sums, scale_of
from shoal.protection.distances import NOT_TOLD, euclidean_distances
from shoal.protection.extremes import Limits, limits_of
from shoal.protection.groups import sizes_of, stated_loss
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
from shoal.release import table_part as work
from shoal.release.cluster import diverse_parts, grouped_parts, write_parts
from shoal.release.draft import Draft
from shoal.release.part_facts import SHOWN, diversity_of, sizes_over
from shoal.release.tables import INCOMPLETE, described, method_in_words, too_few_rows
from shoal.results.claims import Withheld
from shoal.results.loss import Loss
from shoal.results.summary import ColumnChange, Distances, Summary

__all__ = ["draft_table_parts"]

Floats = NDArray[np.float64]


def draft_table_parts(
    parts: Sequence[str],
    k: int,
    roles: Roles,
    method: Microaggregation,
    l: int | None,
    missing: str,
    folders: tuple[Path, Path],
    schedule: Schedule,
) -> Draft:
    """Protect the parts and write the rows into the folders (private, release) at hand; the draft has the rest."""
    submit, gather = schedule.submit, schedule.gather
    _check_method(method, l, roles)
    progress.step("reading", 0, len(parts))
    read = [submit(work.read_part, part, roles, missing) for part in parts]
    readings: list[work.Reading] = []
    for part in read:
        readings += gather([submit(work.reading_of, part)])
        progress.step("reading", len(readings), len(parts))
    schema = _agreed_schema(parts, readings)
    withheld = [name for reading in readings for name in reading.withheld]
    n_rows = sum(reading.n_rows for reading in readings)
    if n_rows < k:
        raise too_few_rows(k, n_rows, len(withheld))
    mean = mean_of_sums([reading.sums for reading in readings], n_rows)
    deviations = gather([submit(work.deviations_of, part, mean) for part in read])
    lowest = np.min([reading.lowest for reading in readings], axis=0)
    highest = np.max([reading.highest for reading in readings], axis=0)
    variance = mean_of_sums(deviations, n_rows)
    scale = scale_of(np.sqrt(variance), np.maximum(np.abs(lowest), np.abs(highest)))
    layout = work.Layout(roles, schema, mean, scale, lowest == highest)
    farthest = np.max(gather([submit(work.largest_deviation, part, mean) for part in read]), axis=0)
    dominance = np.divide(
        farthest, n_rows * variance, out=np.zeros_like(mean), where=(lowest < highest) & (variance > 0)
    )
    warn_of_dominance(roles.quasi, dominance, n_rows)
    sample = _sampled(gather([submit(work.sample_of, part, layout) for part in read]))
    limits = limits_of(sample, k)
    spread = limits.spread(sample)

    model = clone(method).set_params(k=k)
    rows = [submit(work.rows_of, part, layout) for part in read]
    read.clear()  # what nobody holds any more need not be kept
    blocks = grouped_parts(rows, n_rows, model, schedule)
    if l is not None:
        carried = {name: work.carried_as(name) for name in roles.confidential}
        blocks = diverse_parts(
            blocks, carried, l, lambda block: submit(work.diverse, block, roles.confidential, l), schedule
        )
    steps = _steps(blocks, layout, spread, n_rows, schedule)
    blocks = [submit(work.arranged, block, layout, steps) for block in blocks]
    order = sort_rows(pa.concat_tables(gather([submit(work.first_row, block) for block in blocks]))).tolist()

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(work.write_part, blocks[order[number]], layout, target, mapping)

    facts: list[work.Facts] = write_parts("table", write, len(blocks), folders, schedule)
    groups = [fact.groups for fact in facts]
    sizes = sizes_over(groups)
    reasons = reasons_withheld(_total(facts, "moved"), dominance)
    reason = reason_of_all(reasons)
    loss = Loss(_total(facts, "lost").sum(), _total(facts, "squares").sum())
    summary = Summary(
        kind="table",
        k=k,
        method=method_in_words(model),
        promises_k=True,
        rows=n_rows,
        smallest_group=int(sizes.min()),
        group_sizes=sizes_of(sizes),
        loss=stated_loss(loss, reason is None, reason, DIGITS),
        distances=NOT_TOLD if FEW_MOVED in reasons else _distances(facts, n_rows, layout.scale, spread),
        withheld=(Withheld(INCOMPLETE, len(withheld)),) if withheld else (),
        diversity=tuple(diversity_of(name, groups) for name in roles.confidential),
        l_promised=l,
        columns=_changes(layout, facts, limits, steps, reasons),
        insensitive=roles.insensitive,
        dropped_columns=len(readings[0].columns) - len(schema),
        files=(("table", "folder of parts, one row a record"),),
    )
    return Draft(
        summary=summary,
        columns=described(schema, roles),
        shared_columns=(roles.quasi,),
        parameters={"microaggregation": model.get_params()}
        | ({} if l is None else {"diversity": JOINED})
        | ({"rounded_to": grid_of(roles.quasi, steps)} if steps.any() else {}),
        files={},
        private_files={"withheld.csv": write_csv(("row", "reason"), [(name, INCOMPLETE) for name in withheld])},
        formulas=sum((fact.formulas for fact in facts), Counter()),
    )


def _check_method(method: Microaggregation, l: int | None, roles: Roles) -> None:
    if method.method != "mdav":
        raise InputError(f"method {method.method!r} sorts all rows at once; for a table in parts use 'mdav'")
    if method.attribute_groups is not None:
        raise InputError("a table in parts is protected over all quasi-identifiers; leave out the attribute groups")
    if l is not None and not roles.confidential:
        raise InputError(f"l={l} needs a confidential column; name it with --confidential")


def _agreed_schema(parts: Sequence[str], readings: Sequence[work.Reading]) -> pa.Schema:
    """The columns and types that every part has; a column that is empty in a part may have any type there."""
    schema = readings[0].schema
    for part, reading in zip(parts, readings, strict=True):
        if reading.columns != readings[0].columns:
            raise InputError(
                f"{shown(part)} has {_listed(reading.columns)} where {shown(parts[0])} has "
                f"{_listed(readings[0].columns)}; give all parts the same columns in the same order"
            )
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


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(shown(name) for name in columns[:10]) + (", …" if len(columns) > 10 else "")


def _total(facts: list[work.Facts], figure: str) -> Any:
    """The sum of a figure over the parts, column by column."""
    return np.sum([getattr(fact, figure) for fact in facts], axis=0)


def _sampled(samples: list[Any]) -> Floats:
    """The values of the rows with the smallest keys of all parts."""
    keys, values = (np.concatenate([sample[side] for sample in samples]) for side in (0, 1))
    some: Floats = values[np.argsort(keys, kind="stable")[:SHOWN]]
    return some


def _steps(blocks: list[Any], layout: work.Layout, spread: Floats, n_rows: int, schedule: Schedule) -> Floats:
    """The step of each column's grid."""
    submit, gather = schedule.submit, schedule.gather

    def added(steps: Floats) -> float:
        return math.fsum(gather([submit(work.added_error, block, layout, steps) for block in blocks]))

    error = math.fsum(gather([submit(work.squared_error, block, layout) for block in blocks]))
    return chosen_steps(error, n_rows, spread, added)


def _changes(
    layout: work.Layout, facts: list[work.Facts], limits: Limits, steps: Floats, reasons: tuple[str | None, ...]
) -> tuple[ColumnChange, ...]:
    """What may be said of each column; median and spread are those of the sample that is shown."""
    before, after = _shown(facts)
    lost, spread = (_total(facts, figure) for figure in ("lost", "spread"))
    share = np.divide(lost, spread, out=np.zeros_like(lost), where=spread > 0)
    return changes_of(layout.roles.quasi, before, after, limits, share, steps, reasons)


def _shown(facts: list[work.Facts]) -> tuple[Floats, Floats]:
    """The rows with the smallest keys, before and after."""
    keys = np.concatenate([fact.sample[0] for fact in facts])
    rows = np.argsort(keys, kind="stable")[:SHOWN]
    before, after = (np.concatenate([fact.sample[side] for fact in facts])[rows] for side in (1, 2))
    return before, after


def _distances(facts: list[work.Facts], n_rows: int, scale: Floats, spread: Floats) -> Distances:
    """On a scale that no record decides, see `PublishedNumbers`."""
    inner = np.where(spread > 0.0, spread, scale)
    before, after = _shown(facts)
    return euclidean_distances(before / inner, after / inner, n_rows)
