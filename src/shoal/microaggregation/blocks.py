"""Blocks: microaggregation of very large collections, in time that grows with n log n and in bounded memory.

Near rows go into one block (see bisection), each block is grouped exactly, and the groups that came out worst are
pooled and grouped again, in blocks that are cut elsewhere. A block needs its own rows only, so any worker can do it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.errors import InputError
from shoal.microaggregation.bisection import bisected
from shoal.microaggregation.euclidean_space import EuclideanSpace
from shoal.microaggregation.mdav import Space, mdav
from shoal.microaggregation.refine import numbered_by_first_row, refined
from shoal.microaggregation.spherical_space import SphericalSpace

__all__ = ["block_count", "mdav_in_blocks", "refined_in_blocks"]

Rows = NDArray[np.int64]
Groups = NDArray[np.int64]
Floats = NDArray[np.float64]

WHOLE_BELOW = 50_000  # rows that are grouped in one piece unless blocks are asked for
BLOCK_ROWS = 20_000
# Half of the groups, those with the largest error, are grouped again: the pool is cut into half as many blocks as the
# collection, so most borders fall away. Two rounds win back about half of what the blocks cost, a third little more.
POOLED = 0.5
ROUNDS = 2
SECONDS_A_ROW = 10 / 25_000  # of refinement, unless a budget is given


def block_count(blocks: object, n_rows: int, k: int) -> int:
    """Into how many blocks `n_rows` go: `blocks` is the most rows of one, None for automatic, False for no blocks."""
    if blocks is False:
        return 1
    if blocks is None:
        most = BLOCK_ROWS if n_rows > WHOLE_BELOW else n_rows
    elif not isinstance(blocks, int | np.integer) or isinstance(blocks, bool):
        raise InputError(f"blocks={blocks!r} must be the most rows of a block, None for automatic or False for none")
    elif blocks < 3 * k:
        raise InputError(f"blocks={blocks} must be at least 3k = {3 * k} rows: smaller ones leave no choice of groups")
    else:
        most = int(blocks)
    # Where the rows cannot be divided into blocks of 3k to `most`, blocks are larger rather than smaller.
    return min(-(-n_rows // max(most, 3 * k)), max(n_rows // (3 * k), 1))


def mdav_in_blocks(X: Any, k: int, n_blocks: int, spherical: bool) -> Groups:
    """The group of each row. One block is MDAV itself; `X` is CSR on the sphere, else a dense array."""
    if n_blocks == 1:
        return mdav(_space(X, spherical), k)
    X = sp.csr_matrix(X)
    most = -(-X.shape[0] // n_blocks)
    blocks = bisected(X, np.arange(X.shape[0]), n_blocks, spherical)
    groups = np.empty(X.shape[0], dtype=np.int64)
    n_groups = 0
    for rows, found in zip(blocks, _side_by_side("blocks", X, blocks, k, spherical), strict=True):
        groups[rows] = n_groups + found
        n_groups += int(found.max()) + 1
    for number in range(ROUNDS):
        groups = _reconciled(f"borders, round {number + 1}", X, groups, k, most, spherical)
    return numbered_by_first_row(groups)


def refined_in_blocks(
    X: Any, groups: Groups, k: int, n_blocks: int, spherical: bool, time_budget: float | None, random_state: Any
) -> Groups:
    """A partition with no more error than `groups`; each block of whole groups has its share of the budget."""
    if n_blocks == 1:
        return refined(X, groups, k, spherical, time_budget, random_state)
    X = sp.csr_matrix(X)
    seconds = SECONDS_A_ROW * X.shape[0] if time_budget is None else time_budget
    n_groups = int(groups.max()) + 1
    rows_of = _rows_of_groups(groups, bisected(_means(X, groups), np.arange(n_groups), n_blocks, spherical))
    seeds = check_random_state(0 if random_state is None else random_state).randint(2**31, size=n_blocks)
    better = np.empty_like(groups)
    n_groups = 0
    # One after the other: the search itself uses all cores.
    for done, (rows, seed) in enumerate(zip(rows_of, seeds, strict=True)):
        progress.step("blocks refined", done, n_blocks)
        share = seconds * len(rows) / len(groups)
        found = refined(X[rows], np.unique(groups[rows], return_inverse=True)[1], k, spherical, share, int(seed))
        better[rows] = n_groups + found
        n_groups += int(found.max()) + 1
    progress.step("blocks refined", n_blocks, n_blocks)
    return numbered_by_first_row(better)


def group_block(X: sp.csr_matrix, k: int, spherical: bool) -> Groups:
    """Exact MDAV of one block's rows, which may be at another place than all others."""
    return mdav(_space(X if spherical else X.toarray(), spherical), k)


