"""Learning by gradients: what is learned is allowed, the same every time, and better than where it began."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attacks.learned.distances import Measure, uniform
from shoal.attacks.learned.learning import STAGES, learn_linear_map, learn_measure, learn_ordered, learn_weights, pull
from shoal.attacks.learned.linking import chances_of, nearest_rivals
from shoal.attacks.learned.records import label_columns, side_by_side
from tests.reference import measures as slow

EVEN = np.full(3, 1 / 3)


def masked(noise, n_records=40, seed=0):
    """Independent attributes, each with noise of its own."""
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, len(noise)))
    return side_by_side(before, before + np.array(noise) * random.normal(size=before.shape))


def objective(distances, usable, smoothness):
    """The smoothed figure whose slope is asked for: by how much each record's root of the chance falls short."""
    own, rivals = distances[:, :1], distances[:, 1:]
    odds = np.where(usable, np.exp(-(rivals - own) / (rivals + own) / smoothness), 0.0)
    right = 1 / (1 + odds.sum(axis=1))
    return float(-2 * np.sqrt(right).mean())


@st.composite
def tables(draw):
    """Few values: constant columns, equal records, ties."""
    n, width = draw(st.integers(3, 12)), draw(st.integers(1, 4))
    value = draw(st.sampled_from([st.integers(0, 2), st.integers(-1000, 1000)]))
    table = st.lists(st.lists(value, min_size=width, max_size=width), min_size=n, max_size=n)
    return side_by_side(np.array(draw(table), float), np.array(draw(table), float))


@settings(max_examples=15)
@given(tables())
def test_weights_stay_weights_whatever_is_learned_from(records) -> None:
    n = records.n_attributes
    for learn in (learn_weights, learn_ordered):
        stages = learn(records, np.arange(len(records)))
        assert len(stages) == 1 + len(STAGES)
        assert stages[0].weights.tolist() == [1 / n] * n
        for stage in stages:
            assert np.all(stage.weights >= 0)
            assert stage.weights.sum() == pytest.approx(1.0)


@settings(max_examples=15)
@given(tables())
def test_measures_stay_monotone_whatever_is_learned_from(records) -> None:
    start = uniform(records.n_attributes)
    stages = learn_measure(records, np.arange(len(records)), start)
    assert len(stages) == 1 + len(STAGES)
    assert stages[0].mu.tolist() == start.tolist()
    for stage in stages:
        assert slow.is_monotone(stage.mu)
        assert (stage.mu[0], stage.mu[-1]) == (0.0, 1.0)


@settings(max_examples=10)
@given(tables())
def test_maps_stay_finite_whatever_is_learned_from(records) -> None:
    for stage in learn_linear_map(records, np.arange(len(records))):
        assert np.all(np.isfinite(stage.matrix))


def test_the_same_is_learned_every_time() -> None:
    records, rows = masked([0.1, 0.8, 1.5]), np.arange(40)
    for learn in (learn_weights, learn_ordered):
        one, other = (learn(records, rows)[-1].weights for _ in range(2))
        assert one.tolist() == other.tolist()
    one, other = (learn_linear_map(records, rows)[-1].matrix for _ in range(2))
    assert one.tolist() == other.tolist()
    one, other, seeded = (learn_measure(records, rows, random_state=seed)[-1].mu for seed in (4, 4, 5))
    assert one.tolist() == other.tolist()
    assert one.tolist() != seeded.tolist()


def test_what_masking_moved_least_weighs_most() -> None:
    records, rows = masked([0.1, 0.8, 1.5]), np.arange(40)
    # The records have their attributes in an order of their own.
    first = records.names.index("column 1")
    assert learn_weights(records, rows)[-1].weights[first] > 0.9
    assert learn_measure(records, rows, uniform(3))[-1].attribute_shares()[first] > 0.5
    found = [chances_of(records, some).mean() for some in learn_weights(records, rows)]
    assert max(found) > found[0] + 0.1


def test_an_attribute_that_was_not_masked_is_found_to_tell_all() -> None:
    records, rows = masked([0.0, 2.0]), np.arange(40)
    for stages in (
        learn_weights(records, rows),
        learn_linear_map(records, rows),
        learn_measure(records, rows, uniform(2)),
    ):
        found = [chances_of(records, stage).mean() for stage in stages]
        assert found[0] < 0.5
        assert max(found) > 0.8


