"""Classification: do classifiers learn from protected documents, and recognise them, as well as originals?

Three scenarios: trained on originals and tested on protected documents, both protected, and trained on protected and
tested on originals; the baseline is both original. Classifiers: k nearest neighbours by cosine (k = 5, 10) and
multinomial naive Bayes. With P the pairs (document, predicted class) and T those of the true classes:

    Jaccard index = |P ∩ T| / |P ∪ T| = accuracy / (2 - accuracy)

Accuracy is the share of documents recognised; macro F1 the mean of the classes' F1.

Neighbours at the same distance share the places that are left, so that a vote is what it is on average when ties are
broken at random: with protected documents, which tie in groups, the order of the rows would decide otherwise. Without
ties this is scikit-learn's `KNeighborsClassifier`.

Source of the scenarios: as in `queries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.utility import ClassifierScore
from shoal.utility.spaces import SpacePair, class_of_rows, distinct_rows, fold_of_rows

NEIGHBOURS = (5, 10)
SCENARIOS = (("original", "original"), ("original", "protected"), ("protected", "protected"), ("protected", "original"))
BLOCK = 512  # documents whose similarities to all others are held at a time
ROUNDING = 1e-9  # similarities closer than this tie


def pair_classification(
    pair: SpacePair, labels: Sequence[Any], random_state: int = 0, folds: int = 3
) -> tuple[ClassifierScore, ...]:
    """Scores of every classifier in the baseline and the three scenarios; each fold in turn is held out, see `folds`.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.utility.classification import pair_classification
    >>> from shoal.utility.spaces import space_pair
    >>> X = np.abs(np.array([[1.0, 0.1], [0.1, 1.0]]).repeat(20, axis=0) - 0.001 * np.arange(40)[:, None])
    >>> scores = pair_classification(space_pair(X, X), ["birds"] * 20 + ["fish"] * 20)
    >>> scores[0].classifier, scores[0].train, scores[0].test, scores[0].accuracy
    ('5 nearest neighbours', 'original', 'original', 1.0)
    """
    classes, names = class_of_rows(labels, pair.original.shape[0])
    fold_of_row = fold_of_rows(distinct_rows(pair.protected).of_row, folds, random_state, classes)
    predicted: dict[tuple[str, str, str], Ints] = {}
    for fold in range(folds):
        progress.step("training classifiers", fold, folds)
        held_out = np.flatnonzero(fold_of_row == fold)
        rest = np.flatnonzero(fold_of_row != fold)
        train = SpacePair(pair.original[rest], pair.protected[rest])
        test = SpacePair(pair.original[held_out], pair.protected[held_out])
        for key, classes_found in predicted_classes(train, test, classes[rest], len(names)).items():
            predicted.setdefault(key, np.empty(len(classes), dtype=np.int64))[held_out] = classes_found
    progress.step("training classifiers", folds, folds)
    return classifier_scores(classes, predicted)


def predicted_classes(
    train: SpacePair, test: SpacePair, classes: Ints, n_classes: int
) -> dict[tuple[str, str, str], Ints]:
    """The class of each test row by (classifier, trained on, tested on)."""
    from sklearn.naive_bayes import MultinomialNB  # only here, and it takes a while to load

    predicted: dict[tuple[str, str, str], Ints] = {}
    for trained_on, tested_on in SCENARIOS:
        X, Y = getattr(train, trained_on), distinct_rows(getattr(test, tested_on))
        by_count = nearest_classes(X, classes, Y.rows, n_classes, NEIGHBOURS)
        for count, nearest in by_count.items():
            predicted[f"{count} nearest neighbours", trained_on, tested_on] = nearest[Y.of_row]
        if X.data.min() < 0 or Y.rows.data.min() < 0:
            raise InputError("naive Bayes needs weights of at least 0, and the space has some below; leave labels out")
        predicted["naive Bayes", trained_on, tested_on] = MultinomialNB().fit(X, classes).predict(Y.rows)[Y.of_row]
    return predicted


def nearest_classes(
    train: sp.csr_matrix, classes: Ints, test: sp.csr_matrix, n_classes: int, neighbours: Sequence[int] = NEIGHBOURS
) -> dict[int, Ints]:
    """The class that most of each test row's k nearest training rows have, for each k; ties to the first class."""
    if max(neighbours) > train.shape[0]:
        raise InputError(
            f"{max(neighbours)} nearest neighbours need as many training rows, there are {train.shape[0]}; add rows"
        )
    distinct = distinct_rows(train)  # of tied rows only how many there are, and of which class
    tally = np.zeros((distinct.rows.shape[0], n_classes))
    np.add.at(tally, (distinct.of_row, classes), 1.0)
    columns = sp.csr_matrix(distinct.rows.T)
    blocks: dict[int, list[Ints]] = {count: [] for count in neighbours}
    for start in range(0, test.shape[0], BLOCK):
        similarity = (test[start : start + BLOCK] @ columns).toarray()  # (block, g)
        for count in neighbours:
            votes = _votes(similarity, tally, distinct.counts, count)
            blocks[count].append(votes.round(9).argmax(axis=1))
    return {count: np.concatenate(parts) for count, parts in blocks.items()}


def _votes(similarity: Floats, tally: Floats, counts: Ints, n_neighbours: int) -> Floats:
    """Expected number of neighbours of each class, (block, classes)."""
    everyone = np.arange(len(similarity))
    # As many different rows as there are neighbours are enough, each stands for one row at least.
    most = min(n_neighbours, similarity.shape[1])
    nearest = np.argpartition(-similarity, most - 1, axis=1)[:, :most]
    nearest = np.take_along_axis(nearest, np.argsort(-similarity[everyone[:, None], nearest], axis=1), axis=1)
    enough = (np.cumsum(counts[nearest], axis=1) >= n_neighbours).argmax(axis=1)
    last = similarity[everyone, nearest[everyone, enough]][:, None]  # similarity of the last neighbour
    surely = sp.csr_matrix(similarity > last + ROUNDING, dtype=np.float64)
    tied = sp.csr_matrix(np.abs(similarity - last) <= ROUNDING, dtype=np.float64)
    share = (n_neighbours - surely @ counts) / (tied @ counts)
    return np.asarray(surely @ tally + share[:, None] * (tied @ tally))


def classifier_scores(classes: Ints, predicted: dict[tuple[str, str, str], Ints]) -> tuple[ClassifierScore, ...]:
    """Jaccard index, accuracy and macro F1 of what each classifier predicted."""
    from sklearn.metrics import accuracy_score, f1_score

    scores = []
    for (classifier, trained_on, tested_on), predictions in predicted.items():
        accuracy = float(accuracy_score(classes, predictions))
        macro = float(f1_score(classes, predictions, average="macro", zero_division=0.0))
        scores.append(ClassifierScore(classifier, trained_on, tested_on, accuracy / (2.0 - accuracy), accuracy, macro))
    return tuple(scores)
