"""SIGTERM, SIGHUP and Ctrl-C: a command ends, and leaves nothing unfinished behind."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # by name: Windows has no SIGHUP
_arrived: list[int] = []  # signals of this process


class Ended(BaseException):
    """A signal asked the command to end. Nothing on the way catches it, as a search does KeyboardInterrupt."""

    def __init__(self, number: int, left: str = "nothing unfinished is left behind") -> None:
        super().__init__(number)
        self.number = number
        self.left = left  # what becomes of what was begun
        self.name = signal.Signals(number).name
        self.code = 128 + number  # as shells have it


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this block the signals raise `Ended`. One that is ignored, as by nohup, stays ignored."""
    with _handled_by(_end, ENDING) as handled:
        try:
            yield
        except (Ended, KeyboardInterrupt):
            for number in handled:
                signal.signal(number, signal.SIG_IGN)  # it ends already
            handled.clear()
            raise


@contextmanager
def search_stops_at_first_interrupt() -> Iterator[None]:
    """Within this block the first Ctrl-C is KeyboardInterrupt, by which a search keeps the best groups so far."""

    def interrupt(number: int, _: FrameType | None) -> NoReturn:
        _arrived.append(number)
        signal.signal(number, _end)
        raise KeyboardInterrupt

    with _handled_by(interrupt, ("SIGINT",)):
        yield


@contextmanager
def resumable() -> Iterator[None]:
    """A command that is ended by a signal says that it can go on."""
    try:
        yield
    except (KeyboardInterrupt, Ended) as ended:
        number = ended.number if isinstance(ended, Ended) else signal.SIGINT
        raise Ended(number, "what was stored so far stays; run the same command again to go on") from None


def leave(code: int) -> NoReturn:
    """Exit, without waiting for other threads: a kernel at work there cannot be stopped, and may go on for minutes."""
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        atexit._run_exitfuncs()  # temporary folders of those threads
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def end_if_signalled() -> None:
    """End after all if a signal was lost: compiled modules that it meets while they load make an ImportError of it."""
    if _arrived:
        raise Ended(_arrived[-1])


def _end(number: int, _: FrameType | None) -> NoReturn:
    _arrived.append(number)
    raise Ended(number)


@contextmanager
def _handled_by(handler: Any, names: tuple[str, ...]) -> Iterator[dict[int, Any]]:
    """The handlers to go back to, by signal."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # no other may say what becomes of signals
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        ignored = (signal.SIG_IGN, None)  # None: handled by what is not Python
        before = {one: signal.getsignal(one) for one in numbers if signal.getsignal(one) not in ignored}
    for number in before:
        signal.signal(number, handler)
    try:
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
