"""A block: rows that are grouped together, and the operations on it that any worker can run.

Every function takes blocks and returns blocks or small figures, and depends on nothing else: any process can run it,
and run it again when a machine is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.methods.blocks.executors import memory_of
from shoal.methods.blocks.tree import SAMPLE, Tree, sample_keys
from shoal.methods.mdav import EuclideanSpace, SphericalSpace, mdav, numbered_by_first_row
from shoal.methods.refinement import refined

Groups = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

Sample = tuple[NDArray[np.uint64], sp.csr_matrix]  # keys, and the rows that have them
RowSpace = type[EuclideanSpace] | type[SphericalSpace]  # what the rows are taken for

SORTED_BY = ("tie", "name")  # columns by which rows are sorted that are equal


@dataclass(frozen=True)
class Block:
    """Rows (CSR), what goes with each of them, and the group of each."""

    X: sp.csr_matrix
    row_columns: Mapping[str, NDArray[Any]]  # "row": its number; or what goes with it, SORTED_BY among it
    groups: Groups

    def __sizeof__(self) -> int:
        return memory_of(self.X, self.groups, *self.row_columns.values())

    def take(self, rows: NDArray[Any]) -> Block:
        """Some of the rows, in that order."""
        return Block(self.X[rows], {name: values[rows] for name, values in self.row_columns.items()}, self.groups[rows])


def sampled(block: Block) -> Sample:
    """Of the rows, those with the smallest keys."""
    return _smallest(block.X)


def sampled_groups(block: Block, loose: Mask, space: RowSpace) -> Sample:
    """Of the centres of loose groups, those with the smallest keys."""
    return _smallest(space.centres(block.X, block.groups)[loose])


def _smallest(X: sp.csr_matrix) -> Sample:
    keys = sample_keys(X)
    smallest = np.argsort(keys, kind="stable")[:SAMPLE]
    return keys[smallest], X[smallest]


def counted(block: Block, tree: Tree) -> Groups:
    """How many rows go to each block of the tree."""
    return np.bincount(tree.block_of(block.X), minlength=tree.n_blocks)


def counted_groups(block: Block, loose: Mask, tree: Tree, space: RowSpace) -> Groups:
    """How many rows of loose groups go to each block of the tree."""
    target = tree.block_of(space.centres(block.X, block.groups)[loose])
    return np.bincount(target, weights=np.bincount(block.groups)[loose], minlength=tree.n_blocks).astype(np.int64)


def divided(block: Block, tree: Tree, use: Groups) -> list[Block]:
    """The rows that go to each of the blocks in use."""
    target = use[tree.block_of(block.X)]
    return [block.take(np.flatnonzero(target == number)) for number in np.unique(use)]


def joined(parts: Sequence[Block]) -> Block:
    """One block of all the rows, by their number or else by their content; groups stay, numbered apart."""
    names = parts[0].row_columns
    columns = {name: np.concatenate([part.row_columns[name] for part in parts]) for name in names}
    offsets = np.cumsum([0, *(int(part.groups.max(initial=-1)) + 1 for part in parts)])
    groups = np.concatenate([part.groups + offset for part, offset in zip(parts, offsets, strict=False)])
    block = Block(sp.csr_matrix(sp.vstack([part.X for part in parts], format="csr")), columns, groups)
    order = np.argsort(columns["row"], kind="stable") if "row" in columns else _by_content(block)
    block = block.take(order)
    return replace(block, groups=numbered_by_first_row(block.groups))


def whole(block: Block) -> Block:
    """The block itself: a part that is here already."""
    return block


def grouped(block: Block, k: int, space: RowSpace, most: int) -> Block:
    """The rows in groups of k, by MDAV; no more than 2 * `most` rows at a time, which only equal rows come to."""
    n_rows = block.X.shape[0]
    n_pieces = max(n_rows // max(most, 3 * k), 1)
    groups = [np.empty(0, dtype=np.int64)]
    n_groups = 0
    for piece in range(n_pieces):
        X = block.X[piece * n_rows // n_pieces : (piece + 1) * n_rows // n_pieces]
        groups.append(n_groups + mdav(space(X), k))
        n_groups = int(groups[-1].max()) + 1
    return replace(block, groups=np.concatenate(groups))


def regrouped(block: Block, k: int, space: RowSpace, most: int) -> Block:
    """The rows grouped again, if that lowers the error."""
    again = grouped(block, k, space, most)
    better = errors_of_groups(again, space)[0].sum() < errors_of_groups(block, space)[0].sum()
    return again if better else block


def refined_block(
    block: Block, k: int, space: RowSpace, seconds: float | None, seed: Any, stop: threading.Event | None
) -> Block:
    """The groups after a search of their own."""
    return replace(block, groups=refined(block.X, block.groups, k, space, seconds, seed, stop))


def loosened(block: Block, loose: Mask, tree: Tree, use: Groups, space: RowSpace) -> list[Block]:
    """The rows of groups that stay, followed by the rows of loose groups for each of the pools in use."""
    pool_of_group = np.full(len(loose), -1)
    pool_of_group[loose] = use[tree.block_of(space.centres(block.X, block.groups)[loose])]
    pool = pool_of_group[block.groups]
    parts = [block.take(np.flatnonzero(pool == number)) for number in (-1, *np.unique(use))]
    return [replace(part, groups=numbered_by_first_row(part.groups)) for part in parts]


def errors_of_groups(block: Block, space: RowSpace) -> tuple[Floats, Groups]:
    """The error (SSE) of each group, and its size."""
    return space.errors(block.X, block.groups), np.bincount(block.groups).astype(np.int64)


def _by_content(block: Block) -> Groups:
    """Rows by what they hold, as a release sorts them."""
    X, more = block.X, [block.row_columns[name] for name in SORTED_BY if name in block.row_columns]

    def content(row: int) -> tuple[Any, ...]:
        part = slice(X.indptr[row], X.indptr[row + 1])
        return X.indices[part].astype(np.int32).tobytes(), X.data[part].tobytes(), *(values[row] for values in more)

    return np.array(sorted(range(X.shape[0]), key=content), dtype=np.int64)
