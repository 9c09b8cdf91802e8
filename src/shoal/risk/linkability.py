"""Linkability: does the release join what was known apart? One of the three risks that European guidance names.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques; the way to measure it by attack,
baseline and control follows Giomi, Boenisch, Wehmeyer and Tasnádi, "A unified framework for quantifying privacy risk in
synthetic data" (2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.pairs import NumericPair, numeric_control, numeric_pair
from shoal.kernels.linking.nearest_released import nearest_by_both
from shoal.results.rates import Rate
from shoal.risk.rates import check_count, rate_of, sample_rows
from shoal.risk.scales import RELATIVE, standard

__all__ = ["Linkability"]

Floats = NDArray[np.float64]


class Linkability:
    """Join two halves of a person's data through the release.

    The intruder has two files about the same people, without names, with different attributes: say one from a bank and
    one from a clinic. For each person in the first they take the released record that is nearest by the first file's
    attributes, for each in the second the nearest by the second's. Where both lead to the same released record, the two
    are one person. An attempt succeeds when the two halves of a target meet; of records equally near one is picked at
    random. The release is only asked, never aligned, so synthetic data can be judged too.

    The baseline is picking records at random, 1 / n. The control are people who are not in the data: what works on them
    as well is not the release's fault.

    Parameters
    ----------
    halves : two sequences of columns (names, or numbers from 0), or None: the first half of the columns and the rest
    attacks : int, targets drawn at random
    random_state : int
    """

    def __init__(
        self, halves: tuple[Sequence[Any], Sequence[Any]] | None = None, attacks: int = 2_000, random_state: int = 0
    ) -> None:
        self.halves = halves
        self.attacks = attacks
        self.random_state = random_state

    def run(self, original: Any, protected: Any, control: Any = None) -> Rate:
        """The share of targets whose halves meet; `targets` are their rows, `chances` how likely each is."""
        pair = numeric_pair(original, protected)
        halves = self._columns(pair)
        rows = sample_rows(len(pair.original), check_count(self.attacks, "attacks"), self.random_state)
        chances = _meet(pair.protected, pair.original[rows], halves)
        outside = None
        if control is not None:
            others = numeric_control(control, pair)
            others = others[sample_rows(len(others), self.attacks, self.random_state)]
            outside = _meet(pair.protected, others, halves)
        return rate_of("linkability", chances, 1.0 / len(pair.protected), outside, rows)

    def _columns(self, pair: NumericPair) -> tuple[list[int], list[int]]:
        n_columns = len(pair.names)
        if n_columns < 2:
            raise InputError(f"linkability needs at least 2 columns to be known apart, got {n_columns}")
        if self.halves is None:
            return list(range(n_columns // 2)), list(range(n_columns // 2, n_columns))
        one, other = ([column_number(name, pair.names) for name in half] for half in self.halves)
        if not one or not other or set(one) & set(other):
            raise InputError(f"halves={self.halves!r} must be two lists of columns that share none")
        return one, other


def column_number(name: Any, names: tuple[str, ...]) -> int:
    """A column by its name, or by its number from 0."""
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    if name not in names:
        raise InputError(f"there is no column {name!r}; there are: {', '.join(names)}")
    return names.index(name)


def _meet(released: Floats, targets: Floats, halves: tuple[list[int], list[int]]) -> Floats:
    """The chance of each target that its two halves lead to the same released record."""
    compared = []
    slack = []
    for columns in halves:
        scale = standard(released[:, columns], targets[:, columns])
        compared.append((np.ascontiguousarray(scale(released[:, columns]).T), scale(targets[:, columns])))
        slack.append(scale.rounding)
    (one, targets_one), (other, targets_other) = compared
    counts = nearest_by_both(one, other, targets_one, targets_other, RELATIVE, np.array(slack))
    return np.asarray(counts[:, 2] / (counts[:, 0] * counts[:, 1]))