def test_two_attributes_of_which_only_the_difference_is_kept_are_found_by_a_map_and_not_by_weights() -> None:
    random = np.random.default_rng(1)
    shared, other, kept = random.normal(size=(3, 60))
    records = side_by_side(np.c_[shared + kept, shared - kept], np.c_[other + kept, other - kept])
    by_weights = max(chances_of(records, some).mean() for some in learn_weights(records, np.arange(60)))
    by_map = max(chances_of(records, some).mean() for some in learn_linear_map(records, np.arange(60)))
    assert by_map > by_weights + 0.1


def test_links_of_others_are_not_looked_at() -> None:
    # Records 20 to 39 are masked to nonsense; who knows the first 20 links only learns the same weights as without
    # them being wrong, as long as the released rows are the same ones.
    random = np.random.default_rng(3)
    before = random.normal(size=(40, 3))
    after = before + 0.3 * random.normal(size=(40, 3))
    shuffled = after.copy()
    shuffled[20:] = after[20:][::-1]
    one, other = (side_by_side(before, some) for some in (after, shuffled))
    known = [np.flatnonzero(records.order < 20) for records in (one, other)]
    weights = [
        dict(zip(records.names, learn_weights(records, rows)[-1].weights, strict=True))
        for records, rows in zip((one, other), known, strict=True)
    ]
    assert weights[0] == pytest.approx(weights[1], abs=1e-6)


def test_equal_rows_teach_nothing() -> None:
    before = np.random.default_rng(0).normal(size=(12, 3))
    records, rows = side_by_side(before, np.ones((12, 3))), np.arange(12)
    assert learn_weights(records, rows)[-1].weights == pytest.approx(EVEN)
    assert learn_linear_map(records, rows)[-1].matrix == pytest.approx(np.eye(3))
    assert learn_measure(records, rows, uniform(3))[-1].mu.tolist() == uniform(3).tolist()


def test_labels_are_learned_from_like_numbers() -> None:
    random = np.random.default_rng(2)
    town = [f"town {place}" for place in range(30)]
    numbers = random.normal(size=(30, 1))
    labels = label_columns({"town": town}, {"town": town})
    records = side_by_side(numbers, random.normal(size=(30, 1)), labels)
    weights = learn_weights(records, np.arange(30))[-1].weights
    assert records.names == ("column 1", "town")
    assert weights[1] > 0.9


def test_the_start_is_where_learning_begins() -> None:
    records, rows = masked([0.1, 0.8, 1.5]), np.arange(40)
    matrix, mu = np.diag([0.1, 0.2, 0.7]), np.array([0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.0])
    assert learn_linear_map(records, rows, matrix)[0].matrix.tolist() == np.diag([0.1, 0.2, 0.7]).tolist()
    assert learn_measure(records, rows, mu)[0].mu.tolist() == [0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.0]
    assert mu.tolist() == [0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1.0]


@pytest.mark.parametrize("smoothness", [0.5, 0.1])
def test_the_pull_is_the_slope_of_the_objective(smoothness) -> None:
    random = np.random.default_rng(0)
    distances = random.uniform(0.5, 2.0, size=(4, 6))
    usable = random.random((4, 5)) < 0.8
    found = pull(distances, usable, smoothness)
    for place in np.ndindex(distances.shape):
        step = np.zeros_like(distances)
        step[place] = 1e-6
        slope = objective(distances + step, usable, smoothness) - objective(distances - step, usable, smoothness)
        assert found[place] == pytest.approx(slope / 2e-6, abs=1e-6)


def test_rivals_are_the_nearest_that_differ_from_the_own_record() -> None:
    # On a line: 0, 1 (twice), 3, 7. Of the first the two nearest are both 1s; of a 1 they are 0 and 3.
    values = np.array([[0.0], [1.0], [1.0], [3.0], [7.0]])
    records = side_by_side(values, values)
    assert records.order.tolist() == [0, 1, 2, 3, 4]
    for distance in (Measure(uniform(1)), learn_weights(records, np.arange(5))[0]):
        rivals, counts = nearest_rivals(records, distance, np.arange(4), 2)
        nearest = [sorted(values[rival, 0] for rival in np.repeat(*both)) for both in zip(rivals, counts, strict=True)]
        assert nearest == [[1, 1], [0, 3], [0, 3], [1, 1]]
