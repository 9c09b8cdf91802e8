"""Classifiers: neighbours against scikit-learn and against every order of ties, scenarios by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.utility import classification_utility
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from shoal import InputError, SphericalMicroaggregation
from shoal.utility.classification import nearest_classes, pair_classification
from shoal.utility.spaces import distinct_rows, fold_of_rows, space_pair, unit_rows


def topics(n: int, seed: int) -> tuple[np.ndarray, list[str]]:
    """Documents of two topics, with terms of their own and terms of all."""
    random = np.random.default_rng(seed)
    topic = np.arange(n) % 2
    X = random.random((n, 8)) * np.where(np.arange(8) < 4, 1.0, 0.5)
    X[:, 0] += topic * 0.8
    X[:, 1] += (1 - topic) * 0.8
    return X, ["birds" if one else "fish" for one in topic]


def test_neighbours_without_ties_are_those_of_scikit_learn():
    X, labels = topics(80, 0)
    classes = np.array([label == "fish" for label in labels], dtype=np.int64)
    train, test = unit_rows(X[:50], "train"), unit_rows(X[50:], "test")
    found = nearest_classes(train, classes[:50], test, 2, [1, 3, 5])
    for count in (1, 3, 5):
        peer = KNeighborsClassifier(count, metric="cosine", algorithm="brute").fit(train, classes[:50])
        assert found[count].tolist() == peer.predict(test).tolist()


@given(
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.integers(1, 5),
)
def test_votes_of_tied_neighbours_are_those_of_all_orders(place: list[int], classes: list[int], count: int):
    directions = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    train = sp.csr_matrix(directions[place])
    votes = np.zeros(3)
    for order in permutations(range(5)):
        for row in sorted(order, key=lambda row: place[row])[:count]:  # from (1, 0) the places are ever farther
            votes[classes[row]] += 1
    expected = int(votes.argmax())
    found = nearest_classes(train, np.array(classes), sp.csr_matrix(directions[:1]), 3, [count])
    assert found[count].tolist() == [expected]


def test_scores_by_hand():
    # Three of four test rows are near their class; protection makes one row of all test documents.
    train = np.repeat(np.eye(2), 10, axis=0)
    train_labels = ["a"] * 10 + ["b"] * 10
    test, test_labels = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.7, 0.3]]), ["a", "a", "b", "b"]

    def protect(X: np.ndarray) -> np.ndarray:
        return X if len(X) == 20 else np.repeat(X[:1], len(X), axis=0)

    scores = {
        (one.classifier, one.train, one.test): one
        for one in classification_utility(train, test, train_labels, test_labels, protect)
    }
    assert len(scores) == 3 * 4
    best = scores["5 nearest neighbours", "original", "original"]
    assert (best.accuracy, best.jaccard) == (0.75, pytest.approx(3 / 5))  # 3 pairs right of 4 + 4 - 3
    assert best.macro_f1 == pytest.approx((4 / 5 + 2 / 3) / 2)  # a: 2 of 3 and 2 of 2; b: 1 of 1 and 1 of 2
    worst = scores["naive Bayes", "original", "protected"]
    assert (worst.accuracy, worst.jaccard) == (0.5, pytest.approx(1 / 3))
    assert worst.macro_f1 == pytest.approx((2 / 3 + 0) / 2)


def test_train_and_test_are_protected_on_their_own():
    X, labels = topics(60, 1)
    seen = []

    def protect(X: np.ndarray) -> np.ndarray:
        seen.append(len(X))
        return SphericalMicroaggregation(k=3, refine=False).fit_transform(X)

    classification_utility(X[:40], X[40:], labels[:40], labels[40:], protect)
    assert seen == [40, 20]


def test_naive_bayes_is_scikit_learns():
    X, labels = topics(60, 2)
    train, test = unit_rows(X[:40], "train"), unit_rows(X[40:], "test")
    scores = classification_utility(X[:40], X[40:], labels[:40], labels[40:], np.copy)
    found = next(one for one in scores if one.classifier == "naive Bayes")
    assert found.accuracy == MultinomialNB().fit(train, labels[:40]).score(test, labels[40:])


def test_a_pair_is_classified_in_folds_that_no_group_crosses():
    X, labels = topics(90, 3)
    pair = space_pair(X, SphericalMicroaggregation(k=5, refine=False).fit_transform(X))
    groups = distinct_rows(pair.protected).of_row
    folds = fold_of_rows(groups, 3, 0)
    assert all(len(set(folds[groups == group])) == 1 for group in groups)
    scores = pair_classification(pair, labels)
    baseline = next(one for one in scores if one.train == one.test == "original")
    assert baseline.accuracy > 0.8
    assert all(0.4 < one.accuracy <= 1 for one in scores)


def test_the_order_of_the_rows_changes_nothing():
    X, labels = topics(45, 4)
    Y = np.asarray(SphericalMicroaggregation(k=3, refine=False).fit_transform(X))
    shuffled = np.random.default_rng(0).permutation(45)
    one = pair_classification(space_pair(X, Y), labels)
    other = pair_classification(space_pair(X[shuffled], Y[shuffled]), [labels[row] for row in shuffled])
    assert [score.accuracy for score in one] == pytest.approx([score.accuracy for score in other])


def test_every_class_is_in_every_fold():
    classes = np.repeat([0, 1, 2], [40, 10, 5])
    folds = fold_of_rows(np.arange(55), 5, 0, classes)
    for one in range(3):
        counts = np.bincount(folds[classes == one], minlength=5)
        assert counts.max() - counts.min() <= 1


X, LABELS = topics(24, 5)


@pytest.mark.parametrize(
    ("X", "labels", "said"),
    [
        (X, LABELS[:-1], "23 labels for 24 rows"),
        (X, ["fish"] * 24, "all labels are 'fish'"),
        (X, [*LABELS[:-1], None], "1 of 24 labels are missing"),
        (X[:12], LABELS[:12], "10 nearest neighbours need as many training rows, there are 8"),
        (X - 0.5, LABELS, "naive Bayes needs weights of at least 0"),
    ],
)
def test_what_cannot_be_classified_is_refused(X, labels, said):
    with pytest.raises(InputError, match=said):
        pair_classification(space_pair(X, X), labels)


def test_folds_need_as_many_groups():
    with pytest.raises(InputError, match="3 folds need as many different protected rows, there are 2"):
        fold_of_rows(np.array([0, 0, 1, 1]), 3, 0)
