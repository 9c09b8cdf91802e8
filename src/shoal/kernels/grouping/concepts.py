"""Sets of labels and the concept that stands for them: the centroid and the least common subsumer, kept up to date.

Distances are whole numbers, parts of `ONE`: sums of them do not depend on the order of their terms, so a set can grow
and shrink without drift. Each is at most half a part off, which bounds what rounding can do to a comparison: what is
equal within that bound is taken as equal, and ties fall as they would without rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["NEVER", "ONE", "Concepts", "Sets", "centre", "centroid", "empty_sets", "join", "join_all", "represent"]

Ints = NDArray[Any]

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
def join(concepts: Concepts, sets: Sets, place: int, codes: Ints, row: int, count: int) -> None:
    """Add `count` records with the values of a row to the set at `place`; take them away when it is below 0."""
    for attribute in range(codes.shape[1]):
        value = codes[row, attribute]
        n_concepts = concepts.n_concepts[attribute]
        for concept in range(n_concepts):
            sets.cost[place, attribute, concept] += count * concepts.distance[attribute, value, concept]
        had = sets.weight[place, attribute, value] > 0
        sets.weight[place, attribute, value] += count
        more = np.int32(sets.weight[place, attribute, value] > 0) - np.int32(had)
        if more != 0:
            sets.n_values[place, attribute] += more
            for concept in range(n_concepts):
                links = np.int32(concepts.links[attribute, value, concept])
                sets.covered[place, attribute, concept] += more * np.int32(links >= 0)
                sets.links[place, attribute, concept] += more * max(links, np.int32(0))
    sets.size[place] += count


@njit(cache=True, nogil=True)
def join_all(concepts: Concepts, sets: Sets, place: int, codes: Ints, counts: Ints) -> None:
    """Add `counts` records of each row of values; take them away where the count is below 0."""
    for row in range(codes.shape[0]):
        join(concepts, sets, place, codes, row, counts[row])


@njit(cache=True, nogil=True)
def subsumer(concepts: Concepts, sets: Sets, place: int, attribute: int) -> int:
    """The deepest concept above all values; ties to the fewest links, then to the smaller name. -1: there is none."""
    top = -1
    n_values = sets.n_values[place, attribute]
    covered, links = sets.covered[place, attribute], sets.links[place, attribute]
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
def centroid(concepts: Concepts, sets: Sets, place: int, attribute: int) -> int:
    """The concept nearest to all records, of those between a value and the least common subsumer; ties to the first."""
    n_concepts = concepts.n_concepts[attribute]
    covered, cost = sets.covered[place, attribute], sets.cost[place, attribute]
    if sets.n_values[place, attribute] == 1:  # the value's own concept is the deepest of those above it
        for concept in range(n_concepts):
            if covered[concept] > 0:
                return concept
    top = subsumer(concepts, sets, place, attribute)
    below = concepts.above[attribute, max(top, 0)]
    least = NEVER
    for concept in range(n_concepts):
        possible = (covered[concept] > 0) & (below[concept] | (top < 0))
        least = min(least, cost[concept] if possible else NEVER)
    bound = least + sets.size[place]  # each sum is at most half a part a record off
    for concept in range(n_concepts):
        if cost[concept] <= bound and covered[concept] > 0 and (below[concept] or top < 0):
            return concept
    return -1


@njit(cache=True, nogil=True)
def centre(concepts: Concepts, sets: Sets, place: int, generalise: bool, found: Ints) -> None:
    """The concept of every attribute that stands for the set: the subsumer to generalise, else the centroid."""
    for attribute in range(found.shape[0]):
        if generalise:
            found[attribute] = subsumer(concepts, sets, place, attribute)
        else:
            found[attribute] = centroid(concepts, sets, place, attribute)


def represent(concepts: Concepts, codes: Ints, counts: Ints, groups: Ints, generalise: bool = False) -> Ints:
    """The concepts that stand for each group, (g, m), of so many records of each row of values."""
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    centres: Ints = _represent(concepts, codes[order], counts[order], indptr, generalise)
    return centres


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
