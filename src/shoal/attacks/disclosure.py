"""Disclosure risk of a masked table: values narrowed down to intervals, and all linkage attacks in one figure.

Source: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata" (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.attacks.distance import DistanceLinkage
from shoal.attacks.probabilistic import MOST_ATTRIBUTES, ProbabilisticLinkage
from shoal.attacks.rates import rate_of
from shoal.data.pairs import NumericPair, numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.results.attacks import Disclosure, Rate


class IntervalDisclosure:
    """Count the original values that lie within a window of ranks round their masked value.

    The intruder knows which masked record is whose, sorts the masked values of an attribute, and guesses that the
    original lies between the masked value p % of the ranks below and the one p % above. The rate is the share of
    values for which that is true, the mean over the attributes and the windows. Equal masked values count as one
    place, and the window begins beyond them.

    The baseline is the same guess with the records' correspondence lost: the share that holds for a random record.

    Parameters
    ----------
    windows : sequence of percentages, half the width of a window each

    Examples
    --------
    >>> from shoal.attacks.disclosure import IntervalDisclosure
    >>> IntervalDisclosure(windows=[25]).run([[1.0], [2.0], [3.0], [4.0]], [[4.0], [1.0], [3.0], [2.0]]).rate
    0.5
    """

    def __init__(self, windows: Sequence[float] = tuple(range(1, 11))) -> None:
        self.windows = windows

    def run(self, original: Any, protected: Any) -> Rate:
        """The mean over all attributes; `chances` is the share of each record's values that is disclosed."""
        pair = numeric_pair(original, protected)
        disclosed = [self._disclosed(pair, column) for column in range(len(pair.names))]
        chances = np.mean([inside for inside, _ in disclosed], axis=0)
        return rate_of("interval disclosure", chances, baseline=float(np.mean([guess for _, guess in disclosed])))

    def _disclosed(self, pair: NumericPair, column: int) -> tuple[Floats, float]:
        """The share of windows each original value lies in, and of the originals that lie in a window."""
        if not len(self.windows) or not all(0 <= p <= 100 for p in self.windows):
            raise InputError(f"windows={self.windows!r} must be percentages from 0 to 100, at least one")
        x, y = pair.original[:, column], pair.protected[:, column]
        n = len(x)
        masked, originals = np.sort(y), np.sort(x)
        lowest = np.searchsorted(masked, y, "left")  # places of values equal to y, from the first
        highest = np.searchsorted(masked, y, "right") - 1  # to the last
        inside, guess = np.zeros(n), 0.0
        for p in self.windows:
            reach = int(p * n / 100.0 + 1e-9)
            low = masked[np.maximum(lowest - reach, 0)]
            high = masked[np.minimum(highest + reach, n - 1)]
            inside += (low <= x) & (x <= high)
            within = np.searchsorted(originals, high, "right") - np.searchsorted(originals, low, "left")
            guess += float(within.mean()) / n
        return inside / len(self.windows), guess / len(self.windows)


class DisclosureRisk:
    """Attack a masked table in the ways the literature compares maskings by.

    DR = (mean(DBRL, PRL) + ID) / 2 in per cent, DBRL the higher of the Euclidean and the Mahalanobis rate, as an
    intruder would choose.

    Parameters
    ----------
    random_state : int

    Examples
    --------
    >>> from shoal.attacks.disclosure import DisclosureRisk
    >>> table = [[1.0, 7.0], [2.0, 5.0], [3.0, 8.0], [4.0, 6.0]]
    >>> DisclosureRisk().run(table, table).risk
    100.0
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def run(self, original: Any, protected: Any) -> Disclosure:
        """The four rates; `risk` is DR."""
        return Disclosure(
            interval=IntervalDisclosure().run(original, protected),
            euclidean=DistanceLinkage("euclidean").run(original, protected),
            mahalanobis=DistanceLinkage("mahalanobis").run(original, protected),
            probabilistic=self._probabilistic(original, protected),
        )

    def _probabilistic(self, original: Any, protected: Any) -> Rate:
        """Of a wide table the columns with the most different values, which identify the most."""
        pair, attack = numeric_pair(original, protected), ProbabilisticLinkage(random_state=self.random_state)
        n_columns = len(pair.names)
        if n_columns <= MOST_ATTRIBUTES:
            return attack.run(original, protected)
        different = [len(np.unique(column)) for column in pair.original.T]
        chosen = np.sort(np.argsort(np.negative(different), kind="stable")[:MOST_ATTRIBUTES])
        rate = attack.run(pair.original[:, chosen], pair.protected[:, chosen])
        return replace(rate, about=f"{rate.about}, {MOST_ATTRIBUTES} of {n_columns} columns")
