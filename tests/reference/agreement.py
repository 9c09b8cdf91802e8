"""Agreement patterns, weights and best partners, pair by pair."""

from __future__ import annotations

from collections import Counter

from tests.reference.euclidean import Row


def pattern(original: Row, masked: Row, tolerance: Row) -> int:
    together = zip(original, masked, tolerance, strict=True)
    return sum(1 << column for column, (x, y, within) in enumerate(together) if abs(x - y) <= within)


def count_patterns(originals: list[Row], masked: list[Row], tolerance: Row) -> list[int]:
    found = Counter(pattern(x, y, tolerance) for x in originals for y in masked)
    return [found[code] for code in range(2 ** len(tolerance))]


def weigh_pairs(originals: list[Row], masked: list[Row], tolerance: Row, weights: list[float]) -> list[list[float]]:
    return [[weights[pattern(x, y, tolerance)] for x in originals] for y in masked]


def best_partners(
    originals: list[Row], masked: list[Row], tolerance: Row, weights: list[float], own: list[int]
) -> tuple[list[int], list[bool]]:
    every = weigh_pairs(originals, masked, tolerance, weights)
    return [row.count(max(row)) for row in every], [row[mine] == max(row) for row, mine in zip(every, own, strict=True)]
