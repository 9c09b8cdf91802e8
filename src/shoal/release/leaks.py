"""What leaks from a protected table, and what masking one column more strongly does about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal import progress
from shoal.microaggregation import coarsened
from shoal.results import Leak, Rate, Remedy
from shoal.risk.learned.attackers import learn_worst_case
from shoal.risk.learned.leakage import FEWEST, Leakage
from shoal.risk.learned.records import LabelColumn, label_columns, side_by_side
from shoal.risk.rates import rate_of, sample_rows

__all__ = ["LeakCard", "find_leaks", "worst_rate"]

Floats = NDArray[np.float64]

TRIED = 3  # columns, the most telling
CLASSES = (20, 5)  # into how many classes a column is coarsened at most, the second when the first does little
ENOUGH = 0.9  # of the rate before: what is more than a little


@dataclass(frozen=True)
class LeakCard:
    """Who finds how many records by what, and the remedies that were tried, the best first."""

    leak: Leak
    remedies: tuple[Remedy, ...]


def find_leaks(
    before: pa.Table,
    after: pa.Table,
    numbers: tuple[str, ...],
    labels: tuple[str, ...] = (),
    *,
    ontology: Any = None,
    sample: int = 1000,
    proof_seconds: float = 0.0,
    random_state: int = 0,
) -> LeakCard | None:
    """Attack as one who learns would, then coarsen what leaks most and attack again; None for too few records."""
    if before.num_rows < FEWEST or not numbers + labels:
        return None
    words = _labels(before, after, labels, ontology)
    attack = Leakage(sample=sample, proof_seconds=proof_seconds, random_state=random_state)
    leak = attack.run(*_numbers(before, after, numbers), words)
    rows = sample_rows(before.num_rows, sample, random_state)
    return LeakCard(leak, _remedies(before, after, numbers, words, leak, rows, random_state))


def worst_rate(before: Floats, after: Floats, random_state: int = 0, labels: tuple[LabelColumn, ...] = ()) -> Rate:
    """What who learns from all links finds."""
    records = side_by_side(before if before.shape[1] else None, after, labels)
    found = learn_worst_case(records, random_state)
    return rate_of("learned, from all links", found.chances[np.argsort(records.order)], 1.0 / len(records))


def _numbers(before: pa.Table, after: pa.Table, numbers: tuple[str, ...]) -> tuple[Any, Any]:
    return (before.select(list(numbers)), after.select(list(numbers))) if numbers else (None, None)


def _labels(before: pa.Table, after: pa.Table, labels: tuple[str, ...], ontology: Any) -> tuple[LabelColumn, ...]:
    were, are = ({name: table[name].to_pylist() for name in labels} for table in (before, after))
    return tuple(label_columns(were, are, ontology))


def _remedies(
    before: pa.Table,
    after: pa.Table,
    numbers: tuple[str, ...],
    labels: tuple[LabelColumn, ...],
    leak: Leak,
    rows: NDArray[np.int64],
    random_state: int,
) -> tuple[Remedy, ...]:
    """The columns that tell most, each coarsened in turn: what is found then, on the records that were attacked."""
    telling = [one.name for one in leak.attributes if one.name in numbers][:TRIED]
    originals, masked = (_matrix(table, numbers)[rows] for table in (before, after))
    some_labels = tuple(column.take(rows) for column in labels)
    found: list[Remedy] = []
    for classes in CLASSES:
        least = max(2, len(rows) // classes)
        for place, name in enumerate(telling):
            progress.step("trying remedies", place, len(telling))
            column = numbers.index(name)
            stronger = masked.copy()
            stronger[:, column] = coarsened(masked[:, column], least)
            if np.array_equal(stronger, masked):
                continue
            rate = worst_rate(originals, stronger, random_state, some_labels)
            # Of the whole table as many share a value as of the attacked records, in proportion.
            found.append(Remedy(name, max(2, round(least * before.num_rows / len(rows))), leak.worst, rate))
        progress.step("trying remedies", len(telling), len(telling))
        if any(one.after.rate < ENOUGH * one.before.rate for one in found):
            break
    return tuple(sorted(found, key=lambda one: one.after.rate))


def _matrix(table: pa.Table, numbers: tuple[str, ...]) -> Floats:
    columns = [table[name].to_numpy() for name in numbers]
    return np.column_stack(columns) if columns else np.empty((table.num_rows, 0))
