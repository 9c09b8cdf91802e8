"""How many rows are as near as a query's own, or that one is nearer, by looking at all pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.reference.euclidean import Row

NEARER = -1


def less_squares(n_added: int) -> Callable[[Row, Row], float]:
    """The squares of the differences of the first columns, less those of the others."""

    def distance(row: Row, query: Row) -> float:
        total = 0.0
        for column, (one, other) in enumerate(zip(row, query, strict=True)):
            square = (one - other) * (one - other)
            total = total + square if column < n_added else total - square
        return total

    return distance


def integral(mu: Sequence[float]) -> Callable[[Row, Row], float]:
    """The Choquet integral of the squared differences: each step up, times the measure of what is at least as high."""

    def distance(row: Row, query: Row) -> float:
        squares = [(one - other) * (one - other) for one, other in zip(row, query, strict=True)]
        total, before = 0.0, 0.0
        for level in sorted(set(squares)):
            total += (level - before) * mu[sum(1 << c for c, square in enumerate(squares) if square >= level)]
            before = level
        return total

    return distance


def ties_with_own(
    rows: list[Row],
    queries: list[Row],
    own: list[int],
    distance: Callable[[Row, Row], float],
    relative: float,
    absolute: float,
) -> list[int]:
    found = []
    for query, own_row in zip(queries, own, strict=True):
        to_own = distance(rows[own_row], query)
        ties = 0
        for row in rows:
            to_row = distance(row, query)
            both = abs(to_row) + abs(to_own)
            slack = relative * both + absolute
            if to_row < to_own - slack:
                ties = NEARER
                break
            ties += to_row <= to_own + slack
        found.append(ties)
    return found
