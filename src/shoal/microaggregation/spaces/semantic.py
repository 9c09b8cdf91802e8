"""Documents by meaning: the distance pairs their terms, the centre is the representative of all that remain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.words.meanings import Documents, Meanings

__all__ = ["SemanticSpace"]

Rows = NDArray[np.int64]


class SemanticSpace:
    """What remains of a set of documents that have words only. The centre is folded in the order of rows."""

    def __init__(self, meanings: Meanings, documents: Documents) -> None:
        self.remaining = len(documents)
        self._meanings = meanings
        self._documents = documents
        self._alive = np.ones(len(documents), dtype=np.bool_)
        self._distances = np.zeros(len(documents))  # of the row compared with last to those that remained then
        self._compared_with = -1

    def farthest_from_centre(self) -> int:
        rows = np.flatnonzero(self._alive)
        centre = self._meanings.representative(self._documents, rows)
        distances = self._meanings.distances_to_words(centre, self._documents, rows)
        return int(rows[np.argmax(distances)])

    def farthest_from(self, row: int) -> int:
        self._compare(row)
        rows = np.flatnonzero(self._alive)
        return int(rows[np.argmax(self._distances[rows])])

    def take(self, row: int, k: int) -> Rows:
        self._compare(row)
        self._alive[row] = False
        others = np.flatnonzero(self._alive)
        nearest = others[np.argsort(self._distances[others], kind="stable")[: k - 1]]
        self._alive[nearest] = False
        taken = np.concatenate(([row], nearest))
        self.remaining -= len(taken)
        return taken

    def take_rest(self) -> Rows:
        rows = np.flatnonzero(self._alive)
        self._alive[rows] = False
        self.remaining = 0
        return rows

    def _compare(self, row: int) -> None:
        if self._compared_with != row:
            rows = np.flatnonzero(self._alive)
            document = self._documents[row]
            self._distances[rows] = self._meanings.distances_to_words(document, self._documents, rows)
            self._compared_with = row
