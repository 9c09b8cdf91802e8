"""What a protected table still teaches: one of its columns predicted from the numbers, and tested on originals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.assessment.aligned import AlignedTables
from shoal.errors import InputError
from shoal.io.delimited import MISSING
from shoal.io.files import shown
from shoal.io.table import holds_numbers
from shoal.results.utility import ModelUtility
from shoal.risk.rates import sample_rows
from shoal.utility.models import MOST_CLASSES, Target, model_utility

__all__ = ["models_of_target"]

Floats = NDArray[np.float64]

MOST_RECORDS = 20_000  # beyond, so many drawn at random
LARGEST = 1e150  # squares of larger numbers overflow; they count as missing


def models_of_target(pair: AlignedTables, target: str, random_state: int = 0) -> ModelUtility:
    """Models of the target, a column of numbers or labels, from the other numbers that are compared.

    Records that lack the target are left out. Of more than ten labels the nine most frequent are told apart, and all
    others are one class.
    """
    assert pair.target is not None
    known = [name for name in pair.numbers if name != target]
    if not known:
        raise InputError(
            f"target {shown(target)} can be learned from numbers only, and no other number is compared; "
            "name more columns with --columns, or leave the target out"
        )
    before, after = _readings(*pair.target, target)
    rows = np.flatnonzero(~(_missing(before) | _missing(after)))
    if len(rows) < 2:
        raise InputError(f"target {shown(target)} is missing in all but {len(rows)} records; choose another column")
    rows = rows[sample_rows(len(rows), MOST_RECORDS, random_state)]
    # A target that was protected with the others tells with them which rows are alike.
    columns = list(pair.numbers) if target in pair.numbers else known
    one, other = (table.select(columns).take(pa.array(rows)) for table in (pair.before, pair.after))
    if target in pair.numbers:
        return model_utility(one, other, target, random_state)
    if before.dtype != object:
        return model_utility(one, other, Target(target, before[rows], after[rows], are_classes=False), random_state)
    goal, together = _classes(target, before[rows], after[rows])
    return replace(model_utility(one, other, goal, random_state), taken_together=together)


def _readings(one: pa.Array, other: pa.Array, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as numbers (missing: NaN), or both as labels (missing: None)."""
    before, after = _numbers(one), _numbers(other)
    if before is not None and after is not None:
        return before, after
    for column in (one, other):
        if pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
            raise InputError(
                f"target {shown(name)} is {column.type}, neither numbers nor labels; choose another column"
            )
    if holds_numbers(one.type) or holds_numbers(other.type):
        kinds = f"{one.type} in the original and {other.type} in the protected table"
        raise InputError(f"target {shown(name)} is {kinds}; choose a column of one type")
    return _labels(one), _labels(other)


def _numbers(column: pa.Array) -> Floats | None:
    """The column as numbers, NaN where one is missing; None when it is something else."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = pc.utf8_trim_whitespace(column)
        texts = pc.if_else(pc.is_in(texts, pa.array(MISSING, texts.type)), None, texts)
        try:
            column = texts.cast(pa.float64())
        except pa.ArrowException:
            return None
    elif not holds_numbers(column.type):
        return None
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def _labels(column: pa.Array) -> NDArray[np.object_]:
    texts = column.cast(pa.large_string()).to_pylist()
    labels = np.empty(len(texts), dtype=object)
    labels[:] = [None if text is None or text.strip() in MISSING else text for text in texts]
    return labels


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([value is None or value != value for value in values.tolist()], dtype=bool)


def _classes(name: str, before: NDArray[np.object_], after: NDArray[np.object_]) -> tuple[Target, int]:
    """Labels as classes, and how many rare ones became one; a label that no original has is a class of its own."""
    counts = Counter(before.tolist())
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    kept = ordered if len(ordered) <= MOST_CLASSES else ordered[: MOST_CLASSES - 1]
    class_of = {label: number for number, label in enumerate(kept)}
    class_of |= {label: len(kept) for label in ordered[len(kept) :]}
    unknown = len(set(class_of.values()))
    one, other = (np.array([class_of.get(label, unknown) for label in side], np.float64) for side in (before, after))
    return Target(name, one, other, are_classes=True), len(ordered) - len(kept)
