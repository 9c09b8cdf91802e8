"""Trials: ways to protect a table, each tried out, several at a time, and the best of them."""

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
import pyarrow as pa
from numpy.typing import NDArray

from shoal import progress
from shoal.attacks.disclosure import DisclosureRisk
from shoal.attacks.distance import linked_by_equality
from shoal.data import Roles
from shoal.data.columns import equal_rows
from shoal.data.pairs import numeric_table
from shoal.errors import InputError
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.masking import Noise, RankSwap
from shoal.methods.mixed import MixedMicroaggregation
from shoal.methods.numeric import Microaggregation, coarsened
from shoal.results.exploration import Outcome, Trial
from shoal.utility.loss import table_loss

KS = (3, 4, 5, 6, 8, 10, 15, 20)
SOME_KS = (3, 5, 10)
ATTRIBUTES = (2, 3, 4, 5, 6)  # Mic2 to Mic6
SWAPS = (1, 2, 3, 5, 7, 10, 15, 20)
NOISES = (1, 2, 5, 10, 15, 20)


@dataclass(frozen=True)
class TrialSetup:
    """What all trials of a table have in common."""

    refine: bool = True  # whether better groups than MDAV's are searched for
    ontology: Any = None  # of labels, what they mean
    mapping: Any = None
    kind: str = "numbers"  # as in results.exploration.MEASURES


def number_trials(n_rows: int, n_columns: int) -> list[Trial]:
    """Maskings of a table of numbers: microaggregation of all columns and of some at a time, swapping, noise."""
    trials = [Trial("mdav", k=k) for k in KS]
    trials += [Trial("mdav", k=k, attribute_groups=size) for size in ATTRIBUTES if size < n_columns for k in SOME_KS]
    trials += [Trial(method, k=k) for method in ("ranking", "z-scores", "principal-component") for k in SOME_KS]
    trials += [Trial("rank-swap", percent=p) for p in SWAPS]
    trials += [Trial(method, percent=p) for method in ("noise", "correlated-noise") for p in NOISES]
    return [trial for trial in trials if trial.k is None or trial.k <= n_rows]


def label_trials(n_rows: int) -> list[Trial]:
    """Maskings of a table of labels."""
    return [Trial("sa-mdav", k=k) for k in KS if k <= n_rows]


def mixed_trials(n_rows: int) -> list[Trial]:
    """Maskings of a table of numbers and labels: only microaggregation knows both."""
    return [Trial("mdav", k=k) for k in KS if k <= n_rows]


def table_method_of(trial: Trial, setup: TrialSetup, seed: int | None = None) -> Any:
    """The estimator that does it. Noise and swaps take a seed only to be compared; a release draws its own."""
    if trial.percent is not None:
        if trial.method == "rank-swap":
            return RankSwap(trial.percent, random_state=seed)
        return Noise(trial.percent, correlated=trial.method == "correlated-noise", random_state=seed)
    k, meaning = trial.k or 2, {"ontology": setup.ontology, "mapping": setup.mapping}
    if trial.method == "sa-mdav":
        return CategoricalMicroaggregation(k, refine=setup.refine, **meaning)
    if setup.kind == "mixed":
        return MixedMicroaggregation(k, refine=setup.refine, **meaning)
    return Microaggregation(k, method=trial.method, attribute_groups=trial.attribute_groups, refine=setup.refine)


def try_out(trial: Trial, quasi: pa.Table, setup: TrialSetup) -> Outcome:
    """Mask the table and attack it."""
    model, masked = masked_by(trial, quasi, setup)
    return judged(trial, quasi, model, masked)


def masked_by(trial: Trial, quasi: pa.Table, setup: TrialSetup) -> tuple[Any, pa.Table]:
    """What masked the table, and the table it made; columns are coarsened after that."""
    model = table_method_of(trial, setup, seed=0).set_output(transform="default")
    return model, coarser(model.fit_transform(quasi), trial.coarsen)


def coarser(masked: pa.Table, coarsen: tuple[tuple[str, int], ...]) -> pa.Table:
    """The masked table with these columns coarsened."""
    for column, least in coarsen:
        index = masked.column_names.index(column)
        masked = masked.set_column(index, column, pa.array(coarsened(masked[column], least)))
    return masked


def judged(trial: Trial, quasi: pa.Table, model: Any, masked: pa.Table) -> Outcome:
    """What the masked table lost and what it risks."""
    smallest = int(np.bincount(equal_rows(masked, masked.column_names)).min())
    if trial.method == "sa-mdav":
        linked = 100.0 * linked_by_equality(*_concepts(quasi, model))
        loss = 100.0 * float(model.information_loss_)
        return Outcome(trial, loss, linked, smallest, {"L": loss, "RL": linked})
    if isinstance(model, MixedMicroaggregation):
        linked, loss = 100.0 * _linked_to_nearest(quasi, model, masked), 100.0 * float(model.information_loss_)
        return Outcome(trial, loss, linked, smallest, {"L": loss, "RL": linked})
    before, after = numeric_table(quasi, "original"), numeric_table(masked, "protected")
    cost, risk = table_loss(before, after), DisclosureRisk().run(before, after)
    linked = 100.0 * max(rate.rate for rate in (risk.euclidean, risk.mahalanobis, risk.probabilistic))
    figures = {
        "IL": cost.mean_change,
        "IL1": 100.0 * cost.values,
        "IL2": 100.0 * cost.means,
        "IL3": 100.0 * cost.covariances,
        "IL4": 100.0 * cost.variances,
        "IL5": 100.0 * cost.correlations,
        "PIL": 100.0 * cost.probabilistic.mean,
        "DR": risk.risk,
        "linked, Euclidean": 100.0 * risk.euclidean.rate,
        "linked, Mahalanobis": 100.0 * risk.mahalanobis.rate,
        "linked, probabilistic": 100.0 * risk.probabilistic.rate,
        "interval disclosure": 100.0 * risk.interval.rate,
    }
    return Outcome(trial, 100.0 * cost.squared.information_loss, linked, smallest, figures)


def _concepts(quasi: pa.Table, model: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each row's concepts: what its labels meant, and what they became."""
    before = []
    for name, reading in zip(quasi.column_names, model.readings_, strict=True):
        concepts, codes, *_ = reading.encode(quasi[name].combine_chunks())
        before.append(concepts[codes])
    return np.column_stack(before), model.concepts_[model.groups_]


def _linked_to_nearest(quasi: pa.Table, model: Any, masked: pa.Table) -> float:
    """Probability that an attacker with the originals links a record to its row: the nearest, among its equals."""
    nearest = model.transform(quasi)
    columns = [
        pa.concat_arrays([*released.chunks, *other.chunks]) for released, other in zip(masked, nearest, strict=True)
    ]
    both = pa.Table.from_arrays(columns, masked.column_names)
    own, linked = np.split(equal_rows(both, both.column_names), 2)
    return float(np.mean((own == linked) / np.bincount(own)[own]))


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


@dataclass(frozen=True)
class Limits:
    """The most risk and loss in per cent, and the fewest records alike; None: any. And whether a crowd is a must."""

    max_risk: float | None = None  # of hardening, the records that a trained attacker finds
    max_loss: float | None = None  # IL of numbers has no upper bound
    min_k: int | None = None
    crowd: bool = True  # only what promises a crowd, whatever the data

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
        )

    def crowd_kept_by(self, outcome: Outcome) -> bool:
        """Whether an outcome has the crowd that is asked for."""
        enough = self.min_k is None or outcome.smallest_group >= self.min_k
        return enough and (outcome.promises_crowd or not self.crowd)
