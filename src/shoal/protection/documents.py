"""The two ways to protect documents: by their words (spherical), and by what their words mean (semantic).

A way turns texts into rows, groups them, and says what stands for each group and what that costs. It is used once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import InputError
from shoal.microaggregation import SemanticMicroaggregation, SphericalMicroaggregation
from shoal.microaggregation.blocks.grouping import block_count, seconds_of_search
from shoal.microaggregation.diversity import merge_until_diverse
from shoal.microaggregation.spherical import spherical_loss, spherical_representatives
from shoal.microaggregation.words.collection import Collection
from shoal.microaggregation.words.giveaways import without_giveaways
from shoal.microaggregation.words.meanings import Documents
from shoal.microaggregation.words.pooling import members_with, pooled_counts, pooled_weights, unit_rows, with_length
from shoal.ontology import WordNet
from shoal.protection.distances import MOST_IN_MEANING, cosine_distances, distances_in_meaning, spread_out
from shoal.protection.groups import value_codes
from shoal.results.loss import Loss
from shoal.results.summary import Distances
from shoal.vectors import VectorSpace

__all__ = [
    "TERMS_PER_DOCUMENT",
    "ByMeaning",
    "ByWords",
    "Published",
    "Way",
    "document_method",
    "for_pools",
    "form_of",
    "merged_until_diverse",
]

TERMS_PER_DOCUMENT = 50  # that are compared by meaning
NOTHING = 1e-6  # a distance that comes of rounded weights
LONGER = 2.5  # times the usual search: lengths are one more thing to agree on

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Published:
    """What stands for each group: how often its documents have each term, all together, and what follows from that."""

    counts: sp.csr_matrix  # (groups, terms) whole numbers
    weights: sp.csr_matrix  # rows of length 1, made of the counts and sizes of all groups
    terms: NDArray[Any]  # in alphabetical order

    @staticmethod
    def of(counts: sp.csr_matrix, groups: Ints, terms: NDArray[Any], weighting: str) -> Published:
        """From the counts of the groups."""
        counts.sort_indices()
        sizes = np.bincount(groups).astype(np.int64)
        frequency = members_with(counts, sizes) if weighting == "tf-idf" else None
        return Published(counts, pooled_weights(counts, frequency, len(groups)), terms)


class Way(Protocol):
    """From texts to the rows that stand for groups of them. Documents are rows of whole numbers: counts of terms."""

    space: VectorSpace
    name: str  # of the method, in words
    in_meaning: bool  # terms are words and concepts, and distances are those of meaning

    def rows(self, texts: Iterable[str]) -> sp.csr_matrix:
        """The texts as counts of the space's terms."""

    def group(self, counts: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        """The group of each row, with at least l different labels in each if l is given."""

    def publish(self, counts: sp.csr_matrix, groups: Ints) -> Published:
        """What stands for each group."""

    def loss(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Loss:
        """What that costs; rows may have been put in another order since."""

    def loss_of_means(self, counts: sp.csr_matrix, groups: Ints) -> Loss:
        """What exact means of the same groups would cost."""

    def distances(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Distances:
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
        counted = self.space.count(texts)
        self.space.fit_counted(counted)
        return self.space.count_rows(counted)

    def group(self, counts: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        X, lengths = unit_rows(counts, self.space.idf_)
        model = for_pools(self._model.set_params(k=k), len(labels))
        groups = without_giveaways(counts, X, lengths, model.fit(with_length(X, lengths)).groups_)
        return groups if l is None else merged_until_diverse(X, groups, labels, l)

    def publish(self, counts: sp.csr_matrix, groups: Ints) -> Published:
        return Published.of(pooled_counts(counts, groups), groups, self.space.terms_, self.space.weighting)

    def loss(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Loss:
        loss = spherical_loss(self._unit(counts), groups, published.weights)
        nothing = len(groups) * NOTHING
        return Loss(sse=loss.sse if loss.sse > nothing else 0.0, ssa=loss.ssa if loss.ssa > nothing else 0.0)

    def loss_of_means(self, counts: sp.csr_matrix, groups: Ints) -> Loss:
        X = self._unit(counts)
        return spherical_loss(X, groups, spherical_representatives(X, groups))

    def distances(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Distances:
        return cosine_distances(self._unit(counts), groups, published.weights)

    def parameters(self) -> dict[str, Any]:
        return {"vector_space": self.space.get_params(), "microaggregation": self._model.get_params()}

    def _unit(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        return unit_rows(counts, self.space.idf_)[0]


def form_of(space: VectorSpace) -> str:
    """How a certificate names what is published of a group."""
    return f"pooled counts, {space.weighting}"


def for_pools(model: SphericalMicroaggregation, n_rows: int) -> SphericalMicroaggregation:
    """The estimator with the time that a search for groups of like lengths takes, unless it was given some."""
    if model.time_budget is not None:
        return model
    n_blocks = block_count(model.blocks, n_rows, model.k)
    longer: SphericalMicroaggregation = clone(model)
    longer.set_params(time_budget=LONGER * seconds_of_search(n_rows, n_blocks))
    return longer


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
        counted = replace(counted, tally=counted.tally.without(unknown, self._not_found))
        self.space.fit_counted(counted)
        return self.space.count_rows(counted)

    def group(self, counts: sp.csr_matrix, k: int, labels: NDArray[Any], l: int | None) -> Ints:
        X, lengths = unit_rows(counts, self.space.idf_)
        documents = self.space.inverse_transform(X)
        self._collection = Collection.read(documents, self._ontology)
        groups = self._model.set_params(k=k, ontology=self._ontology).fit(documents).groups_
        self._groups: Ints = without_giveaways(counts, X, lengths, groups)
        self._folded = self._collection.representatives(self._groups)
        if l is not None:
            self._groups = merge_until_diverse(self._groups, [value_codes(labels)], l, self._distance_to_groups)
            self._folded = self._collection.representatives(self._groups)
        return self._groups

    def publish(self, counts: sp.csr_matrix, groups: Ints) -> Published:
        words = np.searchsorted(self.space.terms_, self._collection.words)
        pools = self._collection.pools(groups, counts[:, words])
        used = np.unique(pools.indices)
        names = np.array(self._collection.names(used))
        used = used[np.argsort(names)]
        published = Published.of(sp.csr_matrix(pools[:, used]), groups, np.sort(names), self.space.weighting)
        ends = pairwise(published.weights.indptr.tolist())
        rows = (slice(start, end) for start, end in ends)
        weights = published.weights
        self._published = Documents.of((used[weights.indices[row]], weights.data[row]) for row in rows)
        return published

    def loss(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Loss:
        return self._collection.loss(self._groups, self._published)

    def loss_of_means(self, counts: sp.csr_matrix, groups: Ints) -> Loss:
        return self._collection.loss(self._groups, self._folded)

    def distances(self, counts: sp.csr_matrix, groups: Ints, published: Published) -> Distances:
        rows = spread_out(len(self._groups), MOST_IN_MEANING)
        documents = self._collection.documents
        some = Documents.of(documents[row] for row in rows)
        used, group_of_row = np.unique(self._groups[rows], return_inverse=True)
        folded = Documents.of(self._published[group] for group in used)
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
