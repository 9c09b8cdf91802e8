"""What can be sketched: matrices, dataframes, and lists of records, as sparse rows with a name for every column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.io.baskets import count_baskets
from shoal.io.frames import number_rows

__all__ = ["NamedRows", "named_rows", "check_components"]

LARGEST = 1e9  # sums of whole numbers up to it are exact in every sketch


@dataclass(frozen=True)
class NamedRows:
    """Non-negative sparse rows, columns rising in each, and the terms that the columns stand for."""

    X: sp.csr_matrix
    terms: Sequence[str]


def named_rows(estimator: Any, X: Any, terms: Sequence[str] | None) -> NamedRows:
    """Rows of a matrix or a dataframe, whose columns have names or numbers, or a list of records."""
    if isinstance(X, list | tuple):
        if terms is not None:
            raise InputError("terms name the columns of a matrix, and these are records; leave it out")
        return NamedRows(*count_baskets(X))
    checked = sp.csr_matrix(number_rows(estimator, X, reset=True, sparse=True), copy=True)
    checked.sum_duplicates()
    checked.eliminate_zeros()
    checked.sort_indices()
    if terms is None:
        terms = [str(name) for name in getattr(estimator, "feature_names_in_", range(checked.shape[1]))]
    if len(terms) != checked.shape[1]:
        raise InputError(f"{len(terms)} terms for {checked.shape[1]} columns; give one per column")
    least, most = checked.data.min(initial=0), checked.data.max(initial=0)
    if least < 0:
        raise InputError(f"Negative values in data, the least {least:g}; give counts or weights from 0 to {LARGEST:g}")
    if most > LARGEST:
        raise InputError(f"a count or weight of {most:g} cannot be sketched; give numbers from 0 to {LARGEST:g}")
    return NamedRows(checked, terms)


def check_components(name: str, value: object) -> int:
    """A number of components: whole, at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 1 <= value <= 1 << 20:
        raise InputError(f"{name}={value!r} must be a whole number from 1 to {1 << 20}; 64 to 1024 are usual")
    return int(value)
