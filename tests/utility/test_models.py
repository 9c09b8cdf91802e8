"""Models from protected tables: what must come out for tables that keep everything, or nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shoal import InputError, Microaggregation
from shoal.utility.models import Target, _means_of_the_rest, _nearest, model_utility


def people(n: int, seed: int) -> np.ndarray:
    """Pay follows from age and years of school, and some luck."""
    random = np.random.default_rng(seed)
    age, school = random.uniform(20, 60, n), random.uniform(8, 18, n)
    return np.column_stack([age, school, 0.5 * age + 2 * school + random.normal(size=n)])


def test_an_unprotected_table_teaches_what_the_original_does():
    X = people(120, 0)
    utility = model_utility(X, X, target=2)
    assert (utility.target, utility.folds) == ("column 3", 5)
    assert [(score.task, score.model) for score in utility.scores] == [
        ("regression", "ridge regression"),
        ("regression", "boosted trees"),
        ("classification", "logistic regression"),
        ("classification", "boosted trees"),
    ]
    for score in utility.scores:
        assert score.original == score.protected > 0.7
    assert utility.scores[0].baseline == 0  # R2 is counted from the best constant guess
    assert 0.4 < utility.scores[2].baseline < 0.6  # half is above the median


def test_a_table_of_noise_teaches_nothing():
    X = people(150, 1)
    noise = np.random.default_rng(0).permuted(X, axis=0)
    ridge, _, logistic, _ = model_utility(X, noise, target=2).scores
    assert ridge.protected < 0.2 < ridge.original
    assert logistic.protected < 0.75 < logistic.original


def test_groups_are_not_crossed_by_folds():
    # All protected rows of a group are equal to the last: a model that knew a held-out record by its group would
    # find its target without error, and the target is noise.
    random = np.random.default_rng(0)
    X = np.column_stack([random.random(100), random.random(100)])
    protected = np.repeat(X[::2], 2, axis=0)
    for score in model_utility(X, protected, target=1).scores[:2]:
        assert score.protected < 0.1


@pytest.mark.parametrize("k", [3, 10, 20])
def test_a_binary_target_that_nothing_predicts_is_right_half_the_time_as_in_ordinary_cross_validation(k: int):
    # Averaged with the others, groups are of one class each: to hold out whole groups leaves the other class in
    # their place, and 0.25 to 0.4 was right.
    random = np.random.default_rng(1)
    X = np.column_stack([random.normal(size=(200, 3)), random.permutation(np.arange(200) % 2)])
    protected = np.asarray(Microaggregation(k=k, refine=False).fit_transform(X))
    for score in model_utility(X, protected, target=3).scores:
        assert 0.42 < score.original < 0.58
        assert 0.42 < score.protected < 0.58
        assert score.baseline == 0.5


def test_the_means_that_are_trained_on_leave_the_held_out_rows_out():
    target = Target(
        "y", np.array([1.0, 2, 6, 5]), np.array([3.0, 3, 3, 5]), False
    )  # means of rows 0 to 2, and of row 3
    groups, held_out = np.array([0, 0, 0, 1]), np.array([False, False, True, False])
    assert _means_of_the_rest(target, groups, held_out)[~held_out].tolist() == [1.5, 1.5, 5]


def test_few_values_are_classes_and_a_protected_value_is_the_nearest_of_them():
    assert _nearest(np.array([0.0, 1.0, 5.0]), np.array([-1, 0.2, 0.5, 0.6, 2.9, 3.1, 9])).tolist() == [
        *[0, 0, 0, 1],
        *[1, 2, 2],
    ]
    X = people(120, 2)
    frame = pd.DataFrame({"age": X[:, 0], "school": X[:, 1], "paid": (X[:, 2] > 46).astype(int)})
    masked = pd.DataFrame(np.asarray(Microaggregation(k=3).fit_transform(frame)), columns=frame.columns)
    utility = model_utility(frame, masked, target="paid")
    assert {score.task for score in utility.scores} == {"classification"}
    assert all(score.protected > score.baseline for score in utility.scores)


def test_labels_beside_the_table_are_learnt_from_all_columns():
    X = people(120, 3)
    well_paid = (X[:, 2] > 46).astype(float)
    target = Target("labels", well_paid, well_paid, True)
    utility = model_utility(X, np.asarray(Microaggregation(k=3).fit_transform(X)), target)
    assert utility.target == "labels"
    assert utility.known == ("column 1", "column 2", "column 3")
    assert utility.scores[0].protected > 0.9


def test_labels_that_were_changed_are_learnt_as_they_are_and_found_out_by_the_originals():
    X = people(120, 3)
    paid = (X[:, 2] > 46).astype(float)
    told = model_utility(X, X, Target("pay", paid, paid, True)).scores[0]
    lied = model_utility(X, X, Target("pay", paid, 1 - paid, True)).scores[0]
    blurred = model_utility(X, X, Target("pay", paid, np.full(120, 2.0), True)).scores[0]  # a class nobody had
    assert told.protected == told.original > 0.9
    assert lied.protected == pytest.approx(1 - told.protected, abs=0.02)
    assert blurred.protected == 0


def test_there_are_no_more_folds_than_different_protected_rows():
    X = people(12, 7)
    assert model_utility(X, np.repeat(X[::4], 4, axis=0), 2).folds == 3


def test_the_order_of_rows_changes_nothing():
    X = people(80, 4)
    Y = np.asarray(Microaggregation(k=4, refine=False).fit_transform(X))
    shuffled = np.random.default_rng(0).permutation(80)
    one, other = model_utility(X, Y, 2).scores, model_utility(X[shuffled], Y[shuffled], 2).scores
    for mine, yours in zip(one, other, strict=True):
        assert (mine.original, mine.protected) == (pytest.approx(yours.original), pytest.approx(yours.protected))


def test_protection_that_leaves_one_value_leaves_the_guess():
    X = people(60, 5)
    utility = model_utility(X, np.column_stack([X[:, :2], np.full(60, X[:, 2].mean())]), 2)
    assert utility.scores[0].protected == pytest.approx(0, abs=0.05)


def test_the_figures_are_a_table():
    X = people(60, 6)
    rows = model_utility(X, X, 2).rows()
    assert [row["measure"] for row in rows] == ["R2", "R2", "accuracy", "accuracy"]
    assert list(rows[0]) == ["target", "task", "model", "measure", "original", "protected", "baseline"]


TABLE = people(12, 7)


@pytest.mark.parametrize(
    ("original", "protected", "target", "said"),
    [
        (TABLE, TABLE[:-1], 2, "12 rows and the protected table 11"),
        (TABLE, TABLE, 3, "target=3 is not a column"),
        (TABLE, TABLE, "pay", "target='pay' is not a column; there are: column 1"),
        (TABLE[:, :1], TABLE[:, :1], 0, "a table of one column"),
        (TABLE * [1, 1, 0], TABLE, 2, "column 3 is 0 in all rows"),
        (TABLE, TABLE * 0 + 1, 2, "2 folds need as many different protected rows, there are 1"),
        (TABLE, TABLE, Target("labels", np.zeros(12), np.zeros(12), True), "labels is one class in all rows"),
    ],
)
def test_what_cannot_be_learnt_is_refused(original, protected, target, said):
    with pytest.raises(InputError, match=said):
        model_utility(original, protected, target)
