"""Sparse rows summed group by group, and the lengths of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["divided", "group_sums", "squared_lengths"]

Floats = NDArray[np.float64]


def group_sums(X: sp.csr_matrix, groups: NDArray[np.int64]) -> sp.csr_matrix:
    """The sum of each group's rows, (g, d)."""
    return sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups))))) @ X


def squared_lengths(X: sp.csr_matrix) -> Floats:
    """Of each row."""
    squares: Floats = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return squares


def divided(X: sp.csr_matrix, by: NDArray[Any]) -> sp.csr_matrix:
    """Each row divided by a number of its own; a row whose number is 0 stays as it is."""
    return sp.csr_matrix(sp.diags_array(1.0 / np.where(by > 0, by, 1.0)) @ X)
