"""Embargo: documents that fit no group wait, invisible, until k of them are similar to each other.

A group's pool is public, so whoever knows all documents of a crowd but one knows the last one too: documents that wait
together must have one owner.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.methods.pools import read_off, unit_rows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Waiting:
    """Counts of the waiting documents, by id, oldest first. They are dropped as soon as their group is known."""

    def __init__(self, k: int, idf: Floats) -> None:
        self._k, self._idf = k, idf
        self._row_of: dict[str, int] = {}
        self._counts = sp.csr_matrix((0, len(idf)), dtype=np.int64)
        self._unit = self._counts.astype(np.float64)

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, document: str) -> bool:
        return document in self._row_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)

    def add(self, document: str, counts: sp.csr_matrix) -> None:
        """Hold back a document."""
        self._row_of[document] = len(self)
        self._counts = sp.vstack((self._counts, counts), format="csr")
        self._unit = sp.vstack((self._unit, unit_rows(counts, self._idf)[0]), format="csr")

    def take(self, documents: list[str]) -> sp.csr_matrix:
        """Remove documents; returns their counts."""
        rows = [self._row_of.pop(document) for document in documents]
        taken, left = self._counts[rows], list(self._row_of.values())
        self._counts, self._unit = self._counts[left], self._unit[left]
        self._row_of = {document: row for row, document in enumerate(self._row_of)}
        return taken

    def group_around(
        self, document: str, min_similarity: float, min_joining: float
    ) -> tuple[list[str], sp.csr_matrix] | None:
        """Take a new group, and its pool, out of the waiting documents; None if there is no crowd around this one.

        The pool is that of the crowd alone. Others that are similar enough to it join.
        """
        crowd = self._crowd(self._row_of[document], min_similarity)
        if not crowd:
            return None
        pool = sp.csr_matrix(self.take(crowd).sum(axis=0))
        similarity = self._similarity(unit_rows(pool, self._idf)[0])
        joining = [document for document, row in self._row_of.items() if similarity[row] >= min_joining]
        self.take(joining)
        return crowd + joining, pool

    def _crowd(self, row: int, min_similarity: float) -> list[str]:
        """A document and the k - 1 nearest, if they are similar on average."""
        similarity = self._similarity(self._unit[row])
        crowd = np.sort(np.argsort(-similarity, kind="stable")[: self._k])
        if len(crowd) < self._k or np.mean(self._cohesion(crowd)) < min_similarity:
            return []
        ids = list(self._row_of)
        return [ids[row] for row in crowd.tolist()]

    def _cohesion(self, rows: Ints) -> Floats:
        """The similarity of each row of a crowd to their pool; minus infinity if the pool reveals a member."""
        counts = self._counts[rows]
        dense = counts[:, np.unique(counts.indices)].toarray()
        # Copies of one text are a crowd: there is no member that the others do not repeat.
        if (dense != dense[0]).any() and read_off(dense).any():
            return np.full(len(rows), -np.inf)
        pool = unit_rows(sp.csr_matrix(counts.sum(axis=0)), self._idf)[0]
        cohesion: Floats = (self._unit[rows] @ pool.T).toarray().ravel()
        return cohesion

    def _similarity(self, unit: sp.csr_matrix) -> Floats:
        similarity: Floats = self._unit @ unit.toarray().ravel()
        return similarity
