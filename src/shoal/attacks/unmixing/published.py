"""A release of documents as the attacker has it, and what they believe of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.kernels import Floats, Ints


@dataclass(frozen=True)
class Published:
    """A release of documents as its reader has it: the row of each group, and how many documents share it."""

    rows: sp.csr_matrix  # (groups, terms): how often the documents of each group have each term, together
    sizes: Ints  # (groups,)
    n_documents: int  # of the collection
    min_df: int  # fewest documents that have a term

    def __post_init__(self) -> None:
        rows = sp.csr_matrix(self.rows, dtype=np.float64)
        sizes = np.asarray(self.sizes, dtype=np.int64)
        if rows.shape[0] != len(sizes):
            raise InputError(f"{rows.shape[0]} rows with {len(sizes)} sizes; give every row the size of its group")
        if len(sizes) and sizes.min() < 1:
            raise InputError(f"a group of {sizes.min()} documents; the least is 1")
        if self.n_documents < sizes.sum():
            raise InputError(
                f"n_documents={self.n_documents} is less than the {sizes.sum()} documents of the groups; pass all of "
                "the collection"
            )
        if rows.nnz and not (np.isfinite(rows.data).all() and rows.data.min() >= 0):
            raise InputError("a count is negative or no number; the rows must hold counts from 0 up")
        rows.eliminate_zeros()
        rows.sort_indices()
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "sizes", sizes)

    def row(self, group: int) -> tuple[Any, Floats]:
        """Terms of a group, and how often it has each."""
        part = slice(self.rows.indptr[group], self.rows.indptr[group + 1])
        return self.rows.indices[part], self.rows.data[part]

    def documents_with(self) -> Floats:
        """About how many documents have each term: at least as many as groups show it, at most all of those groups."""
        present = sp.csr_matrix(self.rows != 0, dtype=np.int64)
        low = np.maximum(self.min_df, np.asarray(present.sum(axis=0)).ravel())
        high = np.maximum(low, np.minimum(self.n_documents - 1, np.asarray(self.sizes @ present).ravel()))
        middle: Floats = np.sqrt(low * high)
        return middle


@dataclass(frozen=True)
class Guesses:
    """Members that the attacker believes in: a row each, with the counts of its terms."""

    counts: sp.csr_matrix  # (guesses, terms)
    group_of_guess: Ints  # (guesses,); at most as many of a group as it has members
    tried: Ints  # groups that were attacked
