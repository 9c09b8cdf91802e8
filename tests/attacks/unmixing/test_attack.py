"""Releases made by hand, taken apart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from shoal.attacks.unmixing.attack import Unmixing
from shoal.attacks.unmixing.published import Published, precision_of
from shoal.attacks.unmixing.scoring import score

K = 3


@pytest.fixture(scope="module")
def documents():
    """Forty groups of three documents over 120 terms: counts, document frequencies, groups."""
    random = np.random.default_rng(0)
    counts = (random.random((K * 40, 120)) < 0.2) * random.geometric(0.7, (K * 40, 120))
    counts = counts[:, (counts > 0).sum(axis=0) >= K]
    return sp.csr_matrix(counts.astype(float)), np.repeat(np.arange(40), K)


def mean_of_unit_rows(counts, groups):
    n_documents = counts.shape[0]
    idf = np.log(n_documents / np.asarray((counts > 0).sum(axis=0)).ravel())
    unit = normalize(counts @ sp.diags_array(idf))
    return normalize(membership(groups) @ unit)


def sums(counts, groups):
    idf = np.log(counts.shape[0] / np.asarray((counts > 0).sum(axis=0)).ravel())
    return normalize(membership(groups) @ counts @ sp.diags_array(idf))


def membership(groups):
    return sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups)))))


def published(rows, groups):
    return Published(rows, np.bincount(groups), len(groups), K)


def test_every_member_is_recovered_from_the_exact_mean(documents):
    counts, groups = documents
    release = published(mean_of_unit_rows(counts, groups), groups)
    guesses = Unmixing().run(release)
    result = score(guesses, release, counts, groups)
    assert result.exact.rate == 1.0
    assert result.form == "means of unit rows, in full precision"
    assert (result.nearly.baseline, result.nearly.control) == (0.0, 0.0)


def test_most_members_are_recovered_from_means_of_eight_decimals(documents):
    counts, groups = documents
    rows = mean_of_unit_rows(counts, groups)
    rows.data = np.round(rows.data, 8)
    release = published(rows, groups)
    result = score(Unmixing().run(release), release, counts, groups)
    assert result.exact.rate > 0.8
    assert result.form == "means of unit rows, rounded to 8 decimals"


def test_nothing_is_recovered_from_column_sums(documents):
    counts, groups = documents
    release = published(sums(counts, groups), groups)
    guesses = Unmixing().run(release)
    result = score(guesses, release, counts, groups)
    assert result.form == "column sums"
    assert (result.exact.rate, result.nearly.rate) == (0.0, 0.0)
    # What the row does say is read rightly: the guesses of a group add up to its sums.
    row = np.asarray(guesses.counts[guesses.group_of_guess == 0].sum(axis=0)).ravel()
    assert row.tolist() == np.asarray(counts[groups == 0].sum(axis=0)).ravel().tolist()


def test_nothing_is_recovered_from_powers_of_two(documents):
    counts, groups = documents
    rows = mean_of_unit_rows(counts, groups)
    rows.data = 2.0 ** np.round(np.log2(rows.data))
    release = published(rows, groups)
    result = score(Unmixing().run(release), release, counts, groups)
    assert result.form == "weights rounded to powers of 2, too coarse for scales"
    assert result.exact.rate == 0.0


def test_the_same_seed_gives_the_same_guesses_and_no_group_has_more_than_its_members(documents):
    counts, groups = documents
    release = published(sums(counts, groups), groups)
    one, other = (Unmixing(groups=10, random_state=3).run(release) for _ in range(2))
    assert (one.counts != other.counts).nnz == 0
    assert one.tried.tolist() == other.tried.tolist()
    assert len(one.tried) == 10
    assert np.bincount(one.group_of_guess).max() <= K


def test_precision_is_read_from_the_weights():
    random = np.random.default_rng(0)
    weights = random.random(50)
    assert precision_of(weights).exact
    assert precision_of(np.round(weights, 3)).decimals == 3
    assert precision_of(2.0 ** np.round(np.log2(weights)) / 3).ratio == pytest.approx(2.0)
