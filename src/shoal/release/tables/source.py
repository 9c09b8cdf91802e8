"""A table opened: its parts read, the protection chosen by its columns, and what all parts agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal import progress
from shoal.bundle.earlier import Earlier
from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.files import shown
from shoal.io.kinds.choices import ColumnChoices
from shoal.io.kinds.number_forms import Doubles
from shoal.io.kinds.recognition import FEW_VALUES
from shoal.io.kinds.vocabulary import Kind
from shoal.masking import RankSwap
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.exact_sums import mean_of_sums, scale_of
from shoal.ontology.value_mapping import check_mapping, explained_columns
from shoal.protection.tables import TableProtection, averaged, table_method, table_protection, unexplained
from shoal.protection.tables.columnwise import Columnwise
from shoal.protection.tables.concepts import Concepts
from shoal.protection.tables.following import Following
from shoal.protection.tables.layout import Layout
from shoal.release.sources import TableSource
from shoal.release.tables.after import Continuation, continued, with_records
from shoal.release.tables.columns import Explained, ProtectedColumns, agreed_columns
from shoal.release.tables.crowd_columns import check_promised_columns
from shoal.release.tables.reading import (
    Outline,
    Reading,
    complete_part,
    deviations_of,
    open_part,
    outline_of,
)
from shoal.results.promised import GroupPromises

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TableOptions:
    """What is asked for a table beside k."""

    method: Any  # an estimator, a function that chooses one by the columns, or None
    promises: GroupPromises
    missing: str
    coarsen: Mapping[str, int]
    attack: bool
    choices: ColumnChoices = field(default_factory=ColumnChoices)
    id_column: str | None = None  # that names the records, privately
    after: Earlier | None = None  # the release that this one follows


@dataclass(frozen=True)
class ReadTable:
    """The parts (futures), what protects them, and what they agree on."""

    parts: list[Any]
    outline: Outline
    protection: TableProtection
    layout: Layout
    n_rows: int
    withheld: list[str]  # rows that miss a number
    columns: ProtectedColumns
    few: tuple[str, ...]  # numbers of few different values, which are averaged all the same
    continuation: Continuation | None = None  # of an earlier release


def read_table_source(source: TableSource, k: int, options: TableOptions, schedule: Schedule) -> ReadTable:
    """Read and check the parts, and choose what protects them by their columns."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    ontology, mapping = _meanings(options.method, source.roles)
    unchanged = () if source.roles is None else (*source.roles.confidential, *source.roles.insensitive)
    choices = options.choices.with_roles(source.roles)
    explained = Explained.by(ontology, mapping)
    named = [name for name in (options.promises.person, options.id_column) if name is not None]
    verbatim = (*unchanged, *named, *explained_columns(ontology, mapping), *choices.as_text)
    if not source.whole:
        progress.step("reading", 0, n_parts)
    opened = [submit(open_part, part, source.roles, verbatim, source.whole) for part in source.parts]
    opened, continuation = _identified(opened, k, options)
    outlines: list[Outline] = []
    for part in opened:
        outlines += gather([submit(outline_of, part, choices, explained)])
        if not source.whole:
            progress.step("reading", len(outlines), n_parts)
    outline, roles = outlines[0], outlines[0].roles
    _check_columns(source.parts, outlines)
    check_mapping(mapping, outline.columns)
    check_promised_columns(options.promises, outline.columns, roles)
    columns = agreed_columns(roles.quasi, [one.quasi for one in outlines], choices)
    of_labels = tuple(name for name in roles.quasi if name not in columns.forms)
    method = table_method(options.method, columns.numbers, of_labels)
    numbers = averaged(method, roles.quasi, columns.numbers)
    _check_categories(columns, numbers, method)
    protection = table_protection(method, k, numbers)
    as_labels = isinstance(protection, Concepts)
    by_meaning = [name for name in of_labels if name not in columns.categories]
    checked = unexplained(method, by_meaning) if as_labels else None
    hierarchy = as_labels and method.ontology is not None
    forms = {name: columns.forms.get(name, Doubles()) for name in numbers}
    read = [
        submit(complete_part, part, forms, options.missing, checked, hierarchy, options.promises) for part in opened
    ]
    readings: list[Reading] = gather([submit(attrgetter("reading"), part) for part in read])
    n_rows = sum(reading.n_rows for reading in readings)
    withheld = [name for reading in readings for name in reading.withheld]
    if n_rows < protection.k:
        raise _too_few_rows(protection.k, n_rows, len(withheld))
    schema = _agreed_schema(source.parts, readings)
    gaps: Ints = np.array([reading.gaps for reading in readings], dtype=np.int64).sum(axis=0)
    _check_gaps(numbers, gaps, n_rows, protection, options)
    given = n_rows - gaps
    mean = mean_of_sums([reading.sums for reading in readings], n_rows) * (n_rows / given)
    deviations = gather([submit(deviations_of, part, mean) for part in read])
    lowest, highest = _range(readings)
    scale = scale_of(np.sqrt(mean_of_sums(deviations, n_rows)), np.maximum(np.abs(lowest), np.abs(highest)))
    layout = Layout(
        roles=roles,
        schema=schema,
        numbers=numbers,
        labels=tuple(name for name in roles.quasi if name not in numbers),
        forms=tuple(forms.values()),
        mean=mean,
        scale=scale,
        constant=(lowest == highest) & (gaps == 0),
        lowest=lowest,
        highest=highest,
        released=tuple(name for name in outline.columns if name in (*numbers, *schema.names)),
        kept=read[0].others if source.whole else None,
        categories={name: how for name, how in columns.categories.items() if name not in numbers},
        has_gaps=bool(gaps.any()),
        averaged=protection.averages,
        **_gaps_as_values(gaps, n_rows, options.missing),
    )
    prepared = protection.prepared(layout, _all_labels(readings, layout))
    few = _of_few_values(layout, readings) if protection.averages else ()
    if continuation is not None:
        continuation.check_numbers(numbers, roles.quasi)
        few = continuation.few_values  # counted anew, they would tell who left
        layout = replace(layout, constant=np.zeros_like(layout.constant))  # the rows that are kept may differ
        prepared = Following(prepared, continuation.rows, continuation.row_of, layout)
    return ReadTable(read, outline, prepared, layout, n_rows, withheld, columns, few, continuation)


