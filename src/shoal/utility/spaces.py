"""A vector space before and after protection: checked, as rows of unit length, and folds to train and test on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.kernels import Ints
from shoal.terms.vector_space import at_unit_length


@dataclass(frozen=True)
class SpacePair:
    """Row i of `protected` is what became of row i of `original`; both (n, d), rows of unit length."""

    original: sp.csr_matrix
    protected: sp.csr_matrix


@dataclass(frozen=True)
class Distinct:
    """The different rows of a matrix. Their order follows from what they hold, not from where they stood."""

    rows: sp.csr_matrix  # (g, d)
    of_row: Ints  # (n,): which of them each row is
    counts: Ints  # (g,): how many rows each stands for


def space_pair(original: Any, protected: Any) -> SpacePair:
    """Two spaces with the same documents as rows and the same terms as columns."""
    before, after = unit_rows(original, "original"), unit_rows(protected, "protected")
    if before.shape[0] != after.shape[0]:
        raise InputError(
            f"the original has {before.shape[0]} rows and the protected space {after.shape[0]}; they are compared row "
            "by row, so leave withheld documents out of the original"
        )
    if before.shape[1] != after.shape[1]:
        raise InputError(
            f"the original has {before.shape[1]} terms and the protected space {after.shape[1]}; give both the same "
            "columns in the same order"
        )
    return SpacePair(before, after)


def unit_rows(X: Any, called: str) -> sp.csr_matrix:
    """The matrix with rows of unit length; every row must have a direction."""
    try:
        rows = sp.csr_matrix(X, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as mistake:
        raise InputError(f"the {called} space is not a matrix of numbers, one row per document") from mistake
    rows.sum_duplicates()  # which also sorts: equal rows must be equal to the last bit
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        raise InputError(f"the {called} space has missing or infinite weights; leave these documents out")
    if rows.shape[0] < 2:
        raise InputError(f"the {called} space has {rows.shape[0]} rows; at least 2 are needed to compare")
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if len(empty):
        raise InputError(
            f"{len(empty)} of {rows.shape[0]} rows of the {called} space are empty, the first is row {empty[0]} "
            "(counted from 0); they have no direction: leave these documents out of both spaces"
        )
    # By the largest weight first: squares of very large or small numbers leave the range of numbers.
    return at_unit_length(at_unit_length(rows, norm="max", copy=False), copy=False)


def distinct_rows(X: sp.csr_matrix) -> Distinct:
    """Rows that are the same to the last bit, taken together: protected rows are, in groups of at least k."""
    parts = [slice(start, end) for start, end in pairwise(X.indptr.tolist())]
    keys = [(X.indices[part].astype(np.int64).tobytes(), X.data[part].tobytes()) for part in parts]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    number_of = {key: number for number, key in enumerate(sorted(first))}
    of_row = np.array([number_of[key] for key in keys], dtype=np.int64)
    return Distinct(X[[first[key] for key in number_of]], of_row, np.bincount(of_row, minlength=len(number_of)))


def class_of_rows(labels: Sequence[Any], n_rows: int) -> tuple[Ints, tuple[str, ...]]:
    """The class of each row as a number, and the classes' names in order."""
    if len(labels) != n_rows:
        raise InputError(f"there are {len(labels)} labels for {n_rows} rows; give one for each row")
    missing = sum(label is None or label != label for label in labels)  # only "not a number" differs from itself
    if missing:
        raise InputError(f"{missing} of {n_rows} labels are missing; leave these documents out")
    names, classes = np.unique(np.array([str(label) for label in labels]), return_inverse=True)
    if len(names) < 2:
        raise InputError(f"all labels are {str(names[0])!r}; at least 2 classes are needed")
    return classes.astype(np.int64), tuple(names.tolist())


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
