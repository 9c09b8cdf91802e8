"""Ways to protect a table, each tried out: what it costs and what it risks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.io.pairs import numeric_table
from shoal.masking import Noise, RankSwap
from shoal.microaggregation import (
    CategoricalMicroaggregation,
    Microaggregation,
    MixedMicroaggregation,
    coarsened,
)
from shoal.protection.masked import equal_rows
from shoal.results.exploration import Outcome, Trial
from shoal.risk.disclosure import DisclosureRisk
from shoal.risk.equality import linked_by_equality
from shoal.utility.loss import table_loss

__all__ = [
    "TrialSetup",
    "coarser",
    "judged",
    "label_trials",
    "masked_by",
    "mixed_trials",
    "number_trials",
    "table_method_of",
    "try_out",
]

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
    found = [Trial("mdav", k=k) for k in KS]
    found += [Trial("mdav", k=k, attribute_groups=some) for some in ATTRIBUTES if some < n_columns for k in SOME_KS]
    found += [Trial(method, k=k) for method in ("ranking", "z-scores", "principal-component") for k in SOME_KS]
    found += [Trial("rank-swap", percent=p) for p in SWAPS]
    found += [Trial(method, percent=p) for method in ("noise", "correlated-noise") for p in NOISES]
    return [trial for trial in found if trial.k is None or trial.k <= n_rows]


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
        place = masked.column_names.index(column)
        masked = masked.set_column(place, column, pa.array(coarsened(masked[column], least)))
    return masked


def judged(trial: Trial, quasi: pa.Table, model: Any, masked: pa.Table) -> Outcome:
    """What the masked table lost and what it risks."""
    smallest = int(np.bincount(equal_rows([column.combine_chunks() for column in masked.columns])).min())
    if trial.method == "sa-mdav":
        linked = 100.0 * linked_by_equality(*_concepts(quasi, model))
        loss = 100.0 * float(model.information_loss_)
        return Outcome(trial, loss, linked, smallest, {"L": loss, "RL": linked})
    if isinstance(model, MixedMicroaggregation):
        linked, loss = 100.0 * _linked_to_nearest(quasi, model, masked), 100.0 * float(model.information_loss_)
        return Outcome(trial, loss, linked, smallest, {"L": loss, "RL": linked})
    before, after = numeric_table(quasi, "original"), numeric_table(masked, "protected")
    cost, risk = table_loss(before, after), DisclosureRisk().run(before, after)
    figures = {
        "IL1": 100.0 * cost.values,
        "IL2": 100.0 * cost.means,
        "IL3": 100.0 * cost.covariances,
        "IL4": 100.0 * cost.variances,
        "IL5": 100.0 * cost.correlations,
        "PIL": 100.0 * cost.probabilistic.mean,
        "squared error": 100.0 * cost.squared.information_loss,
        "linked, Euclidean": 100.0 * risk.euclidean.rate,
        "linked, Mahalanobis": 100.0 * risk.mahalanobis.rate,
        "linked, probabilistic": 100.0 * risk.probabilistic.rate,
        "interval disclosure": 100.0 * risk.interval.rate,
    }
    return Outcome(trial, cost.mean_change, risk.risk, smallest, figures)


def _concepts(quasi: pa.Table, model: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each row's concepts: what its labels meant, and what they became."""
    before = []
    for name, reading in zip(quasi.column_names, model.readings_, strict=True):
        concepts, codes, *_ = reading.encode(quasi[name].combine_chunks())
        before.append(concepts[codes])
    return np.column_stack(before), model.concepts_[model.groups_]


def _linked_to_nearest(quasi: pa.Table, model: Any, masked: pa.Table) -> float:
    """The chance that who has the originals finds a record's row: the nearest released one, among its equals."""
    nearest = model.transform(quasi)
    rows = [pa.concat_arrays([*one.chunks, *other.chunks]) for one, other in zip(masked, nearest, strict=True)]
    own, found = np.split(equal_rows(rows), 2)
    return float(np.mean((own == found) / np.bincount(own)[own]))
