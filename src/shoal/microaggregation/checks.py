"""Checks that every estimator of this folder makes."""

from __future__ import annotations

import numpy as np

from shoal.errors import InputError

__all__ = ["check_k"]


def check_k(k: object, n_rows: int) -> int:
    """k as an int of at least 2 and at most the number of rows."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        raise InputError(f"k={k!r} must be a whole number of at least 2")
    if k < 2:
        raise InputError(f"k={k} must be at least 2: a group of one hides nobody")
    if k > n_rows:
        raise InputError(f"k={k} needs at least {k} rows, got {n_rows} (n_samples={n_rows}); lower k or add rows")
    return int(k)
