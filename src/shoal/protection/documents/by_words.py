"""Documents by their words: spherical microaggregation of the rows of a vector space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.microaggregation import SphericalMicroaggregation
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule, give_back_room
from shoal.microaggregation.blocks.grouping import Plan, block_count, group_in_blocks, seconds_of_search
from shoal.microaggregation.diversity import join_until
from shoal.microaggregation.spaces.spherical import SphericalSpace
from shoal.microaggregation.spherical import spherical_loss, spherical_representatives
from shoal.microaggregation.words.giveaways import without_giveaways
from shoal.microaggregation.words.pooling import pooled_counts, without_length
from shoal.protection.distances import SAMPLE, cosine_distances
from shoal.protection.documents.pools import PooledBlock, Term, Vocabulary, counts_behind, counts_of
from shoal.protection.value_promises import value_requirements
from shoal.results.loss import Loss
from shoal.results.promised import GroupPromises
from shoal.results.summary import Distances
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = ["ByWords"]

LONGER = 2.5  # times the usual search: lengths are one more thing to agree on

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ByWords:
    """Spherical microaggregation of the space's rows."""

    in_meaning = False
    most_shown = SAMPLE

    def __init__(self, space: VectorSpace, method: SphericalMicroaggregation, k: int) -> None:
        self.space = space
        self.name = "spherical microaggregation (MDAV)" + (", refined" if method.refine else "")
        self._model: SphericalMicroaggregation = clone(method).set_params(k=k)

    def known(self, tally: Tally) -> Tally:
        return tally

    def group(self, block: Block) -> Block:
        return self._without_giveaways(replace(block, groups=self._groups(block)))

    def group_parts(self, parts: list[Any], n_rows: int, schedule: Schedule) -> list[Any]:
        model = self._model
        most = -(-n_rows // block_count(model.blocks, n_rows, model.k))
        plan = Plan(model.k, most, SphericalSpace, model.refine, self._seconds(n_rows), model.random_state)
        blocks = group_in_blocks(parts, n_rows, plan, schedule)
        return [schedule.submit(self._without_giveaways, block) for block in blocks]

    def diverse(self, block: Block, promises: GroupPromises, overall: Sequence[Mapping[str, int]]) -> Block:
        X = without_length(block.X)
        representatives = spherical_representatives(X, block.groups)

        def distance_to_groups(rows: Ints, groups: Ints) -> Floats:
            centre = np.asarray(X[rows].sum(axis=0)).ravel()
            squared: Floats = 2.0 - 2.0 * (representatives[groups] @ (centre / np.linalg.norm(centre)))
            return squared

        requirements = value_requirements(promises, [block.carried["label"]], overall)
        return replace(block, groups=join_until(block.groups, requirements, distance_to_groups))

    def pooled(self, block: Block) -> PooledBlock:
        pools = pooled_counts(counts_of(block, self.space.idf_), block.groups)
        used = np.unique(pools.indices)
        return PooledBlock(block, sp.csr_matrix(pools[:, used]), tuple(self.space.terms_[used].tolist()))

    def names(self, terms: Iterable[Term]) -> dict[Term, str]:
        return {term: str(term) for term in terms}

    def centre(self, pooled: PooledBlock) -> Floats:
        total: Floats = np.asarray(without_length(pooled.block.X).sum(axis=0)).ravel()
        return total

    def common_centre(self, centres: Sequence[Floats]) -> Floats:
        total = np.sum(centres, axis=0)
        direction: Floats = total / np.linalg.norm(total)
        return direction

    def losses(self, pooled: PooledBlock, weights: sp.csr_matrix, vocabulary: Vocabulary, centre: Any) -> list[Loss]:
        X, groups = without_length(pooled.block.X), pooled.block.groups
        # One after the other: representatives of all groups take as much room as the rows.
        of_published = spherical_loss(X, groups, self._in_space(weights, vocabulary), centre)
        return [of_published, spherical_loss(X, groups, spherical_representatives(X, groups), centre)]

    def sample(self, pooled: PooledBlock, rows: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary) -> Any:
        X, groups = without_length(pooled.block.X), pooled.block.groups
        return X[rows], self._in_space(weights, vocabulary)[groups[rows]]

    def first(self, sample: Any, n_documents: int) -> Any:
        before, after = sample
        return before[:n_documents], after[:n_documents]

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        before, after = (sp.csr_matrix(sp.vstack(rows, format="csr")) for rows in zip(*samples, strict=True))
        return cosine_distances(before, after, n_rows)

    def parameters(self) -> dict[str, Any]:
        return {"vector_space": self.space.used_params(), "microaggregation": self._model.get_params()}

    def _seconds(self, n_rows: int) -> float:
        """The time that a search for groups of like lengths takes, unless some was given."""
        model = self._model
        if model.time_budget is not None:
            return float(model.time_budget)
        return LONGER * seconds_of_search(n_rows, block_count(model.blocks, n_rows, model.k))

    def _groups(self, block: Block) -> Ints:
        """The groups alone: what else the model knows takes as much room as the rows."""
        model = clone(self._model).set_params(time_budget=self._seconds(len(block.groups)))
        groups: Ints = model.fit(block.X).groups_
        del model
        give_back_room()
        return groups

    def _without_giveaways(self, block: Block) -> Block:
        """Groups from whose pools no member can be read off."""
        X, lengths = without_length(block.X), block.carried["length"]
        counts = counts_behind(X, lengths, self.space.idf_)
        return replace(block, groups=without_giveaways(counts, X, lengths, block.groups))

    def _in_space(self, weights: sp.csr_matrix, vocabulary: Vocabulary) -> sp.csr_matrix:
        """Published rows with a column for each term of the space."""
        columns = np.searchsorted(self.space.terms_, vocabulary.names)
        shape = (weights.shape[0], len(self.space.terms_))
        return sp.csr_matrix((weights.data, columns[weights.indices], weights.indptr), shape=shape)
