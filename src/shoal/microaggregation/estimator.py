"""What every estimator that groups rows has in common."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from shoal.results.loss import Loss

__all__ = ["GroupsRows"]


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
