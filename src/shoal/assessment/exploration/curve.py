"""Loss and risk against k, estimated on a sample in seconds: a first look before choosing k."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.assessment.exploration.tables import ExploredTable, open_explored
from shoal.assessment.exploration.trials import timed
from shoal.attacks.rates import check_count, sample_rows
from shoal.errors import InputError
from shoal.request.request import Request
from shoal.results.exploration import AS_PLANNED, Curve, CurvePoint, Trial

KS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
SAMPLE = {"documents": 1_000}  # records looked at, where a kind of data has others than these:
MOST = 2_000


def curve_over_k(
    request: Request, *, ks: Sequence[int] = KS, sample: int | None = None, random_state: int = 0
) -> Curve:
    """What crowds of each size cost and risk, estimated on a sample of the records, without the search for groups.

    A sample is thinner than all records, so its groups are wider: a release usually loses less than the curve says.

    Parameters
    ----------
    request : Request, what `explore` takes of the source
    ks : sequence of int; those above the number of records are left out
    sample : int, the most records to look at; 2,000 of a table and 1,000 documents unless given

    Examples
    --------
    >>> import pandas as pd
    >>> from shoal.assessment.exploration.curve import curve_over_k
    >>> from shoal.request.request import Request
    >>> people = pd.DataFrame({"age": range(100), "pay": [one % 7 for one in range(100)]})
    >>> curve = curve_over_k(Request.of(people, {}), ks=(2, 10))
    >>> [point.k for point in curve.points], curve.estimate, curve.sample
    ([2, 10], True, 100)
    """
    for k in ks:
        if check_count(k, "k") < 2:
            raise InputError(f"k={k} must be a whole number of at least 2")
    explored = open_explored(request.with_options(refine=False, k=2), varied=False)
    most = SAMPLE.get(explored.kind, MOST) if sample is None else check_count(sample, "sample")
    n_records = len(explored)
    n_released = n_records
    if isinstance(explored, ExploredTable) and request.columns.missing == "withhold":
        n_released = explored.ways.n_rows
    if most < n_records:
        explored = explored.sample(sample_rows(n_records, most, random_state))
    method = "mdav" if explored.kind == "documents" else AS_PLANNED
    outcomes = (timed(explored, Trial(method, k=int(k))) for k in sorted(set(ks)) if k <= len(explored))
    points = (
        CurvePoint(outcome.trial.k or 0, outcome.loss, outcome.risk, outcome.seconds)
        for outcome in outcomes
        if outcome is not None
    )
    return Curve(explored.kind, tuple(points), len(explored), n_released)
