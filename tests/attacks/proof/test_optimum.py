"""The lazy program: the optimum by trying every weight, and what is claimed of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.attacks.learned.records import side_by_side
from shoal.attacks.proof.families import OWA, Bilinear, Choquet, WeightedMean
from shoal.attacks.proof.optimum import MARGIN, Limits, Rivals, learn
from tests.reference import measures as slow
from tests.reference import two_weights
from tests.reference.full_program import full_program

FAMILIES = {
    "weighted mean": WeightedMean,
    "OWA": OWA,
    "bilinear": Bilinear,
    "bilinear, not negative": lambda n: Bilinear(n, non_negative=True),
    "Choquet": Choquet,
    "submodular": lambda n: Choquet(n, submodular=True),
}


def noisy(n_records, n_attributes, noise, seed=0):
    """Independent attributes and the same with noise."""
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, n_attributes))
    return before, before + noise * random.normal(size=before.shape)


def in_threes(n_records, n_attributes, seed=0):
    """As above, the masked records in groups of three equal ones."""
    before, after = noisy(n_records, n_attributes, 0.5, seed)
    return before, after[np.arange(n_records) // 3 * 3]


def standard(values):
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def recounted(before, after, distance_of):
    """How many are nearer to their own than to any masked record that differs, equal ones shared; from the tables."""
    before, after = standard(before), standard(after)
    found = 0.0
    for i in range(len(before)):
        to_all = [distance_of(before[i] - after[j]) for j in range(len(after))]
        equal = [np.array_equal(after[i], after[j]) for j in range(len(after))]
        if all(same or other - to_all[i] > MARGIN * 0.4 for other, same in zip(to_all, equal, strict=True)):
            found += 1 / sum(equal)
    return found


@st.composite
def small_tables(draw):
    """Up to 8 records of 2 attributes; some masked records equal, some distances tied."""
    n = draw(st.integers(3, 8))
    value = draw(st.sampled_from([st.integers(0, 4), st.integers(0, 1000)]))
    table = st.lists(st.lists(value, min_size=2, max_size=2), min_size=n, max_size=n)
    before, after = np.array(draw(table), dtype=float), np.array(draw(table), dtype=float)
    if draw(st.booleans()):
        after = before + (after - before).round(-1) / 100  # masked a little only
    assume(np.all(before.std(axis=0) > 0) and np.all(after.std(axis=0) > 0))
    return before, after


@pytest.mark.parametrize("make", [WeightedMean, OWA])
@settings(max_examples=30)
@given(tables=small_tables())
def test_two_weights_find_as_many_as_any_two_weights_can(make, tables) -> None:
    before, after = standard(tables[0]), standard(tables[1])
    squares = (before[:, None, :] - after[None, :, :]) ** 2
    if make is OWA:
        squares = np.flip(np.sort(squares, axis=-1), axis=-1)
    rows = [tuple(row) for row in tables[1].tolist()]
    class_of_row = [rows.index(row) for row in rows]
    features = [[(float(x), float(y)) for x, y in row] for row in squares]
    most = two_weights.most_found(features, class_of_row, MARGIN)
    # Where a record has just the margin that counts, rounding decides: such tables are set aside.
    assume(two_weights.most_found(features, class_of_row, 1.2 * MARGIN) == most)
    assume(two_weights.most_found(features, class_of_row, 0.3 * MARGIN) == most)
    optimum = learn(Rivals(side_by_side(*tables), make(2)), [], Limits())
    assert optimum.found == pytest.approx(float(most))
    assert optimum.proved


def test_four_records_that_one_attribute_gives_away() -> None:
    # The first attribute is as it was, the second another's: all weight on the first finds all four.
    before = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 9.0], [4.0, 2.0]])
    after = np.array([[1.0, 2.0], [2.0, 9.0], [3.0, 5.0], [4.0, 1.0]])
    records = side_by_side(before, after)
    optimum = learn(Rivals(records, WeightedMean(2)), [], Limits())
    assert (optimum.found, optimum.bound, optimum.proved) == (4.0, 4.0, True)
    assert optimum.parameters[records.names.index("column 1")] > 0.8


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("tables", [noisy(12, 3, 0.8), in_threes(12, 3)], ids=["noise", "groups of three"])
def test_what_is_proved_is_the_optimum_of_the_full_program(make, tables) -> None:
    rivals = Rivals(side_by_side(*tables), make(3))
    ours, whole = learn(rivals, [], Limits()), full_program(rivals)
    assert ours.proved
    assert whole.proved
    assert ours.found == pytest.approx(whole.found)
    assert whole.rows == sum(int(np.any(row != other)) for row in tables[1] for other in tables[1])


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("tables", [noisy(14, 2, 0.7, seed=5), in_threes(15, 2, seed=5)], ids=["noise", "threes"])
def test_what_is_found_can_be_counted_from_the_distances(make, tables) -> None:
    records, family = side_by_side(*tables), make(2)
    optimum = learn(Rivals(records, family), [], Limits())
    order = [int(name.removeprefix("column ")) - 1 for name in records.names]

    def distance(differences):
        return float(family.features(differences[order]) @ optimum.parameters)

    assert recounted(*tables, distance) == pytest.approx(optimum.found)
    assert optimum.found <= optimum.bound
    assert optimum.proved == (optimum.bound - optimum.found < 1e-6)


def test_records_that_are_equal_share_what_is_found() -> None:
    # Masked in two groups of two, far apart: every record is nearest to its group, and one of two in it.
    before = np.array([[0.0], [1.0], [10.0], [11.0]])
    after = np.array([[0.5], [0.5], [10.5], [10.5]])
    optimum = learn(Rivals(side_by_side(before, after), WeightedMean(1)), [], Limits())
    assert (optimum.found, optimum.bound, optimum.proved) == (2.0, 2.0, True)


def test_nothing_is_called_proved_that_is_only_bounded() -> None:
    records, family = side_by_side(*noisy(30, 3, 1.0)), WeightedMean(3)
    stopped, finished = (
        learn(Rivals(records, family), [], Limits(nodes=1)),
        learn(Rivals(records, family), [], Limits()),
    )
    assert finished.proved
    assert not stopped.proved
    assert stopped.found <= finished.found <= stopped.bound
    assert stopped.found < stopped.bound <= 30


@pytest.mark.parametrize("limits", [{"nodes": 0}, {"seconds": 1e-9}])
def test_without_a_search_the_best_start_is_returned_and_everyone_may_be_found(limits) -> None:
    records, family = side_by_side(*noisy(30, 3, 1.0)), WeightedMean(3)
    finished = learn(Rivals(records, family), [], Limits())
    starts = [np.array([0.0, 0.0, 1.0]), finished.parameters, np.array([1.0, 0.0, 0.0])]
    begun = learn(Rivals(records, family), starts, Limits(**limits))
    assert begun.parameters.tolist() == finished.parameters.tolist()
    assert (begun.found, begun.bound, begun.proved) == (finished.found, 30.0, False)


def test_a_gap_ends_the_search_within_it() -> None:
    records, family = side_by_side(*noisy(30, 3, 1.0)), WeightedMean(3)
    near, finished = (
        learn(Rivals(records, family), [], Limits(gap=4.0)),
        learn(Rivals(records, family), [], Limits()),
    )
    assert near.bound - near.found <= 4.0
    assert near.found <= finished.found <= near.bound
    assert near.rounds <= finished.rounds


@pytest.mark.parametrize("seed", [10, 16, 29, 38])
def test_a_distance_that_shall_not_be_negative_is_not(seed) -> None:
    records, family = side_by_side(*noisy(12, 2, 0.8, seed)), Bilinear(2, non_negative=True)
    optimum = learn(Rivals(records, family), [], Limits())
    assert optimum.proved
    distances = family.features(records.differences(np.arange(12))) @ optimum.parameters
    assert distances.min() >= -1e-7


@pytest.mark.parametrize("seed", range(3))
def test_learned_measures_are_monotone_and_submodular_where_asked_for(seed) -> None:
    records = side_by_side(*noisy(12, 3, 0.8, seed))
    for submodular in (False, True):
        family = Choquet(3, submodular=submodular)
        mu = family.measure(learn(Rivals(records, family), [], Limits()).parameters)
        assert (mu[0], mu[-1]) == (0.0, pytest.approx(1.0))
        assert slow.is_monotone(mu + 1e-8 * np.array([one.bit_count() for one in range(8)]))
        assert slow.is_submodular(mu, 1e-7) or not submodular


def test_records_that_count_nothing_are_not_looked_for() -> None:
    records, family = side_by_side(*noisy(40, 3, 0.8)), WeightedMean(3)
    share = (np.arange(40) < 10).astype(float)
    ours, solver = (
        learn(Rivals(records, family, share), [], Limits()),
        full_program(Rivals(records, family, share)),
    )
    assert ours.found == pytest.approx(solver.found)
    assert ours.bound == pytest.approx(solver.bound)
    assert ours.found <= 10


def test_rows_that_are_all_equal_leave_nothing_to_search() -> None:
    before = np.arange(12.0).reshape(6, 2)
    optimum = learn(Rivals(side_by_side(before, np.ones((6, 2))), WeightedMean(2)), [], Limits())
    assert optimum.found == pytest.approx(1.0)
    assert optimum.proved


def test_a_rival_that_is_as_near_at_all_weights_ends_the_search() -> None:
    # Beside one record that is far away all others are equally near to everyone, by less than the margin.
    before, after = noisy(50, 3, 0.5)
    before[0] = after[0] = 1e12
    optimum = learn(Rivals(side_by_side(before, after), WeightedMean(3)), [], Limits())
    assert optimum.proved
    assert optimum.found == 1.0


def test_ties_without_end_do_not_keep_the_search_going() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.integers(0, 2, (12, 2)).astype(float), rng.integers(0, 2, (12, 2)).astype(float)
    records = side_by_side(before, after)
    for make in (WeightedMean, OWA):
        ours, solver = (
            learn(Rivals(records, make(2)), [], Limits()),
            full_program(Rivals(records, make(2))),
        )
        assert ours.found <= solver.found + 1e-9
        assert solver.found <= ours.bound + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_no_weights_find_more_than_the_bound(seed) -> None:
    rng = np.random.default_rng(seed)
    before, after = noisy(25, 3, 1.0, seed)
    after[::5] = after[0]
    records, family = side_by_side(before, after), WeightedMean(3)
    for nodes in (1, 50, 1000):
        optimum = learn(Rivals(records, family), [], Limits(nodes=nodes))
        for weights in rng.dirichlet([0.5, 0.5, 0.5], 100):
            assert optimum.bound >= learn(Rivals(records, family), [weights], Limits(nodes=0)).found - 1e-9


@pytest.mark.parametrize(
    ("share", "step"), [((1.0, 1.0), 1.0), ((1.0, 0.5, 1 / 3), 1 / 6), ((0.3, 0.7), 0.0), ((0.0, 1.0), 1.0)]
)
def test_what_is_found_comes_in_steps(share, step) -> None:
    n = len(share)
    rivals = Rivals(side_by_side(np.eye(n), np.eye(n)), WeightedMean(n), np.array(share))
    assert rivals.step == pytest.approx(step)
    assert rivals.at_most(1.4) == pytest.approx(np.floor(1.4 / step) * step if step else 1.4)
    assert rivals.tolerated(0.0) < max(step, 1e-6)


def test_columns_that_differ_by_rounding_only_do_not_count() -> None:
    random = np.random.default_rng(5)
    before = np.c_[np.zeros(20), random.normal(size=(20, 2))]
    after = np.c_[np.tile([0.0, 1.0], 10), before[:, 1:] + 0.3 * random.normal(size=(20, 2))]
    records = side_by_side(before, after)
    solver = full_program(Rivals(records, Bilinear(3)))
    ours = learn(Rivals(records, Bilinear(3)), [], Limits())
    assert ours.found == pytest.approx(solver.found)
    assert ours.proved
