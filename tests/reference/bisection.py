"""Products and sums of chosen rows, on dense rows."""

from __future__ import annotations

from tests.reference.spherical import dot

Row = list[float]


def dots_of(X: list[Row], rows: list[int], vector: Row) -> list[float]:
    return [dot(X[row], vector) for row in rows]


def sum_of(X: list[Row], rows: list[int], weights: list[float], n_columns: int) -> Row:
    total = [0.0] * n_columns
    for row, weight in zip(rows, weights, strict=True):
        for column in range(n_columns):
            total[column] += weight * X[row][column]
    return total
