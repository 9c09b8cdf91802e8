"""Two releases, one without a record: exact means tell the record, means on a grid hardly do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal import InputError, Microaggregation
from shoal.attacks.differencing import Differencing, subtracted
from shoal.release.figures import published_means


def table(n_rows: int = 200) -> np.ndarray:
    """Six columns that hang together, as those of people do."""
    random = np.random.default_rng(5)
    mixed = random.normal(size=(n_rows, 3)) @ random.normal(size=(3, 6)) + 0.5 * random.normal(size=(n_rows, 6))
    return np.round(10_000 + 2_000 * mixed)


def exact_means(values: np.ndarray) -> np.ndarray:
    return Microaggregation(5, refine=False).fit_transform(values)


def rounded_means(values: np.ndarray) -> np.ndarray:
    return published_means(values, exact_means(values), 5)


def test_what_is_left_after_subtracting_is_the_record_that_was_removed():
    # Groups of 1, 3 and of 8, 10, 12; without 12 they are 1, 3, 8 and 10 in one group of mean 5.5.
    first = np.array([[2.0], [2.0], [10.0], [10.0], [10.0]])
    second = np.full((4, 1), 5.5)
    assert subtracted(first, second).tolist() == [12.0]


def test_exact_means_tell_every_cell_of_every_removed_record():
    found = Differencing(removals=20).run(table(), exact_means)
    assert found.cells.rate == 1.0
    assert [column.rate for column in found.columns] == [1.0] * 6
    assert found.columns[0].about == "differencing of column 1"
    assert found.cells.n == 20


def test_means_on_a_grid_tell_no_column_in_more_than_one_of_k_removals():
    found = Differencing(removals=60).run(table(), rounded_means)
    assert found.worst.rate <= 1 / 5
    assert found.worst.rate == max(column.rate for column in found.columns)


def test_the_baseline_is_the_best_blind_guess():
    # Three of four values lie within 2 · 0.05 standard deviations of each other.
    values = np.array([[0.0], [0.1], [0.2], [100.0]])
    found = Differencing(removals=4).run(values, lambda rows: rows)
    assert found.cells.baseline == 0.75


def test_confidential_values_are_told_whatever_is_rounded():
    illnesses = ["flu", "gout", "flu", "asthma", "gout"]
    for removed in range(5):
        others = illnesses[:removed] + illnesses[removed + 1 :]
        assert list((Counter(illnesses) - Counter(others)).elements()) == [illnesses[removed]]


@pytest.mark.parametrize(("removals", "says"), [(0, "removals=0"), (2.5, "removals=2.5")])
def test_a_number_of_removals_that_makes_no_sense_is_refused(removals, says):
    with pytest.raises(InputError, match=says):
        Differencing(removals=removals).run(table(), exact_means)
    with pytest.raises(InputError, match="tolerance=-1 must be at least 0"):
        Differencing(tolerance=-1).run(table(), exact_means)
