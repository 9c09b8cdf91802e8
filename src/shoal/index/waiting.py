"""Embargo: documents that are like no group wait, unseen, until k of them are like each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.microaggregation.words.giveaways import read_off
from shoal.microaggregation.words.pooling import unit_rows

__all__ = ["Waiting"]

Floats = NDArray[np.float64]


class Waiting:
    """Counts of the documents that wait, by id, oldest first. They are gone as soon as their group is known."""

    def __init__(self, k: int, idf: Floats) -> None:
        self._k, self._idf = k, idf
        self._ids: list[str] = []
        self._counts = sp.csr_matrix((0, len(idf)), dtype=np.int64)
        self._unit = sp.csr_matrix((0, len(idf)))

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, document: str) -> bool:
        return document in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def add(self, document: str, counts: sp.csr_matrix) -> None:
        """Hold a document back."""
        self._ids.append(document)
        self._counts = sp.csr_matrix(sp.vstack((self._counts, counts), format="csr"))
        self._unit = sp.csr_matrix(sp.vstack((self._unit, unit_rows(counts, self._idf)[0]), format="csr"))

    def take(self, documents: list[str]) -> sp.csr_matrix:
        """The counts of these documents, which wait no longer."""
        rows = [self._ids.index(document) for document in documents]
        taken = self._counts[rows]
        stay = np.setdiff1d(np.arange(len(self)), rows)
        self._ids = [self._ids[row] for row in stay.tolist()]
        self._counts, self._unit = self._counts[stay], self._unit[stay]
        return taken

    def group_around(
        self, document: str, least_similar: float, least_joining: float
    ) -> tuple[list[str], sp.csr_matrix] | None:
        """A group of documents that wait no longer, and its pool; None if there is no crowd around the document.

        The pool is that of the crowd alone. Others that are similar enough to it join.
        """
        crowd = self._crowd(document, least_similar)
        if not crowd:
            return None
        pool = sp.csr_matrix(self.take(crowd).sum(axis=0))
        similarity = (self._unit @ unit_rows(pool, self._idf)[0].T).toarray().ravel()
        joining = [self._ids[row] for row in np.flatnonzero(similarity >= least_joining).tolist()]
        self.take(joining)
        return crowd + joining, pool

    def _crowd(self, document: str, least_similar: float) -> list[str]:
        """The document and the k - 1 nearest to it, if they are alike enough, on average, to be a group of their own.

        A group from whose pool a member can be read off is none.
        """
        similarity = (self._unit @ self._unit[self._ids.index(document)].T).toarray().ravel()
        rows = np.sort(np.argsort(-similarity, kind="stable")[: self._k])
        if len(rows) < self._k or read_off(_dense(self._counts[rows])).any():
            return []
        pool = unit_rows(sp.csr_matrix(self._counts[rows].sum(axis=0)), self._idf)[0]
        if (self._unit[rows] @ pool.T).mean() < least_similar:
            return []
        return [self._ids[row] for row in rows.tolist()]


def _dense(counts: sp.csr_matrix) -> NDArray[np.int64]:
    """The rows without the columns that none of them has."""
    dense: NDArray[np.int64] = counts[:, np.unique(counts.indices)].toarray().astype(np.int64)
    return dense
