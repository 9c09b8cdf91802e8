"""Progress: the library says how far it is, whoever listens shows it.

The library never prints. `with listening(show): ...` hands `show` every step's
name, how much is done and how much there is (None when unknown).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Listener = Callable[[str, int, int | None], None]
T = TypeVar("T")

latest: tuple[str, int, int | None] | None = None  # the last step of this process, for a look now and then
_listener: ContextVar[Listener | None] = ContextVar("shoal_progress", default=None)


@contextmanager
def listening(show: Listener) -> Iterator[None]:
    """Within this block, `show(name, done, total)` is called as work goes on."""
    token = _listener.set(show)
    try:
        yield
    finally:
        _listener.reset(token)


def step(name: str, done: int, total: int | None = None) -> None:
    """Say that `done` of `total` units of the step `name` are finished."""
    global latest
    latest = name, done, total
    show = _listener.get()
    if show is not None:
        show(name, done, total)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say that the work of this block has begun, and when it is over."""
    step(name, 0, 1)
    yield
    step(name, 1, 1)


def track(name: str, items: Iterable[T], total: int | None = None, every: int = 256) -> Iterator[T]:
    """Pass the items on, saying every so often how many went by."""
    done = 0
    for done, item in enumerate(items, start=1):
        yield item
        if done % every == 0:
            step(name, done, total)
    step(name, done, done)
