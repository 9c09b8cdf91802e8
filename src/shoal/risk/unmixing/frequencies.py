"""In how many documents a term is: bounds from the release, settled by the groups' votes.

A weight is a count times ln(N / df), so df is the first thing to know. At least as many documents have a term as groups
show it, at most all documents of those groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.risk.unmixing.published import Published

__all__ = ["Frequencies"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CLEAR = 2.0  # the first choice has so many times the votes of the second


@dataclass
class Frequencies:
    """The possible document frequencies of every term, and the one that the groups agree on."""

    n_documents: int
    low: Ints  # (terms,)
    high: Ints
    settled: Ints = field(repr=False)  # (terms,); 0: not yet
    widest: int = 1_000  # terms whose df may be more numbers than that wait until the others are settled

    @staticmethod
    def of(published: Published) -> Frequencies:
        present = sp.csr_matrix(published.rows != 0, dtype=np.int64)
        groups = np.asarray(present.sum(axis=0)).ravel()
        documents = np.asarray(published.sizes @ present).ravel()
        low = np.maximum(published.min_df, groups)
        high = np.maximum(low, np.minimum(published.n_documents - 1, documents))
        settled = np.where(low == high, low, 0)
        return Frequencies(published.n_documents, low, high, settled)

    def options(self, term: int) -> Ints:
        if self.settled[term]:
            return self.settled[term : term + 1]
        if self.high[term] - self.low[term] >= self.widest:
            return np.empty(0, np.int64)
        return np.arange(self.low[term], self.high[term] + 1)

    def idf(self, frequency: NDArray[Any]) -> Floats:
        found: Floats = np.log(self.n_documents / frequency)
        return found

    def chance(self, term: int, frequency: Ints) -> Floats:
        """How likely each option is before any weight is seen: most terms are in few members of a group."""
        spread = 0.7 * self.low[term] + 1.0
        chance: Floats = np.exp(-(frequency - self.low[term]) / spread)
        chance /= chance.sum()
        return chance

    def settle(self, votes: dict[int, dict[int, float]]) -> None:
        """Take for each term the frequency that clearly has the most votes."""
        for term, by_frequency in votes.items():
            ranked = sorted(by_frequency.items(), key=lambda entry: (-entry[1], entry[0]))
            if len(ranked) == 1 or ranked[0][1] >= CLEAR * ranked[1][1]:
                self.settled[term] = ranked[0][0]
