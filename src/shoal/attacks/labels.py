"""Labels before and after masking: which values a released label can stand for, and how likely each of them is.

A label that originals have stands for itself; a gap for every value; any other (a set, a more general label) for the
values that it replaced, which an attacker who knows the coding knows as well. Within these, values are as likely as
they are frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attacks.rates import rate_of
from shoal.data.columns import MISSING
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Rate

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


def label_pair(name: str, before: Sequence[Any], after: Sequence[Any]) -> LabelPair:
    """Two columns of labels, row by row; None is a gap."""
    values, of_before = np.unique(np.array([str(value) for value in before]), return_inverse=True)
    released, of_after = np.unique(np.array([str(value) for value in after]), return_inverse=True)
    gaps = {str(label) for label in after if label is None or str(label).strip() in ANYTHING}
    covers = (values[:, None] == released[None, :]).astype(np.float64)
    own = set(values.tolist())
    for number, label in enumerate(released.tolist()):
        if label in gaps:
            covers[:, number] = 1.0
        elif label not in own:
            covers[np.unique(of_before[of_after == number]), number] = 1.0
    weighed = covers * np.bincount(of_before)[:, None]
    return LabelPair(
        name,
        tuple(values.tolist()),
        tuple(released.tolist()),
        of_before.astype(np.int64),
        of_after.astype(np.int64),
        weighed / np.maximum(weighed.sum(axis=0), 1e-300),
    )


def label_disclosure(pairs: Sequence[LabelPair], others: Rate | None, n_others: int) -> Rate:
    """Interval disclosure of all columns: the labels', beside that of `n_others` columns of numbers."""
    chances = np.sum([pair.disclosed for pair in pairs], axis=0)
    guess = sum(pair.by_guessing for pair in pairs)
    if others is not None and others.chances is not None:
        chances, guess = chances + n_others * others.chances, guess + n_others * others.baseline
    n_columns = len(pairs) + n_others
    return rate_of("interval disclosure, labels by their frequency", chances / n_columns, guess / n_columns)
