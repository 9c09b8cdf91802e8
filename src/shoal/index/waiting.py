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

MAX_GONE = 64  # rows that may stay empty


class Waiting:
    """Counts of the waiting documents, by id, oldest first. They are erased as soon as their group is known."""

    def __init__(self, k: int, idf: Floats) -> None:
        self._k, self._idf = k, idf
        self._clear()

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, document: str) -> bool:
        return document in self._row_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)

    def add(self, document: str, counts: sp.csr_matrix) -> None:
        """Hold back a document."""
        self._row_of[document] = len(self._ends.values) - 1
        self._terms.add(counts.indices)
        self._counts.add(counts.data)
        self._unit.add(unit_rows(counts, self._idf)[0].data)
        self._ends.add([len(self._terms.values)])

    def take(self, documents: list[str]) -> sp.csr_matrix:
        """Remove documents; returns their counts."""
        rows = [self._row_of[document] for document in documents]
        taken = self._matrix(self._counts)[rows]
        for document, row in zip(documents, rows, strict=True):
            del self._row_of[document]
            start, end = self._ends.values[row : row + 2]
            self._counts.values[start:end] = self._unit.values[start:end] = 0
        if len(self._ends.values) > 2 * len(self) + MAX_GONE:
            self._close_gaps()
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
        rows = np.fromiter(self._row_of.values(), dtype=np.int64, count=len(self))
        similarity = self._similarity(self._matrix(self._unit)[row])[rows]
        crowd = np.sort(rows[np.argsort(-similarity, kind="stable")[: self._k]])
        if len(crowd) < self._k or np.mean(self._cohesion(crowd)) < min_similarity:
            return []
        return [document for document, row in self._row_of.items() if row in crowd]

    def _cohesion(self, rows: Ints) -> Floats:
        """The similarity of each row of a crowd to their pool; minus infinity if the pool reveals a member."""
        counts = self._matrix(self._counts)[rows]
        dense = _dense(counts)
        # Copies of one text are a crowd: there is no member that the others do not repeat.
        if (dense != dense[0]).any() and read_off(dense).any():
            return np.full(len(rows), -np.inf)
        pool = unit_rows(sp.csr_matrix(counts.sum(axis=0)), self._idf)[0]
        cohesion: Floats = (unit_rows(counts, self._idf)[0] @ pool.T).toarray().ravel()
        return cohesion

    def _similarity(self, unit: sp.csr_matrix) -> Floats:
        similarity: Floats = self._matrix(self._unit) @ unit.toarray().ravel()
        return similarity

    def _matrix(self, data: _Growing) -> sp.csr_matrix:
        ends = self._ends.values
        return sp.csr_matrix((data.values, self._terms.values, ends), shape=(len(ends) - 1, len(self._idf)))

    def _close_gaps(self) -> None:
        counts, row_of = self._matrix(self._counts), self._row_of
        self._clear()
        for document, row in row_of.items():
            self.add(document, counts[row])

    def _clear(self) -> None:
        self._row_of: dict[str, int] = {}
        self._ends = _Growing(np.int64)  # by row
        self._ends.add([0])
        self._terms, self._counts, self._unit = _Growing(np.int32), _Growing(np.int64), _Growing(np.float64)


class _Growing:
    """An array that grows without being copied each time."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._buffer: NDArray[np.generic] = np.zeros(64, dtype=kind)
        self._size = 0

    @property
    def values(self) -> NDArray[np.generic]:
        return self._buffer[: self._size]

    def add(self, values: NDArray[np.generic] | list[int]) -> None:
        end = self._size + len(values)
        if end > len(self._buffer):
            self._buffer = np.concatenate((self._buffer, np.zeros(end, dtype=self._buffer.dtype)))
        self._buffer[self._size : end] = values
        self._size = end


def _dense(counts: sp.csr_matrix) -> Ints:
    """The rows without the columns that are empty in all of them."""
    dense: Ints = counts[:, np.unique(counts.indices)].toarray().astype(np.int64)
    return dense
