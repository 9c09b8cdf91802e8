"""On which columns two records agree, for all pairs of two tables and without a matrix of them.

A pattern is a number with one bit a column, the lowest for the first. Originals come columns first (d, n), so that one
masked record is compared with all of them in a few sweeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["best_partners", "count_patterns", "patterns_of", "weigh_pairs"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

SHARES = 8  # of the work; not the number of threads, so that memory and result do not depend on it


@njit(cache=True, nogil=True)
def patterns_of(originals: Floats, record: Floats, tolerance: Floats, patterns: Ints) -> None:
    """The pattern of one masked record with every original, into `patterns` (n,)."""
    patterns[:] = 0
    for column in range(originals.shape[0]):
        bit = np.int32(1 << column)
        for row in range(originals.shape[1]):
            if abs(originals[column, row] - record[column]) <= tolerance[column]:
                patterns[row] |= bit


@njit(cache=True, nogil=True, parallel=True)
def count_patterns(originals: Floats, masked: Floats, tolerance: Floats) -> Ints:
    """How many pairs have each of the 2^d patterns."""
    n_patterns = 1 << originals.shape[0]
    counts = np.zeros((SHARES, n_patterns), np.int64)
    for share in prange(SHARES):
        patterns = np.empty(originals.shape[1], np.int32)
        for row in range(share, masked.shape[0], SHARES):
            patterns_of(originals, masked[row], tolerance, patterns)
            for other in range(patterns.shape[0]):
                counts[share, patterns[other]] += 1
    return counts.sum(axis=0)


@njit(cache=True, nogil=True, parallel=True)
def weigh_pairs(originals: Floats, masked: Floats, tolerance: Floats, weight_of: Floats) -> Floats:
    """The weight of every pair (m, n), from the weight of each pattern."""
    weights = np.empty((masked.shape[0], originals.shape[1]))
    for row in prange(masked.shape[0]):
        patterns = np.empty(originals.shape[1], np.int32)
        patterns_of(originals, masked[row], tolerance, patterns)
        for other in range(patterns.shape[0]):
            weights[row, other] = weight_of[patterns[other]]
    return weights


@njit(cache=True, nogil=True, parallel=True)
def best_partners(
    originals: Floats, masked: Floats, tolerance: Floats, weight_of: Floats, own: Ints
) -> tuple[Ints, Ints]:
    """For every masked record how many originals share the highest weight, and whether its own, `own`, does."""
    ties = np.empty(masked.shape[0], np.int64)
    own_ties = np.empty(masked.shape[0], np.bool_)
    for row in prange(masked.shape[0]):
        patterns = np.empty(originals.shape[1], np.int32)
        patterns_of(originals, masked[row], tolerance, patterns)
        best = -np.inf
        count = 0
        for other in range(patterns.shape[0]):
            weight = weight_of[patterns[other]]
            if weight > best:
                best = weight
                count = 0
            count += weight == best
        ties[row] = count
        own_ties[row] = weight_of[patterns[own[row]]] == best
    return ties, own_ties
