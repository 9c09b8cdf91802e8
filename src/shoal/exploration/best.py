"""The best of what was tried: all that no other beats, and the one to recommend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shoal.exploration.limits import Limits
from shoal.results.exploration import Outcome

__all__ = ["pareto_front", "recommend"]


def pareto_front(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that no other beats in loss and risk both, by rising risk."""
    front: list[Outcome] = []
    for one in sorted(outcomes, key=lambda one: (one.risk, one.loss, one.trial.name)):
        if not front or one.loss < front[-1].loss:
            front.append(one)
    return front


def recommend(outcomes: Sequence[Outcome], limits: Limits) -> Outcome | None:
    """The best that keeps the limits; None when none does."""
    allowed = [one for one in outcomes if limits.kept_by(one)]
    if limits.max_risk is not None and limits.max_loss is None:
        return min(allowed, key=lambda one: (one.loss, one.risk, one.trial.name), default=None)
    if limits.max_loss is not None and limits.max_risk is None:
        return min(allowed, key=lambda one: (one.risk, one.loss, one.trial.name), default=None)
    return min(allowed, key=lambda one: (one.score, one.trial.name), default=None)
