"""Documents by what their words mean: semantic microaggregation of the heaviest words that an ontology has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import InputError
from shoal.microaggregation import SemanticMicroaggregation
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.blocks.grouping import Plan, divided_into_blocks
from shoal.microaggregation.diversity import join_until
from shoal.microaggregation.spaces.spherical import SphericalSpace
from shoal.microaggregation.words.collection import Collection, Representatives, term_names
from shoal.microaggregation.words.giveaways import without_giveaways
from shoal.microaggregation.words.meanings import Documents
from shoal.microaggregation.words.pooling import without_length
from shoal.ontology import WordNet
from shoal.protection.distances import MOST_IN_MEANING, distances_in_meaning
from shoal.protection.documents.pools import PooledBlock, Term, Vocabulary, counts_of
from shoal.protection.value_promises import value_requirements
from shoal.results.loss import Loss
from shoal.results.promised import GroupPromises
from shoal.results.summary import Distances
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = ["TERMS_PER_DOCUMENT", "ByMeaning"]

TERMS_PER_DOCUMENT = 50  # that are compared by meaning
BLOCK_ROWS = 2_000  # documents of a block, where they come in parts: every pair of them is compared

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ByMeaning:
    """Semantic microaggregation of the heaviest words that the ontology has."""

    name = "semantic microaggregation (MDAV)"
    in_meaning = True
    most_shown = MOST_IN_MEANING

    def __init__(self, space: VectorSpace, method: SemanticMicroaggregation, k: int) -> None:
        in_wordnet = method.ontology is None or isinstance(method.ontology, WordNet)
        if space.stem:
            raise InputError("stems are no words, and a meaning is a word's; leave out --stem, or use stem=False")
        if in_wordnet and space.language != "english":
            raise InputError(f"WordNet is English, the language is {space.language}; use another ontology or method")
        self.space = space
        self._ontology = WordNet() if method.ontology is None else method.ontology
        self._not_found = "no noun in WordNet" if in_wordnet else "not in the ontology"
        self._model: SemanticMicroaggregation = clone(method).set_params(k=k, ontology=self._ontology)

    def known(self, tally: Tally) -> Tally:
        unknown = {term for term in tally.frequency if not self._ontology.senses(term)}
        return tally.without(unknown, self._not_found)

    def group(self, block: Block) -> Block:
        X, lengths = without_length(block.X), block.carried["length"]
        groups = clone(self._model).fit(self._texts(block)).groups_
        counts = counts_of(block, self.space.idf_)
        return replace(block, groups=without_giveaways(counts, X, lengths, groups))

    def group_parts(self, parts: list[Any], n_rows: int, schedule: Schedule) -> list[Any]:
        blocks = divided_into_blocks(parts, n_rows, Plan(self._model.k, BLOCK_ROWS, SphericalSpace), schedule)
        return [schedule.submit(self.group, block) for block in blocks]

    def diverse(self, block: Block, promises: GroupPromises, overall: Sequence[Mapping[str, int]]) -> Block:
        collection = self._collection(block)
        folded = collection.representatives(block.groups)

        def distance_to_groups(rows: Ints, groups: Ints) -> Floats:
            centre = Documents.of([collection.meanings.representative(collection.documents, rows)])
            chosen = Documents.of(folded[group] for group in groups)
            distances: Floats = collection.meanings.all_distances(centre, chosen)[0]
            return distances

        requirements = value_requirements(promises, [block.carried["label"]], overall)
        return replace(block, groups=join_until(block.groups, requirements, distance_to_groups))

    def pooled(self, block: Block) -> PooledBlock:
        collection, counts = self._collection(block), counts_of(block, self.space.idf_)
        words = np.searchsorted(self.space.terms_, collection.words)
        pools = collection.pools(block.groups, counts[:, words])
        used = np.unique(pools.indices)
        return PooledBlock(block, sp.csr_matrix(pools[:, used]), tuple(collection.terms(used)))

    def names(self, terms: Iterable[Term]) -> dict[Term, str]:
        return term_names(terms, self._ontology)

    def centre(self, pooled: PooledBlock) -> Representatives:
        collection = self._collection(pooled.block)
        everything = np.zeros(len(collection.documents), dtype=np.int64)
        return collection.spelt(collection.representatives(everything))

    def common_centre(self, centres: Sequence[Representatives]) -> Representatives:
        if len(centres) == 1:
            return centres[0]
        both = Representatives.joined(centres)
        collection = Collection.read([], self._ontology, beside=both)
        documents = collection.numbered(both)
        everything = np.arange(len(documents))
        return collection.spelt(Documents.of([collection.meanings.representative(documents, everything)]))

    def losses(self, pooled: PooledBlock, weights: sp.csr_matrix, vocabulary: Vocabulary, centre: Any) -> list[Loss]:
        collection = self._collection(pooled.block)
        folded = collection.spelt(collection.representatives(pooled.block.groups))
        published = self._spelt(weights, vocabulary)
        sides = Representatives.joined([centre, published, folded])
        collection = self._collection(pooled.block, beside=sides)
        n_groups, groups = len(published.terms), pooled.block.groups
        documents = collection.numbered(sides)
        of_all, *of_groups = (
            Documents.of(documents[row] for row in rows)
            for rows in ([0], range(1, n_groups + 1), range(n_groups + 1, 2 * n_groups + 1))
        )
        return [collection.loss(groups, representatives, of_all) for representatives in of_groups]

    def sample(self, pooled: PooledBlock, rows: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary) -> Any:
        before = self._texts(pooled.block.take(rows))
        after = self._spelt(weights, vocabulary)
        groups = pooled.block.groups[rows].tolist()
        return before, after.chosen(groups)

    def first(self, sample: Any, n_documents: int) -> Any:
        before, after = sample
        return before[:n_documents], after.chosen(range(n_documents))

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        texts = [text for before, _ in samples for text in before]
        after = Representatives.joined([after for _, after in samples])
        collection = Collection.read(texts, self._ontology, beside=after)
        pairs = np.triu_indices(len(texts), 1)
        before, folded = (
            collection.meanings.all_distances(documents, documents)[pairs]
            for documents in (collection.documents, collection.numbered(after))
        )
        return distances_in_meaning(before, folded, n_rows)

    def parameters(self) -> dict[str, Any]:
        microaggregation = self._model.get_params() | {"ontology": type(self._ontology).__name__}
        return {"vector_space": self.space.get_params(), "microaggregation": microaggregation}

    def _texts(self, block: Block) -> list[dict[str, float]]:
        """Documents as {term: weight}."""
        return self.space.inverse_transform(without_length(block.X))

    def _collection(self, block: Block, beside: Representatives | None = None) -> Collection:
        return Collection.read(self._texts(block), self._ontology, beside)

    def _spelt(self, weights: sp.csr_matrix, vocabulary: Vocabulary) -> Representatives:
        """Published rows in words and concepts."""
        terms = list(vocabulary.column_of)
        parts = [slice(start, end) for start, end in pairwise(weights.indptr.tolist())]
        return Representatives(
            self._ontology,
            tuple(tuple(terms[column] for column in weights.indices[part].tolist()) for part in parts),
            tuple(weights.data[part] for part in parts),
        )
