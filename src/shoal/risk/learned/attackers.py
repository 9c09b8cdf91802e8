"""Two attackers who train: one knows every link, the other some, and is tried on the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shoal import progress
from shoal.risk.learned.distances import LearnedDistance, Measure, Weights, mahalanobis, plain, shrunk
from shoal.risk.learned.finding import chances_of
from shoal.risk.learned.hrla import MOST_ATTRIBUTES, learn_measure
from shoal.risk.learned.measures import uniform
from shoal.risk.learned.records import Records
from shoal.risk.learned.smooth import learn_ordered, learn_turn, learn_weights

__all__ = ["WorstCase", "honest_chances", "learn_from_links", "learn_worst_case", "rates_alone"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

SHRINKING = (1.0, 0.5, 0.2, 0.05, 0.0)
FOLDS = 3  # in which an attacker with few links tries out what to believe


@dataclass(frozen=True)
class WorstCase:
    """What was learned from all links: the best distance, and those that say which attributes leak."""

    best: LearnedDistance
    chances: Floats  # of each record that was learned from, with the best
    weights: Weights
    measure: Measure | None  # None when there are too many attributes

    @property
    def telling(self) -> Weights | Measure:
        """What says how much each attribute tells."""
        return self.weights if self.measure is None else self.measure


def learn_worst_case(records: Records, rows: Ints | None = None, random_state: int = 0) -> WorstCase:
    """Try every kind of distance on the records it was learned from, and keep the one that finds the most.

    `rows` are the records to learn from, all by default; they are compared with all masked ones.
    """
    with threadpool_limits(1):  # sums in one order, however many cores there are
        return _learn_worst_case(records, np.arange(len(records)) if rows is None else rows, random_state)


def _learn_worst_case(records: Records, rows: Ints, random_state: int) -> WorstCase:
    n = records.n_attributes
    links = mahalanobis(records, rows)
    means = learn_weights(records, rows, np.full(n, 1.0 / n))
    kinds: list[list[LearnedDistance]] = [[plain(n), mahalanobis(records), links], [*map(Weights, np.eye(n))], [*means]]
    kinds.append([*learn_ordered(records, rows, np.full(n, 1.0 / n))])
    kinds.append([*learn_turn(records, rows, links.turn)])
    measures: list[Measure] = []
    if n <= MOST_ATTRIBUTES:
        measures = learn_measure(records, rows, uniform(n), random_state)
        kinds.append([*measures])
    tried = [(distance, chances_of(records, distance, rows)) for kind in kinds for distance in kind]
    best, found = max(tried, key=lambda one: round(float(one[1].sum()), 9))  # the first, simplest, of equals
    rate = {id(distance): float(chances.sum()) for distance, chances in tried}
    return WorstCase(
        best,
        found,
        _last_of_the_best(means, rate),
        _last_of_the_best(measures, rate) if measures else None,
    )


def _last_of_the_best(distances: list[T], rate: dict[int, float]) -> T:
    """Of those that find about the most, the one that learned longest: it tells attributes apart most clearly."""
    most = max(rate[id(one)] for one in distances)
    return [one for one in distances if rate[id(one)] >= 0.995 * most][-1]


def learn_from_links(records: Records, known: Ints) -> LearnedDistance:
    """What an attacker who knows some links would compare records by.

    Each kind of distance is learned in stages from plain on. Which kind and which stage to believe is found out on
    links set aside in turn: what finds most of these more than the plain distance, less a standard error; the plain
    one when nothing is left. So few links lead astray little.
    """
    validated: dict[tuple[str, int], Floats] = {}
    folds = np.arange(len(known)) % FOLDS
    plainly = np.zeros(len(known))
    for fold in range(FOLDS):
        aside = known[folds == fold]
        plainly[folds == fold] = chances_of(records, plain(records.n_attributes), aside)
        for kind, learn in KINDS.items():
            for stage, distance in enumerate(learn(records, known[folds != fold])):
                some = validated.setdefault((kind, stage), np.zeros(len(known)))
                some[folds == fold] = chances_of(records, distance, aside)
    best, most = None, 0.0
    for choice, chances in validated.items():
        gains = chances - plainly
        error = float(np.sqrt(np.sum(gains * gains))) / len(known)
        if gains.mean() - error > most + 1e-12:
            best, most = choice, float(gains.mean()) - error
    return plain(records.n_attributes) if best is None else KINDS[best[0]](records, known)[best[1]]


def honest_chances(
    records: Records, rows: Ints, share: float, repeats: int, random_state: int, try_on: Callable[..., Floats]
) -> tuple[Floats, NDArray[np.bool_], int]:
    """With what chance each of the rows is found by who does not know its link, which were tried, and links known.

    In turn some links are known and the others tried: `try_on` gives the chances of a distance with some of the rows.
    """
    random = np.random.default_rng(random_state)
    n_known = min(max(FOLDS, round(share * len(rows))), len(rows) - 1)
    total, times = np.zeros(len(rows)), np.zeros(len(rows))
    for repeat in range(repeats):
        progress.step("learning from known links", repeat, repeats)
        order = random.permutation(len(rows))
        known, others = np.sort(order[:n_known]), np.sort(order[n_known:])
        with threadpool_limits(1):
            learned = learn_from_links(records, rows[known])
        total[others] += try_on(learned, rows[others])
        times[others] += 1
    progress.step("learning from known links", repeats, repeats)
    return total / np.maximum(times, 1), times > 0, n_known


def rates_alone(records: Records, rows: Ints) -> list[float]:
    """The rate of an attacker who knows one attribute only, for each attribute."""
    alone = map(Weights, np.eye(records.n_attributes))
    return [float(chances_of(records, distance, rows).mean()) for distance in alone]


def _by_weights(records: Records, known: Ints) -> list[LearnedDistance]:
    return [*learn_weights(records, known, np.full(records.n_attributes, 1.0 / records.n_attributes))]


def _by_known_differences(records: Records, known: Ints) -> list[LearnedDistance]:
    return [shrunk(records, known, share) for share in SHRINKING]


def _by_turn(records: Records, known: Ints) -> list[LearnedDistance]:
    return [*learn_turn(records, known, np.eye(records.n_attributes))]


def _by_measure(records: Records, known: Ints) -> list[LearnedDistance]:
    n = records.n_attributes
    return [*learn_measure(records, known, uniform(n))] if n <= MOST_ATTRIBUTES else []


KINDS: Mapping[str, Callable[[Records, Ints], list[LearnedDistance]]] = {
    "weighted mean": _by_weights,
    "known differences": _by_known_differences,
    "bilinear": _by_turn,
    "Choquet": _by_measure,
}
