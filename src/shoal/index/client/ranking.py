"""Exact search: documents by their own words, ranked by the cosine of their tf-idf weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class Match:
    """A document that has words of a query, and these words' stems, the heaviest first."""

    row: int
    similarity: float
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """The counts of documents (rows) by word (columns), and the weight of each word."""

    counts: sp.csr_matrix
    column_of: Mapping[str, int]
    idf: NDArray[np.float64]

    @classmethod
    def of_all(cls, counts: sp.csr_matrix, column_of: Mapping[str, int]) -> Ranking:
        """All documents of a collection."""
        return cls(counts, column_of, _idf(counts))

    @classmethod
    def of_some(cls, rows: Sequence[Mapping[str, int]], weight_of: Mapping[str, float]) -> Ranking:
        """A few documents of a larger collection. A word that has no weight there has that of these few."""
        column_of: dict[str, int] = {}
        counts = count_rows(rows, column_of)
        weights = [weight_of.get(word, np.nan) + 1.0 for word in column_of]
        return cls(counts, column_of, np.where(np.isnan(weights), _idf(counts), weights))

    def best(self, stems: Iterable[str], limit: int, allowed: NDArray[np.bool_] | None = None) -> list[Match]:
        """The documents most similar to a query; of equals the one that was stored first."""
        known = [stem for stem in stems if stem in self.column_of]
        columns = [self.column_of[stem] for stem in known]
        weights = self.idf[columns]
        length = float(np.linalg.norm(weights))
        if not length:
            return []
        scores = np.zeros(self.counts.shape[0], dtype=np.float32)
        for column, weight in zip(columns, weights, strict=True):
            part = slice(self._lists.indptr[column], self._lists.indptr[column + 1])
            scores[self._lists.indices[part]] += (weight / length) * self._lists.data[part]
        if allowed is not None:
            scores[~allowed] = 0.0
        found = np.flatnonzero(scores)
        if limit < len(found):
            lowest = np.partition(scores[found], len(found) - limit)[len(found) - limit]
            found = found[scores[found] >= lowest]
        ranked = found[np.argsort(-scores[found], kind="stable")][:limit]
        heaviest = [known[position] for position in np.argsort(-weights, kind="stable")]
        return [Match(row, float(scores[row]), self._matching(row, heaviest)) for row in ranked.tolist()]

    def _matching(self, row: int, stems: Iterable[str]) -> tuple[str, ...]:
        has = set(self.counts.indices[self.counts.indptr[row] : self.counts.indptr[row + 1]].tolist())
        return tuple(stem for stem in stems if self.column_of[stem] in has)

    @cached_property
    def _lists(self) -> sp.csc_matrix:
        """Weights at unit length by word: (1 + ln tf) · idf."""
        weights = 1.0 + np.log(self.counts.data, dtype=np.float32)
        weights *= self.idf.astype(np.float32)[self.counts.indices]
        rows = sp.csr_matrix((weights, self.counts.indices, self.counts.indptr), shape=self.counts.shape)
        starts = self.counts.indptr[:-1]
        squares = np.append(weights * weights, np.float32(0))
        lengths = np.sqrt(np.add.reduceat(squares, starts)) if len(starts) else np.zeros(0, np.float32)
        lengths[np.diff(self.counts.indptr) == 0] = 1.0
        rows.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(self.counts.indptr))
        return rows.tocsc()


def count_rows(rows: Sequence[Mapping[str, int]], column_of: dict[str, int]) -> sp.csr_matrix:
    """Counts by word as the rows of a matrix; new words get columns."""
    columns = [column_of.setdefault(word, len(column_of)) for row in rows for word in row]
    data = np.array([count for row in rows for count in row.values()], dtype=np.int32)
    ends = np.cumsum([0, *map(len, rows)])
    return sp.csr_matrix((data, np.array(columns, dtype=np.int32), ends), shape=(len(rows), len(column_of)))


def _idf(counts: sp.csr_matrix) -> NDArray[np.float64]:
    """ln((n + 1) / (df + 1)) + 1: a word that all documents have still counts a little."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    idf: NDArray[np.float64] = np.log((counts.shape[0] + 1) / (frequency + 1)) + 1.0
    return idf
