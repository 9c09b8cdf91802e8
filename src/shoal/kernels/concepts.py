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

__all__ = ["ONE", "Concepts", "Gathered", "centre", "gathered", "join", "join_all", "leave", "represent"]

Ints = NDArray[Any]

ONE = 1 << 30  # the distance 1


class Concepts(NamedTuple):
    """What can stand for values, for m attributes of at most c concepts and v values each.

    Concepts are ordered by preference: the deeper first, then the smaller name.
    """

    distance: Ints  # (m, c, v) int32, parts of ONE
    links: Ints  # (m, c, v) int16: links from the value up to the concept, -1 where it is not above the value
    below: Ints  # (m, c, c) bool: the first concept is the second or below it
    depth: Ints  # (m, c) int32
    n_concepts: Ints  # (m,) int64
    concept_of_value: Ints  # (m, v) int64


class Gathered(NamedTuple):
    """A set of tuples with counts, as far as its centre is concerned."""

    weight: Ints  # (m, v) records with this value
    cost: Ints  # (m, c) sum of the records' distances to the concept
    covered: Ints  # (m, c) different values that the concept is above
    links: Ints  # (m, c) and the links from them up to it
    n_values: Ints  # (m,) different values
    size: Ints  # (1,) records


@njit(cache=True, nogil=True)
def gathered(concepts: Concepts) -> Gathered:
    """The empty set."""
    m, c, v = concepts.distance.shape
    return Gathered(
        np.zeros((m, v), np.int64),
        np.zeros((m, c), np.int64),
        np.zeros((m, c), np.int64),
        np.zeros((m, c), np.int64),
        np.zeros(m, np.int64),
        np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def join(concepts: Concepts, to: Gathered, values: Ints, count: int) -> None:
    """Add `count` records that have these values."""
    for attribute in range(values.shape[0]):
        value = values[attribute]
        new = to.weight[attribute, value] == 0
        to.weight[attribute, value] += count
        to.n_values[attribute] += new
        for concept in range(concepts.n_concepts[attribute]):
            to.cost[attribute, concept] += count * concepts.distance[attribute, concept, value]
            if new and concepts.links[attribute, concept, value] >= 0:
                to.covered[attribute, concept] += 1
                to.links[attribute, concept] += concepts.links[attribute, concept, value]
    to.size[0] += count


@njit(cache=True, nogil=True)
def leave(concepts: Concepts, of: Gathered, values: Ints, count: int) -> None:
    """Take away `count` records that have these values."""
    for attribute in range(values.shape[0]):
        value = values[attribute]
        of.weight[attribute, value] -= count
        gone = of.weight[attribute, value] == 0
        of.n_values[attribute] -= gone
        for concept in range(concepts.n_concepts[attribute]):
            of.cost[attribute, concept] -= count * concepts.distance[attribute, concept, value]
            if gone and concepts.links[attribute, concept, value] >= 0:
                of.covered[attribute, concept] -= 1
                of.links[attribute, concept] -= concepts.links[attribute, concept, value]
    of.size[0] -= count


@njit(cache=True, nogil=True)
def join_all(concepts: Concepts, to: Gathered, codes: Ints, counts: Ints) -> None:
    """Add `counts` records of each row of values; take them away where the count is below 0."""
    for row in range(codes.shape[0]):
        if counts[row] > 0:
            join(concepts, to, codes[row], counts[row])
        else:
            leave(concepts, to, codes[row], -counts[row])


@njit(cache=True, nogil=True)
def subsumer(concepts: Concepts, of: Gathered, attribute: int) -> int:
    """The deepest concept above all values; ties to the fewest links, then to the smaller name. -1: there is none."""
    top = -1
    for concept in range(concepts.n_concepts[attribute]):
        if of.covered[attribute, concept] < of.n_values[attribute]:
            continue
        if top < 0:
            top = concept
        elif concepts.depth[attribute, concept] < concepts.depth[attribute, top]:
            break
        elif of.links[attribute, concept] < of.links[attribute, top]:
            top = concept
    return top


@njit(cache=True, nogil=True)
def centroid(concepts: Concepts, of: Gathered, attribute: int) -> int:
    """The concept nearest to all records, of those between a value and the least common subsumer; ties to the first."""
    top = subsumer(concepts, of, attribute)
    least = np.int64(-1)
    for concept in range(concepts.n_concepts[attribute]):
        if of.covered[attribute, concept] > 0 and (top < 0 or concepts.below[attribute, concept, top]):
            cost = of.cost[attribute, concept]
            if least < 0 or cost < least:
                least = cost
    for concept in range(concepts.n_concepts[attribute]):
        # Each sum is at most half a part a record off.
        if (
            of.covered[attribute, concept] > 0
            and of.cost[attribute, concept] <= least + of.size[0]
            and (top < 0 or concepts.below[attribute, concept, top])
        ):
            return concept
    return top


@njit(cache=True, nogil=True)
def centre(concepts: Concepts, of: Gathered, generalise: bool, found: Ints) -> None:
    """The concept of every attribute that stands for the set: the subsumer to generalise, else the centroid."""
    for attribute in range(found.shape[0]):
        if generalise:
            found[attribute] = subsumer(concepts, of, attribute)
        else:
            found[attribute] = centroid(concepts, of, attribute)


@njit(cache=True, nogil=True)
def represent(concepts: Concepts, codes: Ints, counts: Ints, indptr: Ints, generalise: bool) -> Ints:
    """The concepts that stand for each group; `codes` and `counts` list the members group by group."""
    n_groups = indptr.shape[0] - 1
    found = np.empty((n_groups, codes.shape[1]), np.int64)
    group = gathered(concepts)
    for number in range(n_groups):
        for member in range(indptr[number], indptr[number + 1]):
            join(concepts, group, codes[member], counts[member])
        centre(concepts, group, generalise, found[number])
        for member in range(indptr[number], indptr[number + 1]):
            leave(concepts, group, codes[member], counts[member])
    return found
