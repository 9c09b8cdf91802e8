"""A tree of cuts that divides any number of rows into blocks of like ones.

It is grown on a sample and then sends every row to its block on its own, so the block of a row depends on the tree and
on the row alone: rows may come in any order, in any number of parts, to any number of machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Between = Callable[[Floats, Floats], Floats]  # the direction from one centre to another, of a space

SAMPLE = 20_000  # rows the tree is grown on
ITERATIONS = 8  # of two means, and of the power method that they start from


@dataclass(frozen=True)
class Tree:
    """Inner nodes: a direction and a cut each. A child is another node, or a block written as -1 - block."""

    directions: Floats  # (nodes, d)
    cuts: Floats  # (nodes,)
    children: Ints  # (nodes, 2): at most the cut, above the cut
    n_blocks: int

    def block_of(self, X: Any) -> Ints:
        """The block of each row, sparse or dense."""
        node_of_row = np.zeros(X.shape[0], dtype=np.int64) if len(self.cuts) else np.full(X.shape[0], -1)
        for node in range(len(self.cuts)):  # parents come before their children
            rows = np.flatnonzero(node_of_row == node)
            if len(rows):
                above = _products(X[rows], self.directions[node]) > self.cuts[node]
                node_of_row[rows] = self.children[node][above.astype(np.int64)]
        return -1 - node_of_row

    def with_blocks_of(self, least: int, counts: Ints) -> Ints:
        """The block to use for each block of the tree, so that none that is used has fewer than `least` rows.

        A block that is too small joins its sibling, and so on up.
        """
        use = np.arange(self.n_blocks)
        below: dict[int, list[int]] = {}
        for node in reversed(range(len(self.cuts))):
            sides = [[-1 - int(child)] if child < 0 else below[int(child)] for child in self.children[node]]
            below[node] = sides[0] + sides[1]
            used = {int(block) for block in use[below[node]]}
            if any(counts[use == block].sum() < least for block in used):
                use[below[node]] = min(below[node])
        return use


def sample_keys(X: sp.csr_matrix) -> NDArray[np.uint64]:
    """A number for each row that depends on its content only: the rows with the smallest are the sample."""
    indices, data = X.indices.astype(np.int32), X.data
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        digest = hashlib.blake2b(indices[part].tobytes() + data[part].tobytes(), digest_size=8).digest()
        keys[row] = int.from_bytes(digest, "little")
    return keys


def grow(sample: Any, n_rows: int, most: int, between: Between) -> Tree:
    """Cut the sample in two, again and again, into equal blocks that have at most about `most` of `n_rows` rows."""
    directions: list[Floats] = []
    cuts: list[float] = []
    children: list[list[int]] = []
    n_blocks = 0
    waiting = [(np.arange(sample.shape[0]), -(-n_rows // most), -1, 0)]  # rows, blocks to make of them, parent, side
    while waiting:
        rows, wanted, parent, side = waiting.pop(0)
        cut = _two_sides(sample[rows], (wanted // 2) / wanted, between) if wanted > 1 else None
        if cut is None:
            name = -1 - n_blocks
            n_blocks += 1
        else:
            direction, threshold, above = cut
            name = len(cuts)
            directions.append(direction)
            cuts.append(threshold)
            children.append([0, 0])
            waiting.append((rows[~above], wanted // 2, name, 0))
            waiting.append((rows[above], wanted - wanted // 2, name, 1))
        if parent >= 0:
            children[parent][side] = name
    shape = (len(cuts), sample.shape[1])
    stacked = np.array(directions).reshape(shape)
    return Tree(stacked, np.array(cuts), np.array(children, dtype=np.int64).reshape(-1, 2), n_blocks)


def _two_sides(X: Any, share: float, between: Between) -> tuple[Floats, float, NDArray[np.bool_]] | None:
    """Direction, cut and the rows above it; None when all rows are equal.

    Two means with sides of a fixed size, from the first principal direction: the rows are cut, a `share` below, along
    the difference of two centres, and the centres are those of the two sides; a few times over.
    """
    cut = max(int(share * X.shape[0]), 1)
    direction = _principal_direction(X)
    above = np.zeros(X.shape[0], dtype=np.bool_)
    for _ in range(ITERATIONS):
        before = above
        above = np.zeros(X.shape[0], dtype=np.bool_)
        above[np.argsort(_products(X, direction), kind="stable")[cut:]] = True
        if np.array_equal(above, before) or above.all():
            break
        direction = between(_mean(X[above]), _mean(X[~above]))
    projection = _products(X, direction)
    threshold = float(np.sort(projection)[cut - 1])
    above = projection > threshold
    if not above.any():  # the rest are equal in this direction: cut below them
        smaller = projection[projection < threshold]
        if not len(smaller):
            return None
        threshold = float(smaller.max())
        above = projection > threshold
    return direction, threshold, above


def _principal_direction(X: Any) -> Floats:
    """About the direction in which the rows differ most; power iteration from the row farthest off the mean."""
    mean = _mean(X)
    farthest = int(np.argmin(_products(X, mean)))
    row = X[[farthest]].toarray().ravel() if sp.issparse(X) else np.asarray(X[farthest])
    direction = _unit(row - mean)
    for _ in range(ITERATIONS):
        along = _products(X, direction) - float(mean @ direction)
        direction = _unit(np.asarray(X.T @ along).ravel() - along.sum() * mean)
    return direction


def _products(X: Any, vector: Floats) -> Floats:
    """Each row's product on its own: BLAS would let the last digit depend on the rows beside it."""
    products: Floats = X @ vector if sp.issparse(X) else np.sum(np.asarray(X) * vector, axis=1)
    return products


def _mean(X: Any) -> Floats:
    return np.asarray(X.mean(axis=0)).ravel()


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
