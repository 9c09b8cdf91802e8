"""Vector spaces: four documents by hand, the loss that microaggregation reports, and what is refused."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from shoal import InputError, SphericalMicroaggregation
from shoal.utility import vector_space
from shoal.utility.spaces import distinct_rows, space_pair, unit_rows
from shoal.utility.vector_space import distance_shares, space_loss, space_utility

FOUR = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.6, 0.8], [0.0, 0.0, 2.0]])
PAIRED = FOUR[[0, 0, 3, 3]]


def documents(n: int, seed: int) -> sp.csr_matrix:
    X = sp.random_array((n, 29), density=0.3, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_matrix(sp.hstack([np.full((n, 1), 0.1), X]))  # no document is empty


def test_four_documents_by_hand():
    utility = space_utility(FOUR, PAIRED)
    assert (utility.documents, utility.terms) == (4, 3)
    assert utility.loss.sse == pytest.approx(0.2 + 0.2)
    # The sum of all originals is (1.8, 1.2, 1.8); both protected directions have 1.8 / |it| with it.
    assert utility.loss.ssa == pytest.approx(4 - 4 * 1.8 / np.sqrt(1.8**2 + 1.2**2 + 1.8**2))
    assert (utility.original.terms_per_document, utility.protected.terms_per_document) == (1.5, 1.0)
    assert utility.original.mean_weight == pytest.approx((1 + 0.8 + 0.6 + 0.6 + 0.8 + 1) / 6)
    # Distances: 0.2, 1, 1, 0.64, 1, 0.2; protected 0, 1, 1, 1, 1, 0.
    assert utility.original.distances == pytest.approx([0, 0, 2 / 6, 0, 0, 0, 1 / 6, 0, 0, 3 / 6])
    assert utility.protected.distances == pytest.approx([2 / 6, *[0] * 8, 4 / 6])
    assert (utility.pairs, utility.sampled) == (6, False)
    assert utility.clusters == ()  # no five clusters of two different rows
    assert utility.ari is None
    assert {query.terms for query in utility.queries} == {1, 3}


@given(st.integers(0, 100), st.integers(2, 5))
def test_the_loss_is_the_one_of_spherical_microaggregation(seed: int, k: int):
    X = documents(25, seed)
    method = SphericalMicroaggregation(k=k, refine=False)
    loss = space_loss(space_pair(X, method.fit_transform(X)))
    assert (loss.sse, loss.ssa) == (pytest.approx(method.loss_.sse), pytest.approx(method.loss_.ssa))


@given(st.integers(0, 100))
def test_distances_are_counted_as_plainly_as_by_all_pairs(seed: int):
    X = unit_rows(sp.vstack([documents(20, seed)] * 2), "original")
    expected = np.histogram(pdist(X.toarray(), "cosine").clip(0, 1), bins=np.linspace(0, 1, 11))[0]
    assert distance_shares(X) * 40 * 39 / 2 == pytest.approx(expected)


def test_many_rows_are_sampled_and_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vector_space, "MOST_ROWS", 10)
    X = documents(30, 0)
    utility = space_utility(X, X)
    assert (utility.pairs, utility.sampled) == (45, True)
    assert sum(utility.original.distances) == pytest.approx(1)


def test_the_same_space_loses_nothing():
    X = documents(40, 1)
    labels = ["even" if row % 2 == 0 else "odd" for row in range(40)]
    utility = space_utility(X, X, labels)
    assert utility.loss.information_loss == 0
    assert utility.original == utility.protected
    assert [query.f1 for query in utility.queries] == [query.ceiling for query in utility.queries]
    assert utility.ari == 1
    assert [found.clusters for found in utility.clusters] == [2, 5, 10, 15, 20, 25]
    by_classifier = {(one.classifier, one.jaccard, one.macro_f1) for one in utility.classifiers}
    assert len(by_classifier) == 3  # each gives the same in all scenarios


def test_the_order_of_documents_changes_nothing():
    X = documents(40, 2)
    Y = SphericalMicroaggregation(k=4, refine=False).fit_transform(X)
    labels = np.array(["even" if row % 2 == 0 else "odd" for row in range(40)])
    shuffled = np.random.default_rng(0).permutation(40)
    one = space_utility(X, Y, labels)
    other = space_utility(X[shuffled], Y[shuffled], labels[shuffled])
    for mine, yours in zip(one.rows(), other.rows(), strict=True):
        assert (mine["measure"], mine["of"]) == (yours["measure"], yours["of"])
        assert mine["original"] == pytest.approx(yours["original"]), mine
        assert mine["protected"] == pytest.approx(yours["protected"]), mine


def test_the_figures_are_a_table():
    X = documents(40, 3)
    rows = space_utility(X, SphericalMicroaggregation(k=3).fit_transform(X), ["a", "b"] * 20).rows()
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writerows(rows)
    assert list(rows[0]) == ["measure", "of", "original", "protected"]
    # Loss, terms, weight, order; tenths; queries of 1, 3, 5 terms and 3 lengths; 3 classifiers, 3 scenarios, 3 scores.
    assert len(rows) == 4 + 10 + 6 * 9 + 27 + len({2, 5, 10})
    assert len({(row["measure"], row["of"]) for row in rows}) == len(rows)
    assert all(isinstance(row[name], float) for row in rows for name in ("original", "protected"))


def test_equal_rows_are_found_whatever_their_zeros_and_order_of_entries():
    X = sp.csr_matrix((np.array([2.0, 1.0, 0.0, 1.0, 2.0]), np.array([1, 0, 2, 0, 1]), np.array([0, 3, 5])), (2, 3))
    assert distinct_rows(unit_rows(X, "original")).counts.tolist() == [2]


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_very_small_and_very_large_weights_have_a_direction_too(scale: float):
    assert unit_rows(FOUR * scale, "original").toarray() == pytest.approx(FOUR / [[1], [1], [1], [2]])


@pytest.mark.parametrize(
    ("original", "protected", "said"),
    [
        (FOUR, PAIRED[:3], "the original has 4 rows and the protected space 3"),
        (FOUR, PAIRED[:, :2] + 1, "the original has 3 terms and the protected space 2"),
        (FOUR, PAIRED * [[1], [0], [1], [0]], "2 of 4 rows of the protected space are empty, the first is row 1"),
        (FOUR * np.nan, PAIRED, "the original space has missing or infinite weights"),
        (FOUR[:1], PAIRED[:1], "has 1 rows; at least 2"),
        (["a heron", "a gull"], PAIRED, "not a matrix of numbers"),
    ],
)
def test_spaces_that_do_not_fit_are_refused(original, protected, said):
    with pytest.raises(InputError, match=said):
        space_utility(original, protected)


@pytest.mark.parametrize(
    ("labels", "said"),
    [(["a", "b"], "2 labels for 4 rows"), (["a"] * 4, "all labels are 'a'"), ([1.0, 2.0, np.nan, 1.0], "1 of 4")],
)
def test_labels_that_do_not_fit_are_refused(labels, said):
    with pytest.raises(InputError, match=said):
        space_utility(FOUR, PAIRED, labels)
