"""SA-MDAV: MDAV over distinct tuples with counts, in groups of any size from k up.

Every comparison of two distances allows for what rounding can have done to them; ties go to the lower tuple.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.grouping.concepts import Concepts, Ints, centre, empty_sets, join, join_all

__all__ = ["adaptive_groups"]


@njit(cache=True, nogil=True)
def _distance(concepts: Concepts, codes: Ints, row: int, points: Ints, place: int) -> int:
    """Sum over the attributes of the distance between the values of a row and the concepts of a point."""
    total = np.int64(0)
    for attribute in range(codes.shape[1]):
        total += concepts.distance[attribute, codes[row, attribute], points[place, attribute]]
    return int(total)


@njit(cache=True, nogil=True)
def _extreme(concepts: Concepts, codes: Ints, left: Ints, point: Ints, sign: int, apart: Ints, weighed: Ints) -> int:
    """The tuple whose records left · distance to the point is largest (sign 1) or smallest (-1); ties to the lower.

    `apart` (m, v) and `weighed` (tuples) are room to work in.
    """
    n_attributes = codes.shape[1]
    for attribute in range(n_attributes):
        for value in range(apart.shape[1]):
            apart[attribute, value] = concepts.distance[attribute, value, point[attribute]]
    best = -1
    for row in range(codes.shape[0]):
        if left[row] > 0:
            total = np.int64(0)
            for attribute in range(n_attributes):
                total += apart[attribute, codes[row, attribute]]
            weighed[row] = sign * left[row] * total
            if best < 0 or weighed[row] > weighed[best]:
                best = row
    for row in range(best):
        if left[row] > 0 and 2 * (weighed[best] - weighed[row]) <= (left[row] + left[best]) * n_attributes:
            return row
    return best


@njit(cache=True, nogil=True)
def _nearest_point(concepts: Concepts, codes: Ints, row: int, points: Ints, n_points: int) -> int:
    """The nearest of the points; ties to the lower."""
    best = 0
    best_value = _distance(concepts, codes, row, points, 0)
    for point in range(1, n_points):
        value = _distance(concepts, codes, row, points, point)
        if value + codes.shape[1] < best_value:
            best = point
            best_value = value
    return best


@njit(cache=True, nogil=True)
def _point_of(concepts: Concepts, values: Ints, point: Ints) -> None:
    """The concepts of the values."""
    for attribute in range(values.shape[0]):
        point[attribute] = concepts.concept_of_value[attribute, values[attribute]]


@njit(cache=True, nogil=True)
def adaptive_groups(concepts: Concepts, codes: Ints, counts: Ints, k: int, static: bool) -> Ints:
    """SA-MDAV: the group of each tuple. A group is closed once it has k records, and tuples stay whole.

    `static` compares with the group's first tuple, not with the centroid of the group as it grows.
    """
    n_tuples, n_attributes = codes.shape
    group_of = np.full(n_tuples, -1, np.int64)
    left = counts.copy()
    rest = empty_sets(concepts, 1)
    join_all(concepts, rest, 0, codes, counts)
    centroids = np.empty((n_tuples, n_attributes), np.int64)
    point = np.empty(n_attributes, np.int64)
    apart = np.empty((n_attributes, concepts.distance.shape[1]), np.int64)
    weighed = np.empty(n_tuples, np.int64)
    n_groups = 0
    seed = -1
    while rest.size[0] >= k:
        if seed < 0 or n_groups % 2 == 0:
            centre(concepts, rest, 0, False, point)
        else:
            _point_of(concepts, codes[seed], point)
        seed = _extreme(concepts, codes, left, point, 1, apart, weighed)
        group = empty_sets(concepts, 1)
        member = seed
        _point_of(concepts, codes[seed], point)
        while True:
            group_of[member] = n_groups
            left[member] = 0
            join(concepts, rest, 0, codes, member, -counts[member])
            join(concepts, group, 0, codes, member, counts[member])
            if group.size[0] >= k:
                break
            if not static:
                centre(concepts, group, 0, False, point)
            member = _extreme(concepts, codes, left, point, -1, apart, weighed)
        centre(concepts, group, 0, False, centroids[n_groups])
        n_groups += 1
    for row in range(n_tuples):
        if left[row] > 0:
            group_of[row] = _nearest_point(concepts, codes, row, centroids, n_groups)
    return group_of
