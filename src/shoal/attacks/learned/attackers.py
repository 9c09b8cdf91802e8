"""Two attackers who train: one knows every link; the other knows some, and is tried on the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from shoal import progress
from shoal.attacks.learned.distances import LearnedDistance, Measure, Weights, mahalanobis, plain, shrunk
from shoal.attacks.learned.learning import (
    MOST_ATTRIBUTES,
    learn_linear_map,
    learn_measure,
    learn_ordered,
    learn_weights,
)
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import Records
from shoal.attacks.rates import sample_rows
from shoal.kernels import Floats, Ints

T = TypeVar("T")

MOST_RIVALS, MOST_RIVALS_WITH_LABELS = 10_000, 3_000  # masked records among which is learned
SHRINKING = (1.0, 0.5, 0.2, 0.05, 0.0)
FOLDS = 3  # in which an attacker with few links tries out what to believe
KINDS: Mapping[str, Callable[[Records, Ints], list[Any]]] = {
    "weighted mean": learn_weights,
    "known differences": lambda records, known: [shrunk(records, known, share) for share in SHRINKING],
    "bilinear": learn_linear_map,
    "Choquet": lambda records, known: learn_measure(records, known) if records.n_attributes <= MOST_ATTRIBUTES else [],
}


@dataclass(frozen=True)
class TrainingSample:
    """Records drawn from a table: those that stand for all, and those of them whose links are learned from."""

    everyone: Records
    drawn: Ints  # rows of everyone
    records: Records  # these rows
    rows: Ints  # of `records`: to learn from

    @property
    def targets(self) -> Ints:
        """The rows of everyone that are learned from."""
        return self.drawn[self.rows]


def draw_sample(everyone: Records, size: int, random_state: int) -> TrainingSample:
    """So many records to learn from, among a larger number of masked ones."""
    drawn = sample_rows(len(everyone), MOST_RIVALS_WITH_LABELS if everyone.labels else MOST_RIVALS, random_state)
    return TrainingSample(everyone, drawn, everyone.take(drawn), sample_rows(len(drawn), size, random_state))


@dataclass(frozen=True)
class WorstCase:
    """What was learned from all links: the best distance, and those that show which attributes leak."""

    best: LearnedDistance
    chances: Floats  # of each record that was learned from, with the best
    weights: Weights
    measure: Measure | None  # None when there are too many attributes

    @property
    def attribute_shares(self) -> Floats:
        """How much of the linking each attribute carries."""
        return (self.measure or self.weights).attribute_shares()


def learn_worst_case(records: Records, rows: Ints, random_state: int = 0) -> WorstCase:
    """Try every kind of distance on the records it was learned from, and keep the one that finds the most.

    `rows` are the records to learn from; they are compared with all masked ones.
    """
    n = records.n_attributes
    with threadpool_limits(1):  # sums in one order, however many cores there are
        of_links = mahalanobis(records, rows)
        means = learn_weights(records, rows)
        distances: list[LearnedDistance] = [plain(n), mahalanobis(records), of_links, *map(Weights, np.eye(n)), *means]
        distances += learn_ordered(records, rows)
        distances += learn_linear_map(records, rows, of_links.matrix)
        measures = learn_measure(records, rows, random_state=random_state) if n <= MOST_ATTRIBUTES else []
        distances += measures
        tried = [(distance, chances_of(records, distance, rows)) for distance in distances]
    best, chances = max(tried, key=lambda one: round(float(one[1].sum()), 9))  # the first, simplest, of equals
    rate = {id(distance): float(chances.sum()) for distance, chances in tried}
    return WorstCase(
        best, chances, _last_of_the_best(means, rate), _last_of_the_best(measures, rate) if measures else None
    )


def _last_of_the_best(distances: list[T], rate: dict[int, float]) -> T:
    """Of those that find about the most, the one that learned longest: it separates attributes most clearly."""
    most = max(rate[id(distance)] for distance in distances)
    return [distance for distance in distances if rate[id(distance)] >= 0.995 * most][-1]


def honest_chances(sample: TrainingSample, share: float, repeats: int, random_state: int) -> tuple[Floats, int]:
    """Probability that an attacker who does not know its link finds each of the rows, and how many links they know.

    In turn some links are known and the others tried; NaN for a row whose link was known every time.
    """
    random, n_rows = np.random.default_rng(random_state), len(sample.rows)
    n_known = min(max(FOLDS, round(share * n_rows)), n_rows - 1)
    total, times = np.zeros(n_rows), np.zeros(n_rows)
    for repeat in range(repeats):
        progress.step("learning from known links", repeat, repeats)
        order = random.permutation(n_rows)
        known, others = np.sort(order[:n_known]), np.sort(order[n_known:])
        with threadpool_limits(1):
            learned = learn_from_links(sample.records, sample.rows[known])
        total[others] += chances_of(sample.everyone, learned, sample.targets[others])
        times[others] += 1
    progress.step("learning from known links", repeats, repeats)
    with np.errstate(invalid="ignore"):
        return total / times, n_known


def learn_from_links(records: Records, known: Ints) -> LearnedDistance:
    """The distance that an attacker who knows some links would compare records by.

    Each kind of distance is learned in stages from plain on. Which kind and which stage to believe is decided on links
    set aside in turn: what finds most of these more than the plain distance, less a standard error; the plain one when
    nothing is left. So few links lead astray little.
    """
    validated: dict[tuple[str, int], Floats] = {}
    folds = np.arange(len(known)) % FOLDS
    plainly = np.zeros(len(known))
    for fold in range(FOLDS):
        aside = known[folds == fold]
        plainly[folds == fold] = chances_of(records, plain(records.n_attributes), aside)
        for kind, learn in KINDS.items():
            for stage, distance in enumerate(learn(records, known[folds != fold])):
                chances = validated.setdefault((kind, stage), np.zeros(len(known)))
                chances[folds == fold] = chances_of(records, distance, aside)
    best, most = None, 0.0
    for choice, chances in validated.items():
        gains = chances - plainly
        error = float(np.sqrt(np.sum(gains * gains))) / len(known)
        if gains.mean() - error > most + 1e-12:
            best, most = choice, float(gains.mean()) - error
    return plain(records.n_attributes) if best is None else KINDS[best[0]](records, known)[best[1]]
