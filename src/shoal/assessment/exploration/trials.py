"""Trials: ways to protect a table or documents, each tried out, several at a time, and the best of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.data.roles import Roles
from shoal.errors import InputError
from shoal.results.exploration import AS_PLANNED, OVERLAP, Outcome, Trial


@dataclass(frozen=True)
class TrialSetup:
    """What all trials of documents have in common."""

    refine: bool = True  # whether better groups than MDAV's are searched for
    ontology: Any = None  # of labels, what they mean
    least: int = 2  # k of the plan


class Explored(Protocol):
    """A table or a collection, and the ways to protect it."""

    @property
    def kind(self) -> str:
        """As in results.exploration.MEASURES."""

    @property
    def roles(self) -> Roles | None:
        """Of a table."""

    def trials(self) -> list[Trial]:
        """The ways that are tried."""

    def more_trials(self, outcomes: list[Outcome], best: Outcome | None) -> list[Trial]:
        """Ways next to the best so far, None if nothing keeps the limits."""

    def try_out(self, trial: Trial) -> Outcome | None:
        """Protect and attack it, in this process or another; None where these data cannot be protected so."""

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


def recommend(outcomes: Sequence[Outcome], limits: Limits) -> Outcome | None:
    """The best that keeps the limits; None when none does."""
    allowed = [outcome for outcome in outcomes if limits.kept_by(outcome)]
    if limits.max_risk is not None and limits.max_loss is None:
        return min(allowed, key=lambda outcome: (outcome.loss, outcome.risk, outcome.trial.name), default=None)
    if limits.max_loss is not None and limits.max_risk is None:
        return min(allowed, key=lambda outcome: (outcome.risk, outcome.loss, outcome.trial.name), default=None)
    return min(allowed, key=lambda outcome: (outcome.score, outcome.trial.name), default=None)


def reason(best: Outcome, outcomes: Sequence[Outcome], limits: Limits, k: int) -> str:
    """Why this one is recommended, in a sentence."""
    allowed = [outcome for outcome in outcomes if limits.kept_by(outcome)]
    least = "loss" if limits.max_risk is not None and limits.max_loss is None else "score"
    least = "risk" if limits.max_loss is not None and limits.max_risk is None else least
    what = {"loss": "loses least", "risk": "risks least", "score": "has the lowest mean of loss and risk"}[least]
    planned = next((one for one in outcomes if one.trial.method == AS_PLANNED and one.trial.k == k), None)
    than = ""
    if planned is not None and planned is not best:
        than = f"; the plan as it is loses {planned.loss:.1f} % and risks {planned.risk:.1f} %"
    kept = f"Of {len(allowed)} ways that keep the limits (of {len(outcomes)} tried)" if len(allowed) > 1 else "It"
    return f"{kept} it {what}: {best.loss:.1f} % lost, {best.risk:.1f} % found{than}.".replace("It it", "It")


@dataclass(frozen=True)
class Limits:
    """The most risk and loss in per cent, and the fewest records alike; None: any. And whether a crowd is a must."""

    max_risk: float | None = None  # of hardening, the records that a trained attacker finds
    max_loss: float | None = None  # IL of numbers has no upper bound
    min_k: int | None = None
    crowd: bool = True  # only what promises a crowd, whatever the data
    max_withheld: float | None = None
    min_overlap: float | None = None  # of the intervals of survey estimates

    def __post_init__(self) -> None:
        if self.max_risk is not None and not 0 <= self.max_risk <= 100:
            raise InputError(f"max_risk={self.max_risk!r} must be a number of per cent, from 0 to 100")
        if self.max_loss is not None and not 0 <= self.max_loss < float("inf"):
            raise InputError(f"max_loss={self.max_loss!r} must be a number of per cent, 0 or more")

    def kept_by(self, outcome: Outcome) -> bool:
        """Whether an outcome keeps them all."""
        return (
            self.crowd_kept_by(outcome)
            and (self.max_risk is None or outcome.risk <= self.max_risk)
            and (self.max_loss is None or outcome.loss <= self.max_loss)
            and (self.max_withheld is None or outcome.figures.get("withheld", 0.0) <= self.max_withheld)
            and (self.min_overlap is None or outcome.figures.get(OVERLAP, 0.0) >= self.min_overlap)
        )

    def crowd_kept_by(self, outcome: Outcome) -> bool:
        """Whether an outcome has the crowd that is asked for."""
        enough = self.min_k is None or outcome.smallest_group >= self.min_k
        return enough and (outcome.promises_crowd or not self.crowd)
