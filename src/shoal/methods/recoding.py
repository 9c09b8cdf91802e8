"""Full-domain recoding with a suppression limit: one level for each column, chosen so that least is lost.

    best_recoding(columns, k, withheld) -> Recoding(levels, withheld rows, loss)

Every value of a column is shown at the same level of its hierarchy; records whose key is shared by fewer than k are
withheld, at most a given share. The search takes the nodes of the lattice of levels by a bound of their loss, halves
a path from each to the top, as ARX's Flash does, and leaves out every node finer than one that withholds too much: the
result is the best node.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.estimator import check_k

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """A column at each of its levels, finer first: a level's values are unions of those of the one before."""

    codes: Sequence[Ints]  # per level (n,)
    losses: Sequence[Floats]  # per level, of each code: the loss (NCP) of a cell, which grows with the level


@dataclass(frozen=True)
class Recoding:
    """The best node."""

    levels: tuple[int, ...]
    withheld: NDArray[np.bool_]  # (n,)
    loss: float  # mean over all cells; a withheld cell loses 1
    n_counted: int  # nodes that were counted


def best_recoding(columns: Sequence[Levels], k: int, share: float) -> Recoding | None:
    """The node with least loss that withholds at most this share of the rows; None if no node does.

    Ties go to the node that comes first in the order of levels, the last column fastest.
    """
    n = len(columns[0].codes[0])
    k = check_k(k, n)
    most = int(np.floor(share * n + 1e-9))
    order, starts = _equal_rows([column.codes[0] for column in columns])
    weight = np.diff(np.append(starts, n))
    codes = [[level[order[starts]] for level in column.codes] for column in columns]
    losses = [
        [own[level] for own, level in zip(column.losses, level_codes, strict=True)]
        for column, level_codes in zip(columns, codes, strict=True)
    ]
    at_least = [[float(weight @ own) for own in column] for column in losses]
    too_fine = np.zeros([len(column) for column in codes], dtype=np.bool_)
    nodes = sorted(itertools.product(*map(range, too_fine.shape)), key=lambda node: (_bound(at_least, node), node))
    best: tuple[float, tuple[int, ...], NDArray[np.bool_]] | None = None
    n_counted = 0
    for start in nodes:
        if best is not None and _bound(at_least, start) >= best[0]:
            break
        path = _path_up(at_least, start)
        low, high = 0, len(path) - 1  # the first node of the path that withholds little enough, by halving
        while low <= high and not too_fine[start]:
            node = path[(low + high) // 2]
            small = _small(codes, node, weight, k)
            n_counted += 1
            if int(weight[small].sum()) > most:
                too_fine[tuple(slice(level + 1) for level in node)] = True
                low = (low + high) // 2 + 1
                continue
            high = (low + high) // 2 - 1
            lost = sum(column[level] for column, level in zip(losses, node, strict=True))
            loss = float(weight @ np.where(small, float(len(columns)), lost))
            if best is None or (loss, node) < best[:2]:
                best = loss, node, small
    if best is None:
        return None
    withheld = np.empty(n, dtype=np.bool_)
    withheld[order] = np.repeat(best[2], weight)
    return Recoding(best[1], withheld, best[0] / (n * len(columns)), n_counted)


def _bound(at_least: list[list[float]], node: tuple[int, ...]) -> float:
    """What the node loses if it withholds nothing: a withheld cell never loses less."""
    return sum(column[level] for column, level in zip(at_least, node, strict=True))


def _path_up(at_least: list[list[float]], node: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Nodes from this one to the top, each a level above the one before, in the column where that loses least."""
    path = [node]
    while True:
        raised = [
            (*path[-1][:column], level + 1, *path[-1][column + 1 :])
            for column, level in enumerate(path[-1])
            if level + 1 < len(at_least[column])
        ]
        if not raised:
            return path
        path.append(min(raised, key=lambda above: _bound(at_least, above)))


def _equal_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Rows in an order in which equal ones are neighbours, and where each run of equal ones starts."""
    order = np.lexsort(columns)
    new = np.zeros(len(order), dtype=np.bool_)
    new[0] = True
    for codes in columns:
        new[1:] |= codes[order][1:] != codes[order][:-1]
    return order, np.flatnonzero(new)


def _small(codes: list[list[Ints]], node: tuple[int, ...], weight: Ints, k: int) -> NDArray[np.bool_]:
    """Whether fewer than k records share the key of each distinct row at this node."""
    key = np.zeros(len(weight), dtype=np.int64)
    for column, level in zip(codes, node, strict=True):
        key = key * (int(column[level].max()) + 1) + column[level]
        key = np.unique(key, return_inverse=True)[1]  # numbered anew, so that keys stay small
    return (np.bincount(key, weights=weight) < k)[key]
