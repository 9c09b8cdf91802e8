"""Where work runs: in threads of this process, or on a cluster through its client, which has the same two methods."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

LOOKED_AT = 50  # objects of an array, to tell how large they are


class Schedule(Protocol):
    """The part of a Dask client that is used here. Arguments may be futures, or lists of them."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """A future of `work(*arguments)`."""

    def gather(self, futures: Any) -> Any:
        """Their results."""


def memory_of(*things: Any) -> int:
    """About how many bytes arrays and sparse matrices take, with the objects in them.

    For `__sizeof__` of what a cluster holds: by it Dask knows when to move results to disk.
    """
    total = 0
    for thing in things:
        if isinstance(thing, np.ndarray):
            total += thing.nbytes
            if thing.dtype == object and len(thing):
                seen = thing[:: -(-len(thing) // LOOKED_AT)]
                total += sum(map(sys.getsizeof, seen.tolist())) * len(thing) // len(seen)
        elif thing is not None:
            total += sum(getattr(thing, part).nbytes for part in ("data", "indices", "indptr"))
    return total


class LocalExecutor:
    """This process: threads, one per core. Kernels let others run while they work."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        # What a job waits for was submitted before it, so the oldest job never waits: there is always one that works.
        return self._pool.submit(lambda: work(*map(_result, arguments)))

    def gather(self, futures: Iterable[Future[Any]]) -> list[Any]:
        return [future.result() for future in futures]

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # The jobs at hand cannot be stopped: an error waits for them, Ctrl-C and the like do not.
        asked_to_end = kind is not None and not issubclass(kind, Exception)
        self._pool.shutdown(wait=not asked_to_end, cancel_futures=True)


def _result(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_result(item) for item in argument]
    return argument.result() if isinstance(argument, Future) else argument
