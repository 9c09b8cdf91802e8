"""The simplex of weights, halved: as good as the solver, counted by code of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from shoal.attacks.learned.records import side_by_side
from shoal.attacks.proof.families import OWA, WeightedMean
from shoal.attacks.proof.linkage import prove
from shoal.attacks.proof.optimum import MARGIN, Limits, Rivals, learn_by_cells
from tests.attacks.proof.test_turns import in_threes, noisy, recounted, small_tables, standard
from tests.reference import two_weights
from tests.reference.full_program import full_program

MAKERS = {"weighted mean": WeightedMean, "positive": lambda n: WeightedMean(n, positive=True), "OWA": OWA}
TABLES = {
    "noise": noisy(40, 3, 0.8),
    "much noise": noisy(30, 4, 1.5, seed=3),
    "groups of three": in_threes(30, 3),
    "one attribute": noisy(20, 1, 0.3),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_cells_prove_what_the_solver_proves(make, tables) -> None:
    records = side_by_side(*tables)
    family = make(records.n_attributes)
    cells, solver = (
        learn_by_cells(Rivals(records, family), [], Limits()),
        full_program(Rivals(records, family)),
    )
    assert cells.proved
    assert solver.proved
    assert cells.found == pytest.approx(solver.found)
    assert cells.parameters.min() >= family.lower - 1e-12
    assert cells.parameters.sum() == pytest.approx(1.0)


def most_by_two_weights(make, tables, near_margins):
    """By a slow count of all weights; tables where one of the margins would make a difference are left out."""
    before, after = standard(tables[0]), standard(tables[1])
    squares = (before[:, None, :] - after[None, :, :]) ** 2
    if make is OWA:
        squares = np.flip(np.sort(squares, axis=-1), axis=-1)
    rows = [tuple(row) for row in tables[1].tolist()]
    features = [[(float(x), float(y)) for x, y in row] for row in squares]
    class_of_row = [rows.index(row) for row in rows]
    most = two_weights.most_found(features, class_of_row, MARGIN)
    for margin in near_margins:
        assume(two_weights.most_found(features, class_of_row, margin) == most)
    return float(most)


@pytest.mark.parametrize("make", [WeightedMean, OWA])
@settings(max_examples=30)
@given(tables=small_tables())
def test_cells_find_as_many_as_any_two_weights_can(make, tables) -> None:
    most = most_by_two_weights(make, tables, (1.2 * MARGIN, 0.3 * MARGIN))  # where rounding decides
    optimum = learn_by_cells(Rivals(side_by_side(*tables), make(2)), [], Limits())
    assert optimum.found == pytest.approx(most)
    assert optimum.proved


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_what_cells_find_can_be_counted_from_the_distances(tables) -> None:
    records = side_by_side(*tables)
    family = WeightedMean(records.n_attributes)
    optimum = learn_by_cells(Rivals(records, family), [], Limits())
    order = [int(name.removeprefix("column ")) - 1 for name in records.names]
    counted = recounted(*tables, lambda differences: float(differences[order] ** 2 @ optimum.parameters))
    assert counted == pytest.approx(optimum.found)


def test_cells_left_open_still_bound_what_can_be_found() -> None:
    records, family = side_by_side(*noisy(60, 5, 1.2)), WeightedMean(5)
    finished = learn_by_cells(Rivals(records, family), [], Limits())
    assert finished.proved
    bounds = []
    for nodes in (0, 1, 20, 400, 4000):
        stopped = learn_by_cells(Rivals(records, family), [], Limits(nodes=nodes))
        assert stopped.found <= finished.found <= stopped.bound
        bounds.append(stopped.bound)
    assert bounds[0] == 60
    assert bounds == sorted(bounds, reverse=True)
    assert finished.bound < bounds[1]


def test_a_gap_ends_the_search_by_cells_within_it() -> None:
    records, family = side_by_side(*noisy(60, 5, 1.2)), WeightedMean(5)
    near, finished = (
        learn_by_cells(Rivals(records, family), [], Limits(gap=5.0)),
        learn_by_cells(Rivals(records, family), [], Limits()),
    )
    assert finished.bound <= near.bound <= near.found + 5.0
    assert near.rounds <= finished.rounds


def test_a_search_that_reports_often_is_the_same_search(monkeypatch) -> None:
    records, family = side_by_side(*noisy(60, 5, 1.2)), WeightedMean(5)
    at_once = learn_by_cells(Rivals(records, family), [], Limits())
    monkeypatch.setattr("shoal.attacks.proof.optimum.MOST_CELLS", 7)
    often = learn_by_cells(Rivals(records, family), [], Limits())
    assert at_once.proved
    assert (often.found, often.bound) == (at_once.found, at_once.bound)


def test_records_that_count_nothing_are_not_looked_for() -> None:
    records, family = side_by_side(*noisy(40, 3, 0.8)), WeightedMean(3)
    share = (np.arange(40) < 10).astype(float)
    cells, solver = (
        learn_by_cells(Rivals(records, family, share), [], Limits()),
        full_program(Rivals(records, family, share)),
    )
    assert cells.found == pytest.approx(solver.found)
    assert cells.bound == pytest.approx(solver.bound)
    assert cells.found <= 10


def test_rows_that_are_all_equal_leave_nothing_to_search() -> None:
    before = np.arange(12.0).reshape(6, 2)
    optimum = learn_by_cells(Rivals(side_by_side(before, np.ones((6, 2))), WeightedMean(2)), [], Limits())
    assert optimum.found == pytest.approx(1.0)
    assert optimum.proved


def test_a_rival_that_is_as_near_at_all_weights_ends_the_search() -> None:
    # Beside one record that is far away all others are equally near to everyone, by less than the margin.
    before, after = noisy(50, 3, 0.5)
    before[0] = after[0] = 1e12
    optimum = learn_by_cells(Rivals(side_by_side(before, after), WeightedMean(3)), [], Limits())
    assert optimum.proved
    assert optimum.found == 1.0


def test_ties_without_end_do_not_keep_the_search_going() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.integers(0, 2, (12, 2)).astype(float), rng.integers(0, 2, (12, 2)).astype(float)
    records = side_by_side(before, after)
    for make in (WeightedMean, OWA):
        cells, solver = (
            learn_by_cells(Rivals(records, make(2)), [], Limits()),
            full_program(Rivals(records, make(2))),
        )
        assert cells.found <= solver.found + 1e-9
        assert solver.found <= cells.bound + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_no_weights_find_more_than_the_bound(seed) -> None:
    rng = np.random.default_rng(seed)
    before, after = noisy(25, 3, 1.0, seed)
    after[::5] = after[0]
    records, family = side_by_side(before, after), WeightedMean(3)
    for nodes in (1, 50, 1000):
        optimum = learn_by_cells(Rivals(records, family), [], Limits(nodes=nodes))
        for weights in rng.dirichlet([0.5, 0.5, 0.5], 100):
            assert optimum.bound >= learn_by_cells(Rivals(records, family), [weights], Limits(nodes=0)).found - 1e-9


def test_cells_and_the_program_take_turns_and_the_better_bound_is_kept() -> None:
    records = side_by_side(*noisy(60, 5, 1.2))
    whole, _ = prove(records, "weighted-mean", Limits())
    assert whole.proved
    short, _ = prove(records, "weighted-mean", Limits(nodes=30))
    assert short.found <= whole.found <= short.bound
    assert short.bound <= learn_by_cells(Rivals(records, WeightedMean(5)), [], Limits(nodes=30)).bound / 60 + 1e-9
