"""Folds to train and test on, such that rows with the same protected version stay together.

The protected version of a row speaks for all rows of its group. Were one of them trained on and another held out, the
first would carry the second into training. Together on one side, they are as if both sides had been protected apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError

__all__ = ["fold_of_rows"]

Ints = NDArray[np.int64]


def fold_of_rows(group_of_row: Ints, n_folds: int, random_state: int, class_of_row: Ints | None = None) -> Ints:
    """The fold of each row: whole groups at random, each class about as often in every fold."""
    groups, of_row = np.unique(group_of_row, return_inverse=True)
    if not 2 <= n_folds <= len(groups):
        raise InputError(
            f"{n_folds} folds need as many different protected rows, there are {len(groups)}; at least 2 are needed"
        )
    most_frequent = np.zeros(len(groups), dtype=np.int64)
    if class_of_row is not None:
        tally = np.zeros((len(groups), int(class_of_row.max()) + 1), dtype=np.int64)
        np.add.at(tally, (of_row, class_of_row), 1)
        most_frequent = tally.argmax(axis=1)
    chance = np.random.default_rng(random_state).permutation(len(groups))
    fold_of_group = np.empty(len(groups), dtype=np.int64)
    # Dealt like cards, class by class.
    fold_of_group[np.lexsort((chance, most_frequent))] = np.arange(len(groups)) % n_folds
    return np.asarray(fold_of_group[of_row])
