"""Every public estimator does what scikit-learn asks of estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import shoal
from shoal.microaggregation.categorical import METHODS
from shoal.microaggregation.numeric import ALONG_A_LINE

ESTIMATORS = [
    public
    for public in (getattr(shoal, name) for name in shoal.__all__)
    if isinstance(public, type) and issubclass(public, BaseEstimator)
]
OTHER_METHODS = {
    "Microaggregation": tuple(ALONG_A_LINE),
    "CategoricalMicroaggregation": tuple(method for method in METHODS if method != "sa-mdav"),
}
# These give fit_transform the fitted group's representative and transform the nearest one: where scikit-learn wants the
# two to be equal, they need not be.
COMPARE_FIT_TRANSFORM_WITH_TRANSFORM = dict.fromkeys(
    ("check_transformer_general", "check_transformer_data_not_an_array"),
    "fit_transform keeps the fitted groups, transform takes the nearest representative",
)


def instances() -> list[Any]:
    made: list[Any] = []
    for estimator in ESTIMATORS:
        brief = {"time_budget": 0.001} if "time_budget" in estimator().get_params() else {}
        made.append(estimator(**brief))
        if brief:
            made.append(estimator(refine=not estimator().refine, **brief))
        made += [estimator(method=method, **brief) for method in OTHER_METHODS.get(estimator.__name__, ())]
        if "correlated" in estimator().get_params():
            made.append(estimator(correlated=True))
    return made


EACH = pytest.mark.parametrize("estimator", instances(), ids=lambda estimator: repr(estimator).replace("\n", ""))
# Masking is random indeed: without a seed never the same twice, and what happens to a row depends on the others.
RANDOM = (shoal.RankSwap, shoal.Noise)
TAGGED = [
    estimator
    for estimator in instances()
    if estimator.__sklearn_tags__().non_deterministic and not isinstance(estimator, RANDOM)
]


def test_the_estimators_are_found():
    assert {estimator.__name__ for estimator in ESTIMATORS} >= {
        "VectorSpace",
        "Microaggregation",
        "SphericalMicroaggregation",
        "RankSwap",
        "Noise",
    }


@EACH
def test_scikit_learns_checks_pass(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", message=".*rows are all zeros")
        check_estimator(estimator)


@pytest.mark.parametrize("estimator", TAGGED, ids=lambda estimator: repr(estimator).replace("\n", ""))
def test_the_checks_that_the_tag_skips_pass_too(estimator, monkeypatch):
    """The tag says non-deterministic for want of a better word; everything is deterministic, as is shown here."""
    tagged = type(estimator).__sklearn_tags__

    def untagged(self):
        tags = tagged(self)
        tags.non_deterministic = False
        return tags

    monkeypatch.setattr(type(estimator), "__sklearn_tags__", untagged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=COMPARE_FIT_TRANSFORM_WITH_TRANSFORM, on_fail=None)
    run = {result["check_name"]: result["status"] for result in results}
    assert run["check_methods_sample_order_invariance"] == "passed"
    assert run["check_methods_subset_invariance"] == "passed"
    assert run["check_pipeline_consistency"] == "passed"
    assert [name for name, status in run.items() if status == "failed"] == []


@pytest.mark.parametrize("estimator", TAGGED, ids=lambda estimator: repr(estimator).replace("\n", ""))
def test_fitting_again_gives_the_same_bytes(estimator):
    X = np.random.default_rng(0).random((60, 4))
    one, two = clone(estimator), clone(estimator)
    assert one.fit_transform(X).tobytes() == two.fit_transform(X).tobytes()
    assert one.transform(X).tobytes() == two.fit(X).transform(X).tobytes()
