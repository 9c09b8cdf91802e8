"""Kernels side by side: each call works on a part of its own and lets the other threads run.

Kernels are compiled without numba's own threads: those take several times as long to compile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numba

LEAST_RUN = 64  # rows that are worth a call of their own
RUNS_PER_THREAD = 8  # so that a thread that is done early finds more to do


def side_by_side(kernel: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What the kernel returns for the arguments of each part, in their order."""
    n_threads = min(numba.get_num_threads(), len(parts))
    if n_threads < 2:
        return [kernel(*arguments) for arguments in parts]
    pool = _pool(numba.get_num_threads(), os.getpid())
    futures = [pool.submit(kernel, *arguments) for arguments in parts]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)  # after Ctrl-C, too: no thread writes into the caller's arrays any more


@cache
def _pool(n_threads: int, _process: int) -> ThreadPoolExecutor:
    """One for all calls of a process: starting threads takes longer than some kernels. A fork has none of them."""
    return ThreadPoolExecutor(n_threads)


def runs(n_rows: int, least: int | None = None) -> list[slice]:
    """The rows in runs of about the same length, `least` or more, for `side_by_side`; one run at least."""
    count = max(min(RUNS_PER_THREAD * numba.get_num_threads(), n_rows // (least or LEAST_RUN)), 1)
    return [slice(run * n_rows // count, (run + 1) * n_rows // count) for run in range(count)]
