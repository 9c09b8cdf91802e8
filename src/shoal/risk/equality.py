"""Record linkage by equality: who compares protected records with the originals, value by value as text, finds whom?"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import InputError

__all__ = ["linked_by_equality", "score"]


def linked_by_equality(original: ArrayLike, protected: ArrayLike) -> float:
    """The mean chance, from 0 to 1, that an intruder links a protected record to its original.

    Rows of the two tables belong together. A protected record is compared with all originals; if its own is among the
    equal ones, the intruder picks it with chance 1 / their number, else never. Values are compared as text; missing
    ones (None, NaN) equal each other only. (RL of the literature is 100 times this.)
    """
    before, after = _rows(original), _rows(protected)
    if len(before) != len(after) or len(before[0]) != len(after[0]):
        raise InputError(
            f"{len(before)} rows of {len(before[0])} columns, and {len(after)} of {len(after[0])}; give both the same"
        )
    equals = Counter(before)
    chances = (1.0 / equals[own] if own == found else 0.0 for own, found in zip(before, after, strict=True))
    return sum(chances) / len(before)


def score(information_loss: float, linked: float, weight: float = 0.5) -> float:
    """What a protection costs in all: weight · loss + (1 - weight) · linkage, both as shares or both in per cent."""
    return weight * information_loss + (1.0 - weight) * linked


def _rows(table: ArrayLike) -> list[tuple[str | None, ...]]:
    """Each row as texts, None where a value is missing."""
    cells = np.asarray(table, dtype=object)
    if cells.ndim != 2 or not cells.size:
        raise InputError("give two tables, (rows, columns), of at least 1 row and 1 column")
    return [tuple(None if cell is None or cell != cell else str(cell) for cell in row) for row in cells.tolist()]
