"""Local suppression: the fewest blank cells, weighted by importance, that leave every record a crowd of k.

    suppress(codes, k, importance, reading, *, random_state) -> (n, m) which cells to blank
    key_counts(codes, blanks, reading) -> (n,) how many records each record may be, itself included

What a blank stands for must be stated, since the same table has other crowds under each reading:

* VALUE: a blank is a value of its own. A record's crowd are the records with the same key, blanks included.
* ANY: a blank may be any value. A record's crowd are the records that agree with it in every column where neither is
  blank (as sdcMicro counts). Fewer cells need to be blank, but whoever knows that a blank is not everybody's value
  sees a smaller crowd.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels import blanking
from shoal.methods.common_values import Widening, widening_groups
from shoal.methods.estimator import check_k

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

VALUE, ANY = "value", "any"
MOST_COLUMNS = 16  # sets of columns are looked at one by one
SWEEPS = 20


def suppress(
    codes: Ints, k: int, importance: NDArray[np.float64], reading: str = VALUE, *, random_state: Any = None
) -> Bools:
    """Which cells of codes (n, m) to blank so that every record has a crowd of k under the reading.

    `importance` (m,), above 0, is what a blank in each column costs. A code is a value, -1 a missing one.
    """
    k = check_k(k, len(codes))
    if reading == VALUE:
        return _blank_values(codes, k, importance, random_state)
    if reading != ANY:
        raise InputError(f"reading={reading!r} must be {VALUE!r} or {ANY!r}")
    n_columns = codes.shape[1]
    if n_columns > MOST_COLUMNS:
        raise InputError(f"{n_columns} columns are too many to blank cells in; give at most {MOST_COLUMNS}")
    sets = (np.arange(1 << n_columns)[:, None] >> np.arange(n_columns)) & 1
    cost = sets @ importance
    by_cost = np.lexsort((np.arange(len(cost)), cost))
    lonely = _lonely_and_enough(codes, k)
    chosen = blanking.blank_any(np.ascontiguousarray(codes[lonely]), k, cost, by_cost, SWEEPS)
    blanks = np.zeros(codes.shape, dtype=np.bool_)
    blanks[lonely] = sets[chosen] == 1
    return blanks


def _lonely_and_enough(codes: Ints, k: int) -> Ints:
    """Rows that matter: of more than k equal records the first k are as good as all."""
    order = np.lexsort(codes.T[::-1])
    new = np.append(True, (codes[order][1:] != codes[order][:-1]).any(axis=1))
    starts = np.flatnonzero(new)
    position = np.arange(len(codes)) - starts[np.cumsum(new) - 1]
    return np.sort(order[position < k])


def _blank_values(codes: Ints, k: int, importance: NDArray[np.float64], random_state: Any) -> Bools:
    """Groups in which as few columns as possible have several values; those columns are blank in the group."""
    n, n_columns = codes.shape
    # With one value as the whole of a column, a cell costs its importance as soon as the group has two.
    widening = Widening(np.zeros(0), np.ones(n_columns, dtype=np.int64), [None] * n_columns, importance)
    groups = widening_groups(np.zeros((n, 0)), codes + 1, k, widening, random_state=random_state)
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))[:-1]])
    mixed = np.minimum.reduceat(codes[order], starts) != np.maximum.reduceat(codes[order], starts)
    blanks: Bools = mixed[groups]
    return blanks


def key_counts(codes: Ints, blanks: Bools, reading: str) -> Ints:
    """How many records are in each record's crowd, itself included."""
    shown = np.where(blanks, np.int64(-2), codes)
    keys, key_of_row, counts = np.unique(shown, axis=0, return_inverse=True, return_counts=True)
    key_of_row = key_of_row.ravel()
    if reading == VALUE:
        return counts[key_of_row].astype(np.int64)
    crowd = np.empty(len(keys), dtype=np.int64)
    for number, key in enumerate(keys):
        agrees = ((keys == key) | (keys == -2) | (key == -2)).all(axis=1)
        crowd[number] = counts[agrees].sum()
    return crowd[key_of_row]
