"""Representatives: the published pools of groups, numbered in the order in which they were published."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.kernels.grouping.spherical import csr, distances_to, invert
from shoal.methods.pools import DECIMALS, unit_rows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LISTED_AGAIN = 0.1  # share of the representatives outside of the inverted lists at which the lists are rebuilt
NOT_LISTED = 500  # representatives that may always be searched row by row


class Representatives:
    """Pooled counts, searched by their weights. They are added and retired, and never changed.

    Most are searched through inverted lists; the newest row by row, until they are enough to be listed too.
    """

    def __init__(self, idf: Floats) -> None:
        self.idf = idf
        self.names: list[str] = []
        self._alive = np.zeros(0, dtype=np.bool_)
        self._counts = sp.csr_matrix((0, len(idf)), dtype=np.int64)  # of those in the inverted lists
        self._lists = invert(csr(_weights(self._counts, idf)), len(idf))
        self._new = self._new_weights = self._counts

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_listed(self) -> int:
        """How many of the first ones are in the inverted lists."""
        return int(self._counts.shape[0])

    @property
    def pools(self) -> sp.csr_matrix:
        """The pooled counts of all, including retired ones."""
        return _stacked(self._counts, self._new).astype(np.int64, copy=False)

    def add(self, pools: sp.csr_matrix) -> list[int]:
        """Add a representative per row of counts; returns their numbers."""
        first = len(self)
        self.names += [name_of_pool(pools.indices[row], pools.data[row]) for row in _rows(pools)]
        self._alive = np.append(self._alive, np.ones(pools.shape[0], dtype=np.bool_))
        self._new = _stacked(self._new, pools)
        if self._new.shape[0] > max(NOT_LISTED, LISTED_AGAIN * len(self)):
            self._counts, self._new = self.pools, self._new[:0]
            self._lists = invert(csr(_weights(self._counts, self.idf)), len(self.idf))
            self._new_weights = self._new
        else:
            self._new_weights = _stacked(self._new_weights, _weights(pools, self.idf))
        return list(range(first, len(self)))

    def retire(self, number: int) -> None:
        """Leave a representative out of every search from now on."""
        self._alive[number] = False

    def retire_all_but(self, numbers: Ints) -> None:
        """Retire all other representatives."""
        others = np.ones(len(self), dtype=np.bool_)
        others[numbers] = False
        self._alive[others] = False

    def weights(self, number: int) -> sp.csr_matrix:
        """The weights of a representative, at unit length."""
        new = number - self.n_listed
        return _weights(self._counts[number], self.idf) if new < 0 else self._new_weights[new]

    def similarities(self, rows: sp.csr_matrix) -> Iterator[Floats]:
        """For each unit row its cosine with every representative, in the same array; -1 for retired ones."""
        similarity, queries = np.empty(len(self)), csr(rows)
        listed, new = np.split(similarity, [self.n_listed])
        with_new = (self._new_weights @ rows.T).toarray() if len(new) else None
        for row in range(rows.shape[0]):
            part = slice(queries.indptr[row], queries.indptr[row + 1])
            distances_to(self._lists, queries.indices[part], queries.data[part], listed)
            np.negative(listed, out=listed)
            if with_new is not None:
                new[:] = with_new[:, row]
            similarity[~self._alive] = -1.0
            yield similarity

    def nearest(self, rows: sp.csr_matrix) -> list[tuple[int, float]]:
        """For each unit row the most similar representative and its cosine; ties go to the older one."""
        best = ((int(np.argmax(similarity)), similarity) for similarity in self.similarities(rows))
        return [(number, float(similarity[number])) for number, similarity in best]

    def most_similar(self, row: sp.csr_matrix, limit: int) -> list[tuple[int, float]]:
        """The most similar representatives that share a term with a unit row, and their cosines; in ties the older."""
        similarity = next(self.similarities(row))
        similar = np.flatnonzero(similarity > 0)
        if limit < len(similar):
            lowest = np.partition(similarity[similar], len(similar) - limit)[len(similar) - limit]
            similar = similar[similarity[similar] >= lowest]
        ranked = similar[np.argsort(-similarity[similar], kind="stable")]
        return [(number, float(similarity[number])) for number in ranked[:limit].tolist()]

    def matching(self, row: sp.csr_matrix, number: int) -> tuple[int, ...]:
        """The terms that a row and a representative share, the heaviest first."""
        shared = row.multiply(self.weights(number)).tocsr()
        return tuple(shared.indices[np.argsort(-shared.data, kind="stable")].tolist())


def _weights(counts: sp.csr_matrix, idf: Floats) -> sp.csr_matrix:
    """Rows of unit length."""
    weights = unit_rows(counts.astype(np.float64), idf)[0]
    weights.data = np.round(weights.data, DECIMALS)
    return weights


def _stacked(above: sp.csr_matrix, below: sp.csr_matrix) -> sp.csr_matrix:
    if not above.shape[0] or not below.shape[0]:
        return below if below.shape[0] else above
    return sp.csr_matrix(sp.vstack((above, below), format="csr"))


def name_of_pool(terms: NDArray[Any], counts: NDArray[Any]) -> str:
    """A name made of the content, so that any cache may keep the pool for ever."""
    content = terms.astype("<i4").tobytes() + counts.astype("<i8").tobytes()
    return blake2b(content, digest_size=16).hexdigest()


def _rows(X: sp.csr_matrix) -> list[slice]:
    return [slice(start, end) for start, end in pairwise(X.indptr.tolist())]
