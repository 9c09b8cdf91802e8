"""Figures about groups that the report and the certificate give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.results import Diversity, Loss

__all__ = ["enough_to_tell", "stated_loss", "check_values", "codes_of", "diversities", "sizes_of"]


def sizes_of(sizes: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """(size, how many groups have it), by rising size."""
    return tuple(sorted(Counter(sizes.tolist()).items()))


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Each text's place among the different ones, sorted. NumPy's own texts would all take the room of the longest."""
    place = {value: number for number, value in enumerate(sorted(set(values.tolist())))}
    return np.fromiter((place[value] for value in values.tolist()), dtype=np.int64, count=len(values))


def check_values(column: str, values: NDArray[Any], least: int) -> None:
    """No grouping gives a group more values than there are."""
    there = len(set(values.tolist()))
    if there < least:
        raise InputError(f"l={least} needs {least} different values, column {column} has {there}; lower l")


def diversities(groups: NDArray[np.int64], confidential: Mapping[str, NDArray[Any]]) -> tuple[Diversity, ...]:
    """Distinct values of each confidential column in each group."""
    found = []
    for column, values in confidential.items():
        codes = codes_of(values)
        n_values = int(codes.max()) + 1
        distinct = np.bincount(np.unique(groups * n_values + codes) // n_values)
        distinct = distinct[distinct > 0]
        found.append(
            Diversity(
                column=column,
                least=int(distinct.min()),
                single_valued_groups=int((distinct == 1).sum()),
                groups=len(distinct),
                values=n_values,
            )
        )
    return tuple(found)


def enough_to_tell(rows: int) -> bool:
    """Whether figures about the originals (spread, distances) may be given: of a few records they tell each value."""
    return rows >= 30


def stated_loss(loss: Loss, rows: int) -> Loss:
    """The loss as it is told: to six digits, of a few records to two."""
    digits = 6 if enough_to_tell(rows) else 2
    return Loss(sse=float(f"{loss.sse:.{digits}g}"), ssa=float(f"{loss.ssa:.{digits}g}"))
