"""MDAV of records that share tuples of labels: groups of k, found tuple by tuple and as if record by record.

Ties go to the lower row, within what rounding can have done to a distance (see shoal.kernels.grouping.labels).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.labels import Concepts, centre, empty_sets, join, join_all


@njit(cache=True, nogil=True)
def _distances(
    concepts: Concepts, codes: Ints, left: Ints, weights: Ints, point: Ints, most: int, distances: Ints
) -> None:
    """Weight · distance of every tuple with records left to the point, into `distances`; none counts as over `most`."""
    for row in range(codes.shape[0]):
        if left[row] > 0:
            total = np.int64(0)
            for attribute in range(codes.shape[1]):
                total += concepts.distance[attribute, codes[row, attribute], point[attribute]]
            distances[row] = weights[row] * min(total, most)


@njit(cache=True, nogil=True)
def _ties(distances: Ints, left: Ints, weights: Ints, n_attributes: int, sign: int, tied: Ints) -> int:
    """Tuples with records left at the largest distance (sign 1) or the smallest (-1), into `tied`. Returns how many."""
    best = -1
    for row in range(distances.shape[0]):
        if left[row] > 0 and (best < 0 or sign * (distances[row] - distances[best]) > 0):
            best = row
    count = 0
    for row in range(distances.shape[0]):
        if left[row] > 0:
            apart = abs(distances[row] - distances[best])
            if 2 * apart <= (weights[row] + weights[best]) * n_attributes:
                tied[count] = row
                count += 1
    return count


@njit(cache=True, nogil=True)
def _first(rows: Ints, indptr: Ints, left: Ints, tied: Ints, count: int) -> int:
    """Of some tuples the one whose next record has the lowest row."""
    best = tied[0]
    for place in range(1, count):
        row = tied[place]
        if rows[indptr[row + 1] - left[row]] < rows[indptr[best + 1] - left[best]]:
            best = row
    return best


@njit(cache=True, nogil=True)
def fixed_groups(
    concepts: Concepts, codes: Ints, rows: Ints, indptr: Ints, k: int, weighted: bool, generalise: bool, most: int
) -> Ints:
    """The group of each record: groups of k (the last: k to 2k - 1). `rows` lists the records tuple by tuple, rising.

    `weighted` multiplies a distance by the records that the tuple has left when a group begins; `generalise` takes the
    subsumer as centre, else it is the centroid; no distance counts for more than `most`.
    """
    n_tuples, n_attributes = codes.shape
    group_of = np.full(rows.shape[0], -1, np.int64)
    left = indptr[1:] - indptr[:-1]
    rest = empty_sets(concepts, 1)
    join_all(concepts, rest, 0, codes, left)
    weights = np.ones(n_tuples, np.int64)
    distances, tied = np.zeros(n_tuples, np.int64), np.empty(n_tuples, np.int64)
    point = np.empty(n_attributes, np.int64)
    n_groups = 0
    seed = -1
    from_seed = False  # every second group starts from the record farthest from the last one's seed
    while rest.size[0] >= 2 * k:
        if from_seed:
            for attribute in range(n_attributes):
                point[attribute] = concepts.concept_of_value[attribute, codes[seed, attribute]]
        else:
            centre(concepts, rest, 0, generalise, point)
        from_seed = not from_seed and rest.size[0] >= 3 * k
        if weighted:
            weights[:] = left
        _distances(concepts, codes, left, weights, point, most, distances)
        seed = _first(rows, indptr, left, tied, _ties(distances, left, weights, n_attributes, 1, tied))
        for attribute in range(n_attributes):
            point[attribute] = concepts.concept_of_value[attribute, codes[seed, attribute]]
        _distances(concepts, codes, left, weights, point, most, distances)
        missing = k
        while missing > 0:
            count = _ties(distances, left, weights, n_attributes, -1, tied)
            wanted = missing
            for place in range(count):
                missing -= left[tied[place]]
            missing = max(missing, 0)
            for _ in range(wanted - missing):
                one = _first(rows, indptr, left, tied, count)
                group_of[rows[indptr[one + 1] - left[one]]] = n_groups
                left[one] -= 1
                join(concepts, rest, 0, codes, one, -1)
                if left[one] == 0:
                    place = 0
                    while tied[place] != one:
                        place += 1
                    count -= 1
                    tied[place] = tied[count]
        n_groups += 1
    for row in range(rows.shape[0]):
        if group_of[row] < 0:
            group_of[row] = n_groups
    return group_of
