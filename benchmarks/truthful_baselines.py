"""What other tools would make of a table: Mondrian's median cuts, and local suppression as sdcMicro publishes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def mondrian(numbers: Floats, codes: Ints, k: int) -> Ints:
    """Groups by median cuts (LeFevre et al., 2006): the column with the widest share first, as long as halves have k.

    Values without structure are cut in the order of their codes, which is how Mondrian treats them.
    """
    columns = np.column_stack([numbers, codes.astype(np.float64)])
    widths = np.maximum(np.ptp(columns, axis=0), 1e-12)
    groups = np.empty(len(columns), dtype=np.int64)
    n_groups, waiting = 0, [np.arange(len(columns))]
    while waiting:
        rows = waiting.pop()
        for column in np.argsort(-np.ptp(columns[rows], axis=0) / widths, kind="stable"):
            values = columns[rows, column]
            middle = np.median(values)
            below = values <= middle if (values <= middle).sum() < len(rows) else values < middle
            if k <= below.sum() <= len(rows) - k:
                waiting += [rows[below], rows[~below]]
                break
        else:
            groups[rows] = n_groups
            n_groups += 1
    return groups


def sdcmicro_blanks(codes: Ints, k: int) -> NDArray[np.bool_]:
    """Cells that sdcMicro's localSuppression blanks, with its default order of importance (most values first).

    Of equal records only k take part. In each pass every record with fewer than k, the rarest first, loses one cell:
    the least important one in which it differs from the records nearest to it. A blank matches everything.
    """
    n, m = codes.shape
    order = np.lexsort(codes.T[::-1])
    new = np.append(True, (codes[order][1:] != codes[order][:-1]).any(axis=1))
    position = np.arange(n) - np.flatnonzero(new)[np.cumsum(new) - 1]
    rows = np.sort(order[position < k])
    cells = codes[rows].copy()
    by_importance = np.argsort([-len(np.unique(column)) for column in codes.T], kind="stable")
    agreeing = _crowds(cells)
    while (agreeing < k).any():
        short = np.flatnonzero(agreeing < k)
        for row in short[np.argsort(agreeing[short], kind="stable")]:
            differs = (cells != cells[row]) & (cells != -1) & (cells[row] != -1)
            apart = differs.sum(axis=1)
            if not apart.any():
                continue
            nearest = differs[apart == apart[apart > 0].min()].any(axis=0)
            column = next(column for column in by_importance if nearest[column])
            cells[row, column] = -1
            after = ((cells == cells[row]) | (cells == -1) | (cells[row] == -1)).all(axis=1)
            agreeing[after & (apart > 0)] += 1
            agreeing[row] = after.sum()
    blanks = np.zeros((n, m), dtype=np.bool_)
    blanks[rows] = cells == -1
    return blanks


def _crowds(cells: Ints) -> Ints:
    _, key_of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return counts[key_of_row.ravel()].astype(np.int64)


def people_alone(codes: Ints, blanks: NDArray[np.bool_]) -> int:
    """People whose values, all known, fit one released row only."""
    people, person_of_row = np.unique(codes, axis=0, return_inverse=True)
    rows, counts = np.unique(np.where(blanks, -1, codes), axis=0, return_counts=True)
    fits = np.ones((len(people), len(rows)), dtype=np.bool_)
    for known, shown in zip(people.T, rows.T, strict=True):
        fits &= (known[:, None] == shown) | (shown == -1)
    return int(np.sum((fits @ counts)[person_of_row.ravel()] == 1))
