"""Sets of labels, the concept that stands for each, and SA-MDAV, which groups rows of labels.

Distances are whole numbers, parts of `ONE`: sums of them do not depend on the order of their terms, so a set can grow
and shrink without drift. Each is at most half a part off, which bounds what rounding can do to a comparison: what is
equal within that bound is taken as equal, and ties fall as they would without rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Ints

ONE = 1 << 30  # the distance 1
NEVER = 1 << 62  # more than any sum of distances


class Concepts(NamedTuple):
    """What can stand for values, for m attributes of at most c concepts and v values each.

    Concepts are ordered by preference: the deeper first, then the smaller name.
    """

    distance: Ints  # (m, v, c) int32, parts of ONE
    links: Ints  # (m, v, c) int16: links from the value up to the concept, -1 where it is not above the value
    above: Ints  # (m, c, c) bool: the first concept is the second or above it
    depth: Ints  # (m, c) int32
    n_concepts: Ints  # (m,) int64
    concept_of_value: Ints  # (m, v) int64


class Sets(NamedTuple):
    """Sets of records, as far as their centres are concerned."""

    weight: Ints  # (s, m, v) records with this value
    cost: Ints  # (s, m, c) sum of the records' distances to the concept
    covered: Ints  # (s, m, c) different values that the concept is above
    links: Ints  # (s, m, c) and the links from them up to it
    n_values: Ints  # (s, m) different values
    size: Ints  # (s,) records


@njit(cache=True, nogil=True)
def empty_sets(concepts: Concepts, n_sets: int) -> Sets:
    """Sets without records."""
    m, v, c = concepts.distance.shape
    return Sets(
        np.zeros((n_sets, m, v), np.int64),
        np.zeros((n_sets, m, c), np.int64),
        np.zeros((n_sets, m, c), np.int32),
        np.zeros((n_sets, m, c), np.int32),
        np.zeros((n_sets, m), np.int64),
        np.zeros(n_sets, np.int64),
    )


@njit(cache=True, nogil=True)
def join(concepts: Concepts, sets: Sets, slot: int, codes: Ints, row: int, count: int) -> None:
    """Add `count` records with the values of a row to the set at `slot`; take them away when it is below 0."""
    for attribute in range(codes.shape[1]):
        value = codes[row, attribute]
        n_concepts = concepts.n_concepts[attribute]
        for concept in range(n_concepts):
            sets.cost[slot, attribute, concept] += count * concepts.distance[attribute, value, concept]
        had = sets.weight[slot, attribute, value] > 0
        sets.weight[slot, attribute, value] += count
        more = np.int32(sets.weight[slot, attribute, value] > 0) - np.int32(had)
        if more != 0:
            sets.n_values[slot, attribute] += more
            for concept in range(n_concepts):
                links = np.int32(concepts.links[attribute, value, concept])
                sets.covered[slot, attribute, concept] += more * np.int32(links >= 0)
                sets.links[slot, attribute, concept] += more * max(links, np.int32(0))
    sets.size[slot] += count


@njit(cache=True, nogil=True)
def join_all(concepts: Concepts, sets: Sets, slot: int, codes: Ints, counts: Ints) -> None:
    """Add `counts` records of each row of values; take them away where the count is below 0."""
    for row in range(codes.shape[0]):
        join(concepts, sets, slot, codes, row, counts[row])


@njit(cache=True, nogil=True)
def subsumer(concepts: Concepts, sets: Sets, slot: int, attribute: int) -> int:
    """The deepest concept above all values; ties to the fewest links, then to the smaller name. -1: there is none."""
    top = -1
    n_values = sets.n_values[slot, attribute]
    covered, links = sets.covered[slot, attribute], sets.links[slot, attribute]
    for concept in range(concepts.n_concepts[attribute]):
        if covered[concept] == n_values:
            if top < 0:
                top = concept
            elif concepts.depth[attribute, concept] < concepts.depth[attribute, top]:
                break
            elif links[concept] < links[top]:
                top = concept
    return top


@njit(cache=True, nogil=True)
def centroid(concepts: Concepts, sets: Sets, slot: int, attribute: int) -> int:
    """The concept nearest to all records, of those between a value and the least common subsumer; ties to the first."""
    n_concepts = concepts.n_concepts[attribute]
    covered, cost = sets.covered[slot, attribute], sets.cost[slot, attribute]
    if sets.n_values[slot, attribute] == 1:  # the value's own concept is the deepest of those above it
        for concept in range(n_concepts):
            if covered[concept] > 0:
                return concept
    top = subsumer(concepts, sets, slot, attribute)
    below = concepts.above[attribute, max(top, 0)]
    least = NEVER
    for concept in range(n_concepts):
        possible = (covered[concept] > 0) & (below[concept] | (top < 0))
        least = min(least, cost[concept] if possible else NEVER)
    bound = least + sets.size[slot]  # each sum is off by at most half a part per record
    for concept in range(n_concepts):
        if cost[concept] <= bound and covered[concept] > 0 and (below[concept] or top < 0):
            return concept
    return -1


@njit(cache=True, nogil=True)
def centre(concepts: Concepts, sets: Sets, slot: int, generalise: bool, centres: Ints) -> None:
    """The concept of every attribute that stands for the set: the subsumer to generalise, else the centroid."""
    for attribute in range(centres.shape[0]):
        if generalise:
            centres[attribute] = subsumer(concepts, sets, slot, attribute)
        else:
            centres[attribute] = centroid(concepts, sets, slot, attribute)


def represent(concepts: Concepts, codes: Ints, counts: Ints, groups: Ints, generalise: bool = False) -> Ints:
    """The concepts that stand for each group, (g, m); `counts` is the number of records of each row of values."""
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    centres: Ints = _represent(concepts, codes[order], counts[order], indptr, generalise)
    return centres


def represent_one(concepts: Concepts, codes: Ints) -> Ints:
    """The concepts that stand for one group of rows, (m,)."""
    everybody = np.array([0, len(codes)])
    centre: Ints = _represent(concepts, codes, np.ones(len(codes), np.int64), everybody, False)[0]
    return centre


@njit(cache=True, nogil=True)
def _represent(concepts: Concepts, codes: Ints, counts: Ints, indptr: Ints, generalise: bool) -> Ints:
    n_groups = indptr.shape[0] - 1
    centres = np.empty((n_groups, codes.shape[1]), np.int64)
    members = empty_sets(concepts, 1)
    for group in range(n_groups):
        part = slice(indptr[group], indptr[group + 1])
        join_all(concepts, members, 0, codes[part], counts[part])
        centre(concepts, members, 0, generalise, centres[group])
        join_all(concepts, members, 0, codes[part], -counts[part])
    return centres


@njit(cache=True, nogil=True)
def _distance(concepts: Concepts, codes: Ints, row: int, points: Ints, slot: int) -> int:
    """Sum over the attributes of the distance between the values of a row and the concepts of a point."""
    total = np.int64(0)
    for attribute in range(codes.shape[1]):
        total += concepts.distance[attribute, codes[row, attribute], points[slot, attribute]]
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
