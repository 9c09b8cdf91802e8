"""Orthogonal matching pursuit: the items of a record from its sketch, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.threads import runs, side_by_side

__all__ = ["pursue"]

Ints = NDArray[Any]
Floats = NDArray[np.float32]

EXPLAINED = 1e-6  # share of a sketch's squared length below which nothing is left to explain


def pursue(sketches: Floats, lengths: Ints, signs: Floats, counts: Ints) -> Ints:
    """For each sketch up to counts[row] items, the first one found first; -1 where there are fewer.

    `sketches` are (rows, width), of which each row has so many components as `lengths` says; `signs` (items, width).
    """
    items = np.full((len(sketches), max(int(counts.max(initial=0)), 1)), -1)
    parts = [(sketches[r], lengths[r], signs, counts[r], items[r]) for r in runs(len(sketches), least=1)]
    side_by_side(_pursue, parts)
    return items


@njit(cache=True, nogil=True)
def _pursue(sketches: Floats, lengths: Ints, signs: Floats, counts: Ints, items: Ints) -> None:
    for row in range(sketches.shape[0]):
        _pursue_row(sketches[row, : lengths[row]], signs, min(counts[row], lengths[row]), items[row])


@njit(cache=True, nogil=True)
def _pursue_row(sketch: Floats, signs: Floats, count: int, items: Ints) -> None:
    """Numbers are not negative, so the next item is the one whose signs agree most with what is left."""
    width = sketch.shape[0]
    left = sketch.copy()
    explained = np.empty((count, width), np.float32)  # orthonormal, spans the signs of the items so far
    used = np.zeros(signs.shape[0], np.bool_)
    whole = _product(sketch, sketch)
    for step in range(count):
        if _product(left, left) <= EXPLAINED * whole:
            return
        best, agreement = -1, np.float32(-np.inf)
        for item in range(signs.shape[0]):
            product = _product(signs[item, :width], left)
            if product > agreement and not used[item]:
                best, agreement = item, product
        direction = explained[step]
        direction[:] = signs[best, :width]
        for _ in range(2):  # a second time, for what rounding left
            for earlier in range(step):
                direction -= _product(direction, explained[earlier]) * explained[earlier]
        size = np.sqrt(_product(direction, direction))
        used[best] = True
        items[step] = best
        if size <= 1e-3:  # its signs are a combination of the others'
            direction[:] = 0.0
            continue
        direction /= size
        left -= _product(left, direction) * direction


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _product(one: Floats, other: Floats) -> Any:
    total = np.float32(0.0)
    for place in range(one.shape[0]):
        total += one[place] * other[place]
    return total
