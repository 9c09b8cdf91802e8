"""Semantic microaggregation: k-anonymous documents by what their words mean.

Source: Abril, Navarro-Arribas and Torra, "Towards semantic microaggregation of categorical data for confidential
documents", MDAI 2010; the similarity is Wu and Palmer's (1994).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import Frame
from shoal.methods.estimator import check_k
from shoal.methods.mdav import RemainingRows, mdav, numbered_by_first_row
from shoal.methods.meanings import Collection, Documents, Meanings
from shoal.terms.hierarchy import ontologies_of

WITHHELD = -1  # the group of a document without a word that the ontology knows
ROUNDS = 3  # of exchanges, at most
TRIED = 3  # exchanges that are measured for a document, those that look best
MEASURABLE = 1e-12  # errors that differ by less are equal
LEAST_GAIN = 0.01  # of the error: a round that gains less is the last


class SemanticSpace(RemainingRows):
    """Documents that have words only. The centre is folded in the order of rows."""

    def __init__(self, meanings: Meanings, documents: Documents) -> None:
        super().__init__(len(documents))
        self._meanings = meanings
        self._documents = documents

    def farthest_from_centre(self) -> int:
        rows = np.flatnonzero(self._alive)
        centre = self._meanings.representative(self._documents, rows)
        distances = self._meanings.distances_to_words(centre, self._documents, rows)
        return int(rows[np.argmax(distances)])

    def _compare_with(self, row: int) -> None:
        if self._compared_with != row:
            rows = np.flatnonzero(self._alive)
            document = self._documents[row]
            self._distances[rows] = self._meanings.distances_to_words(document, self._documents, rows)
            self._compared_with = row


def exchanged(meanings: Meanings, documents: Documents, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The groups after exchanges of two documents that make the error smaller; sizes stay.

    The worst documents go first. Distances to the representatives as they are tell which exchanges look best, one for
    each other group; what these do to the error is measured.
    """
    groups, everyone = groups.copy(), np.arange(len(groups))

    def squares(members: NDArray[np.int64]) -> NDArray[np.float64]:
        return meanings.distances_to_words(meanings.representative(documents, members), documents, everyone) ** 2

    apart = np.array([squares(np.flatnonzero(groups == group)) for group in range(groups.max() + 1)])
    for _ in range(ROUNDS):
        before = apart[groups, everyone].sum()
        for row in np.argsort(-apart[groups, everyone], kind="stable"):
            home, own = groups[row], apart[groups, everyone]
            gain = np.where(groups == home, -np.inf, own + own[row] - apart[groups, row] - apart[home])
            best_first = np.argsort(-gain, kind="stable")
            _, first_of_group = np.unique(groups[best_first], return_index=True)
            for other in best_first[np.sort(first_of_group)][:TRIED]:
                away = groups[other]
                now = own[groups == home].sum() + own[groups == away].sum()
                if away == home or now <= MEASURABLE:
                    continue
                groups[[row, other]] = away, home
                members = [np.flatnonzero(groups == group) for group in (home, away)]
                if sum(meanings.error(documents, rows) for rows in members) < now - MEASURABLE:
                    apart[[home, away]] = [squares(rows) for rows in members]
                    break
                groups[[row, other]] = home, away
        if apart[groups, everyone].sum() > (1 - LEAST_GAIN) * before:
            break
    return numbered_by_first_row(groups)


class SemanticMicroaggregation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace every document by words and concepts that at least k documents share.

    A document is a dict {term: weight}. Two documents are compared by pairing their terms, each with the nearest in
    meaning; a pair's common hypernym with the mean weight stands for both. For documents of up to about 100 terms.

    Parameters
    ----------
    k : int, at least 2
        Least number of documents in a group.
    ontology : WordNet, Hierarchy, a file, several of these in a list, or None
        What terms mean, by the first that has them; None is WordNet. Others are left out and counted.
    refine : bool
        Exchange documents between groups where that makes the error smaller.
    random_state : int, RandomState or None
        Not used: nothing is drawn, a collection has one result.

    Attributes
    ----------
    groups_ : (n,) array, the group of each document, -1 for documents without a term that the ontology has.
    representatives_ : list of {label: weight}, one per group, by falling weight.
    words_left_out_ : dict, term that the ontology does not have -> documents that have it. Confidential.
    k_anonymous_ : True
    sse_, information_loss_ : float
    loss_ : Loss

    Examples
    --------
    >>> from shoal import SemanticMicroaggregation
    >>> documents = [{"horse": 0.7, "dog": 0.2, "cat": 0.1}, {"lion": 0.5, "monkey": 0.3, "tiger": 0.2}]
    >>> SemanticMicroaggregation(k=2).fit(documents).representatives_
    [{'placental': 0.5, 'big cat': 0.3, 'carnivore': 0.2}]
    """

    def __init__(
        self, k: int = 3, *, ontology: Any = None, refine: bool = True, random_state: int | None = None
    ) -> None:
        self.k = k
        self.ontology = ontology
        self.refine = refine
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SemanticMicroaggregation:
        """Group the documents."""
        collection = Collection.read(X, ontologies_of("wordnet" if self.ontology is None else self.ontology))
        _warn_of_empty(collection)
        k = check_k(self.k, len(collection.documents))
        groups = mdav(SemanticSpace(collection.meanings, collection.documents), k)
        if self.refine:
            groups = exchanged(collection.meanings, collection.documents, groups)
        representatives = collection.representatives(groups)
        self.groups_ = np.full(collection.n_given, WITHHELD)
        self.groups_[collection.rows] = groups
        self.words_left_out_ = collection.words_left_out
        self._spelt = collection.spelt(representatives)
        self.representatives_ = self._spelt.shown()
        self.k_anonymous_ = True
        self.loss_ = collection.loss(groups, representatives)
        self.sse_ = self.loss_.sse
        self.information_loss_ = self.loss_.information_loss
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the documents and return each one's representative; {} for a document without a group."""
        return self.fit(X)._represent(self.groups_, X)

    def transform(self, X: Any) -> Any:
        """Give each document, new or old, the nearest existing representative; ties to the lower one."""
        check_is_fitted(self, "representatives_")
        collection = Collection.read(X, self._spelt.ontology, beside=self._spelt)
        _warn_of_empty(collection)
        nearest = np.full(collection.n_given, WITHHELD)
        if len(collection.rows):
            representatives = collection.numbered(self._spelt)
            distances = collection.meanings.all_distances(representatives, collection.documents)
            nearest[collection.rows] = np.argmin(distances, axis=0)
        return self._represent(nearest, X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The labels of the representatives, in alphabetical order: columns of the frames of `set_output`."""
        check_is_fitted(self, "representatives_")
        labels = {label for representative in self.representatives_ for label in representative}
        return np.array(sorted(labels), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.input_tags.two_d_array = False
        return tags

    def _represent(self, groups: NDArray[np.int64], X: Any) -> Any:
        """The representative of each document: a dict, or a row of the frame that `set_output` asks for."""
        represented = [{} if group == WITHHELD else dict(self.representatives_[group]) for group in groups]
        frame = Frame.wanted(X, self)
        if frame is None:
            return represented
        return frame.of(np.array([document.get(label, 0.0) for document in represented]) for label in frame.names)


def _warn_of_empty(collection: Collection) -> None:
    empty = collection.n_given - len(collection.rows)
    if empty:
        warnings.warn(
            f"{empty} documents have no term that the ontology knows: they join no group (-1) and must be withheld "
            "from a release",
            stacklevel=3,
        )
