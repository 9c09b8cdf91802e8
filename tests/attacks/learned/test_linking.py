"""Records linked through boxes, and with labels, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.learned import linking
from shoal.attacks.learned.distances import (
    BilinearForm,
    LinearMap,
    Measure,
    Ordered,
    Weights,
    made_monotone,
    moebius,
    plain,
    set_sizes,
    uniform,
)
from shoal.attacks.learned.linking import chances_of, nearest_rivals
from shoal.attacks.learned.records import label_columns, side_by_side
from shoal.attacks.proof.families import OWA, Bilinear, Choquet, WeightedMean
from shoal.errors import InputError
from tests.reference.linking import chances, nearest

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


def monotone(random, n):
    mu = random.random(2**n) * (random.random(2**n) < 0.8)
    return made_monotone(mu)


@given(tables(), st.integers(0, 2**32 - 1))
def test_boxes_find_whom_all_pairs_find(records, seed):
    n, random = records.n_attributes, np.random.default_rng(seed)
    weights = simplex(random, n)
    expected = chances(records, WeightedMean(n), weights)
    assert chances_of(records, Weights(weights)).tolist() == expected.tolist()
    ordered = simplex(random, n)
    expected = chances(records, OWA(n), ordered)
    assert chances_of(records, Ordered(ordered)).tolist() == expected.tolist()
    choquet = Choquet(n)
    parameters = moebius(monotone(random, n))[choquet.sets]
    expected = chances(records, choquet, parameters)
    assert chances_of(records, Measure(choquet.measure(parameters))).tolist() == expected.tolist()
    bilinear = Bilinear(n)
    parameters = random.uniform(-1, 1, bilinear.size)
    expected = chances(records, bilinear, parameters)
    assert chances_of(records, BilinearForm(bilinear.matrix(parameters))).tolist() == expected.tolist()
    turn = random.normal(size=(n, random.integers(1, n + 1)))
    expected = chances(records, bilinear, (turn @ turn.T)[np.triu_indices(n)])
    assert chances_of(records, LinearMap(turn)).tolist() == expected.tolist()


@pytest.mark.parametrize("n_attributes", [1, 2, 5, 6])
def test_several_groups_of_boxes_find_whom_all_pairs_find(n_attributes):
    records, random = census(2500, n_attributes), np.random.default_rng(n_attributes)
    rows = np.arange(0, 2500, 11)
    weights = simplex(random, n_attributes)
    expected = chances(records, WeightedMean(n_attributes), weights, rows)
    assert chances_of(records, Weights(weights), rows).tolist() == expected.tolist()
    choquet = Choquet(n_attributes)
    mu = monotone(random, n_attributes)
    expected = chances(records, choquet, moebius(mu)[choquet.sets], rows)
    assert chances_of(records, Measure(mu), rows).tolist() == expected.tolist()
    matrix = Bilinear(n_attributes).matrix(random.uniform(-0.1, 0.1, Bilinear(n_attributes).size))
    matrix += np.eye(n_attributes) * 0.2  # some of it may be negative
    expected = chances(records, Bilinear(n_attributes), matrix[np.triu_indices(n_attributes)], rows)
    assert chances_of(records, BilinearForm(matrix), rows).tolist() == expected.tolist()


def test_a_measure_that_a_solver_left_slightly_falling_hides_nobody():
    records, random, rows = census(2500, 3), np.random.default_rng(0), np.arange(0, 2500, 11)
    for _ in range(5):
        mu = monotone(random, 3)
        mu[1:] += random.uniform(-1e-3, 1e-3, 7)
        mu = np.maximum(mu, 0.0)
        choquet = Choquet(3)
        expected = chances(records, choquet, moebius(mu)[choquet.sets], rows)
        assert chances_of(records, Measure(mu), rows).tolist() == expected.tolist()


def labelled(n_records, seed=0, decimals=3):
    random = np.random.default_rng(seed)
    before, job = random.normal(size=(n_records, 2)).round(1), random.choice(["nurse", "smith", "cook"], n_records)
    after, told = (
        (before + 0.3 * random.normal(size=before.shape)).round(decimals),
        np.where(random.random(n_records) < 0.8, job, "cook"),
    )
    return side_by_side(before, after, label_columns({"job": job.tolist()}, {"job": told.tolist()}))


@given(st.integers(2, 40), st.integers(0, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_records_with_labels_are_linked_as_by_all_pairs(n_records, n_numbers, n_labels, seed):
    """Few values, so that records tie and are equal; more than a block of 32 now and then."""
    random = np.random.default_rng(seed)
    before = random.integers(0, 3, (n_records, n_numbers)).astype(float)
    after = np.clip(before + random.integers(-1, 2, before.shape), 0, 2)
    were = {f"label {place}": random.choice(list("abcd"), n_records).tolist() for place in range(n_labels)}
    are = {name: np.where(random.random(n_records) < 0.7, values, "a").tolist() for name, values in were.items()}
    numbers = (before, after) if n_numbers else (None, None)
    records = side_by_side(*numbers, label_columns(were, are))
    n = records.n_attributes
    weights = simplex(random, n)
    assert chances_of(records, Weights(weights)).tolist() == chances(records, WeightedMean(n), weights).tolist()
    assert chances_of(records, Ordered(weights)).tolist() == chances(records, OWA(n), weights).tolist()
    mu = monotone(random, n)
    expected = chances(records, Choquet(n), moebius(mu)[Choquet(n).sets])
    assert chances_of(records, Measure(mu)).tolist() == expected.tolist()
    matrix = random.normal(size=(n, random.integers(1, n + 1)))
    expected = chances(records, Bilinear(n), (matrix @ matrix.T)[np.triu_indices(n)])
    assert chances_of(records, LinearMap(matrix)).tolist() == expected.tolist()
    form = random.uniform(-1, 1, Bilinear(n).size)
    expected = chances(records, Bilinear(n), form)
    assert chances_of(records, BilinearForm(Bilinear(n).matrix(form))).tolist() == expected.tolist()


@pytest.mark.parametrize("records", [census(500, 3), labelled(500)], ids=["numbers", "labels"])
def test_some_rows_are_tried_against_all_masked_records_in_the_order_asked_for(records):
    rows = np.array([499, 3, 77, 3])
    mu = np.sqrt(set_sizes(3) / 3)
    weights = np.array([0.5, 0.2, 0.3])
    for distance in (Weights(weights), Measure(mu), BilinearForm(np.eye(3) + 0.5), LinearMap(np.eye(3)[:, :2])):
        assert np.array_equal(chances_of(records, distance, rows), chances_of(records, distance)[rows])
        assert len(chances_of(records, distance, rows[:0])) == 0


def test_weights_that_are_all_zero_tell_nobody_apart():
    records = census(4, 2)
    assert chances_of(records, Weights(np.zeros(2))).tolist() == [0.25] * 4
    assert chances_of(records, BilinearForm(np.zeros((2, 2))), rows=np.array([1])).tolist() == [0.25]
    assert chances_of(records, Measure(np.zeros(4))).tolist() == [0.25] * 4


def test_equal_rows_share_the_chance():
    """Three records masked to their mean: each is one of three."""
    records = side_by_side([[1.0], [2.0], [3.0], [8.0]], [[2.0], [2.0], [2.0], [8.0]])
    assert chances_of(records, Weights(np.ones(1))).tolist() == [1 / 3, 1 / 3, 1 / 3, 1.0]


@given(st.integers(0, 10_000), st.integers(2, 70), st.integers(1, 9), st.booleans())
def test_the_rivals_to_learn_from_are_the_nearest_of_all(seed, n_records, count, with_labels):
    records = labelled(n_records, seed, decimals=0) if with_labels else census(n_records, 3, seed)
    random = np.random.default_rng(seed)
    rows = random.choice(n_records, size=min(n_records, 12), replace=False)
    weights = random.dirichlet(np.ones(3))
    matrix = random.normal(size=(3, 2))
    for distance in (Weights(weights), LinearMap(matrix), Ordered(weights), Measure(uniform(3))):
        rivals, counts = nearest_rivals(records, distance, rows, count)
        for row, near, taken in zip(rows, rivals, counts, strict=True):
            apart = distance(records.differences(np.array([row]), near))[0]
            expected = nearest(records, distance, row, count)
            assert np.sort(np.repeat(apart, taken)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_equal_records_are_compared_once_and_all_get_the_chance():
    records = labelled(300)
    twice = records.take(np.sort(np.tile(np.arange(300), 4)))
    weights = Weights(np.array([0.5, 0.2, 0.3]))
    assert len(twice.twins.first) <= 300
    assert chances_of(twice, weights) * 4 == pytest.approx(np.repeat(chances_of(records, weights), 4))


def test_more_records_than_can_be_compared_need_a_sample(monkeypatch):
    monkeypatch.setattr(linking, "MOST_PAIRS", 0)
    monkeypatch.setattr(linking, "FEWEST_COMPARED", 100)
    records = labelled(101)
    with pytest.raises(InputError, match=r"101 records .* at most 100 can; give rows"):
        chances_of(records, Weights(np.ones(3)))
    assert len(chances_of(records, Weights(np.ones(3)), rows=np.arange(5))) == 5


def test_a_measure_of_too_many_attributes_for_boxes_finds_the_same():
    records = census(5, 13)
    assert chances_of(records, Measure(uniform(13))).tolist() == chances_of(records, plain(13)).tolist()
    assert chances_of(records, Ordered(np.full(13, 1 / 13))).tolist() == chances_of(records, plain(13)).tolist()
