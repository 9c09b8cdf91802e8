"""What every estimator that makes sketches has in common: tags, parameters, and the rows it takes.

These are matrices, dataframes or lists of records, turned into sparse rows with a name for every column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import TransformerTags

from shoal.data.baskets import count_baskets
from shoal.data.frames import number_rows
from shoal.errors import InputError

LARGEST = 1e9  # sums of whole numbers up to it are exact in every sketch


class SketchesRows(BaseEstimator):  # type: ignore[misc]
    """Rows of counts or records in, Sketches out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        tags.non_deterministic = True  # a key is drawn unless one is given
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


@dataclass(frozen=True)
class NamedRows:
    """Non-negative sparse rows, columns rising in each, and the terms that the columns stand for."""

    X: sp.csr_matrix
    terms: Sequence[str]


def named_rows(estimator: Any, X: Any, terms: Sequence[str] | None, *, reset: bool = True) -> NamedRows:
    """Rows of a matrix or a dataframe, whose columns have names or numbers, or a list of records.

    Without `reset` a matrix must have the columns that the estimator was fitted to; a dataframe may have others.
    """
    if isinstance(X, list | tuple):
        if terms is not None:
            raise InputError("terms name the columns of a matrix, and these are records; leave it out")
        return NamedRows(*count_baskets(X))
    if not reset and isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame):
        estimator, reset = clone(estimator), True
    checked = sp.csr_matrix(number_rows(estimator, X, reset=reset, sparse=True))
    if not checked.has_canonical_format or not checked.data.all() or len(checked.data) > checked.nnz:
        checked = checked.copy()  # the caller's stay as they are
        checked.sum_duplicates()
        checked.eliminate_zeros()
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
