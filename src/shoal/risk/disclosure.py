"""The disclosure risk of a masked table: all linkage attacks and interval disclosure in one value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.io.pairs import numeric_pair
from shoal.results.rates import Disclosure, Rate
from shoal.risk.distance import DistanceLinkage
from shoal.risk.intervals import IntervalDisclosure
from shoal.risk.probabilistic import MOST_ATTRIBUTES, ProbabilisticLinkage

__all__ = ["DisclosureRisk"]


class DisclosureRisk:
    """Attack a masked table in the ways the literature compares maskings by.

    DR = (mean(DBRL, PRL) + ID) / 2 in per cent, DBRL the higher of the Euclidean and the Mahalanobis rate, as an
    intruder would choose.

    Parameters
    ----------
    random_state : int

    Examples
    --------
    >>> from shoal.risk.disclosure import DisclosureRisk
    >>> table = [[1.0, 7.0], [2.0, 5.0], [3.0, 8.0], [4.0, 6.0]]
    >>> DisclosureRisk().run(table, table).risk
    100.0
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def run(self, original: Any, protected: Any) -> Disclosure:
        """The four rates; `risk` is DR, `score(loss)` the mean of it and the information loss."""
        return Disclosure(
            interval=IntervalDisclosure().run(original, protected),
            euclidean=DistanceLinkage("euclidean").run(original, protected),
            mahalanobis=DistanceLinkage("mahalanobis").run(original, protected),
            probabilistic=self._probabilistic(original, protected),
        )

    def _probabilistic(self, original: Any, protected: Any) -> Rate:
        """Of a wide table the columns with the most different values, which tell the most."""
        pair, attack = numeric_pair(original, protected), ProbabilisticLinkage(random_state=self.random_state)
        n_columns = len(pair.names)
        if n_columns <= MOST_ATTRIBUTES:
            return attack.run(original, protected)
        different = [len(np.unique(column)) for column in pair.original.T]
        chosen = np.sort(np.argsort(np.negative(different), kind="stable")[:MOST_ATTRIBUTES])
        found = attack.run(pair.original[:, chosen], pair.protected[:, chosen])
        return replace(found, about=f"{found.about}, {MOST_ATTRIBUTES} of {n_columns} columns")
