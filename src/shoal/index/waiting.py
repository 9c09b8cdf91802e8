"""Embargo: documents that are like no group wait, unseen, until k of them are like each other.

A group's pool is known to everybody, so whoever knows all documents of a crowd but one knows the last one too. No owner
can bring that about alone: a crowd is of one owner, or of k different ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.microaggregation.words.giveaways import read_off
from shoal.microaggregation.words.pooling import unit_rows

__all__ = ["Waiting"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

GONE = -1  # in place of an owner
KEPT_GONE = 64  # rows that may stay empty


class Waiting:
    """Counts of the documents that wait, by id, oldest first. They are gone as soon as their group is known."""

    def __init__(self, k: int, idf: Floats) -> None:
        self._k, self._idf = k, idf
        self._number_of: dict[str, int] = {}  # of owners
        self._forget()

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, document: str) -> bool:
        return document in self._row_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)

    def add(self, document: str, counts: sp.csr_matrix, owner: str = "") -> None:
        """Hold a document of an owner back."""
        self._append(document, counts, self._number_of.setdefault(owner, len(self._number_of)))

    def take(self, documents: list[str]) -> sp.csr_matrix:
        """The counts of these documents, which wait no longer."""
        rows = [self._row_of[document] for document in documents]
        taken = self._matrix(self._counts)[rows]
        for document, row in zip(documents, rows, strict=True):
            del self._row_of[document]
            self._owners.values[row] = GONE
            start, end = self._ends.values[row : row + 2]
            self._counts.values[start:end] = self._unit.values[start:end] = 0
        if len(self._owners.values) > 2 * len(self) + KEPT_GONE:
            self._close_gaps()
        return taken

    def group_around(
        self, document: str, least_similar: float, least_joining: float
    ) -> tuple[list[str], sp.csr_matrix] | None:
        """A group of documents that wait no longer, and its pool; None if there is no crowd around the document.

        The pool is that of the crowd alone. Others that are similar enough to it join.
        """
        crowd = self._crowd(self._row_of[document], least_similar)
        if not crowd:
            return None
        pool = sp.csr_matrix(self.take(crowd).sum(axis=0))
        similarity = self._similarity(unit_rows(pool, self._idf)[0])
        joining = [document for document, row in self._row_of.items() if similarity[row] >= least_joining]
        self.take(joining)
        return crowd + joining, pool

    def _crowd(self, row: int, least_similar: float) -> list[str]:
        """A document and the k - 1 nearest to it of its owner, or the nearest of each of k - 1 others.

        Those of one owner must be alike on average. Of different owners each must be, so that whoever has several
        accounts needs to know what somebody else's document is like before they can surround it.
        """
        similarity, owners = self._similarity(self._matrix(self._unit)[row]), self._owners.values
        ranked = np.argsort(-similarity, kind="stable")
        ranked = ranked[owners[ranked] != GONE]
        nearest_of_each = np.sort(np.unique(owners[ranked], return_index=True)[1])
        for rows, judge in ((ranked[owners[ranked] == owners[row]], np.mean), (ranked[nearest_of_each], np.min)):
            crowd = np.sort(rows[: self._k])
            if len(crowd) == self._k and judge(self._likeness(crowd)) >= least_similar:
                return [document for document, row in self._row_of.items() if row in crowd]
        return []

    def _likeness(self, rows: Ints) -> Floats:
        """How similar each of a crowd is to all of it; not at all if a member can be read off from its pool."""
        counts = self._matrix(self._counts)[rows]
        if read_off(_dense(counts)).any():
            return np.full(len(rows), -np.inf)
        pool = unit_rows(sp.csr_matrix(counts.sum(axis=0)), self._idf)[0]
        likeness: Floats = (unit_rows(counts, self._idf)[0] @ pool.T).toarray().ravel()
        return likeness

    def _similarity(self, unit: sp.csr_matrix) -> Floats:
        similarity: Floats = self._matrix(self._unit) @ unit.toarray().ravel()
        return similarity

    def _matrix(self, data: _Growing) -> sp.csr_matrix:
        rows = len(self._owners.values)
        return sp.csr_matrix((data.values, self._terms.values, self._ends.values), shape=(rows, len(self._idf)))

    def _append(self, document: str, counts: sp.csr_matrix, owner: int) -> None:
        self._row_of[document] = len(self._owners.values)
        self._owners.add([owner])
        self._terms.add(counts.indices)
        self._counts.add(counts.data)
        self._unit.add(unit_rows(counts, self._idf)[0].data)
        self._ends.add([len(self._terms.values)])

    def _close_gaps(self) -> None:
        counts, owners, row_of = self._matrix(self._counts), self._owners.values, self._row_of
        self._forget()
        for document, row in row_of.items():
            self._append(document, counts[row], int(owners[row]))

    def _forget(self) -> None:
        self._row_of: dict[str, int] = {}
        self._owners, self._ends = _Growing(np.int64), _Growing(np.int64)  # by row
        self._ends.add([0])
        self._terms, self._counts, self._unit = _Growing(np.int32), _Growing(np.int64), _Growing(np.float64)


class _Growing:
    """An array that is not copied each time it grows."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._room: NDArray[np.generic] = np.zeros(64, dtype=kind)
        self._size = 0

    @property
    def values(self) -> NDArray[np.generic]:
        return self._room[: self._size]

    def add(self, values: NDArray[np.generic] | list[int]) -> None:
        end = self._size + len(values)
        if end > len(self._room):
            self._room = np.concatenate((self._room, np.zeros(end, dtype=self._room.dtype)))
        self._room[self._size : end] = values
        self._size = end


def _dense(counts: sp.csr_matrix) -> Ints:
    """The rows without the columns that none of them has."""
    dense: Ints = counts[:, np.unique(counts.indices)].toarray().astype(np.int64)
    return dense
