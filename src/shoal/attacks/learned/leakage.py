"""Attackers who train, and the leak card's figures: how many records they find, and by which attributes.

One attacker knows every link; the other knows some, and is tried on the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from shoal import progress
from shoal.attacks.learned.distances import LearnedDistance, Measure, Weights, mahalanobis, plain, shrunk
from shoal.attacks.learned.learning import (
    MOST_ATTRIBUTES,
    WIDE,
    learn_linear_map,
    learn_measure,
    learn_ordered,
    learn_weights,
)
from shoal.attacks.learned.linking import chances_of, most_compared
from shoal.attacks.learned.records import LabelColumn, Records, side_by_side
from shoal.attacks.proof.families import check_distance
from shoal.attacks.proof.linkage import prove
from shoal.attacks.proof.optimum import Limits
from shoal.attacks.rates import check_count, rate_of, sample_rows
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Leak, LeakingAttribute, LeakingPair, Learned, Rate

T = TypeVar("T")

MOST_RIVALS, MOST_RIVALS_WITH_LABELS = 10_000, 3_000  # masked records among which is learned
SHRINKING = (1.0, 0.5, 0.2, 0.05, 0.0)
FOLDS = 3  # in which an attacker with few links tries out what to believe
KINDS: Mapping[str, Callable[[Records, Ints], list[Any]]] = {
    "weighted mean": learn_weights,
    "known differences": lambda records, known: shrunk(records, known, SHRINKING),
    "bilinear": lambda records, known: learn_linear_map(records, known) if records.n_attributes <= WIDE else [],
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

    `rows` are the records to learn from; they are compared with all masked ones. Of a wide table, attributes on their
    own are those that weigh most, and a map has the directions in which masked records differ most, for what masking
    moved: so the work grows with the number of attributes, not with its square.
    """
    n = records.n_attributes
    with threadpool_limits(1):  # sums in one order, however many cores there are
        of_links = mahalanobis(records, rows)
        means = learn_weights(records, rows)
        alone = np.eye(n)[np.sort(np.argsort(-means[-1].weights, kind="stable")[:WIDE])]
        distances: list[LearnedDistance] = [plain(n), mahalanobis(records), of_links, *map(Weights, alone), *means]
        distances += learn_ordered(records, rows) if n <= WIDE else []
        distances += learn_linear_map(records, rows, _leading(records, of_links.matrix))
        measures = learn_measure(records, rows, random_state=random_state) if n <= MOST_ATTRIBUTES else []
        distances += measures
        tried = [(distance, chances_of(records, distance, rows)) for distance in distances]
    best, chances = max(tried, key=lambda entry: round(float(entry[1].sum()), 9))  # the first, simplest, of equals
    rate = {id(distance): float(chances.sum()) for distance, chances in tried}
    return WorstCase(
        best, chances, _last_of_the_best(means, rate), _last_of_the_best(measures, rate) if measures else None
    )


def _leading(records: Records, matrix: Floats) -> Floats:
    """The directions, WIDE at most, in which masked records are spread most; each column is one."""
    if matrix.shape[1] <= WIDE:
        return matrix
    n_numbers = records.after.shape[1]
    spread = np.full(len(matrix), np.inf)  # labels stay
    spread[:n_numbers] = (records.after @ matrix[:n_numbers, :n_numbers]).var(axis=0)
    return matrix[:, np.sort(np.argsort(-spread, kind="stable")[:WIDE])]


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


MOST_WITHOUT = 12  # attributes that are left out in turn
ALL_LINKS = "learned, from all links"
FEWEST = 8  # records from which there is something to learn


