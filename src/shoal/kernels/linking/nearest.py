"""All pairs of two tables, without a matrix of them: the nearest sketches, and on which columns records agree.

Records come columns first (d, n), so that one record is compared with all of them in a few sweeps. A pattern of
agreement is a number with one bit per column, the lowest for the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from shoal.kernels import Floats, Ints
from shoal.kernels.threads import runs, side_by_side

ROUNDING = 1e-9  # squared distances that differ by less, as a share of the squared length, are equal
SHARES = 8  # of the work; not the number of threads, so that memory and result do not depend on it


def nearest_sketches(targets: Floats, own: Ints, lengths: Ints, offsets: Ints, values: Floats) -> Floats:
    """The chance that a target's own sketch is picked among the nearest ones.

    `targets` (targets, width) are sketches of records, own[i] says which of the sketches is target i's. Distances are
    mean squared differences over all components of a sketch, up to the width. Where lengths[i] is not -1, sketches of
    another length are passed over.
    """
    chances = np.zeros(len(targets))
    parts = runs(len(targets), least=1)
    given = offsets, values
    side_by_side(_nearest_sketches, [(targets[r], own[r], lengths[r], *given, chances[r]) for r in parts])
    return chances


@njit(cache=True, nogil=True)
def _nearest_sketches(
    targets: Floats, own: Ints, lengths: Ints, offsets: Ints, values: Floats, chances: Floats
) -> None:
    for target in range(targets.shape[0]):
        sketch = targets[target]
        slack = ROUNDING * np.mean(sketch * sketch) + 1e-30
        nearest = _distance(sketch, values[offsets[own[target]] : offsets[own[target] + 1]], np.inf)
        ties = 0
        for row in range(offsets.shape[0] - 1):
            length = offsets[row + 1] - offsets[row]
            if length == 0 or (lengths[target] >= 0 and length != lengths[target]):
                continue
            distance = _distance(sketch, values[offsets[row] : offsets[row + 1]], nearest + slack)
            if distance < nearest - slack:  # a stranger's sketch is nearer
                ties = 0
                break
            if distance <= nearest + slack:
                ties += 1
        if ties:
            chances[target] = 1.0 / ties


@njit(cache=True, nogil=True)
def _distance(first: Floats, second: Floats, enough: float) -> float:
    """The mean squared difference; something larger than `enough` as soon as it is known to be."""
    width = min(first.shape[0], second.shape[0])
    total, bound = 0.0, enough * width
    for component in range(width):
        total += (first[component] - second[component]) ** 2
        if total > bound:
            return np.inf
    return total / width


class Pairs(NamedTuple):
    """Originals and masked records, and when two values agree: numbers within a tolerance, labels by a table."""

    originals: Floats  # (d, n)
    masked: Floats  # (m, d)
    tolerance: Floats  # (d,)
    labels: Ints  # (l, n)
    masked_labels: Ints  # (m, l)
    agree: Ints  # (l, labels before, labels after)


@njit(cache=True, nogil=True)
def patterns_of(pairs: Pairs, record: int, patterns: Ints) -> None:
    """The pattern of one masked record with every original, into `patterns` (n,); numbers have the lowest bits."""
    patterns[:] = 0
    n_numbers = pairs.originals.shape[0]
    for column in range(n_numbers):
        bit = np.int32(1 << column)
        for row in range(patterns.shape[0]):
            if abs(pairs.originals[column, row] - pairs.masked[record, column]) <= pairs.tolerance[column]:
                patterns[row] |= bit
    for column in range(pairs.labels.shape[0]):
        bit = np.int32(1 << (n_numbers + column))
        agrees = pairs.agree[column, :, pairs.masked_labels[record, column]]
        for row in range(patterns.shape[0]):
            if agrees[pairs.labels[column, row]]:
                patterns[row] |= bit


@njit(cache=True, nogil=True, parallel=True)
def count_patterns(pairs: Pairs) -> Ints:
    """How many pairs have each of the 2^d patterns."""
    n_patterns = 1 << (pairs.originals.shape[0] + pairs.labels.shape[0])
    counts = np.zeros((SHARES, n_patterns), np.int64)
    for share in prange(SHARES):
        patterns = np.empty(pairs.originals.shape[1], np.int32)
        for record in range(share, pairs.masked.shape[0], SHARES):
            patterns_of(pairs, record, patterns)
            for other in range(patterns.shape[0]):
                counts[share, patterns[other]] += 1
    return counts.sum(axis=0)


@njit(cache=True, nogil=True, parallel=True)
def weigh_pairs(pairs: Pairs, weight_of: Floats) -> Floats:
    """The weight of every pair (m, n), from the weight of each pattern."""
    weights = np.empty((pairs.masked.shape[0], pairs.originals.shape[1]))
    for record in prange(pairs.masked.shape[0]):
        patterns = np.empty(pairs.originals.shape[1], np.int32)
        patterns_of(pairs, record, patterns)
        for other in range(patterns.shape[0]):
            weights[record, other] = weight_of[patterns[other]]
    return weights


@njit(cache=True, nogil=True, parallel=True)
def best_partners(pairs: Pairs, weight_of: Floats, own: Ints) -> tuple[Ints, Ints]:
    """For every masked record how many originals share the highest weight, and whether its own, `own`, does."""
    ties = np.empty(pairs.masked.shape[0], np.int64)
    own_ties = np.empty(pairs.masked.shape[0], np.bool_)
    for record in prange(pairs.masked.shape[0]):
        patterns = np.empty(pairs.originals.shape[1], np.int32)
        patterns_of(pairs, record, patterns)
        best = -np.inf
        count = 0
        for other in range(patterns.shape[0]):
            weight = weight_of[patterns[other]]
            if weight > best:
                best = weight
                count = 0
            count += weight == best
        ties[record] = count
        own_ties[record] = weight_of[patterns[own[record]]] == best
    return ties, own_ties
