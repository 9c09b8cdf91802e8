"""Nearest, farthest and the best cut, by looking at everything."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

Row = list[float]


def squared_distance(a: Row, b: Row) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def nearest(distances: list[float], alive: list[bool], row: int, count: int) -> list[int]:
    """`row` first, then the others by distance; ties to the lower row."""
    others = [other for other in range(len(distances)) if alive[other] and other != row]
    return [row, *sorted(others, key=lambda other: (distances[other], other))[: count - 1]]


def farthest(distances: list[float], alive: list[bool]) -> int:
    return max((row for row in range(len(distances)) if alive[row]), key=lambda row: (distances[row], -row), default=-1)


def nearest_row(X: list[Row], points: list[Row]) -> list[int]:
    return [min(range(len(points)), key=lambda point: (squared_distance(row, points[point]), point)) for row in X]


def all_cuts(n: int, k: int) -> Iterator[list[int]]:
    """Every way to cut n values into runs of at least k, as the places of the cuts: [0, ..., n]."""
    if n == 0:
        yield [0]
    for last in range(k, n + 1):
        for before in all_cuts(n - last, k):
            yield [*before, n]


def cut_error(values: list[list[int]], cuts: list[int]) -> Fraction:
    """Squared distance of the rows to the mean of their run, without rounding."""
    error = Fraction(0)
    for start, end in pairwise(cuts):
        for column in zip(*values[start:end], strict=True):
            mean = Fraction(sum(column), end - start)
            error += sum((value - mean) ** 2 for value in column)
    return error


def least_error(values: list[list[int]], k: int) -> Fraction:
    return min(cut_error(values, cuts) for cuts in all_cuts(len(values), k))