class Leakage:
    """Attack a release by training: which distance finds the most records, and which attributes make it so.

    Four attackers who have the original values of everybody, each linking an original to the nearest masked record:
    *plain* weighs all attributes alike; *Mahalanobis* takes their correlations into account; the *honest* attacker has
    learned a distance from the links of some records and is tried on the others; in the *worst* case all links were
    known, and only the best distance was looked for. The truth about a real attacker lies between plain and worst.

    Parameters
    ----------
    share : float
        Of the records, how many links the honest attacker knows.
    repeats : int
        How often these are drawn anew.
    sample : int
        Records to learn from, drawn at random from more, each compared with up to 10,000 masked ones. What was learned
        is then tried on all; the honest attacker on those of the sample whose link they did not know, among all.
    proof_seconds : float
        Time to look for a proof of how many records any distance of a family can find; 0 for none.
    proof_distance : str
        The family, as for `LearnedLinkage`.
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.attacks.learned.leakage import Leakage
    >>> random = np.random.default_rng(0)
    >>> before = random.normal(size=(60, 2))
    >>> leak = Leakage().run(before, before + [0.01, 2.0] * random.normal(size=(60, 2)))
    >>> leak.attributes[0].name, leak.worst.rate > leak.plain.rate
    ('column 1', True)
    """

    def __init__(
        self,
        *,
        share: float = 0.5,
        repeats: int = 3,
        sample: int = 1000,
        proof_seconds: float = 0.0,
        proof_distance: str = "weighted-mean",
        random_state: int = 0,
    ) -> None:
        self.share = share
        self.repeats = repeats
        self.sample = sample
        self.proof_seconds = proof_seconds
        self.proof_distance = proof_distance
        self.random_state = random_state

    def run(self, original: Any, protected: Any, labels: Sequence[LabelColumn] = ()) -> Leak:
        """Link, learn, and say by which attributes."""
        if not 0 < self.share < 1:
            raise InputError(f"share={self.share!r} must lie between 0 and 1, such as 0.5")
        check_count(self.repeats, "repeats")
        check_count(self.sample, "sample", FEWEST)
        everyone = side_by_side(original, protected, labels)
        if len(everyone) < FEWEST:
            raise InputError(f"{len(everyone)} records are too few to learn from; give at least {FEWEST}")
        if self.proof_seconds > 0:
            check_distance(self.proof_distance, everyone.n_attributes, bool(everyone.labels))
        sample = draw_sample(everyone, self.sample, self.random_state)
        worst = learn_worst_case(sample.records, sample.rows, self.random_state)
        chances, links_known = honest_chances(sample, self.share, self.repeats, self.random_state)
        tried = np.isfinite(chances)
        proof, proved = self._proof(sample) if self.proof_seconds > 0 else (None, [])
        by_plain, by_mahalanobis, at_worst = _rates(sample.everyone, [worst.best, *proved], self.random_state)
        return Leak(
            plain=by_plain,
            mahalanobis=by_mahalanobis,
            honest=_rate("learned, from some links", everyone, sample.targets[tried], chances[tried]),
            worst=replace(at_worst, about=ALL_LINKS),
            distance=at_worst.about,
            learned_on=len(sample.rows),
            links_known=links_known,
            attributes=_attributes(sample, worst),
            pairs=_pairs(sample.records.names, worst),
            measured=sample.records.names if worst.measure is not None else (),
            measure=tuple(worst.measure.mu.tolist()) if worst.measure is not None else (),
            proof=proof,
        )

    def _proof(self, sample: TrainingSample) -> tuple[Learned, list[LearnedDistance]]:
        """What a family finds of some records among themselves; crowds count as they are in the whole table."""
        crowds = sample.everyone.crowds
        share = 1.0 / crowds.sizes[crowds.of_record[sample.targets]]
        records = sample.everyone.take(sample.targets)
        learned, distance = prove(records, self.proof_distance, Limits(self.proof_seconds), share)
        return learned, [distance]


def attack_all(everyone: Records, size: int, random_state: int, most: int) -> tuple[WorstCase, Rate]:
    """Train an attacker on all links of a sample, and try them on up to `most` records."""
    sample = draw_sample(everyone, size, random_state)
    worst = learn_worst_case(sample.records, sample.rows, random_state)
    return worst, replace(_rates(everyone, [worst.best], random_state, most)[-1], about=ALL_LINKS)


def _rates(
    everyone: Records, learned: list[LearnedDistance], random_state: int, most: int | None = None
) -> tuple[Rate, Rate, Rate]:
    """How many of all records, or of `most`, are found plainly, by Mahalanobis distance, and at worst.

    What was learned from some records need not hold for all: what needs no learning may find more.
    """
    rates = []
    for distance in (*learned, plain(everyone.n_attributes), mahalanobis(everyone)):
        rows = sample_rows(len(everyone), min(most or len(everyone), most_compared(everyone)), random_state)
        rates.append(_rate(distance.name, everyone, rows, chances_of(everyone, distance, rows)))
    return rates[-2], rates[-1], max(rates, key=lambda rate: rate.rate)


def _rate(about: str, everyone: Records, rows: Ints, chances: Floats) -> Rate:
    """The rate of an attack on some records, which are put in the order of the table."""
    targets = everyone.order[rows]
    in_order = np.argsort(targets)
    return rate_of(about, chances[in_order], 1.0 / len(everyone), targets=targets[in_order])


def _attributes(sample: TrainingSample, worst: WorstCase) -> tuple[LeakingAttribute, ...]:
    """The most telling first: the fewer records are found without it; ties by the share that was learned."""
    weights, shares = worst.weights.weights, worst.attribute_shares
    attributes = []
    for rank, column in enumerate(np.argsort(-shares, kind="stable").tolist()):
        name = sample.records.names[column]
        alone = chances_of(sample.everyone, Weights(np.eye(len(shares))[column]), sample.targets)
        attributes.append(
            LeakingAttribute(
                name=name,
                weight=float(weights[column]),
                shapley=None if worst.measure is None else float(shares[column]),
                alone=float(alone.mean()),
                without=_rate_without(sample, name) if rank < MOST_WITHOUT else None,
            )
        )
    return tuple(sorted(attributes, key=lambda one: 1.0 if one.without is None else round(one.without, 9)))


def _rate_without(sample: TrainingSample, name: str) -> float:
    """The rate of an attacker who trains weights on all links, without the attribute."""
    rest = sample.everyone.without(name)
    if rest.n_attributes == 0:
        return 1.0 / len(rest)
    learned = learn_weights(rest.take(sample.drawn), sample.rows)
    return float(max(chances_of(rest, distance, sample.targets).mean() for distance in (learned[0], learned[-1])))


def _pairs(names: Sequence[str], worst: WorstCase) -> tuple[LeakingPair, ...]:
    """What pairs of attributes reveal together, the strongest first."""
    if worst.measure is None:
        return ()
    gains = worst.measure.interactions()
    first, second = np.triu_indices(len(names), 1)
    order = np.argsort(-np.abs(gains[first, second]), kind="stable").tolist()
    return tuple(
        LeakingPair(names[first[pair]], names[second[pair]], float(gains[first[pair], second[pair]])) for pair in order
    )
