"""How much of a record a guess hits: the attacker names as many items as the record has."""

from __future__ import annotations

from math import comb

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["hits"]

Scores = NDArray[np.float64]


def hits(scores: NDArray[np.floating], records: sp.csr_matrix) -> tuple[Scores, Scores]:
    """For each record the share of its items that are named, and the chance that all are; `scores` (rows, items).

    Of a record with l items, those with the l largest scores are named; of equal scores at the end some at random.

    >>> basket = sp.csr_matrix([[1, 1, 0, 0]])
    >>> hits(np.array([[3.0, 1.0, 1.0, 0.0]]), basket)
    (array([0.75]), array([0.5]))
    """
    shares, whole = np.zeros(len(scores)), np.zeros(len(scores))
    for row in range(len(scores)):
        own = records.indices[records.indptr[row] : records.indptr[row + 1]]
        size = len(own)
        if not size:
            continue
        last = np.partition(scores[row], -size)[-size]
        above, tied = int(np.sum(scores[row] > last)), int(np.sum(scores[row] == last))
        own_above, own_tied = int(np.sum(scores[row, own] > last)), int(np.sum(scores[row, own] == last))
        shares[row] = (own_above + own_tied * (size - above) / tied) / size
        if own_above == above and own_above + own_tied == size:
            whole[row] = 1.0 / comb(tied, own_tied)
    return shares, whole
