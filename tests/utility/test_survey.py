"""Survey estimates: worked by hand, and against derivatives by the weights and a variance summed in loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from shoal.results.survey import MODELS, ComparedEstimate, Estimate, SurveyUtility
from shoal.utility import survey
from shoal.utility.survey import Design

RANDOM = np.random.default_rng(7)
N = 40
Y = RANDOM.gamma(2.0, 10.0, N).round(1)
X = np.column_stack([np.ones(N), RANDOM.normal(size=N), RANDOM.integers(0, 2, N)])
EVENT = (RANDOM.random(N) < 1 / (1 + np.exp(-0.8 * X[:, 1]))).astype(float)
DESIGN = Design(RANDOM.uniform(1, 5, N).round(2), np.repeat([0, 1, 2, 3], 10), np.arange(N) // 2 % 5)


def variance_in_loops(weights: np.ndarray, influence: np.ndarray, design: Design) -> float:
    """Clusters' totals within their strata, one after the other."""
    total = 0.0
    for stratum in sorted(set(design.strata.tolist())):
        sums: dict[int, float] = {}
        for row in np.flatnonzero(design.strata == stratum).tolist():
            cluster = int(design.clusters[row])
            sums[cluster] = sums.get(cluster, 0.0) + weights[row] * influence[row]
        middle = sum(sums.values()) / len(sums)
        total += len(sums) / (len(sums) - 1) * sum((one - middle) ** 2 for one in sums.values())
    return total


def derivative(statistic: Callable[[Design], float]) -> np.ndarray:
    """By each weight, from a small step to either side."""
    slopes = np.empty(N)
    for row in range(N):
        step = np.zeros(N)
        step[row] = 1e-5
        up, down = (statistic(Design(DESIGN.weights + sign * step)) for sign in (1, -1))
        slopes[row] = (up - down) / 2e-5
    return slopes


@pytest.mark.parametrize(
    "estimate",
    [
        lambda design: survey.total(Y, design),
        lambda design: survey.mean(Y, design),
        lambda design: survey.share(Y > 20, Y < 50, design),
        lambda design: survey.gini(Y, design),
        lambda design: survey.linear(Y, X, design)[1],
        lambda design: survey.linear(Y, X, design)[2],
        lambda design: survey.logistic(EVENT, X, design)[1],
        lambda design: survey.logistic(EVENT, X, design)[2],
    ],
    ids=["total", "mean", "share", "gini", "slope", "difference", "log odds", "log odds of a category"],
)
def test_the_error_of_a_statistic_is_that_of_the_total_of_its_derivatives(
    estimate: Callable[[Design], Estimate],
) -> None:
    slopes = derivative(lambda design: estimate(design).value)
    expected = variance_in_loops(DESIGN.weights, slopes, DESIGN)
    assert estimate(DESIGN).error ** 2 == pytest.approx(expected, rel=1e-4)


def test_a_mean_and_a_total_worked_by_hand() -> None:
    values, design = np.array([1.0, 2.0, 4.0, np.nan]), Design(np.array([1.0, 1.0, 2.0, 5.0]))
    assert survey.mean(values, design).value == pytest.approx(11 / 4)
    # Weighted influences (y - 11/4) / 4 · w: -7/16, -3/16, 10/16, 0; they add up to 0.
    assert survey.mean(values, design).error ** 2 == pytest.approx(4 / 3 * (49 + 9 + 100) / 256)
    # Weighted values 1, 2, 8, 0: 69 - 4 · 2.75² = 38.75.
    assert survey.total(values, design).error ** 2 == pytest.approx(4 / 3 * 38.75)


def test_a_stratum_with_a_single_cluster_counts_by_its_distance_from_all() -> None:
    design = Design(np.ones(3), np.array([0, 0, 1]))
    # Stratum 0: 2/1 · (0.25 + 0.25); stratum 1: (6 - 3)².
    assert survey.total(np.array([1.0, 2.0, 6.0]), design).error ** 2 == pytest.approx(1.0 + 9.0)


def test_quantiles_and_gini_of_a_few_values() -> None:
    even = Design(np.ones(4))
    assert survey.quantile(np.array([4.0, 1.0, 3.0, 2.0]), 0.5, even).value == 2
    assert survey.quantile(np.array([4.0, 1.0, 3.0, 2.0]), 0.51, even).value == 3
    assert survey.quantile(np.array([4.0, 1.0, np.nan, 2.0]), 1.0, even).value == 4
    assert survey.quantile(np.full(4, np.nan), 0.5, even) is None
    assert survey.gini(np.array([0.0, 0.0, 0.0, 8.0]), even).value == pytest.approx(0.75)
    assert survey.gini(np.full(4, 3.0), even).value == pytest.approx(0)
    assert survey.gini(np.array([-1.0, 1.0, 1.0, 1.0]), even) is None


def test_predictors_that_repeat_others_and_events_that_are_separated_have_no_coefficient() -> None:
    twice = np.column_stack([X, X[:, 1] * 2])
    assert survey.linear(Y, twice, DESIGN)[3] is None
    assert survey.linear(Y, twice, DESIGN)[1] == survey.linear(Y, X, DESIGN)[1]
    assert survey.logistic((X[:, 1] > 0).astype(float), X[:, :2], DESIGN) == [None, None]


def test_intervals_overlap_by_what_they_share() -> None:
    unit = 1 / 1.959963984540054  # an interval one to either side

    def compared(after: Estimate | None) -> ComparedEstimate:
        return ComparedEstimate(MODELS, "coefficient", "age", Estimate(2.0, unit), after)

    assert compared(Estimate(2.0, unit)).overlap == pytest.approx(1)
    assert compared(Estimate(3.0, unit)).overlap == pytest.approx(0.5)
    assert compared(Estimate(3.0, 2 * unit)).overlap == pytest.approx((1 + 0.5) / 2)  # [1, 3] and [1, 5]
    assert compared(Estimate(9.0, unit)).overlap == 0
    constant = ComparedEstimate(MODELS, "mean", "year", Estimate(2023.0, 0.0), Estimate(2022.9999999999993, 0.0))
    assert constant.overlap == 1
    assert compared(None).overlap == 0
    assert compared(Estimate(3.0, unit)).relative_error == pytest.approx(0.5)
    assert [compared(one).kept for one in (Estimate(3.0, unit), Estimate(0.5, unit), Estimate(-3.0, unit))] == [
        True,
        False,
        False,
    ]
    both = SurveyUtility("with replacement", (compared(Estimate(2.5, unit)), compared(None)))
    assert (both.within, both.conclusions) == (1, (1, 2))
