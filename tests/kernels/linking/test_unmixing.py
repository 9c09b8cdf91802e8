"""The parting of counts against its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import unmixing
from tests.reference import unmixing as twin


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
