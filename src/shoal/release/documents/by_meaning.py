"""Documents by what their words mean: semantic microaggregation of the heaviest words that an ontology has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from shoal.errors import InputError
from shoal.methods.blocks.grouping import Plan
from shoal.methods.mdav import SphericalSpace
from shoal.methods.meanings import Collection, Documents, Representatives, term_names
from shoal.methods.pools import without_length, without_visible_members
from shoal.methods.semantic import SemanticMicroaggregation
from shoal.promises.joining import GroupDistances
from shoal.release.documents.rows import (
    CorpusTotals,
    DocumentRows,
    Floats,
    Ints,
    Pools,
    ReleasedDocuments,
    Term,
    Vocabulary,
)
from shoal.release.figures import MOST_IN_MEANING, histogram
from shoal.results.summary import Distances
from shoal.results.utility import Loss
from shoal.terms.counting import Tally
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.vector_space import VectorSpace
from shoal.terms.wordnet import WordNet

TERMS_PER_DOCUMENT = 50  # that are compared by meaning
BLOCK_ROWS = 2_000  # documents of a block, where they come in parts: every pair of them is compared


class ByMeaning:
    """Semantic microaggregation of the heaviest words that the ontology has."""

    in_meaning = True
    most_shown = MOST_IN_MEANING

    def __init__(self, space: VectorSpace, method: SemanticMicroaggregation, k: int) -> None:
        self._ontology = ontologies_of("wordnet" if method.ontology is None else method.ontology)
        if space.stem:
            raise InputError(
                "stems are no words, and a meaning is a word's; leave out {option}, or use stem=False", "stem"
            )
        in_wordnet = isinstance(self._ontology, WordNet)
        if in_wordnet and space.language != "english":
            raise InputError(f"WordNet is English, the language is {space.language}; use another ontology or method")
        self.k = k
        self.name = "semantic microaggregation (MDAV)" + (", refined" if method.refine else "")
        self.space: VectorSpace = clone(space).set_params(ontology=self._ontology)
        self._not_found = "no noun in WordNet" if in_wordnet else "not in the ontology"
        self._model: SemanticMicroaggregation = clone(method).set_params(k=k, ontology=self._ontology)

    def known(self, tally: Tally) -> Tally:
        unknown = {term for term in tally.frequency if not self._ontology.senses(term)}
        return tally.without(unknown, self._not_found)

    def group(self, rows: DocumentRows) -> Ints:
        groups = clone(self._model).fit(self._texts(rows.X)).groups_
        collection = self._collection(rows)
        error = partial(collection.meanings.error, collection.documents)
        return without_visible_members(rows.X, rows.lengths, groups, self.space.idf_, error)

    def group_distances(self, rows: DocumentRows, groups: Ints) -> GroupDistances:
        collection = self._collection(rows)
        folded = collection.representatives(groups)

        def distance_to_groups(some: Ints, others: Ints) -> Floats:
            centre = Documents.of([collection.meanings.representative(collection.documents, some)])
            chosen = Documents.of(folded[group] for group in others)
            distances: Floats = collection.meanings.all_distances(centre, chosen)[0]
            return distances

        return distance_to_groups

    def pool(self, rows: DocumentRows, groups: Ints) -> Pools:
        collection, counts = self._collection(rows), rows.counts(self.space.idf_)
        words = np.searchsorted(self.space.terms_, collection.words)
        owner = np.arange(len(rows)) if rows.person is None else rows.person
        pools = collection.pools(groups, counts[:, words], owner)
        used = np.unique(pools.indices)
        return Pools(sp.csr_matrix(pools[:, used]), tuple(map(self._word, collection.terms(used))))

    def names(self, terms: Iterable[Term]) -> dict[Term, str]:
        return term_names(terms, self._ontology)

    def centre(self, rows: DocumentRows) -> Any:
        collection = self._collection(rows)
        everything = np.zeros(len(collection.documents), dtype=np.int64)
        return collection.spelt(collection.representatives(everything))

    def common_centre(self, centres: Sequence[Any]) -> Any:
        if len(centres) == 1:
            return centres[0]
        both = Representatives.joined(centres)
        collection = Collection.read([], self._ontology, beside=both)
        documents = collection.numbered(both)
        everything = np.arange(len(documents))
        return collection.spelt(Documents.of([collection.meanings.representative(documents, everything)]))

    def loss(self, documents: ReleasedDocuments, weights: sp.csr_matrix, totals: CorpusTotals) -> Loss:
        return self._loss(documents, self._spelt(weights, totals.vocabulary), totals.centre)

    def loss_of_means(self, documents: ReleasedDocuments, totals: CorpusTotals) -> Loss:
        collection = self._collection(documents.rows)
        means = collection.spelt(collection.representatives(documents.groups))
        return self._loss(documents, means, totals.centre)

    def sample(
        self, documents: ReleasedDocuments, chosen: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary
    ) -> tuple[list[dict[str, float]], Representatives]:
        return self._texts(documents.rows.X[chosen]), self._spelt(weights[documents.groups[chosen]], vocabulary)

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        texts = [text for before, _ in samples for text in before]
        after = Representatives.joined([after for _, after in samples])
        collection = Collection.read(texts, self._ontology, beside=after)
        pairs = np.triu_indices(len(texts), 1)
        before, folded = (
            collection.meanings.all_distances(documents, documents)[pairs]
            for documents in (collection.documents, collection.numbered(after))
        )
        return histogram(before, folded, n_rows, MOST_IN_MEANING)

    def parameters(self) -> dict[str, Any]:
        microaggregation = self._model.get_params() | {"ontology": type(self._ontology).__name__}
        space = {name: value for name, value in self.space.used_params().items() if name != "ontology"}
        return {"vector_space": space, "microaggregation": microaggregation}

    def block_plan(self, n_rows: int) -> Plan:
        return Plan(self.k, BLOCK_ROWS, SphericalSpace)

    def _word(self, term: Term) -> Term:
        """A concept as the word that means it alone: the two are one term."""
        word = term if isinstance(term, str) else self._ontology.label(term)
        return word if self._ontology.senses(word) == (term,) else term

    def _texts(self, X: sp.csr_matrix) -> list[dict[str, float]]:
        """Documents as {term: weight}."""
        return self.space.inverse_transform(without_length(X))

    def _collection(self, rows: DocumentRows, beside: Representatives | None = None) -> Collection:
        return Collection.read(self._texts(rows.X), self._ontology, beside)

    def _loss(self, documents: ReleasedDocuments, representatives: Representatives, centre: Representatives) -> Loss:
        both = Representatives.joined([centre, representatives])
        collection = self._collection(documents.rows, beside=both)
        numbered = collection.numbered(both)
        of_groups = Documents.of(numbered[row] for row in range(1, len(numbered)))
        return collection.loss(documents.groups, of_groups, Documents.of([numbered[0]]))

    def _spelt(self, weights: sp.csr_matrix, vocabulary: Vocabulary) -> Representatives:
        """Published rows in words and concepts."""
        terms = list(vocabulary.column_of)
        parts = [slice(start, end) for start, end in pairwise(weights.indptr.tolist())]
        return Representatives(
            self._ontology,
            tuple(tuple(terms[column] for column in weights.indices[part].tolist()) for part in parts),
            tuple(weights.data[part] for part in parts),
        )
