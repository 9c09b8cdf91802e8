"""The two ways to protect documents: by their words (spherical), and by what their words mean (semantic).

A way turns texts into rows, groups them, and says what stands for each group and what that costs. It is used once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import normalize

from shoal.errors import InputError
from shoal.microaggregation import SemanticMicroaggregation, SphericalMicroaggregation
from shoal.microaggregation.collection import Collection
from shoal.microaggregation.diversity import merge_until_diverse
from shoal.microaggregation.meanings import Documents
from shoal.microaggregation.spherical import spherical_loss, spherical_representatives
from shoal.ontology import WordNet
from shoal.release.distances import MOST_IN_MEANING, cosine_distances, distances_in_meaning, spread_out
from shoal.release.groups import value_codes
from shoal.release.summary import Distances
from shoal.results import Loss
from shoal.vectors import VectorSpace

__all__ = ["TERMS_PER_DOCUMENT", "ByMeaning", "ByWords", "Way", "document_method", "merged_until_diverse"]

TERMS_PER_DOCUMENT = 50  # that are compared by meaning

Ints = NDArray[np.int64]


class Way(Protocol):
    """From texts to the rows that stand for groups of them."""

    space: VectorSpace
    name: str  # of the method, in words
    in_meaning: bool  # terms are words and concepts, and distances are those of meaning

    def rows(self, texts: Iterable[str]) -> sp.csr_matrix:
        """The texts as rows of the space."""

    def group(self, X: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        """The group of each row, with at least l different labels in each if l is given."""

    def representatives(self, X: sp.csr_matrix, groups: Ints) -> tuple[sp.csr_matrix, NDArray[Any]]:
        """What stands for each group, of length 1, and the terms of its columns in alphabetical order."""

    def loss(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Loss:
        """What the groups cost; X may have been put in another order since."""

    def distances(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Distances:
        """Distances before and after."""

    def parameters(self) -> dict[str, Any]:
        """Of the space and of the method."""


def document_method(method: Any, space: VectorSpace | None, k: int) -> Way:
    """The way that fits a method; None is spherical."""
    if isinstance(method, SemanticMicroaggregation):
        chosen = VectorSpace(min_df=k, stem=False, terms_per_document=TERMS_PER_DOCUMENT) if space is None else space
        return ByMeaning(chosen, method)
    if method is None or isinstance(method, SphericalMicroaggregation):
        return ByWords(VectorSpace(min_df=k) if space is None else space, method or SphericalMicroaggregation())
    raise InputError(
        f"{type(method).__name__} cannot protect documents; use SphericalMicroaggregation or SemanticMicroaggregation"
    )


class ByWords:
    """Spherical microaggregation of the space's rows."""

    in_meaning = False

    def __init__(self, space: VectorSpace, method: SphericalMicroaggregation) -> None:
        self.space = space
        self.name = "spherical microaggregation (MDAV)" + (", refined" if method.refine else "")
        self._model = clone(method)

    def rows(self, texts: Iterable[str]) -> sp.csr_matrix:
        return self.space.fit_transform(texts)

    def group(self, X: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        groups: Ints = self._model.set_params(k=k).fit(X).groups_
        return groups if l is None else merged_until_diverse(X, groups, labels, l)

    def representatives(self, X: sp.csr_matrix, groups: Ints) -> tuple[sp.csr_matrix, NDArray[Any]]:
        return spherical_representatives(X, groups), self.space.terms_

    def loss(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Loss:
        return spherical_loss(X, groups, representatives)

    def distances(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Distances:
        return cosine_distances(X, groups, representatives)

    def parameters(self) -> dict[str, Any]:
        return {"vector_space": self.space.get_params(), "microaggregation": self._model.get_params()}


class ByMeaning:
    """Semantic microaggregation of the heaviest words that the ontology has."""

    name = "semantic microaggregation (MDAV)"
    in_meaning = True

    def __init__(self, space: VectorSpace, method: SemanticMicroaggregation) -> None:
        in_wordnet = method.ontology is None or isinstance(method.ontology, WordNet)
        if space.stem:
            raise InputError("stems are no words, and a meaning is a word's; leave out --stem, or use stem=False")
        if in_wordnet and space.language != "english":
            raise InputError(f"WordNet is English, the language is {space.language}; use another ontology or method")
        self.space = space
        self._ontology = WordNet() if method.ontology is None else method.ontology
        self._not_found = "no noun in WordNet" if in_wordnet else "not in the ontology"
        self._model = clone(method)

    def rows(self, texts: Iterable[str]) -> sp.csr_matrix:
        counted = self.space.count(texts)
        unknown = {term for term in counted.terms if not self._ontology.senses(term)}
        return self.space.fit_counted(replace(counted, tally=counted.tally.without(unknown, self._not_found)))

    def group(self, X: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        documents = self.space.inverse_transform(X)
        self._collection = Collection.read(documents, self._ontology)
        self._groups: Ints = self._model.set_params(k=k, ontology=self._ontology).fit(documents).groups_
        self._folded = self._collection.representatives(self._groups)
        if l is not None:
            self._groups = merge_until_diverse(self._groups, [value_codes(labels)], l, self._distance_to_groups)
            self._folded = self._collection.representatives(self._groups)
        return self._groups

    def representatives(self, X: sp.csr_matrix, groups: Ints) -> tuple[sp.csr_matrix, NDArray[Any]]:
        shown = self._collection.spelt(self._folded).shown()
        terms = sorted({term for one in shown for term in one})
        column_of = {term: column for column, term in enumerate(terms)}
        columns = [column_of[term] for one in shown for term in one]
        weights = np.array([weight for one in shown for weight in one.values()])
        ends = np.cumsum([0, *map(len, shown)])
        found = sp.csr_matrix((weights, columns, ends), shape=(len(shown), len(terms)))
        found.sort_indices()
        return normalize(found), np.array(terms)

    def loss(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Loss:
        return self._collection.loss(self._groups, self._folded)

    def distances(self, X: sp.csr_matrix, groups: Ints, representatives: sp.csr_matrix) -> Distances:
        rows = spread_out(len(self._groups), MOST_IN_MEANING)
        documents = self._collection.documents
        some = Documents.of(documents[row] for row in rows)
        used, group_of_row = np.unique(self._groups[rows], return_inverse=True)
        folded = Documents.of(self._folded[group] for group in used)
        pairs = np.triu_indices(len(rows), 1)
        before = self._collection.meanings.all_distances(some, some)[pairs]
        among_groups = self._collection.meanings.all_distances(folded, folded)
        after = among_groups[np.ix_(group_of_row, group_of_row)][pairs]
        return distances_in_meaning(before, after, len(documents))

    def parameters(self) -> dict[str, Any]:
        microaggregation = self._model.get_params() | {"ontology": type(self._ontology).__name__}
        return {"vector_space": self.space.get_params(), "microaggregation": microaggregation}

    def _distance_to_groups(self, rows: Ints, groups: Ints) -> NDArray[np.float64]:
        """Of the representative of these rows to those of some groups."""
        centre = Documents.of([self._collection.meanings.representative(self._collection.documents, rows)])
        folded = Documents.of(self._folded[group] for group in groups)
        distances: NDArray[np.float64] = self._collection.meanings.all_distances(centre, folded)[0]
        return distances


def merged_until_diverse(X: sp.csr_matrix, groups: Ints, labels: NDArray[Any], least: int) -> Ints:
    """The groups, joined until each has `least` different labels."""
    representatives = spherical_representatives(X, groups)

    def distance_to_groups(rows: Ints, some: Ints) -> NDArray[np.float64]:
        centre = np.asarray(X[rows].sum(axis=0)).ravel()
        distance: NDArray[np.float64] = -(representatives[some] @ (centre / np.linalg.norm(centre)))
        return distance

    return merge_until_diverse(groups, [value_codes(labels)], least, distance_to_groups)