def _space(X: Any, spherical: bool) -> Space:
    return SphericalSpace(X) if spherical else EuclideanSpace(X)


def _reconciled(step: str, X: sp.csr_matrix, groups: Groups, k: int, most: int, spherical: bool) -> Groups:
    """The groups with the largest error a row are pooled and grouped again; kept in each block where error falls."""
    means, sizes = _means(X, groups), np.bincount(groups)
    errors = _errors(X, groups, means, spherical)
    worst = np.argsort(-errors / sizes, kind="stable")[: max(int(POOLED * len(sizes)), 1)]
    n_blocks = min(-(-int(sizes[worst].sum()) // most), max(len(worst) // 3, 1))  # three groups have 3k rows
    pools = bisected(means, np.sort(worst), n_blocks, spherical)
    rows_of = _rows_of_groups(groups, pools)
    n_groups = len(sizes)
    groups = groups.copy()
    for pool, rows, found in zip(pools, rows_of, _side_by_side(step, X, rows_of, k, spherical), strict=True):
        block = X[rows]
        new_errors = _errors(block, found, _means(block, found), spherical)
        if new_errors.sum() < errors[pool].sum():
            groups[rows] = n_groups + found
            n_groups += len(new_errors)
    return numbered_by_first_row(groups)


def _side_by_side(step: str, X: sp.csr_matrix, blocks: Sequence[Rows], k: int, spherical: bool) -> Iterator[Groups]:
    """The groups of each block in turn, found on all cores.

    In threads, so no kernel that is itself parallel may be used here: numba's simplest way to run those, the only one
    on some machines, ends the process when two threads come at once.
    """
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        found = pool.map(lambda rows: group_block(X[rows], k, spherical), blocks)
        for done, groups in enumerate(found, start=1):
            progress.step(step, done, len(blocks))
            yield groups
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for the blocks at hand, not for all


def _rows_of_groups(groups: Groups, parts: Sequence[Groups]) -> list[Rows]:
    """The rows, rising, of each part's groups."""
    part_of_group = np.full(int(groups.max()) + 1, -1)
    for number, part in enumerate(parts):
        part_of_group[part] = number
    part_of_row = part_of_group[groups]
    order = np.argsort(part_of_row, kind="stable")
    ends = np.searchsorted(part_of_row[order], np.arange(len(parts) + 1))
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def _means(X: sp.csr_matrix, groups: Groups) -> sp.csr_matrix:
    """The mean of each group's rows."""
    n_rows = len(groups)
    shares = 1.0 / np.bincount(groups)[groups]
    return sp.csr_matrix((shares, (groups, np.arange(n_rows)))) @ X


def _errors(X: sp.csr_matrix, groups: Groups, means: sp.csr_matrix, spherical: bool) -> Floats:
    """The error (SSE) of each group."""
    sizes, squares = np.bincount(groups), _squared_lengths(means)
    if spherical:
        errors: Floats = sizes * (1.0 - np.sqrt(squares))
    else:
        errors = np.bincount(groups, weights=_squared_lengths(X)) - sizes * squares
    return errors


def _squared_lengths(X: sp.csr_matrix) -> Floats:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
