"""Do the weights of documents follow from their counts, and from nothing else? Part of verification.

Written from docs/certificate.md alone: what a group has of each term, how many rows share it, and a formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.results.claims import Claim

__all__ = ["LARGEST_COUNT", "Pools"]

LARGEST_COUNT = 2**40  # occurrences of a term in a group: products with the size of a group stay whole numbers
DECIMALS = 9
SLACK = 1.5e-9  # machines may differ in the last digit

Ints = NDArray[np.int64]
Row = tuple[Any, Ints, NDArray[np.float64]]  # term numbers, counts, weights


@dataclass
class Pools:
    """The different rows of a release, each with the number of rows that are equal to it in a part."""

    n_terms: int
    _rows: dict[int, Row] = field(default_factory=dict)
    _sizes: list[dict[int, int]] = field(default_factory=list)

    def next_part(self) -> None:
        """Equal rows of different parts are counted apart."""
        self._sizes.append({})

    def add(self, group: int, size: int, numbers: Any, counts: Ints, weights: NDArray[np.float64]) -> None:
        """Some rows that are equal."""
        self._rows.setdefault(group, (numbers.copy(), counts.copy(), weights.copy()))
        self._sizes[-1][group] = self._sizes[-1].get(group, 0) + size

    def claim(self, form: str, file: str) -> Claim:
        """Whether every weight is the one that the counts give."""
        idf = self._idf(form)
        if all(self._follows(row, idf) for row in self._rows.values()):
            return Claim("form", True, "weights follow from the pooled counts of groups, and from nothing else", file)
        return Claim("form", False, "a weight does not follow from the counts: it may tell documents apart", file)

    def _idf(self, form: str) -> NDArray[np.float64]:
        """The weight of one occurrence of each term."""
        if form != "pooled counts, tf-idf":
            return np.ones(self.n_terms)
        thousandths = np.zeros(self.n_terms, dtype=np.int64)
        n_rows = 0
        for sizes in self._sizes:
            for group, size in sizes.items():
                numbers, counts, _ = self._rows[group]
                thousandths[numbers] += 1000 * counts * size // (counts + size - 1)
                n_rows += size
        with np.errstate(divide="ignore"):  # a term that no row has
            idf: NDArray[np.float64] = np.log(1000 * n_rows / thousandths)
        return idf

    def _follows(self, row: Row, idf: NDArray[np.float64]) -> bool:
        numbers, counts, weights = row
        expected = counts * idf[numbers]
        expected /= np.sqrt(np.sum(expected**2))
        rounded = np.array_equal(weights, np.round(weights, DECIMALS))
        return rounded and bool(np.all(np.abs(weights - expected) <= SLACK))
