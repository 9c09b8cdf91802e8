"""MDAV by brute force: no bounds, no compacting, every distance computed when it is needed."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference.euclidean import squared_distance
from tests.reference.spherical import dot

Row = list[float]


def mdav(X: list[Row], k: int, distance: Callable[[Row, Row], float], centre: Callable[[list[Row]], Row]) -> list[int]:
    """The group of each row; ties go to the lower row."""
    remaining = list(range(len(X)))
    groups: list[list[int]] = []

    def farthest(point: Row) -> int:
        return max(remaining, key=lambda row: (distance(X[row], point), -row))

    def take(row: int) -> None:
        others = sorted((r for r in remaining if r != row), key=lambda other: (distance(X[other], X[row]), other))
        groups.append([row, *others[: k - 1]])
        remaining[:] = [other for other in remaining if other not in groups[-1]]

    while len(remaining) >= 3 * k:
        r = farthest(centre([X[row] for row in remaining]))
        take(r)
        take(farthest(X[r]))
    if len(remaining) >= 2 * k:
        take(farthest(centre([X[row] for row in remaining])))
    groups.append(remaining)
    return [next(number for number, group in enumerate(groups) if row in group) for row in range(len(X))]


def euclidean_mdav(X: list[Row], k: int) -> list[int]:
    return mdav(X, k, squared_distance, lambda rows: [sum(column) / len(rows) for column in zip(*rows, strict=True)])


def spherical_mdav(X: list[Row], k: int) -> list[int]:
    """The direction of the sum is the centre: its length does not change who is farthest from it."""
    return mdav(X, k, lambda a, b: -dot(a, b), lambda rows: [sum(column) for column in zip(*rows, strict=True)])


def item_groups(counts: dict[Row, int], k: int, distance: Callable[[Row, Row], float], centre: Row) -> list[int]:
    """Different rows with counts: the farthest from the centre of all, with the nearest until there are k records."""
    items = list(counts)
    group_of = [-1] * len(items)
    n_groups = 0
    for seed in sorted(range(len(items)), key=lambda item: (-distance(items[item], centre), item)):
        left = [item for item in range(len(items)) if group_of[item] < 0]
        if seed in left and sum(counts[items[item]] for item in left) >= 2 * k:
            records = 0
            for item in sorted(left, key=lambda item: (item != seed, distance(items[item], items[seed]), item)):
                if records < k:
                    group_of[item] = n_groups
                    records += counts[items[item]]
            n_groups += 1
    left = [item for item in range(len(items)) if group_of[item] < 0]
    together = not n_groups or sum(counts[items[item]] for item in left) >= k
    grouped = [item for item in range(len(items)) if group_of[item] >= 0]
    for item in left:
        near = min(grouped, key=lambda other: (distance(items[other], items[item]), other), default=None)
        group_of[item] = n_groups if together or near is None else group_of[near]
    return group_of
