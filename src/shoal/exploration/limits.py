"""Limits: what a recommended protection must keep."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import InputError
from shoal.results.exploration import Outcome

__all__ = ["Limits"]


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