def _identified(opened: list[Any], k: int, options: TableOptions) -> tuple[list[Any], Continuation | None]:
    """The parts; the one part of a table with ids has these, and after an earlier release only what is published."""
    if options.id_column is None:
        return opened, None
    part = with_records(opened[0], options.id_column)
    if options.after is None:
        return [part], None
    part, continuation = continued(part, options.after, k, options.promises)
    return [part], continuation


def _check_categories(columns: ProtectedColumns, numbers: Sequence[str], method: Any) -> None:
    """A code is never averaged, whatever the method."""
    for name in numbers:
        if name in columns.categories and not isinstance(method, RankSwap):
            kind = columns.kinds[name].in_words
            raise InputError(
                f"column {shown(name)} is a {kind}, which {type(method).__name__} would take for an amount; choose "
                f"another method, or say --kind {shown(name)}=number"
            )


def _check_gaps(
    numbers: Sequence[str], gaps: Ints, n_rows: int, protection: TableProtection, options: TableOptions
) -> None:
    """Gaps that are kept need groups; and a column needs values."""
    for name, count in zip(numbers, gaps.tolist(), strict=True):
        if count == n_rows:
            raise InputError(f"column {shown(name)} holds no value at all; drop it (--drop)")
        if count and isinstance(protection, Columnwise):
            raise InputError(
                f"--missing {options.missing} needs groups over all quasi-identifiers, and this method makes none; "
                "withhold the rows, or choose another method"
            )
        if count and name in options.coarsen:
            raise InputError(
                f"coarsen {shown(name)}={options.coarsen[name]}: the column has gaps; withhold them, or leave it out"
            )


def _gaps_as_values(gaps: Ints, n_rows: int, missing: str) -> dict[str, Any]:
    """Of columns with gaps that count as values: places, shares of gaps, and the deviation of having one."""
    if missing != "group" or not gaps.any():
        return {}
    places = np.flatnonzero(gaps)
    share = gaps[places] / n_rows
    return {"gap_places": places, "gap_mean": share, "gap_scale": np.sqrt(share * (1.0 - share))}


def _of_few_values(layout: Layout, readings: Sequence[Reading]) -> tuple[str, ...]:
    """Columns of few whole numbers: a mean of codes would mean nothing, so people are told."""
    found = []
    for place, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        sets = [reading.few[place] for reading in readings]
        values = frozenset().union(*(one for one in sets if one is not None)) if None not in sets else None
        if values is None or not 1 < len(values) <= FEW_VALUES or form.kind not in (Kind.NUMBER, Kind.WHOLE):
            continue
        if 4 * len(values) > sum(reading.n_rows for reading in readings):  # of few records, all columns have few values
            continue
        if all(value.is_integer() for value in values):
            found.append(name)
    return tuple(found)


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


def _all_labels(readings: Sequence[Reading], layout: Layout) -> dict[str, tuple[pa.Array, Ints]]:
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


def _check_columns(parts: Sequence[Any], outlines: Sequence[Outline]) -> None:
    for part, outline in zip(parts, outlines, strict=True):
        if outline.columns != outlines[0].columns:
            raise InputError(
                f"{shown(part)} has {_listed(outline.columns)} where {shown(parts[0])} has "
                f"{_listed(outlines[0].columns)}; give all parts the same columns in the same order"
            )


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(shown(name) for name in columns[:10]) + (", …" if len(columns) > 10 else "")


def _agreed_schema(parts: Sequence[Any], readings: Sequence[Reading]) -> pa.Schema:
    """The types that every part has; a column that is empty in a part may have any type there."""
    schema = readings[0].schema
    for part, reading in zip(parts, readings, strict=True):
        for place, column in enumerate(reading.schema):
            agreed = schema.field(place)
            if pa.types.is_null(agreed.type):
                schema = schema.set(place, column)
            elif column.type != agreed.type and not pa.types.is_null(column.type):
                raise InputError(
                    f"{shown(part)}: column {shown(column.name)} is {column.type}, in the parts before it "
                    f"{agreed.type}; write all parts with the same types"
                )
    return schema


def _range(readings: Sequence[Reading]) -> tuple[Floats, Floats]:
    lowest: Floats = np.min([reading.lowest for reading in readings], axis=0)
    highest: Floats = np.max([reading.highest for reading in readings], axis=0)
    return lowest, highest
