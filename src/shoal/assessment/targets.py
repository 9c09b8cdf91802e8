"""Models of a target from all other columns that are compared: trained on protected rows, tested on originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.assessment.aligned import AlignedTables
from shoal.attacks.labels import LabelPair
from shoal.attacks.rates import sample_rows
from shoal.data.columns import holds_numbers, plain
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.results.utility import ModelUtility
from shoal.utility.column_values import as_labels, as_numbers, is_missing, released_numbers
from shoal.utility.models import MOST_CLASSES, Target, model_utility

MOST_RECORDS = 20_000  # of more, a random sample of this size
MOST_LABELS = 20  # of a column to learn from, the most frequent ones


def models_of_target(
    pair: AlignedTables, labels: Sequence[LabelPair], target: str, random_state: int = 0
) -> ModelUtility:
    """Models of the target, a column of numbers or labels, from all other columns that are compared.

    Records that lack the target are left out. Of more than ten labels the nine most frequent are classes, and all
    others one more.
    """
    numbers = [name for name in pair.numbers if name != target]
    labels = [column for column in labels if column.name != target]
    known = (*numbers, *(column.name for column in labels))
    if not known:
        raise InputError(
            f"target {shown(target)} is learned from other columns, and no other is compared; "
            "name more columns with {option}, or leave the target out",
            "columns",
        )
    target_before, target_after = (plain(table[target]).combine_chunks() for table in pair.whole)
    before, after = _readings(target_before, target_after, target)
    rows = np.flatnonzero(~(is_missing(before) | is_missing(after)))
    if len(rows) < 2:
        raise InputError(f"target {shown(target)} is missing in all but {len(rows)} records; choose another column")
    rows = rows[sample_rows(len(rows), MOST_RECORDS, random_state)]
    # A target that was protected with the others decides with them which rows are alike.
    columns = list(pair.numbers) if target in pair.numbers else numbers
    original, protected = (
        _with_indicators(table.select(columns), labels, released).take(pa.array(rows))
        for table, released in ((pair.before, False), (pair.after, True))
    )
    if target in pair.numbers:
        return replace(model_utility(original, protected, target, random_state), known=known)
    if before.dtype != object:
        goal, together = Target(target, before[rows], after[rows], are_classes=False), 0
    else:
        goal, together = _classes(target, before[rows], after[rows])
    return replace(model_utility(original, protected, goal, random_state), known=known, taken_together=together)


def _with_indicators(table: pa.Table, labels: Sequence[LabelPair], released: bool) -> pa.Table:
    """Numbers, and a column for each frequent label: how likely a record has it, 0 or 1 before masking."""
    for column in labels:
        counts = np.bincount(column.before, minlength=len(column.values))
        chance = column.chance[:, column.after] if released else np.eye(len(column.values))[:, column.before]
        for value in np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELS]).tolist():
            table = table.append_column(f"{column.name}: {column.values[value]}", pa.array(chance[value]))
    return table


def _readings(original: pa.Array, protected: pa.Array, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as numbers (missing: NaN), or both as labels (missing: None)."""
    before, after = as_numbers(original), as_numbers(protected)
    if before is not None and after is not None:
        return before, after
    for column in (original, protected):
        if pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
            raise InputError(
                f"target {shown(name)} is {column.type}, neither numbers nor labels; choose another column"
            )
    if before is not None:
        after = released_numbers(name, protected, coded=False)[0]
        if after is not None:
            return before, after
    if holds_numbers(original.type) or holds_numbers(protected.type):
        kinds = f"{original.type} in the original and {protected.type} in the protected table"
        raise InputError(f"target {shown(name)} is {kinds}; choose a column of one type")
    return as_labels(original), as_labels(protected)


def _classes(name: str, before: NDArray[np.object_], after: NDArray[np.object_]) -> tuple[Target, int]:
    """Labels as classes, and how many rare ones became one; a label that no original has is a class of its own."""
    counts = Counter(before.tolist())
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    kept = ordered if len(ordered) <= MOST_CLASSES else ordered[: MOST_CLASSES - 1]
    class_of = {label: number for number, label in enumerate(kept)}
    class_of |= {label: len(kept) for label in ordered[len(kept) :]}
    unknown = len(set(class_of.values()))
    classes_before, classes_after = (
        np.array([class_of.get(label, unknown) for label in side], np.float64) for side in (before, after)
    )
    return Target(name, classes_before, classes_after, are_classes=True), len(ordered) - len(kept)
