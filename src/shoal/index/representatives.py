"""Representatives: what is published of groups, by number, in the order in which it was published."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.kernels.grouping.spherical import csr, distances_to, dots_with, invert
from shoal.microaggregation.words.pooling import DECIMALS, unit_rows

__all__ = ["Representatives", "name_of_pool"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LISTED_AGAIN = 0.1  # as soon as this share of the representatives is in no inverted list, all are listed anew
NOT_LISTED = 500  # representatives that are searched row by row without a thought


class Representatives:
    """Pools of counts and their weights. They are added and retired, and never changed.

    Most are searched through inverted lists; the newest row by row, until they are many enough to be listed too.
    """

    def __init__(self, idf: Floats) -> None:
        self.idf = idf
        self.names: list[str] = []
        self._alive = np.zeros(0, dtype=np.bool_)
        self._listed = self._new = _Pools.none(len(idf))
        self._lists = invert(csr(self._listed.weights), len(idf))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def pools(self) -> sp.csr_matrix:
        """The counts of all, retired ones too."""
        return self._listed.followed_by(self._new).counts

    def add(self, pools: sp.csr_matrix) -> list[int]:
        """The numbers of the new representatives, one for each row of counts."""
        first = len(self)
        self.names += [name_of_pool(pools.indices[row], pools.data[row]) for row in _rows(pools)]
        self._alive = np.append(self._alive, np.ones(pools.shape[0], dtype=np.bool_))
        self._new = self._new.followed_by(_Pools.of(pools, self.idf))
        if len(self._new) > max(NOT_LISTED, LISTED_AGAIN * len(self)):
            self._listed, self._new = self._listed.followed_by(self._new), _Pools.none(len(self.idf))
            self._lists = invert(csr(self._listed.weights), len(self.idf))
        return list(range(first, len(self)))

    def retire(self, number: int) -> None:
        """Nobody is represented by it any more."""
        self._alive[number] = False

    def weights(self, number: int) -> sp.csr_matrix:
        """One representative at unit length."""
        listed = len(self._listed)
        return self._listed.weights[number] if number < listed else self._new.weights[number - listed]

    def similarities(self, row: sp.csr_matrix) -> Floats:
        """The cosine of a unit row with every representative; -1 for those that are retired."""
        similarity, single = np.empty(len(self)), csr(row)
        listed, new = np.split(similarity, [len(self._listed)])
        distances_to(self._lists, single.indices, single.data, listed)
        np.negative(listed, out=listed)
        if len(new):
            new[:] = dots_with(csr(self._new.weights), row.toarray().ravel())
        similarity[~self._alive] = -1.0
        return similarity

    def nearest(self, row: sp.csr_matrix) -> tuple[int, float]:
        """The representative that is most similar to a unit row, ties to the older one, and its cosine."""
        similarity = self.similarities(row)
        number = int(np.argmax(similarity))
        return number, float(similarity[number])

    def most_similar(self, row: sp.csr_matrix, limit: int) -> list[tuple[int, float]]:
        """Those most similar to a unit row that have a term of it, with their cosines; ties to the older one."""
        similarity = self.similarities(row)
        alike = np.flatnonzero(similarity > 0)
        if limit < len(alike):
            worst = np.partition(similarity[alike], len(alike) - limit)[len(alike) - limit]
            alike = alike[similarity[alike] >= worst]
        ranked = alike[np.argsort(-similarity[alike], kind="stable")]
        return [(number, float(similarity[number])) for number in ranked[:limit].tolist()]

    def matching(self, row: sp.csr_matrix, number: int) -> tuple[int, ...]:
        """The terms that make a row and a representative similar, the heaviest first."""
        shared = row.multiply(self.weights(number)).tocsr()
        return tuple(shared.indices[np.argsort(-shared.data, kind="stable")].tolist())


@dataclass(frozen=True)
class _Pools:
    """Counts, and the same as weights of unit length."""

    counts: sp.csr_matrix
    weights: sp.csr_matrix

    @classmethod
    def of(cls, counts: sp.csr_matrix, idf: Floats) -> _Pools:
        weights = unit_rows(counts.astype(np.float64), idf)[0]
        weights.data = np.round(weights.data, DECIMALS)
        return cls(counts, weights)

    @classmethod
    def none(cls, n_terms: int) -> _Pools:
        return cls(sp.csr_matrix((0, n_terms), dtype=np.int64), sp.csr_matrix((0, n_terms)))

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def followed_by(self, others: _Pools) -> _Pools:
        if not len(self) or not len(others):
            return others if len(others) else self
        sides = ((self.counts, others.counts), (self.weights, others.weights))
        return _Pools(*(sp.csr_matrix(sp.vstack(side, format="csr")) for side in sides))


def name_of_pool(terms: NDArray[Any], counts: NDArray[Any]) -> str:
    """A name that says what the pool holds, and so can be kept in any cache for ever."""
    content = terms.astype("<i4").tobytes() + counts.astype("<i8").tobytes()
    return blake2b(content, digest_size=16).hexdigest()


def _rows(X: sp.csr_matrix) -> list[slice]:
    return [slice(start, end) for start, end in pairwise(X.indptr.tolist())]
