"""How many threads a search is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba

__all__ = ["threads_for"]

LITTLE = 100_000_000  # numbers to compare; waking other threads, and their waiting for more, costs as much


@contextmanager
def threads_for(work: int) -> Iterator[None]:
    """One thread for a search of little work, all of them for more."""
    before = numba.get_num_threads()
    numba.set_num_threads(1 if work < LITTLE else before)
    try:
        yield
    finally:
        numba.set_num_threads(before)
