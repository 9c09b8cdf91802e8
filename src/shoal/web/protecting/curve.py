"""Loss and risk against k, as the page draws them."""

from __future__ import annotations

from typing import Any

from shoal.errors import InputError
from shoal.request.request import Request

ENGLISH = "english"


def estimate(plan: Request, n_rows: int) -> dict[str, Any]:
    """The points of the curve, what its two lines are, and how many records it was computed on.

    It is estimated aside, where what it needs is loaded. `n_rows` are the records of the whole file.
    """
    from shoal.assessment.exploration.curve import curve_over_k

    if plan.words.language not in (None, ENGLISH):
        raise InputError("loss and risk are estimated for English texts only; Protect does without")
    found = curve_over_k(plan)
    return {
        "points": [{"k": point.k, "loss": point.loss, "risk": point.risk} for point in found.points],
        "sample": found.sample,
        "records": found.records,
        "withheld": n_rows - found.records if plan.columns.missing == "withhold" else 0,
        "loss": found.measures.loss_in_words,
        "risk": found.measures.risk_in_words,
    }
