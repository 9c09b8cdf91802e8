"""Trials carried out, several at a time, each handed out as it is finished."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.io import Roles
from shoal.results.exploration import Outcome, Trial

__all__ = ["Explored", "run_trials", "timed"]


class Explored(Protocol):
    """A table or a collection, and the ways to protect it."""

    @property
    def kind(self) -> str:
        """As in results.exploration.MEASURES."""

    @property
    def roles(self) -> Roles | None:
        """Of a table."""

    @property
    def columns(self) -> dict[str, str | None]:
        """Of documents: which column is what, as `protect` names them."""

    def trials(self) -> list[Trial]:
        """The ways that are tried."""

    def try_out(self, trial: Trial) -> Outcome | None:
        """Protect and attack it, in this process or another; None where these data cannot be protected so."""

    def protect_with(self, trial: Trial) -> dict[str, Any]:
        """The arguments of `shoal.protect` that make the release of a trial, source and folder aside."""

    def fingerprint(self) -> str:
        """What the outcomes depend on; of the data, only a digest that leads nowhere."""

    def sample(self, rows: NDArray[np.int64]) -> Explored:
        """These records only."""

    def __len__(self) -> int:
        """How many records there are."""


def run_trials(
    explored: Explored, trials: Sequence[Trial], workers: int | None = None, already: int = 0
) -> Iterator[Outcome]:
    """Every trial's outcome, as soon as it is there. Closing the generator ends the workers.

    `already` trials are done, for those who are shown the progress.
    """
    total = already + len(trials)
    progress.step("exploring", already, total)
    n_workers = min(workers or os.cpu_count() or 1, len(trials))
    if n_workers <= 1:
        for done, trial in enumerate(trials, already + 1):
            outcome = timed(explored, trial)
            progress.step("exploring", done, total)
            if outcome is not None:
                yield outcome
        return
    pool = ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"), initializer=_leave_signals_to_the_parent)
    try:
        waiting = [pool.submit(timed, explored, trial) for trial in trials]
        for done, ready in enumerate(as_completed(waiting), already + 1):
            outcome = ready.result()
            progress.step("exploring", done, total)
            if outcome is not None:
                yield outcome
    except BaseException:
        for worker in list(pool._processes.values()):  # their trials would run to the end
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def timed(explored: Explored, trial: Trial) -> Outcome | None:
    """The outcome of a trial, with the time that it took."""
    start = time.perf_counter()
    outcome = explored.try_out(trial)
    return None if outcome is None else replace(outcome, seconds=round(time.perf_counter() - start, 3))


def _leave_signals_to_the_parent() -> None:
    """Those that a terminal sends to all; the parent ends its workers by SIGTERM."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
