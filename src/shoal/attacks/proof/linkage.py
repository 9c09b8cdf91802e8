"""Learned linkage with one family of distances, exactly: the most records that it can find at all."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from shoal.attacks.learned.distances import LearnedDistance, Ordered, moebius
from shoal.attacks.learned.learning import learn_linear_map, learn_measure, learn_ordered, learn_weights
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import LabelColumn, Records, side_by_side
from shoal.attacks.proof.families import (
    DISTANCES,
    OWA,
    Bilinear,
    Family,
    WeightedMean,
    check_distance,
    nearest_semidefinite,
)
from shoal.attacks.proof.optimum import Limits, Optimum, Rivals, learn, load_solver
from shoal.attacks.rates import check_count, rate_of
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.results.attacks import Learned

FIRST = 0.2  # share of the time for the simpler families whose solutions a richer one begins with


class LearnedLinkage:
    """Learn the distance that re-identifies the most records, with a proof that none of its family does better.

    The intruder knows every link and asks for the parameters that find as many records as possible: no intruder who
    compares records in this way can find more. Each original is linked to the nearest masked record. Records of a
    k-anonymous release that are equal share what is found of them.

    Parameters
    ----------
    distance : {"weighted-mean", "weighted-mean-positive", "owa", "bilinear", "bilinear-non-negative",
        "bilinear-semidefinite", "choquet", "choquet-submodular"}
    seconds : float
        Time after which the best found is returned, with the bound that is known by then.
    nodes : int
        Nodes of each search after which it ends likewise; unlike time, no matter how fast the machine is.
    gap : float
        Per cent of the records by which the best found may fall short of the bound.

    Examples
    --------
    >>> from shoal.attacks.proof.linkage import LearnedLinkage
    >>> before = [[1.0, 5.0], [2.0, 1.0], [3.0, 9.0], [4.0, 2.0]]
    >>> after = [[1.0, 2.0], [2.0, 9.0], [3.0, 5.0], [4.0, 1.0]]
    >>> found = LearnedLinkage("weighted-mean", seconds=3600).run(before, after)
    >>> found.rate.rate, found.proved
    (1.0, True)
    """

    def __init__(
        self,
        distance: str = "weighted-mean",
        *,
        seconds: float = 60.0,
        nodes: int | None = None,
        gap: float = 0.0,
    ) -> None:
        self.distance = distance
        self.seconds = seconds
        self.nodes = nodes
        self.gap = gap

    def run(self, original: Any, protected: Any, labels: Sequence[LabelColumn] = ()) -> Learned:
        """What can be found at most, and by which parameters."""
        check_distance(self.distance)
        if not isinstance(self.seconds, Real) or not self.seconds > 0:
            raise InputError(f"seconds={self.seconds!r} must be a number of more than 0")
        if self.nodes is not None:
            check_count(self.nodes, "nodes")
        if not isinstance(self.gap, Real) or not self.gap >= 0:
            raise InputError(f"gap={self.gap!r} must be a number of per cent, 0 or more")
        records = side_by_side(original, protected, labels)
        return prove(records, self.distance, Limits(self.seconds, self.nodes, self.gap * len(records) / 100.0))[0]


def prove(
    records: Records, distance: str, limits: Limits, share: Floats | None = None
) -> tuple[Learned, LearnedDistance]:
    """The most that a family finds of these records, and the distance that finds it.

    `share` is what each record counts when it is found; by default 1 over the number of records that equal it.
    """
    load_solver()
    began = time.monotonic()
    family = DISTANCES[distance](records.n_attributes)
    starts = _starts(records, family, limits.seconds * FIRST, limits.nodes)
    left = replace(limits, seconds=limits.seconds - (time.monotonic() - began))
    optimum = learn(Rivals(records, family, share), starts, left)
    parameters, found, proved = optimum.parameters, optimum.found, optimum.proved
    if distance == "bilinear-semidefinite":
        assert isinstance(family, Bilinear)
        parameters, found = _semidefinite(records, family, optimum, starts)
        proved = optimum.bound - found < 1e-6
    # By the margin the optimum finds the most; ties, which count by their chance, may make another one's rate higher.
    tried = [parameters] + ([] if distance == "bilinear-semidefinite" else [family.plain(), *starts])
    best, by_record = _best(records, family, tried)
    by_row = (by_record if share is None else np.minimum(by_record, share))[np.argsort(records.order)]
    learned = Learned(
        distance=family.name if distance != "bilinear-semidefinite" else "bilinear, semidefinite",
        rate=rate_of(f"learned linkage, {family.name}", by_row, baseline=1.0 / len(records)),
        found=found / len(records),
        bound=optimum.bound / len(records),
        # Records that differ by less than the margin are found, too, and nothing is proved of them.
        proved=proved and math.fsum(by_row) <= optimum.bound + 1e-6,
        parameters=dict(zip(family.parameter_names(records.names), best.tolist(), strict=True)),
        rounds=optimum.rounds,
        rows=optimum.rows,
        seconds=time.monotonic() - began,
    )
    return learned, family.distance(best)


def _starts(records: Records, family: Family, seconds: float, nodes: int | None) -> list[Floats]:
    """Good parameters to begin with: learned by gradients, and the optima of the simpler families inside this one."""
    rows, n = np.arange(len(records)), records.n_attributes
    if isinstance(family, WeightedMean):
        return [family.weighted(learned.weights) for learned in learn_weights(records, rows)]
    if isinstance(family, OWA):
        return [learned.weights for learned in learn_ordered(records, rows)]
    means = _simpler(records, WeightedMean(n), seconds / 2, nodes)
    starts = [family.weighted(weights) for weights in means]
    if isinstance(family, Bilinear):
        maps = (learned.matrix for learned in learn_linear_map(records, rows)[1:])
        return starts + [family.parameters(matrix @ matrix.T) for matrix in maps]
    orders = _simpler(records, OWA(n), seconds / 2, nodes)
    starts += [parameters for weights in orders if (parameters := family.ordered(weights)) is not None]
    if not family.submodular:
        for begin in (family.measure(starts[0]), Ordered(orders[0]).mu):
            starts += [moebius(learned.mu)[family.sets] for learned in learn_measure(records, rows, begin)[1:]]
    return starts


def _simpler(records: Records, family: Family, seconds: float, nodes: int | None) -> list[Floats]:
    """The optimum of a family by the margin, and what finds the most when ties count by their chance."""
    starts = _starts(records, family, 0.0, None)
    optimum = learn(Rivals(records, family), starts, Limits(seconds, nodes)).parameters
    return [optimum, _best(records, family, [optimum, family.plain(), *starts])[0]]


def _best(records: Records, family: Family, tried: list[Floats]) -> tuple[Floats, Floats]:
    """The parameters that find the most, the first of equals, and with what chance each record."""
    rates = [chances_of(records, family.distance(parameters)) for parameters in tried]
    best = max(range(len(tried)), key=lambda index: (round(math.fsum(rates[index]), 9), -index))
    return tried[best], rates[best]


def _semidefinite(records: Records, family: Bilinear, optimum: Optimum, starts: list[Floats]) -> tuple[Floats, float]:
    """The nearest semidefinite matrix to the optimum, or a start, which is one, when that finds more."""
    projected = family.parameters(nearest_semidefinite(family.matrix(optimum.parameters)))
    counted = [(math.fsum(chances_of(records, family.distance(tried))), tried) for tried in (projected, *starts)]
    most, parameters = max(counted, key=lambda entry: entry[0])
    return parameters, min(most, optimum.bound)
