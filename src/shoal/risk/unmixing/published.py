"""What the attacker has, and what they guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError

__all__ = ["Guesses", "Published"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Published:
    """A release of documents as its reader has it: the row of each group, and how many documents share it."""

    rows: sp.csr_matrix  # (groups, terms), the weights; or counts
    sizes: Ints  # (groups,)
    n_documents: int  # documents the weights were computed from
    min_df: int  # fewest documents that have a term
    pooled: bool = False  # the rows are the pooled counts of the groups: nothing needs to be found out about weights

    def __post_init__(self) -> None:
        rows = sp.csr_matrix(self.rows, dtype=np.float64)
        sizes = np.asarray(self.sizes, dtype=np.int64)
        if rows.shape[0] != len(sizes):
            raise InputError(f"{rows.shape[0]} rows with {len(sizes)} sizes; give every row the size of its group")
        if len(sizes) and sizes.min() < 1:
            raise InputError(f"a group of {sizes.min()} documents; the least is 1")
        if self.n_documents < sizes.sum():
            raise InputError(
                f"n_documents={self.n_documents} is less than the {sizes.sum()} documents of the groups; pass all that "
                "the weights were computed from"
            )
        if rows.nnz and not (np.isfinite(rows.data).all() and rows.data.min() >= 0):
            raise InputError("a weight is negative or no number; the rows must hold weights from 0 up")
        rows.eliminate_zeros()
        rows.sort_indices()
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "sizes", sizes)

    def row(self, group: int) -> tuple[Any, Floats]:
        """Terms and weights of a group."""
        part = slice(self.rows.indptr[group], self.rows.indptr[group + 1])
        return self.rows.indices[part], self.rows.data[part]


@dataclass(frozen=True)
class Guesses:
    """Members that the attacker believes in: a row each, with the counts of its terms."""

    counts: sp.csr_matrix  # (guesses, terms)
    group_of_guess: Ints  # (guesses,); at most as many of a group as it has members
    tried: Ints  # groups that were attacked
    form: str  # what the weights turned out to be, in words
