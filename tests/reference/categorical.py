"""SA-MDAV and the methods it is compared with, line by line as they are defined. Fractions make ties exact.

A tuple is the names of its concepts, attribute by attribute; missing values are the concept "", right below the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from tests.reference import taxonomy as walk

Tuple = tuple[str, ...]


class Meaning:
    """One attribute: distances, candidates and subsumers of its concepts. `ratio` makes fractions, or floats."""

    def __init__(self, parents: walk.Parents, ratio: Callable[[int, int], Any] = Fraction) -> None:
        root = next(concept for concept, above in parents.items() if not above)
        self.parents = parents | {"": {root}}
        self.ratio = ratio
        self.distance = cache(self._distance)
        self.depth = cache(lambda concept: walk.depth(self.parents, concept))
        self.subsumer = cache(lambda concepts: walk.subsumer(self.parents, set(concepts)))
        self.candidates = cache(lambda concepts: walk.candidates(self.parents, set(concepts)))

    def _distance(self, a: str, b: str) -> Any:
        lcs = walk.subsumer(self.parents, {a, b})
        both = walk.links(self.parents, a, lcs) + walk.links(self.parents, b, lcs)
        return self.ratio(both, both + 2 * walk.depth(self.parents, lcs))

    def cost(self, concept: str, counts: Counter[str]) -> Any:
        return sum(count * self.distance(concept, value) for value, count in counts.items())

    def centroid(self, counts: Counter[str]) -> str:
        """The cheapest candidate; ties to the deeper, then to the smaller name."""
        candidates = self.candidates(frozenset(counts))
        return min(candidates, key=lambda one: (self.cost(one, counts), -self.depth(one), one))


class Equality:
    """One attribute whose values are equal or not; the mode stands for a set."""

    def distance(self, a: str, b: str) -> int:
        return int(a != b)

    def centroid(self, counts: Counter[str]) -> str:
        return min(counts, key=lambda value: (-counts[value], value))


class Generalised(Meaning):
    """One attribute where the least common subsumer stands for a set."""

    def centroid(self, counts: Counter[str]) -> str:
        return self.subsumer(frozenset(counts))


def distance(meanings: Sequence[Any], a: Tuple, b: Tuple) -> Any:
    """Sum over the attributes: m times the mean, which has no bearing on any comparison."""
    return sum(meaning.distance(x, y) for meaning, x, y in zip(meanings, a, b, strict=True))


def centroid(meanings: Sequence[Any], counts: Counter[Tuple]) -> Tuple:
    found = []
    for place, meaning in enumerate(meanings):
        values: Counter[str] = Counter()
        for one, count in counts.items():
            values[one[place]] += count
        found.append(meaning.centroid(values))
    return tuple(found)


def sa_mdav(
    meanings: Sequence[Meaning], counts: Counter[Tuple], k: int, static: bool = False
) -> list[dict[Tuple, int]]:
    """The groups, each the count of its tuples."""
    left = dict(sorted(counts.items()))
    groups: list[Counter[Tuple]] = []

    def farthest(point: Tuple) -> Tuple:
        return min(left, key=lambda one: (-left[one] * distance(meanings, one, point), one))

    def nearest(point: Tuple) -> Tuple:
        return min(left, key=lambda one: (left[one] * distance(meanings, one, point), one))

    def group_round(seed: Tuple) -> None:
        group = Counter({seed: left.pop(seed)})
        while group.total() < k:
            point = seed if static else centroid(meanings, group)
            member = nearest(point)
            group[member] = left.pop(member)
        groups.append(group)

    while sum(left.values()) >= k:
        r = farthest(centroid(meanings, Counter(left)))
        group_round(r)
        if sum(left.values()) >= k:
            group_round(farthest(r))
    centroids = [centroid(meanings, group) for group in groups]
    for one, count in left.items():
        near = min(range(len(groups)), key=lambda group: (distance(meanings, one, centroids[group]), group))
        groups[near][one] = count
    return [dict(group) for group in groups]


def fixed_mdav(meanings: Sequence[Any], rows: list[Tuple], k: int, weighted: bool, whole: bool) -> list[int]:
    """MDAV, record by record: the group of each row. Ties go to the lower row.

    `weighted` multiplies a distance by the records left that are equal to this one; `whole` asks only whether two
    tuples are the same.
    """
    left = list(range(len(rows)))
    groups: list[list[int]] = []

    def apart(row: int, point: Tuple) -> Any:
        if whole:
            return int(rows[row] != point)
        return distance(meanings, rows[row], point) * (Counter(rows[one] for one in left)[rows[row]] if weighted else 1)

    def farthest(point: Tuple) -> int:
        return min(left, key=lambda row: (-apart(row, point), row))

    def group_round(seed: int) -> None:
        groups.append(sorted(left, key=lambda row: (apart(row, rows[seed]), row))[:k])
        for row in groups[-1]:
            left.remove(row)

    def middle() -> Tuple:
        return centroid(meanings, Counter(rows[row] for row in left))

    while len(left) >= 3 * k:
        r = farthest(middle())
        group_round(r)
        group_round(farthest(rows[r]))
    if len(left) >= 2 * k:
        group_round(farthest(middle()))
    groups.append(left)
    return [next(number for number, group in enumerate(groups) if row in group) for row in range(len(rows))]


def error(meanings: Sequence[Meaning], group: dict[Tuple, int], point: Tuple) -> Any:
    """Σ over records of (mean over attributes of the distance)²."""
    return sum(count * (distance(meanings, one, point) / len(meanings)) ** 2 for one, count in group.items())
