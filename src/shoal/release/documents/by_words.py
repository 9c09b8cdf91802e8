"""Documents by their words: spherical microaggregation of the rows of a vector space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from shoal.methods.blocks.grouping import Plan, block_count, seconds_of_search
from shoal.methods.mdav import SphericalSpace
from shoal.methods.pools import pooled_counts, without_length, without_visible_members
from shoal.methods.spherical import SphericalMicroaggregation, spherical_loss, spherical_representatives
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
from shoal.release.figures import SAMPLE, cosine_distances
from shoal.results.summary import Distances
from shoal.results.utility import Loss
from shoal.terms.counting import Tally
from shoal.terms.vector_space import VectorSpace

LONGER = 2.5  # times the usual search: lengths are one more thing to agree on


class ByWords:
    """Spherical microaggregation of the space's rows."""

    in_meaning = False  # what terms are, and distances
    most_shown = SAMPLE  # documents whose distances the report shows

    def __init__(self, space: VectorSpace, method: SphericalMicroaggregation, k: int) -> None:
        self.space = space  # fitted once all documents have been counted
        self.k = k
        self.name = "spherical microaggregation (MDAV)" + (", refined" if method.refine else "")
        self._model: SphericalMicroaggregation = clone(method).set_params(k=k)

    def known(self, tally: Tally) -> Tally:
        """The tally without the terms that the method cannot place: all of it."""
        return tally

    def group(self, rows: DocumentRows) -> Ints:
        """The group of each document; no member can be read off a pool, if that is possible."""
        model = clone(self._model).set_params(time_budget=self._seconds(len(rows)))
        return without_visible_members(rows.X, rows.lengths, model.partition(rows.X), self.space.idf_)

    def group_distances(self, rows: DocumentRows, groups: Ints) -> GroupDistances:
        """How far the centre of some documents is from some groups."""
        X = rows.vectors()
        representatives = spherical_representatives(X, groups)

        def distance_to_groups(some: Ints, others: Ints) -> Floats:
            centre = np.asarray(X[some].sum(axis=0)).ravel()
            squared: Floats = 2.0 - 2.0 * (representatives[others] @ (centre / np.linalg.norm(centre)))
            return squared

        return distance_to_groups

    def pool(self, rows: DocumentRows, groups: Ints) -> Pools:
        """How often the documents of each group together have each term."""
        pools = pooled_counts(rows.counts(self.space.idf_), groups)
        used = np.unique(pools.indices)
        return Pools(sp.csr_matrix(pools[:, used]), tuple(self.space.terms_[used].tolist()))

    def names(self, terms: Iterable[Term]) -> dict[Term, str]:
        """What each of these terms is called beside the others."""
        return {term: str(term) for term in terms}

    def centre(self, rows: DocumentRows) -> Any:
        """What stands for all these documents, a part of the collection or all of it."""
        return np.asarray(rows.vectors().sum(axis=0)).ravel()

    def common_centre(self, centres: Sequence[Any]) -> Any:
        """What stands for the documents of all parts."""
        total = np.sum(centres, axis=0)
        return total / np.linalg.norm(total)

    def loss(self, documents: ReleasedDocuments, weights: sp.csr_matrix, totals: CorpusTotals) -> Loss:
        """The loss of documents whose groups are published as `weights`."""
        published = self._in_space(weights, totals.vocabulary)
        return spherical_loss(documents.rows.vectors(), documents.groups, published, totals.centre)

    def loss_of_means(self, documents: ReleasedDocuments, totals: CorpusTotals) -> Loss:
        """What exact means of the same groups would cost."""
        X, groups = documents.rows.vectors(), documents.groups
        return spherical_loss(X, groups, spherical_representatives(X, groups), totals.centre)

    def sample(
        self, documents: ReleasedDocuments, chosen: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary
    ) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Some documents before and after, for `distances`."""
        published = self._in_space(weights[documents.groups[chosen]], vocabulary)
        return without_length(documents.rows.X[chosen]), published

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        """Distances between the sampled documents before and after."""
        before, after = (sp.csr_matrix(sp.vstack(rows, format="csr")) for rows in zip(*samples, strict=True))
        return cosine_distances(before, after, n_rows)

    def parameters(self) -> dict[str, Any]:
        """Of the space and of the method."""
        return {"vector_space": self.space.used_params(), "microaggregation": self._model.get_params()}

    def block_plan(self, n_rows: int) -> Plan:
        """How so many documents that come in parts are cut into blocks."""
        model = self._model
        most = -(-n_rows // block_count(model.blocks, n_rows, model.k))
        return Plan(model.k, most, SphericalSpace, model.refine, self._seconds(n_rows), model.random_state)

    def _seconds(self, n_rows: int) -> float:
        """The time that a search for groups of like lengths takes, unless some was given."""
        model = self._model
        if model.time_budget is not None:
            return float(model.time_budget)
        return LONGER * seconds_of_search(n_rows, block_count(model.blocks, n_rows, model.k))

    def _in_space(self, weights: sp.csr_matrix, vocabulary: Vocabulary) -> sp.csr_matrix:
        """Published rows with a column for each term of the space."""
        columns = np.searchsorted(self.space.terms_, vocabulary.names)
        shape = (weights.shape[0], len(self.space.terms_))
        return sp.csr_matrix((weights.data, columns[weights.indices], weights.indptr), shape=shape)
