"""Releases made by hand, taken apart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.exact_means import recovered
from sklearn.preprocessing import normalize

from shoal.attacks.unmixing.attack import Published, Unmixing
from shoal.attacks.unmixing.scoring import score

K = 3


@pytest.fixture(scope="module")
def documents():
    """Forty groups of three documents over 120 terms: counts, document frequencies, groups."""
    random = np.random.default_rng(0)
    counts = (random.random((K * 40, 120)) < 0.2) * random.geometric(0.7, (K * 40, 120))
    counts = counts[:, (counts > 0).sum(axis=0) >= K]
    return sp.csr_matrix(counts.astype(float)), np.repeat(np.arange(40), K)


def membership(groups):
    return sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups)))))


def pooled(counts, groups):
    return Published(membership(groups) @ counts, np.bincount(groups), len(groups), K)


@pytest.mark.slow
def test_every_member_would_be_recovered_from_the_exact_mean(documents):
    counts, groups = documents
    idf = np.log(counts.shape[0] / np.asarray((counts > 0).sum(axis=0)).ravel())
    means = normalize(membership(groups) @ normalize(counts @ sp.diags_array(idf)))
    assert recovered(sp.csr_matrix(means), counts, groups, K, len(groups), 40) == (1.0, 1.0)


def test_nothing_is_recovered_from_column_sums(documents):
    counts, groups = documents
    release = pooled(counts, groups)
    guesses = Unmixing().run(release)
    result = score(guesses, release, counts, groups)
    assert (result.exact.rate, result.nearly.rate) == (0.0, 0.0)
    # What the row does say is read rightly: the guesses of a group add up to its sums.
    row = np.asarray(guesses.counts[guesses.group_of_guess == 0].sum(axis=0)).ravel()
    assert row.tolist() == np.asarray(counts[groups == 0].sum(axis=0)).ravel().tolist()


def test_the_same_seed_gives_the_same_guesses_and_no_group_has_more_than_its_members(documents):
    counts, groups = documents
    release = pooled(counts, groups)
    one, other = (Unmixing(groups=10, random_state=3).run(release) for _ in range(2))
    assert (one.counts != other.counts).nnz == 0
    assert one.tried.tolist() == other.tried.tolist()
    assert len(one.tried) == 10
    assert np.bincount(one.group_of_guess).max() <= K
