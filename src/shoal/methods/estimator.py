"""What every estimator that groups rows has in common: parameters, their checks, and the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shoal.errors import InputError
from shoal.results.utility import Loss


class GroupsRows(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in, for each row the representative of its group out, one column per column."""

    def __init__(self, k: int, refine: bool, time_budget: float | None, random_state: int | None) -> None:
        self.k = k
        self.refine = refine
        self.time_budget = time_budget
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # transform gives the nearest representative, fit_transform the fitted group's: they may differ, and
        # scikit-learn has no other word for that. Both are deterministic; tests/test_conformance.py holds them to it.
        tags.non_deterministic = True
        return tags

    def _store_loss(self, loss: Loss) -> None:
        self.loss_ = loss
        self.sse_ = loss.sse
        self.information_loss_ = loss.information_loss


def check_k(k: object, n_rows: int) -> int:
    """k as an int of at least 2 and at most the number of rows."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        raise InputError(f"k={k!r} must be a whole number of at least 2")
    if k < 2:
        raise InputError(f"k={k} must be at least 2: a group of one hides nobody")
    if k > n_rows:
        raise InputError(f"k={k} needs at least {k} rows, got {n_rows} (n_samples={n_rows}); lower k or add rows")
    return int(k)


def check_time_budget(time_budget: object) -> None:
    """None or a positive number."""
    if time_budget is None:
        return
    number = isinstance(time_budget, int | float | np.number) and not isinstance(time_budget, bool)
    if not number or not 0 < float(time_budget) < np.inf:  # type: ignore[arg-type]
        raise InputError(f"time_budget={time_budget!r} must be a number of seconds above 0, or None for a few seconds")
