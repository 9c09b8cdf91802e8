"""A process beside the pages, for what takes seconds and is no job: looking at a file, estimating a curve.

In a thread it would hold up every page; in a process started for each call, most of the time would go into starting.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from typing import ParamSpec, TypeVar

from shoal.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")


class WorkerProcess:
    """One process, which ends with the workbench."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def begin(self) -> None:
        """Start the process, so that the first call need not wait for it."""
        self._started().submit(_load)

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_end_with_parent)
        return self._pool

    async def call(self, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What the function returns or raises; calls wait for each other."""
        pool = self._started()
        try:
            return await asyncio.wrap_future(pool.submit(function, *given, **named))
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None  # the next call starts another
            raise InputError(
                "this took more memory than there is; close other programs, or give a part of it"
            ) from None

    def stop(self) -> None:
        """Whatever it was doing is of no more use."""
        if self._pool is not None:
            for process in list(self._pool._processes.values()):
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """Also if the workbench was killed: nothing may go on working on confidential files."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _load() -> None:
    """What looks at files; methods take seconds to load, and the first look would wait for them."""
    import shoal.web.look  # noqa: F401
