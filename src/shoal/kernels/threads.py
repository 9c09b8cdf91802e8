"""Kernels side by side: each call works on a part of its own and lets the other threads run.

Kernels are compiled without numba's own threads: those take several times as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba

__all__ = ["runs", "side_by_side"]

LEAST_RUN = 64  # rows that are worth a call of their own
RUNS_PER_THREAD = 8  # so that a thread that is done early finds more to do


def side_by_side(kernel: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What the kernel returns for the arguments of each part, in their order."""
    n_threads = min(numba.get_num_threads(), len(parts))
    if n_threads < 2:
        return [kernel(*arguments) for arguments in parts]
    pool = ThreadPoolExecutor(n_threads)
    try:
        return list(pool.map(lambda arguments: kernel(*arguments), parts))
    finally:
        pool.shutdown(cancel_futures=True)


def runs(n_rows: int) -> list[slice]:
    """The rows in runs of about the same length, for `side_by_side`; one run at least."""
    count = max(min(RUNS_PER_THREAD * numba.get_num_threads(), n_rows // LEAST_RUN), 1)
    return [slice(run * n_rows // count, (run + 1) * n_rows // count) for run in range(count)]
