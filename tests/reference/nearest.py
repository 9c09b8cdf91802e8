"""Nearest rows with their ties, agreement patterns and best partners, by looking at all pairs."""

from __future__ import annotations

import math
from collections import Counter

from tests.reference.euclidean import Row, squared_distance

Record = tuple[list[float], list[int]]  # numbers, and labels
Rule = tuple[Row, list[list[list[bool]]]]  # tolerances, and for each label which values agree


def limit(nearest: float, relative: float, absolute: float) -> float:
    return max((math.sqrt(nearest) * (1.0 + relative) + absolute) ** 2, nearest)


def tied_rows(X: list[Row], query: Row, relative: float, absolute: float) -> tuple[float, set[int]]:
    """The least squared distance, and the rows that tie with it."""
    distances = [squared_distance(row, query) for row in X]
    bar = limit(min(distances), relative, absolute)
    return min(distances), {row for row, distance in enumerate(distances) if distance <= bar}


def pattern(original: Record, masked: Record, rule: Rule) -> int:
    """One bit a column: numbers within their tolerance, then labels that agree by their table."""
    tolerance, agree = rule
    numbers = [abs(x - y) <= within for x, y, within in zip(original[0], masked[0], tolerance, strict=True)]
    labels = [table[x][y] for x, y, table in zip(original[1], masked[1], agree, strict=True)]
    return sum(1 << column for column, agrees in enumerate(numbers + labels) if agrees)


def count_patterns(originals: list[Record], masked: list[Record], rule: Rule) -> list[int]:
    found = Counter(pattern(x, y, rule) for x in originals for y in masked)
    return [found[code] for code in range(2 ** (len(rule[0]) + len(rule[1])))]


def weigh_pairs(originals: list[Record], masked: list[Record], rule: Rule, weights: list[float]) -> list[list[float]]:
    return [[weights[pattern(x, y, rule)] for x in originals] for y in masked]


def best_partners(
    originals: list[Record], masked: list[Record], rule: Rule, weights: list[float], own: list[int]
) -> tuple[list[int], list[bool]]:
    every = weigh_pairs(originals, masked, rule, weights)
    return [row.count(max(row)) for row in every], [row[mine] == max(row) for row, mine in zip(every, own, strict=True)]
