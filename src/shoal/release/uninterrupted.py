"""Steps that must not be left half done: a signal that comes meanwhile is handled after them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # by name: Windows has no SIGHUP


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within this short block a second Ctrl-C does not end what the first one began, such as cleaning up."""
    if threading.current_thread() is not threading.main_thread():  # others are never interrupted
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    # What is not handled in Python needs no delay: it is ignored, or it ends the process at once.
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in came[:1]:
            handlers[number](number, frame)
