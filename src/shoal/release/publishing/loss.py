"""The loss as it is published."""

from __future__ import annotations

import math

from shoal.results.summary import StatedLoss
from shoal.results.utility import Loss

FEW = 30  # of fewer records that moved, figures about the originals tell each of them
FEW_RECORDS = f"of fewer than {FEW} records, figures about the originals tell each of them"


def stated_loss(loss: Loss, publishable: bool, reason: str | None = FEW_RECORDS, digits: int = 6) -> StatedLoss:
    """The loss as it is published: as measured, in so many digits; else the tenths it lies between, and why no more."""
    if publishable:
        sse, ssa = (float(f"{part:.{digits}g}") for part in (loss.sse, loss.ssa))
        share = Loss(sse, ssa).information_loss
        return StatedLoss(share, share, sse, ssa)
    if loss.sse <= 0.0:
        return StatedLoss(0.0, 0.0)  # nothing at all
    high = max(math.ceil(10.0 * loss.information_loss - 1e-9), 1)
    return StatedLoss((high - 1) / 10.0, high / 10.0, reason=reason)
