"""The disclosure risk of a masked table: all linkage attacks and interval disclosure in one value."""

from __future__ import annotations

from typing import Any

from shoal.results import Disclosure
from shoal.risk.distance import DistanceLinkage
from shoal.risk.intervals import IntervalDisclosure
from shoal.risk.probabilistic import ProbabilisticLinkage

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
            probabilistic=ProbabilisticLinkage(random_state=self.random_state).run(original, protected),
        )
