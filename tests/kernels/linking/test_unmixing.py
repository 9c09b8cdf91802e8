"""Unmixing kernels against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import unmixing
from tests.reference import unmixing as twin

NUMBER = st.integers(0, 12).map(float)


@given(st.lists(st.tuples(NUMBER, NUMBER, NUMBER, st.integers(0, 4)), min_size=1, max_size=20))
def test_every_window_counts_an_owner_once_with_its_largest_gain(entries):
    values, widths, gains, owners = map(list, zip(*sorted(entries), strict=True))
    totals, ends = unmixing.coincidences(np.array(values), np.array(widths), np.array(gains), np.array(owners), 5)
    assert (totals.tolist(), ends.tolist()) == twin.coincidences(values, widths, gains, owners)


@given(st.data())
def test_the_cheapest_sum_is_found_from_both_sides(data):
    side = st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=12).map(sorted)
    (left, left_costs), (right, right_costs) = (zip(*data.draw(side), strict=True) for _ in range(2))
    options = data.draw(st.lists(st.tuples(NUMBER, st.integers(0, 2).map(float), NUMBER), min_size=1, max_size=5))
    targets, slacks, extra = zip(*options, strict=True)
    lists = [list(part) for part in (left, left_costs, right, right_costs, targets, slacks, extra)]
    target, i, j = unmixing.decode(*map(np.array, lists))
    least = twin.cheapest_cost(*lists)
    assert (target < 0) == (least == float("inf"))
    if target >= 0:
        assert abs(left[i] + right[j] - targets[target]) <= slacks[target]
        assert least == left_costs[i] + right_costs[j] + extra[target]


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 6))
def test_parted_counts_keep_their_sums_and_their_energy_is_the_one_counted_afresh(seed, members, n_terms):
    random = np.random.default_rng(seed)
    affinity = random.normal(size=(n_terms, n_terms))
    affinity = affinity + affinity.T
    np.fill_diagonal(affinity, 0.0)
    start = random.integers(0, 3, size=(members, n_terms))
    cost = random.normal(size=(n_terms, members + 1))
    found, energy = unmixing.part_counts(affinity, start.sum(axis=0), start, cost, 0.1, np.geomspace(2, 0.1, 5), random)
    assert found.sum(axis=0).tolist() == start.sum(axis=0).tolist()
    assert energy == pytest.approx(twin.energy(affinity.tolist(), found.tolist(), cost.tolist(), 0.1))
    assert energy <= twin.energy(affinity.tolist(), start.tolist(), cost.tolist(), 0.1) + 1e-9
