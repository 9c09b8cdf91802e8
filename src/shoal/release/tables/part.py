"""One part of a table once its rows are masked: coarsened, rounded, arranged and written. None of it sees two parts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.bundle.formulas import formulas_in
from shoal.io.row_order import sort_rows
from shoal.microaggregation.blocks.executors import memory_of
from shoal.protection.masked import equal_rows, values_of
from shoal.protection.publishable import moved_records
from shoal.protection.rounding import on_grid
from shoal.protection.tables.layout import (
    OWN_K,
    PERSON,
    Layout,
    MaskedBlock,
    MaskedLabels,
    TableProtection,
    column_of,
)
from shoal.protection.tables.representatives import standardised, writable
from shoal.release.part_facts import GroupFacts, facts_of, replacing, write_mapping_part
from shoal.release.tables.files import write_table
from shoal.release.tables.reading import smallest_keys
from shoal.results.loss import Loss

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Arranged:
    """The rows of a block as they will be released, in canonical order; and as they were."""

    released: pa.Table
    names: NDArray[Any]
    values: Floats
    masked: Floats
    labels: Mapping[str, MaskedLabels]
    moved: Mapping[str, int]  # records whose value the representative of their group changed, by column
    texts: Mapping[str, Counter[tuple[Any, Any]]]  # of each column of labels, records by what was and is written
    loss: Loss
    order: Ints  # of the block's rows
    crowd: Mapping[str, Ints]  # whose each row is, and the k it asks for, where that is promised
    records: NDArray[Any] | None = None  # the ids of the rows' records
    gaps: tuple[Mask, Mask] | None = None  # (rows, numbers), where a value is missing: as they were, as released

    def __sizeof__(self) -> int:
        return memory_of(self.names, self.values, self.masked) + int(self.released.nbytes)


@dataclass(frozen=True)
class TableFacts:
    """What the owner must know of a part that was written: its groups, and sums over each quasi-identifier."""

    groups: GroupFacts
    smallest: int  # fewest rows that share a value of the columns protected together
    moved: Mapping[str, int]
    loss: Loss
    lost: Floats  # squared error of each number
    spread: Floats  # squares before
    sample: tuple[NDArray[np.uint64], Floats, Floats]  # keys, numbers before, numbers after; NaN where there is a gap
    concepts: Mapping[str, Counter[tuple[int, int]]]  # of each column of labels: records by concept before and after
    texts: Mapping[str, Counter[tuple[Any, Any]]]  # and by what was written
    spelt: Mapping[str, Mapping[int, str]]  # how concepts are written in the release
    formulas: Counter[str]  # cells of each column that a spreadsheet would run
    gaps: Mapping[str, int]  # cells of each number in which a gap stands for the group


def masked_values(masked: MaskedBlock, place: int) -> tuple[Floats, Ints]:
    """The different masked values of a number, and how many rows have each."""
    values, counts = np.unique(masked.numbers[:, place], return_counts=True)
    return values, counts


def coarse(masked: MaskedBlock, classes: Mapping[int, tuple[Floats, Floats]]) -> MaskedBlock:
    """The block with numbers aggregated once more; `classes` has, by column, masked values and what they become."""
    numbers = masked.numbers.copy()
    for place, (values, becomes) in classes.items():
        numbers[:, place] = becomes[np.searchsorted(values, numbers[:, place])]
    return replace(masked, numbers=numbers)


def squared_error(masked: MaskedBlock, layout: Layout) -> float:
    """Of the masked numbers, each column on the scale of its deviation."""
    return float(np.sum(((masked.block.carried["values"] - masked.numbers) / layout.scale) ** 2))


def added_error(masked: MaskedBlock, layout: Layout, steps: Floats) -> float:
    """What rounding adds to that."""
    return float(np.sum(((on_grid(masked.numbers, steps) - masked.numbers) / layout.scale) ** 2))


def arranged(
    masked: MaskedBlock, layout: Layout, protection: TableProtection, steps: Floats, in_text: bool
) -> Arranged:
    """The rows in the order of what will be released of them, means on a grid of the given steps."""
    block, values = masked.block, masked.block.carried["values"]
    numbers = writable(masked, layout, steps)
    gaps = np.zeros(numbers.shape, dtype=bool) if masked.gaps is None else masked.gaps
    moved = np.where(layout.constant, 0, moved_records(values, masked.numbers)).tolist()
    columns: dict[str, Any] = {name: labels.released for name, labels in masked.labels.items()}
    columns |= {name: column_of(block, layout, name) for name in layout.schema.names if name not in columns}
    for place, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        columns[name] = form.written(numbers[:, place], gaps[:, place])
    for name in (*masked.labels, *(name for name in layout.numbers if pa.types.is_string(columns[name].type))):
        # Text files have no sign for a missing text but the empty one.
        columns[name] = pc.fill_null(columns[name], "") if in_text else columns[name]
    released = pa.table({name: columns[name] for name in layout.released})
    order = sort_rows(released)
    sse, sst = protection.squares(masked, numbers, layout)
    return Arranged(
        released=released.take(pa.array(order)),
        names=block.carried["name"][order],
        values=values[order],
        masked=numbers[order],
        labels={
            name: MaskedLabels(labels.released.take(pa.array(order)), labels.before[order], labels.after[order])
            for name, labels in masked.labels.items()
        },
        moved=dict(zip(layout.numbers, moved, strict=True))
        | {name: int(np.sum(labels.before != labels.after)) for name, labels in masked.labels.items()},
        texts={name: _texts(column_of(block, layout, name), labels.released) for name, labels in masked.labels.items()},
        loss=Loss(sse, sst - sse),
        order=order,
        crowd={name: block.carried[name][order] for name in (PERSON, OWN_K) if name in block.carried},
        records=block.carried["record"][order] if "record" in block.carried else None,
        gaps=(block.carried["gaps"][order], gaps[order]) if layout.has_gaps else None,
    )


def _texts(before: pa.Array, after: pa.Array) -> Counter[tuple[Any, Any]]:
    pairs = pa.table({"before": before, "after": after}).group_by(["before", "after"]).aggregate([([], "count_all")])
    return Counter({(pair["before"], pair["after"]): pair["count_all"] for pair in pairs.to_pylist()})


def first_row(part: Arranged) -> pa.Table:
    """The first row that will be released."""
    return part.released.slice(0, 1)


def write_part(
    part: Arranged, layout: Layout, protection: TableProtection, most: int, target: str, mapping: str
) -> TableFacts:
    """Write the rows, and privately which record became which of them."""
    with replacing(target) as path:
        write_table(part.released, path)
    groups = _equal(part.released, layout.roles.quasi)
    write_mapping_part(part.names, groups, mapping, part.records)

    first = np.unique(groups, return_index=True)[1]
    contents = part.released.select(list(layout.roles.quasi)).take(pa.array(first)).to_pylist()
    digests = [hashlib.blake2b(repr(content).encode(), digest_size=16).digest() for content in contents]
    before, after = (standardised(rows, layout) for rows in (part.values, part.masked))
    keys, shown_rows = smallest_keys(part.values, layout, most)
    with_gaps = _with_gaps(part)
    confidential = {name: values_of(part.released[name]) for name in layout.roles.confidential}
    return TableFacts(
        groups=facts_of(digests, groups, confidential, part.crowd),
        smallest=min(int(np.bincount(_equal(part.released, part_of)).min()) for part_of in protection.together),
        moved=part.moved,
        loss=part.loss,
        lost=np.sum((before - after) ** 2, axis=0),
        spread=np.sum(before**2, axis=0),
        sample=(keys, with_gaps[0][shown_rows], with_gaps[1][shown_rows]),
        concepts={name: _pairs(labels.before, labels.after) for name, labels in part.labels.items()},
        texts=part.texts,
        spelt={name: _spelt(labels) for name, labels in part.labels.items()},
        formulas=formulas_in(part.released),
        gaps={name: _gaps(part.released[name]) for name in layout.numbers if layout.has_gaps},
    )


def _with_gaps(part: Arranged) -> tuple[Floats, Floats]:
    """The numbers before and after, NaN where a value is missing."""
    if part.gaps is None:
        return part.values, part.masked
    return np.where(part.gaps[0], np.nan, part.values), np.where(part.gaps[1], np.nan, part.masked)


def _gaps(column: pa.ChunkedArray) -> int:
    """Cells without a value; text files have no other sign for it than the empty text."""
    empty = pc.sum(pc.equal(column, "")).as_py() if pa.types.is_string(column.type) else 0
    return int(column.null_count + (empty or 0))


def _equal(released: pa.Table, names: Sequence[str]) -> Ints:
    return equal_rows([released[name].combine_chunks() for name in names])


def _pairs(before: Ints, after: Ints) -> Counter[tuple[int, int]]:
    pairs, counts = np.unique(np.column_stack([before, after]), axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, pairs.tolist()), counts.tolist(), strict=True)))


def _spelt(labels: MaskedLabels) -> dict[int, str]:
    concepts, first = np.unique(labels.after, return_index=True)
    texts = labels.released.take(pa.array(first)).to_pylist()
    return {concept: text for concept, text in zip(concepts.tolist(), texts, strict=True) if text}
