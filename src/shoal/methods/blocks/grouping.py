"""Blocks: microaggregation of very large collections, in time that grows with n log n and in bounded memory.

A tree sends near rows to one block, each block is grouped exactly, and the groups that came out worst are pooled and
grouped again, in blocks that are cut elsewhere. Only samples, counts and errors come together in one place.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.errors import InputError
from shoal.methods.blocks import block as work
from shoal.methods.blocks.executors import LocalExecutor, Schedule
from shoal.methods.blocks.tree import SAMPLE, Tree, grow
from shoal.methods.mdav import mdav, numbered_by_first_row
from shoal.methods.refinement import refined, usual_seconds, warn_of_interruption

WHOLE_BELOW = 50_000  # rows that are grouped in one piece unless blocks are asked for
BLOCK_ROWS = 12_500

Groups = NDArray[np.int64]

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


@dataclass(frozen=True)
class Plan:
    """How rows are grouped: the least size of a group, the most rows of a block, and the space.

    `stop` ends the search for better groups in every block of this process; Ctrl-C sets it.
    """

    k: int
    most: int
    space: work.RowSpace
    refine: bool = False
    time_budget: float | None = None
    random_state: Any = None
    stop: Event = field(default_factory=Event)


def group_rows(X: Any, plan: Plan) -> Groups:
    """The group of each row, numbered by first row. `X` is CSR on the sphere, else a dense array."""
    n_rows = X.shape[0]
    if plan.most >= n_rows:
        groups = mdav(plan.space(X), plan.k)
        budget = plan.time_budget, plan.random_state, plan.stop
        return refined(X, groups, plan.k, plan.space, *budget) if plan.refine else groups
    rows = work.Block(sp.csr_matrix(X), {"row": np.arange(n_rows)}, np.zeros(n_rows, dtype=np.int64))
    groups = np.empty(n_rows, dtype=np.int64)
    n_groups = 0
    with LocalExecutor() as executor:
        for block in executor.gather(group_in_blocks([executor.submit(work.whole, rows)], n_rows, plan, executor)):
            groups[block.row_columns["row"]] = n_groups + block.groups
            n_groups += int(block.groups.max()) + 1
    return numbered_by_first_row(groups)


def group_in_blocks(parts: list[Any], n_rows: int, plan: Plan, schedule: Schedule) -> list[Any]:
    """Blocks (futures of `Block`) with groups, from parts of the rows (futures of `Block`) in any order.

    The list of parts is empty afterwards: what nobody holds any more need not be kept.
    """
    blocks = _divided(parts, n_rows, plan, schedule)
    if len(blocks) > 1:
        _await("blocks", blocks, schedule)
        for number in range(ROUNDS):
            blocks = _reconciled(blocks, plan, schedule)
            _await(f"pools {number + 1} of {ROUNDS}", blocks, schedule)
    return _refined(blocks, n_rows, plan, schedule) if plan.refine else blocks


def _divided(parts: list[Any], n_rows: int, plan: Plan, schedule: Schedule) -> list[Any]:
    """The rows in blocks, each grouped."""
    rows = divided_into_blocks(parts, n_rows, plan, schedule)
    return [schedule.submit(work.grouped, block, plan.k, plan.space, plan.most) for block in rows]


def divided_into_blocks(parts: list[Any], n_rows: int, plan: Plan, schedule: Schedule) -> list[Any]:
    """Blocks of like rows (futures), not grouped yet, from parts of the rows (futures) in any order."""
    submit = schedule.submit
    tree = _tree([submit(work.sampled, part) for part in parts], n_rows, plan, schedule)
    counts = schedule.gather([submit(work.counted, part, tree) for part in parts])
    use = tree.with_blocks_of(3 * plan.k, np.sum(counts, axis=0))
    n_blocks = len(np.unique(use))
    slices = [_each(submit(work.divided, part, tree, use), n_blocks, schedule) for part in parts]
    parts.clear()
    return [submit(work.joined, list(pieces)) for pieces in zip(*slices, strict=True)]


def _each(sequence: Any, length: int, schedule: Schedule) -> list[Any]:
    """Each element of a sequence (a future) as a future of its own.

    Asked for one after the other: a cluster then takes the sequence apart while it is at hand, and lets go of it.
    """
    return [schedule.submit(operator.getitem, sequence, number) for number in range(length)]


def _await(name: str, blocks: list[Any], schedule: Schedule) -> list[int]:
    """Wait for each block in turn, reporting progress. Returns the number of rows of each."""
    counts = [schedule.submit(_n_rows, block) for block in blocks]
    progress.step(name, 0, len(blocks))
    sizes: list[int] = []
    for count in counts:
        sizes += schedule.gather([count])
        progress.step(name, len(sizes), len(blocks))
    return sizes


def _tree(samples: list[Any], n_rows: int, plan: Plan, schedule: Schedule) -> Tree:
    """The tree that the rows with the smallest keys of all give."""
    sampled_parts = schedule.gather(samples)
    keys = np.concatenate([keys for keys, _ in sampled_parts])
    rows = sp.csr_matrix(sp.vstack([rows for _, rows in sampled_parts], format="csr"))
    sample = rows[np.argsort(keys, kind="stable")[:SAMPLE]]
    return grow(plan.space.rows(sample), n_rows, plan.most, plan.space.between)


def _reconciled(blocks: list[Any], plan: Plan, schedule: Schedule) -> list[Any]:
    """The groups with the largest error a row are pooled and grouped again; kept in each pool where error falls."""
    submit = schedule.submit
    measured = schedule.gather([submit(work.errors_of_groups, block, plan.space) for block in blocks])
    loose = _worst(measured)
    pairs = list(zip(blocks, loose, strict=True))
    n_loose = sum(int(sizes[mask].sum()) for (_, sizes), mask in zip(measured, loose, strict=True))
    tree = _tree([submit(work.sampled_groups, *pair, plan.space) for pair in pairs], n_loose, plan, schedule)
    counts = schedule.gather([submit(work.counted_groups, *pair, tree, plan.space) for pair in pairs])
    use = tree.with_blocks_of(3 * plan.k, np.sum(counts, axis=0))
    n_pools = len(np.unique(use))
    parted = [_each(submit(work.loosened, *pair, tree, use, plan.space), 1 + n_pools, schedule) for pair in pairs]
    remaining, *loosened = zip(*parted, strict=True)
    rows = [submit(work.joined, list(pieces)) for pieces in loosened]
    pools = [submit(work.regrouped, pool, plan.k, plan.space, plan.most) for pool in rows]
    return [block for block, mask in zip(remaining, loose, strict=True) if not mask.all()] + pools


def _worst(measured: Sequence[tuple[NDArray[np.float64], NDArray[np.int64]]]) -> list[NDArray[np.bool_]]:
    """Of each block's groups, those that are among the worst of all by error a row."""
    errors = np.concatenate([errors / sizes for errors, sizes in measured])
    worst = np.zeros(len(errors), dtype=np.bool_)
    worst[np.argsort(-errors, kind="stable")[: max(int(POOLED * len(errors)), 1)]] = True
    return np.split(worst, np.cumsum([len(errors) for errors, _ in measured])[:-1])


