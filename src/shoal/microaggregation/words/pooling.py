"""Pooling: what is published of a group of documents depends on the sums of their term counts, and on nothing else.

A mean of unit rows can be taken apart: each document keeps a scale of its own in it, 1 / its length. A sum of counts
has no such scale; every way to part the sums among the members fits it as well as the true one. Weights are made of
the sums alone, the document frequencies in them too. See docs/methods/pooling.md.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import inplace_row_scale

__all__ = [
    "THOUSAND",
    "members_with",
    "pooled_counts",
    "pooled_weights",
    "rank_of_pools",
    "unit_rows",
    "with_length",
    "without_length",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DECIMALS = 9  # of a published weight: no digit is left that a member could have a say in
THOUSAND = 1000  # document frequencies are estimated in thousandths, as whole numbers: sums of parts are then exact

# How much the length of a document counts in grouping, and how fast likeness falls with the ratio of two lengths. A
# document's say in its pool grows with its length, so a group of like lengths is nearer to what is published of it.
# Measured on Reuters R8, letters and FRUS; the optimum is flat.
SHARE = 0.2
ANGLE = 0.6


def unit_rows(counts: sp.csr_matrix, idf: Floats) -> tuple[sp.csr_matrix, Floats]:
    """Rows of count times weight at unit length, and their lengths before."""
    weights = counts.data * idf[counts.indices]
    unit = sp.csr_matrix((weights, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    lengths: Floats = row_norms(unit)
    inplace_row_scale(unit, 1.0 / np.where(lengths > 0, lengths, 1.0))
    return unit, lengths


def with_length(X: sp.csr_matrix, lengths: Floats) -> sp.csr_matrix:
    """Unit rows with two columns more, in which rows are the nearer the more alike their lengths are."""
    angle = ANGLE * np.log(lengths)
    columns = np.sqrt(SHARE) * np.column_stack((np.cos(angle), np.sin(angle)))
    wider = sp.csr_matrix(sp.hstack((X, sp.csr_matrix(columns)), format="csr"))
    wider.data /= np.sqrt(1.0 + SHARE)  # in place: there may be millions of rows
    return wider


def without_length(X: sp.csr_matrix) -> sp.csr_matrix:
    """The unit rows again."""
    # By hand: slicing takes several times the room of the rows. No row is empty, for every one has a length.
    n_columns = X.shape[1] - 2
    kept = X.indices < n_columns
    data = X.data[kept]
    data *= np.sqrt(1.0 + SHARE)
    ends = np.concatenate(([0], np.cumsum(np.add.reduceat(kept, X.indptr[:-1], dtype=np.int64))))
    return sp.csr_matrix((data, X.indices[kept], ends), shape=(X.shape[0], n_columns))


def pooled_counts(counts: sp.csr_matrix, groups: Ints) -> sp.csr_matrix:
    """How often each group has each term: its pool, (g, d) whole numbers."""
    belongs = sp.csr_matrix((np.ones(len(groups), dtype=np.int64), (groups, np.arange(len(groups)))))
    pools = sp.csr_matrix(belongs @ counts.astype(np.int64, copy=False))
    pools.sort_indices()
    return pools


def members_with(pools: sp.csr_matrix, sizes: Ints) -> Ints:
    """About how many members have each term, over all groups, in thousandths; from the pools alone.

    Of s members with S occurrences together, S·s / (S + s - 1): one for one, and never all. Groups with equal pools are
    one group to the reader, so they are one here.
    """
    place = rank_of_pools(pools)
    first = np.unique(place, return_index=True)[1]
    pools, sizes = pools[first], np.bincount(place, weights=sizes).astype(np.int64)
    occurrences, members = pools.data, np.repeat(sizes, np.diff(pools.indptr))
    both = occurrences + members - 1
    expected = THOUSAND * occurrences * members // both  # rounded down: always below all
    found = np.zeros(pools.shape[1], dtype=np.int64)
    np.add.at(found, pools.indices, expected)
    return found


def rank_of_pools(pools: sp.csr_matrix) -> Ints:
    """The place of each pool when they are sorted by terms, then counts; equal pools share a place."""
    # Big-endian bytes of what is not negative sort as the numbers do, and take a tenth of the memory of lists.
    terms, counts = pools.indices.astype(">i4"), pools.data.astype(">i8")
    ends = pairwise(pools.indptr.tolist())
    content = [(terms[start:end].tobytes(), counts[start:end].tobytes()) for start, end in ends]
    place = {row: number for number, row in enumerate(sorted(set(content)))}
    return np.array([place[row] for row in content], dtype=np.int64)


def pooled_weights(pools: sp.csr_matrix, frequency: Ints | None, n_rows: int) -> sp.csr_matrix:
    """The pools as rows of length 1: counts times ln(n / frequency), which is in thousandths; None: counts alone."""
    idf = np.ones(pools.shape[1])
    if frequency is not None:
        used = frequency > 0
        idf[used] = np.log(THOUSAND * n_rows / frequency[used])
    weights, _ = unit_rows(pools.astype(np.float64), idf)
    weights.data = np.round(weights.data, DECIMALS)
    return weights
