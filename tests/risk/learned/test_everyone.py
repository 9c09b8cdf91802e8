"""Everyone in a table linked through boxes, against all pairs in blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.risk.learned import everyone
from shoal.risk.learned.linking import chances
from shoal.risk.learned.measures import made_monotone, moebius, set_sizes
from shoal.risk.learned.records import label_columns, side_by_side
from shoal.risk.proof.families import OWA, Bilinear, Choquet, WeightedMean

WHOLE = st.integers(0, 3).map(float)  # few distinct values: ties and equal rows
ANY = st.floats(-100, 100, allow_subnormal=False).map(lambda value: round(value, 3))


@st.composite
def tables(draw):
    """Records before and after; some columns constant, some records masked to the same."""
    width = draw(st.integers(1, 6))
    value = draw(st.sampled_from([WHOLE, ANY]))
    row = st.lists(value, min_size=width, max_size=width)
    n = draw(st.integers(2, 40))
    before = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    after = before + np.array(draw(st.lists(row, min_size=n, max_size=n))) * draw(st.sampled_from([0.0, 0.1, 1.0]))
    after[: draw(st.integers(0, n))] = after[0]
    constant = draw(st.sets(st.integers(0, width - 1), max_size=2))
    before[:, list(constant)] = 1.0
    return side_by_side(before, after)


def census(n_records, n_attributes, seed=0):
    """Correlated records and the same with some noise, rounded so that some tie."""
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, 2)) @ random.normal(size=(2, n_attributes))
    before = (before + random.normal(size=before.shape)).round(1)
    return side_by_side(before, (before + 0.2 * random.normal(size=before.shape)).round(1))


def simplex(random, n):
    """Weights that sum to 1, some of them 0."""
    weights = random.random(n) * (random.random(n) < 0.7)
    weights[random.integers(n)] += 0.1
    return weights / weights.sum()


def owa_measure(weights):
    return np.concatenate([[0.0], np.cumsum(weights)])[set_sizes(len(weights))]


def monotone(random, n):
    mu = random.random(2**n) * (random.random(2**n) < 0.8)
    return made_monotone(mu)


@given(tables(), st.integers(0, 2**32 - 1))
def test_boxes_find_whom_all_pairs_find(records, seed):
    n, random = records.n_attributes, np.random.default_rng(seed)
    weights = simplex(random, n)
    expected = chances(records, WeightedMean(n), weights)
    assert everyone.chances_of_weights(records, weights).tolist() == expected.tolist()
    ordered = simplex(random, n)
    expected = chances(records, OWA(n), ordered)
    assert everyone.chances_of_measure(records, owa_measure(ordered)).tolist() == expected.tolist()
    choquet = Choquet(n)
    parameters = moebius(monotone(random, n))[choquet.sets]
    expected = chances(records, choquet, parameters)
    assert everyone.chances_of_measure(records, choquet.measure(parameters)).tolist() == expected.tolist()
    bilinear = Bilinear(n)
    parameters = random.uniform(-1, 1, bilinear.size)
    expected = chances(records, bilinear, parameters)
    assert everyone.chances_of_matrix(records, bilinear.matrix(parameters)).tolist() == expected.tolist()
    turn = random.normal(size=(n, random.integers(1, n + 1)))
    expected = chances(records, bilinear, (turn @ turn.T)[np.triu_indices(n)])
    assert everyone.chances_of_turn(records, turn).tolist() == expected.tolist()


@pytest.mark.parametrize("n_attributes", [1, 2, 5, 6])
def test_several_groups_of_boxes_find_whom_all_pairs_find(n_attributes):
    records, random = census(2500, n_attributes), np.random.default_rng(n_attributes)
    weights = simplex(random, n_attributes)
    expected = chances(records, WeightedMean(n_attributes), weights)
    assert everyone.chances_of_weights(records, weights).tolist() == expected.tolist()
    choquet = Choquet(n_attributes)
    mu = monotone(random, n_attributes)
    expected = chances(records, choquet, moebius(mu)[choquet.sets])
    assert everyone.chances_of_measure(records, mu).tolist() == expected.tolist()
    matrix = Bilinear(n_attributes).matrix(random.uniform(-0.1, 0.1, Bilinear(n_attributes).size))
    matrix += np.eye(n_attributes) * 0.2  # some of it may be negative
    expected = chances(records, Bilinear(n_attributes), matrix[np.triu_indices(n_attributes)])
    assert everyone.chances_of_matrix(records, matrix).tolist() == expected.tolist()


def test_a_measure_that_a_solver_left_slightly_falling_hides_nobody():
    records, random = census(2500, 3), np.random.default_rng(0)
    for _ in range(5):
        mu = monotone(random, 3)
        mu[1:] += random.uniform(-1e-3, 1e-3, 7)
        mu = np.maximum(mu, 0.0)
        choquet = Choquet(3)
        expected = chances(records, choquet, moebius(mu)[choquet.sets])
        assert everyone.chances_of_measure(records, mu).tolist() == expected.tolist()


def labelled(n_records):
    random = np.random.default_rng(0)
    before, job = random.normal(size=(n_records, 2)).round(1), random.choice(["nurse", "smith", "cook"], n_records)
    after, told = before + 0.3 * random.normal(size=before.shape), np.where(random.random(n_records) < 0.8, job, "cook")
    return side_by_side(before, after, label_columns({"job": job.tolist()}, {"job": told.tolist()}))


def test_records_with_labels_are_compared_with_all():
    records = labelled(300)
    weights = np.array([0.5, 0.2, 0.3])
    expected = chances(records, WeightedMean(3), weights)
    assert np.array_equal(everyone.chances_of_weights(records, weights), expected)
    mu = np.sqrt(set_sizes(3) / 3)
    expected = chances(records, Choquet(3), moebius(mu)[Choquet(3).sets])
    assert np.array_equal(everyone.chances_of_measure(records, mu), expected)
    turn = np.array([[1.0, 0.0], [0.5, 1.0], [0.2, 0.3]])
    expected = chances(records, Bilinear(3), (turn @ turn.T)[np.triu_indices(3)])
    assert np.array_equal(everyone.chances_of_turn(records, turn), expected)
    assert np.array_equal(everyone.chances_of_matrix(records, turn @ turn.T), expected)


@pytest.mark.parametrize("records", [census(500, 3), labelled(500)], ids=["numbers", "labels"])
def test_some_rows_are_tried_against_all_masked_records_in_the_order_asked_for(records):
    rows = np.array([499, 3, 77, 3])
    mu = np.sqrt(set_sizes(3) / 3)
    asked = [
        (everyone.chances_of_weights, np.array([0.5, 0.2, 0.3])),
        (everyone.chances_of_measure, mu),
        (everyone.chances_of_matrix, np.eye(3) + 0.5),
        (everyone.chances_of_turn, np.eye(3)[:, :2]),
    ]
    for function, parameters in asked:
        assert np.array_equal(function(records, parameters, rows=rows), function(records, parameters)[rows])
        assert len(function(records, parameters, rows=rows[:0])) == 0


def test_weights_that_are_all_zero_tell_nobody_apart():
    records = census(4, 2)
    assert everyone.chances_of_weights(records, np.zeros(2)).tolist() == [0.25] * 4
    assert everyone.chances_of_matrix(records, np.zeros((2, 2)), rows=np.array([1])).tolist() == [0.25]
    assert everyone.chances_of_measure(records, np.zeros(4)).tolist() == [0.25] * 4


def test_equal_rows_share_the_chance():
    """Three records masked to their mean: each is one of three."""
    records = side_by_side([[1.0], [2.0], [3.0], [8.0]], [[2.0], [2.0], [2.0], [8.0]])
    assert everyone.chances_of_weights(records, np.ones(1)).tolist() == [1 / 3, 1 / 3, 1 / 3, 1.0]


def test_many_records_with_labels_need_a_sample(monkeypatch):
    monkeypatch.setattr(everyone, "MOST_WITH_LABELS", 100)
    records = labelled(101)
    with pytest.raises(InputError, match=r"101 records with labels .* at most 100 can; give rows"):
        everyone.chances_of_weights(records, np.ones(3))
    assert len(everyone.chances_of_weights(records, np.ones(3), rows=np.arange(5))) == 5


def test_parameters_of_other_attributes_are_refused():
    records = census(10, 3)
    for function, wrong in [
        (everyone.chances_of_weights, np.ones(2)),
        (everyone.chances_of_measure, np.ones(7)),
        (everyone.chances_of_matrix, np.eye(2)),
        (everyone.chances_of_turn, np.eye(4)),
    ]:
        with pytest.raises(InputError, match="3 attributes need parameters of shape"):
            function(records, wrong)


def test_a_measure_of_too_many_attributes_is_refused():
    with pytest.raises(InputError, match="17 attributes has too many sets; give at most 16"):
        everyone.chances_of_measure(census(5, 17), set_sizes(17) / 17)