def _refined(blocks: list[Any], n_rows: int, plan: Plan, schedule: Schedule) -> list[Any]:
    """The blocks after a search in each, with its share of the budget and a seed of its own."""
    submit = schedule.submit
    stop = plan.stop if isinstance(schedule, LocalExecutor) else None  # Ctrl-C does not reach other machines
    shares: list[tuple[float | None, Any]] = [(plan.time_budget, plan.random_state)]
    if len(blocks) > 1:
        seconds = seconds_of_search(n_rows, len(blocks)) if plan.time_budget is None else plan.time_budget
        state = check_random_state(0 if plan.random_state is None else plan.random_state)
        seeds = state.randint(2**31, size=len(blocks)).tolist()
        sizes = schedule.gather([submit(_n_rows, block) for block in blocks])
        shares = [(seconds * size / n_rows, seed) for size, seed in zip(sizes, seeds, strict=True)]
    searched = [
        submit(work.refined_block, block, plan.k, plan.space, *share, stop)
        for block, share in zip(blocks, shares, strict=True)
    ]
    try:
        _await("refining", searched, schedule)
    except BaseException as problem:
        if stop is None:
            raise
        stop.set()
        if not isinstance(problem, KeyboardInterrupt):
            raise
        warn_of_interruption()
        _await("refining", searched, schedule)
    return searched


def seconds_of_search(n_rows: int, n_blocks: int) -> float:
    """How long the search takes unless a budget is given."""
    return usual_seconds(n_rows) if n_blocks == 1 else SECONDS_A_ROW * n_rows


def _n_rows(block: work.Block) -> int:
    return len(block.groups)
