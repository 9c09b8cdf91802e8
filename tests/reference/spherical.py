"""Dot products of dense rows, one after the other."""

from __future__ import annotations

Row = list[float]


def dot(a: Row, b: Row) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def least_similar(scores: list[float], alive: list[bool]) -> int:
    return min((row for row in range(len(scores)) if alive[row]), key=lambda row: (scores[row], row), default=-1)


def most_similar_listed(X: list[Row], listed: list[Row]) -> list[int]:
    return [max(range(len(listed)), key=lambda other: (dot(row, listed[other]), -other)) for row in X]


def inverted_lists(X: list[Row], n_columns: int) -> list[list[tuple[int, float]]]:
    """For each column the rows that have it, with their weights."""
    return [[(row, X[row][column]) for row in range(len(X)) if X[row][column] != 0] for column in range(n_columns)]
