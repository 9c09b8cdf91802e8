"""Every public estimator does what scikit-learn asks of estimators."""

from __future__ import annotations

import warnings
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.label_baselines import LabelBaseline
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import shoal
from shoal.methods.numeric import ALONG_A_LINE
from shoal.methods.sketches import SketchKMeans, SketchNeighborsClassifier

SKETCHING = [shoal.DeltaSketch, shoal.KVarianceSketch, shoal.CrowdSketch]
PUBLIC = [
    public
    for public in (getattr(shoal, name) for name in shoal.__all__)
    if isinstance(public, type) and issubclass(public, BaseEstimator)
]
ESTIMATORS = [public for public in PUBLIC if public not in SKETCHING]
OTHER_METHODS = {"Microaggregation": tuple(ALONG_A_LINE)}
# These give fit_transform the fitted group's representative and transform the nearest one: where scikit-learn wants the
# two to be equal, they need not be.
COMPARE_FIT_TRANSFORM_WITH_TRANSFORM = dict.fromkeys(
    ("check_transformer_general", "check_transformer_data_not_an_array"),
    "fit_transform keeps the fitted groups, transform takes the nearest representative",
)
# What the tag skips, and sketches cannot do: they are no rectangular array, and a list is one of records.
SKETCHES_CANNOT = {
    "check_transformer_data_not_an_array": "a list of lists is one of records with their items, not of rows of numbers",
    "check_methods_subset_invariance": "sketches of different lengths, one by one, are arrays of different widths",
}


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
    return [*made, LabelBaseline(time_budget=0.001)]  # the benchmarks' baselines are one class


OF_SKETCHES = [SketchKMeans(), SketchNeighborsClassifier()]

# Masking is random indeed: without a seed never the same twice, and what happens to a row depends on the others.
RANDOM = (shoal.RankSwap, shoal.Noise)


def is_tagged(estimator: Any) -> bool:
    """Whether its tag says that it is not deterministic, for want of a better word."""
    return estimator.__sklearn_tags__().non_deterministic and not isinstance(estimator, RANDOM)


# Without the tag all checks run, those that it skips among them.
TAGGED = [estimator for estimator in instances() if is_tagged(estimator)]
UNTAGGED = [estimator for estimator in instances() if not is_tagged(estimator)]


def without_tag(estimator: type) -> Any:
    """Its tags, of which none says that it is not deterministic."""
    tagged = estimator.__sklearn_tags__

    def untagged(self):
        tags = tagged(self)
        tags.non_deterministic = False
        return tags

    return untagged


def test_the_estimators_are_found():
    assert {estimator.__name__ for estimator in PUBLIC} >= {
        "VectorSpace",
        "Microaggregation",
        "SphericalMicroaggregation",
        "RankSwap",
        "Noise",
        "CrowdSketch",
    }


