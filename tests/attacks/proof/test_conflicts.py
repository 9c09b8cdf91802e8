"""Records that cannot be found together: as good as the solver, and every set checked by linear programs."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog

from shoal.attacks.learned.records import side_by_side
from shoal.attacks.proof import conflicts
from shoal.attacks.proof.conflicts import Climbers, Conditions, _Chain, learn_by_conflicts
from shoal.attacks.proof.families import OWA, Bilinear, Choquet, WeightedMean
from shoal.attacks.proof.optimum import LOST, MARGIN, Limits, Rivals
from shoal.kernels.linking.cones import Cones
from shoal.kernels.linking.conflicts import certificate, tight_set
from tests.attacks.proof.test_optimum import most_by_two_weights
from tests.attacks.proof.test_turns import in_threes, noisy, recounted, small_tables
from tests.reference.full_program import full_program

MAKERS = {
    "weighted mean": WeightedMean,
    "positive": lambda n: WeightedMean(n, positive=True),
    "OWA": OWA,
    "bilinear": Bilinear,
    "not negative": lambda n: Bilinear(n, non_negative=True),
    "Choquet": Choquet,
    "submodular": lambda n: Choquet(n, submodular=True),
    "2-additive": lambda n: Choquet(n, additive=2),
}
TABLES = {
    "noise": noisy(24, 3, 0.8),
    "groups of three": in_threes(24, 2),
    "one attribute": noisy(20, 1, 0.3),
}


def found_together(conditions, kept) -> bool:
    """By a linear program: the most by which all rows of these records can be positive."""
    rows, starts, n = conditions.cones.rows, conditions.cones.starts, len(conditions.never)
    asked = np.concatenate([rows[starts[one] : starts[one + 1]] for one in kept])
    always = rows[starts[n] : starts[n + 1]]
    upper = np.r_[np.c_[-asked, np.ones(len(asked))], np.c_[-always, np.zeros(len(always))]]
    d = rows.shape[1]
    least = np.r_[np.zeros(d), -1.0]
    bounds = [(-1, 1)] * d + [(None, 1)]
    return -linprog(least, A_ub=upper, b_ub=np.zeros(len(upper)), bounds=bounds).fun > 1e-7


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_conflicts_bound_what_the_solver_proves(make, tables) -> None:
    records = side_by_side(*tables)
    family = make(records.n_attributes)
    solver = full_program(Rivals(records, family))
    ours = learn_by_conflicts(Rivals(records, family), [], Limits())
    assert solver.proved
    assert ours.bound >= solver.found - 1e-9
    assert ours.found <= solver.bound + 1e-9
    assert ours.proved


@pytest.mark.parametrize("make", [WeightedMean, OWA])
@settings(max_examples=30)
@given(tables=small_tables())
def test_conflicts_find_as_many_as_any_two_weights_can(make, tables) -> None:
    # What is told apart by less than the margin is not in conflict, so it must make no difference either.
    most = most_by_two_weights(make, tables, (1.2 * MARGIN, 0.3 * MARGIN, 1e-12))
    optimum = learn_by_conflicts(Rivals(side_by_side(*tables), make(2)), [], Limits())
    assert optimum.bound >= most - 1e-9
    assert optimum.found == pytest.approx(most)


@settings(max_examples=30)
@given(tables=small_tables())
def test_no_matrix_finds_more_than_the_bound(tables) -> None:
    records = side_by_side(*tables)
    family = Bilinear(2)
    optimum = learn_by_conflicts(Rivals(records, family), [], Limits())
    rivals, rng = Rivals(records, family, None), np.random.default_rng(0)
    tried = rng.uniform(-1, 1, (200, 3)) * rng.choice([1e-3, 0.1, 1.0], (200, 3))
    assert max(rivals.found(one) for one in tried) <= optimum.bound + 1e-9
    assert optimum.found <= optimum.bound + 1e-9


@pytest.mark.parametrize("make", [Bilinear, Choquet])
def test_of_every_set_so_many_are_lost(make, monkeypatch) -> None:
    """Whichever rank - 1 records are left out, a linear program finds no parameters for the others."""
    records = side_by_side(*noisy(40, 2, 1.2))
    family = make(2)
    seen = []
    add = conflicts._Cover.add
    monkeypatch.setattr(conflicts._Cover, "add", lambda self, sets, lost: seen.extend(sets) or add(self, sets, lost))
    learn_by_conflicts(Rivals(records, family), [], Limits())
    assert {rank for rank, _ in seen} >= {1, 2, 3}
    conditions = Conditions(Rivals(records, family))
    for rank, some in seen[:40]:
        if rank > 3:
            continue
        for out in itertools.combinations(some.tolist(), rank - 1):
            kept = [one for one in some.tolist() if one not in out]
            assert not found_together(conditions, kept)


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_what_conflicts_find_can_be_counted_from_the_distances(tables) -> None:
    records = side_by_side(*tables)
    family = Bilinear(records.n_attributes)
    optimum = learn_by_conflicts(Rivals(records, family), [], Limits())
    order = [records.names.index(f"column {place + 1}") for place in range(records.n_attributes)]

    def distance(differences):
        ordered = np.empty_like(differences)
        ordered[order] = differences
        return float(family.features(ordered) @ optimum.parameters)

    assert recounted(*tables, distance) == pytest.approx(optimum.found)


def test_the_answer_is_the_same_with_any_number_of_threads(monkeypatch) -> None:
    records = side_by_side(*noisy(60, 3, 1.0))
    answers = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        answers.append(learn_by_conflicts(Rivals(records, Bilinear(3)), [], Limits(nodes=100)))
    for one in answers[1:]:
        np.testing.assert_array_equal(one.parameters, answers[0].parameters)
        assert (one.found, one.bound, one.rounds, one.rows) == (
            answers[0].found, answers[0].bound, answers[0].rounds, answers[0].rows,
        )  # fmt: skip


def test_records_that_tie_with_another_are_lost_at_once() -> None:
    before = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, -1.0], [3.0, 0.0], [-3.0, 0.0]])
    after = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, 0.0], [3.0, 0.0], [-3.0, 0.0]])  # the first two: as near to 0, 0
    records = side_by_side(before, after)
    conditions = Conditions(Rivals(records, WeightedMean(2)))
    assert conditions.never.sum() == 1
    assert learn_by_conflicts(Rivals(records, WeightedMean(2)), [], Limits()).proved


def test_equal_rows_need_no_search() -> None:
    records = side_by_side(np.arange(8.0).reshape(4, 2), np.ones((4, 2)))
    optimum = learn_by_conflicts(Rivals(records, Bilinear(2)), [], Limits())
    assert (optimum.found, optimum.bound) == (1.0, 1.0)


def test_climbing_never_ends_below_where_it_began() -> None:
    records = side_by_side(*noisy(60, 3, 1.0))
    for make in (WeightedMean, Bilinear, Choquet):
        family = make(3)
        rivals = Rivals(records, family, None)
        with ThreadPoolExecutor(2) as pool:
            found = Climbers(Conditions(rivals), family.plain()).climb(3, pool)
        assert found is not None
        assert rivals.found(found) >= rivals.found(family.plain())


@pytest.mark.parametrize(
    ("share", "step"), [((1.0, 1.0), 1.0), ((1.0, 0.5, 1 / 3), 1 / 6), ((0.3, 0.7), 0.0), ((0.0, 1.0), 1.0)]
)
def test_what_is_found_comes_in_steps(share, step) -> None:
    n = len(share)
    rivals = Rivals(side_by_side(np.eye(n), np.eye(n)), WeightedMean(n), np.array(share))
    assert rivals.step == pytest.approx(step)
    assert rivals.at_most(1.4) == pytest.approx(np.floor(1.4 / step) * step if step else 1.4)
    assert rivals.tolerated(0.0) < max(step, 1e-6)


@pytest.mark.parametrize("nodes", [1, 10, 40, 200])
@pytest.mark.parametrize("make", [WeightedMean, Bilinear, Choquet])
def test_a_search_cut_short_bounds_what_the_solver_finds(make, nodes) -> None:
    records = side_by_side(*noisy(24, 3, 0.8))
    share = 1.0 / (1.0 + np.arange(24) % 3)
    best = full_program(Rivals(records, make(3), share))
    ours = learn_by_conflicts(Rivals(records, make(3), share), [], Limits(nodes=nodes))
    assert ours.bound >= best.found - 1e-9
    assert ours.found <= best.bound + 1e-9


@pytest.mark.parametrize("make", [WeightedMean, Bilinear, Choquet])
def test_with_room_for_a_few_rivals_of_each_record_the_bound_still_holds(make, monkeypatch) -> None:
    rivals = Rivals(side_by_side(*noisy(24, 3, 1.2)), make(3))
    monkeypatch.setattr("shoal.attacks.proof.conflicts.MOST_NUMBERS", 24 * 5 * rivals.family.size)
    assert np.bincount(Conditions(rivals).owner)[:24].max() == 5
    ours, whole = learn_by_conflicts(rivals, [], Limits()), full_program(rivals)
    assert ours.found <= whole.found + 1e-9
    assert whole.found <= ours.bound + 1e-9 < 24


@pytest.mark.parametrize(("rest", "certain"), [(0.9, True), (1.1, False)])
def test_rows_that_nearly_add_up_to_zero_are_a_conflict_only_below_the_margin(rest, certain) -> None:
    margin = 0.1  # of the rest, the part that parameters of up to 1 can make of it
    short = rest * margin
    rows = np.array([[1.0, short], [-1.0, short]])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    near = np.array([[0], [1], [0]])
    cones = Cones(rows, np.ones(2), np.array([0, 1, 2, 2]), np.array([1.0, 1.0]), near, np.array([1, 1, 0]))
    # The shortest mean is not zero here, so ask the certificate alone.
    weights, support = np.full(2, 0.5), np.array([0, 1])
    least, most = certificate(cones, weights, support, 2, margin)
    assert (most < least) == certain


def test_lost_sets_need_as_many_records_as_hitting_sets_have() -> None:
    """Against all subsets: how many records of a set must be left out until the others are found together."""
    records = side_by_side(*noisy(12, 2, 1.5))
    family = Bilinear(2)
    conditions = Conditions(Rivals(records, family))
    some = np.flatnonzero(~conditions.never)

    fewest = next(
        many
        for many in range(len(some))
        if any(
            found_together(conditions, [one for one in some if one not in out])
            for out in itertools.combinations(some, many)
        )
    )
    for rank in range(1, fewest + 2):
        members = tight_set(rank, some, 3, conditions.copy(), conditions.owner, LOST, 10**9)
        assert (len(members) > 0) == (rank <= fewest)


def test_no_row_is_looked_at_twice_beside_an_outlier() -> None:
    before, after = noisy(80, 3, 0.5)
    before[0, 0] = after[0, 0] = 1e6
    family = Bilinear(3)
    conditions = Conditions(Rivals(side_by_side(before, after), family))
    chain = _Chain(conditions, family.plain(), 0)
    for cones in (chain.climb(2), chain.climb(2)):
        for near, many in zip(cones.near, cones.n_near, strict=True):
            assert len(set(near[:many].tolist())) == many


def test_columns_that_differ_by_rounding_only_do_not_count() -> None:
    random = np.random.default_rng(5)
    before = np.c_[np.zeros(20), random.normal(size=(20, 2))]
    after = np.c_[np.tile([0.0, 1.0], 10), before[:, 1:] + 0.3 * random.normal(size=(20, 2))]
    records = side_by_side(before, after)
    solver = full_program(Rivals(records, Bilinear(3)))
    ours = learn_by_conflicts(Rivals(records, Bilinear(3)), [], Limits())
    assert ours.found == pytest.approx(solver.found)
    assert ours.proved
