"""Labels before and after masking: which values a released label can stand for, and how likely each of them is.

A label that originals have stands for itself; a gap for every value; any other (a set, a more general label) for the
values that it replaced, which an attacker who knows the coding knows as well. Within these, values are as likely as
they are frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attacks.rates import rate_of
from shoal.data.columns import MISSING
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Rate

Labels: TypeAlias = Sequence[Any] | pa.ChunkedArray

ANYTHING = (*MISSING, "*", "...")  # released for any value


@dataclass(frozen=True)
class LabelPair:
    """A column of labels: the value of each record before and after, by its number."""

    name: str
    values: tuple[str, ...]  # that were
    released: tuple[str, ...]
    before: Ints  # (n,)
    after: Ints  # (n,)
    chance: Floats  # (values, released): of a value, given the released label; 0 where it cannot be that

    @property
    def disclosed(self) -> Floats:
        """The chance of each record that a guess by its released label is right."""
        right: Floats = self.chance[self.before, self.after]
        return right

    @property
    def by_guessing(self) -> float:
        """The same with the records' correspondence lost: the share of all records for which a guess is right."""
        frequency = np.bincount(self.before, minlength=len(self.values)) / len(self.before)
        return float((frequency @ self.chance)[self.after].mean())


def label_pair(name: str, before: Labels, after: Labels) -> LabelPair:
    """Two columns of labels, row by row; None is a gap."""
    values, of_before, _ = _numbered(before)
    released, of_after, gaps = _numbered(after)
    covers = np.zeros((len(values), len(released)))
    # A pair of a value and a label that are in one row, each once.
    label_of_pair, value_of_pair = np.divmod(np.unique(of_after * len(values) + of_before), len(values))
    own = np.isin(released, values)
    foreign = ~own[label_of_pair]
    covers[value_of_pair[foreign], label_of_pair[foreign]] = 1.0
    covers[np.searchsorted(values, released[own]), np.flatnonzero(own)] = 1.0
    covers[:, gaps] = 1.0
    weighed = covers * np.bincount(of_before)[:, None]
    return LabelPair(
        name,
        tuple(values.tolist()),
        tuple(released.tolist()),
        of_before,
        of_after,
        weighed / np.maximum(weighed.sum(axis=0), 1e-300),
    )


def _numbered(column: Labels) -> tuple[NDArray[np.str_], Ints, NDArray[np.bool_]]:
    """The different labels as texts, rising; the number of each row's label; and which labels are gaps.

    By a dict: an array of all rows' texts would be as wide as the longest set.
    """
    labels = column.to_pylist() if isinstance(column, pa.ChunkedArray) else column
    numbers: dict[Any, int] = {}
    of_row = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    texts, text_of_label = np.unique([str(label) for label in numbers], return_inverse=True)
    gaps = np.zeros(len(texts), dtype=np.bool_)
    gaps[text_of_label[[label is None or str(label).strip() in ANYTHING for label in numbers]]] = True
    return texts, text_of_label[of_row].astype(np.int64), gaps


def label_disclosure(pairs: Sequence[LabelPair], others: Rate | None, n_others: int) -> Rate:
    """Interval disclosure of all columns: the labels', beside that of `n_others` columns of numbers."""
    chances = np.sum([pair.disclosed for pair in pairs], axis=0)
    guess = sum(pair.by_guessing for pair in pairs)
    if others is not None and others.chances is not None:
        chances, guess = chances + n_others * others.chances, guess + n_others * others.baseline
    n_columns = len(pairs) + n_others
    return rate_of("interval disclosure, labels by their frequency", chances / n_columns, guess / n_columns)