@pytest.mark.parametrize("estimator", UNTAGGED, ids=lambda estimator: repr(estimator).replace("\n", ""))
def test_scikit_learns_checks_pass(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", message=".*rows are all zeros")
        check_estimator(estimator)


@pytest.mark.parametrize("estimator", OF_SKETCHES, ids=repr)
def test_scikit_learns_checks_pass_of_what_takes_sketches(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", message="a key made from random_state")
        check_estimator(estimator)


@pytest.mark.parametrize("estimator", SKETCHING)
def test_scikit_learns_checks_pass_for_sketches_with_those_that_the_tag_skips(estimator, monkeypatch):
    monkeypatch.setattr(estimator, "__sklearn_tags__", without_tag(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator(), expected_failed_checks=SKETCHES_CANNOT, on_fail=None)
    run = {result["check_name"]: result["status"] for result in results}
    assert run["check_pipeline_consistency"] == "passed"
    assert [name for name, status in run.items() if status == "failed"] == []


@pytest.mark.parametrize("estimator", SKETCHING)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_anything_but_numbers_are_not_sketched(estimator, kind):
    with pytest.raises(shoal.InputError, match=r"^column income has text or dates where numbers are needed"):
        estimator().fit(kind(NUMBERS | {"income": list("xyxyxy")}))
    with pytest.raises(shoal.InputError, match=r"^column age: 1 missing \(NaN\) or infinite value;"):
        estimator().fit(kind(NUMBERS | {"age": [23.0, np.nan, 58.0, 46.0, 18.0, 23.0]}))


@pytest.mark.parametrize("estimator", TAGGED, ids=lambda estimator: repr(estimator).replace("\n", ""))
def test_scikit_learns_checks_pass_with_those_that_the_tag_skips(estimator, monkeypatch):
    """The tag says non-deterministic for want of a better word; everything is deterministic, as is shown here."""
    monkeypatch.setattr(type(estimator), "__sklearn_tags__", without_tag(type(estimator)))
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


# What each kind of estimator takes: rows of numbers, texts, or dicts of words.
NUMBERS = {"age": [23.0, 18.0, 58.0, 46.0, 18.0, 23.0], "income": [25.0, 10.0, 12.0, 30.0, 10.0, 14.0]}
TEXTS = ["the heron eats a fish", "a fish swims", "the heron stands", "small fish", "a heron flies", "fish swim"]
WORDS = [{"horse": 0.7, "dog": 0.3}, {"lion": 0.5}, {"cat": 0.5, "dog": 0.5}, {"tiger": 1.0}, {"horse": 1.0}]
EACH_TYPE = pytest.mark.parametrize("estimator", ESTIMATORS)
OF_ROWS = [one for one in ESTIMATORS if one not in (shoal.VectorSpace, shoal.SemanticMicroaggregation)]
OF_NUMBERS = [one for one in OF_ROWS if one not in (shoal.CategoricalMicroaggregation, shoal.MixedMicroaggregation)]
EACH_OF_ROWS = pytest.mark.parametrize("estimator", OF_ROWS)
EACH_OF_NUMBERS = pytest.mark.parametrize("estimator", OF_NUMBERS)


def data_for(estimator: type) -> Any:
    if estimator is shoal.VectorSpace:
        return TEXTS
    return WORDS if estimator is shoal.SemanticMicroaggregation else pd.DataFrame(NUMBERS, index=list("abcdef"))


@EACH_TYPE
@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_gives_frames_whose_columns_are_the_feature_names(estimator, library, frame):
    data = data_for(estimator)
    model = clone(estimator().set_output(transform=library))
    for made in (model.fit_transform(data), model.transform(data)):
        assert isinstance(made, frame)
        assert list(made.columns) == model.get_feature_names_out().tolist()
        assert len(made) == len(data)


@EACH_TYPE
def test_a_pipeline_passes_set_output_on_and_names_its_features(estimator):
    data = data_for(estimator)
    pipeline = make_pipeline(estimator()).set_output(transform="pandas")
    made = pipeline.fit_transform(data)
    assert list(made.columns) == pipeline.get_feature_names_out().tolist()
    back = clone(pipeline).set_output(transform="default").fit_transform(data)
    assert type(back) is type(estimator().fit_transform(data))


@EACH_OF_ROWS
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_any_frame_in_gives_the_frame_that_was_asked_for(estimator, kind, library):
    seeded = {"random_state": 0} if "random_state" in estimator().get_params() else {}
    expected = estimator(**seeded).fit_transform(pd.DataFrame(NUMBERS))
    made = estimator(**seeded).set_output(transform=library).fit_transform(kind(NUMBERS))
    assert type(made).__module__.split(".")[0] == library
    assert {name: list(made[name]) for name in made.columns} == {name: list(expected[name]) for name in expected}


@EACH_OF_ROWS
def test_row_labels_and_column_names_are_kept(estimator):
    model = estimator()
    made = model.fit_transform(pd.DataFrame(NUMBERS, index=list("abcdef")))
    assert list(made.index) == list("abcdef")
    assert list(model.feature_names_in_) == ["age", "income"] == list(made.columns)
    assert model.n_features_in_ == 2


def test_texts_to_a_pandas_frame_stay_sparse_through_a_pipeline():
    texts = pd.Series(TEXTS, index=[5, 6, 7, 8, 9, 10])
    pipeline = make_pipeline(shoal.VectorSpace(min_df=1), shoal.SphericalMicroaggregation(2))
    expected = pipeline.fit_transform(texts).toarray()
    made = pipeline.set_output(transform="pandas").fit_transform(texts)
    assert all(isinstance(kind, pd.SparseDtype) for kind in made.dtypes)
    assert list(made.index) == list(texts.index)
    assert np.array_equal(made.to_numpy(), expected)


@EACH_OF_ROWS
def test_a_lazy_frame_is_refused_with_the_remedy(estimator):
    with pytest.raises(shoal.InputError, match=r"^X is a LazyFrame, whose rows are not computed yet; pass X.collect()"):
        estimator().fit(pl.LazyFrame(NUMBERS))


@EACH_OF_NUMBERS
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    "cells",
    [list("xyxyxy"), list("121212"), [date(2026, 1, day) for day in range(1, 7)], [datetime(2026, 1, 1)] * 6],
    ids=["text", "digits", "dates", "times"],
)
def test_text_and_dates_are_refused_in_one_line_that_names_the_column(estimator, kind, cells):
    table = kind(NUMBERS | {"income": cells})
    message = "^column income has text or dates where numbers are needed; convert them, or leave the column out$"
    with pytest.raises(shoal.InputError, match=message):
        estimator().fit(table)
    model = estimator().fit(kind(NUMBERS))
    with pytest.raises(shoal.InputError, match=message):
        model.transform(table)


@EACH_OF_NUMBERS
def test_arrays_and_lists_of_text_or_dates_are_refused_too(estimator):
    dates = np.array([["2026-01-01"], ["2026-01-02"], ["2026-01-03"]], dtype="datetime64[D]")
    for rows in (dates, dates.astype(str), dates.astype(object), [[1, "a"], [2, "b"], [3, "c"]]):
        with pytest.raises(shoal.InputError, match=r"^X has text or dates where numbers are needed; convert them"):
            estimator().fit(rows)


@pytest.mark.parametrize("estimator", [*OF_NUMBERS, shoal.MixedMicroaggregation])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, lambda table: np.array([*table.values()]).T])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_missing_and_infinite_numbers_are_counted_in_one_line(estimator, kind, wrong):
    with pytest.raises(
        shoal.InputError, match=r"^column (age|0): 2 missing \(NaN\) or infinite values.*; fill them, [^\n]*$"
    ):
        estimator().fit(kind(NUMBERS | {"age": [23.0, wrong, 58.0, 46.0, wrong, 23.0]}))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_a_table_is_not_one_document_for_each_of_its_columns(kind):
    with pytest.raises(
        shoal.InputError, match=r"^got a table \(\w+\); pass its column of texts, one document per row$"
    ):
        shoal.VectorSpace().fit(kind({"text": TEXTS}))
    with pytest.raises(shoal.InputError, match=r"^got a table \(ndarray\)"):
        shoal.VectorSpace().fit(np.array([TEXTS]))


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array, pd.Series, pl.Series])
def test_texts_come_in_any_sequence_of_strings(kind):
    expected = shoal.VectorSpace(min_df=1).fit_transform(TEXTS)
    assert (shoal.VectorSpace(min_df=1).fit_transform(kind(TEXTS)) != expected).nnz == 0
