"""The leak card's figures: how many records can be found, by whom, and by which attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.results.leaks import Leak, LeakingAttribute, LeakingPair, Learned
from shoal.results.rates import Rate
from shoal.risk.learned.attackers import WorstCase, honest_chances, learn_worst_case, rates_alone
from shoal.risk.learned.distances import LearnedDistance, Ordered, mahalanobis, plain
from shoal.risk.learned.finding import chances_of
from shoal.risk.learned.linkage import check_distance, prove
from shoal.risk.learned.records import LabelColumn, Records, side_by_side
from shoal.risk.learned.smooth import learn_weights
from shoal.risk.proof.optimum import Limits
from shoal.risk.rates import check_count, rate_of, sample_rows

__all__ = ["FEWEST", "Leakage", "attack_all"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WITHOUT = 12  # attributes that are left out in turn
MOST_RIVALS, MOST_RIVALS_WITH_LABELS = 10_000, 3_000  # masked records among which is learned
ALL_LINKS = "learned, from all links"
MOST_SLOW = 20_000  # records tried where each must be compared with all
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
    >>> from shoal.risk.learned.leakage import Leakage
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
        check_distance(self.proof_distance, everyone.n_attributes, bool(everyone.labels))
        pool, records, rows = drawn(everyone, self.sample, self.random_state)
        worst = learn_worst_case(records, rows, self.random_state)
        tried, some, n_known = honest_chances(
            records,
            rows,
            self.share,
            self.repeats,
            self.random_state,
            lambda distance, others: chances_of(everyone, distance, pool[others]),
        )
        targets = records.order[rows][some]
        in_order = np.argsort(targets)
        honest = rate_of(
            "learned, from some links", tried[some][in_order], 1.0 / len(everyone), targets=targets[in_order]
        )
        distances: list[LearnedDistance] = [worst.best]
        proof: Learned | None = None
        if self.proof_seconds > 0:
            proof, proved_best = self._proof(everyone, pool[rows])
            distances.append(proved_best)
        distances += [plain(records.n_attributes), mahalanobis(everyone)]
        rates = [rate_among_all(distance.name, everyone, distance, self.random_state) for distance in distances]
        # What was learned of some need not hold of all: what needs no learning may find more.
        at_worst = max(rates, key=lambda one: one.rate)
        return Leak(
            plain=rates[-2],
            mahalanobis=rates[-1],
            honest=honest,
            worst=replace(at_worst, about=ALL_LINKS),
            distance=at_worst.about,
            learned_on=len(rows),
            links_known=n_known,
            attributes=_attributes(everyone, pool, records, rows, worst),
            pairs=_pairs(records, worst),
            measured=records.names if worst.measure is not None else (),
            measure=tuple(worst.measure.mu.tolist()) if worst.measure is not None else (),
            proof=proof,
        )

    def _proof(self, everyone: Records, rows: Ints) -> tuple[Learned, LearnedDistance]:
        """What a family finds of some records among themselves; crowds count as they are in the whole table."""
        share = 1.0 / everyone.crowds.sizes[everyone.crowds.of_record[rows]]
        return prove(everyone.take(rows), self.proof_distance, Limits(self.proof_seconds), share)


def drawn(everyone: Records, sample: int, random_state: int) -> tuple[Ints, Records, Ints]:
    """Which records stand for all, these records, and which of them to learn from."""
    most = MOST_RIVALS_WITH_LABELS if everyone.labels else MOST_RIVALS
    pool = sample_rows(len(everyone), most, random_state)
    records = everyone.take(pool)
    return pool, records, sample_rows(len(records), sample, random_state)


def rate_among_all(
    about: str, everyone: Records, distance: LearnedDistance, random_state: int, most: int | None = None
) -> Rate:
    """How many of all records are found, or of `most`; of many with labels, or by OWA, how many of a sample."""
    slow = bool(everyone.labels) or isinstance(distance, Ordered)
    rows = sample_rows(len(everyone), min(most or len(everyone), MOST_SLOW if slow else len(everyone)), random_state)
    chances = chances_of(everyone, distance, rows)
    targets = everyone.order[rows]
    in_order = np.argsort(targets)
    return rate_of(about, chances[in_order], 1.0 / len(everyone), targets=targets[in_order])


def attack_all(everyone: Records, sample: int, random_state: int, most: int) -> tuple[WorstCase, Rate]:
    """What an attacker trained on all links of a sample relies on, and how many of up to `most` records they find."""
    _, records, rows = drawn(everyone, sample, random_state)
    worst = learn_worst_case(records, rows, random_state)
    # What was learned of some need not hold of all: what needs no learning may find more.
    tried: list[LearnedDistance] = [worst.best, plain(everyone.n_attributes), mahalanobis(everyone)]
    rates = [rate_among_all(ALL_LINKS, everyone, distance, random_state, most) for distance in tried]
    return worst, max(rates, key=lambda one: one.rate)


def _attributes(
    everyone: Records, pool: Ints, records: Records, rows: Ints, worst: WorstCase
) -> tuple[LeakingAttribute, ...]:
    """The most telling first: by the learned measure where there is one, else by the learned weights."""
    weights = worst.weights.attribute_shares()
    shares = None if worst.measure is None else worst.measure.attribute_shares()
    order = np.argsort(-(weights if shares is None else shares), kind="stable")
    alone = rates_alone(everyone, pool[rows])
    return tuple(
        LeakingAttribute(
            name=records.names[place],
            weight=float(weights[place]),
            shapley=None if shares is None else float(shares[place]),
            alone=alone[place],
            without=_without(everyone, pool, rows, records.names[place]) if rank < MOST_WITHOUT else None,
        )
        for rank, place in enumerate(order)
    )


def _without(everyone: Records, pool: Ints, rows: Ints, name: str) -> float:
    """The rate of an attacker who trains weights on all links, without the attribute."""
    rest = everyone.without(name)
    n = rest.n_attributes
    if n == 0:
        return 1.0 / len(rest)
    learned = learn_weights(rest.take(pool), rows, np.full(n, 1.0 / n))
    return float(max(chances_of(rest, distance, pool[rows]).mean() for distance in (learned[0], learned[-1])))


def _pairs(records: Records, worst: WorstCase) -> tuple[LeakingPair, ...]:
    if worst.measure is None:
        return ()
    found = worst.measure.interactions()
    one, other = np.triu_indices(records.n_attributes, 1)
    order = np.argsort(-np.abs(found[one, other]), kind="stable").tolist()
    return tuple(
        LeakingPair(records.names[one[place]], records.names[other[place]], float(found[one[place], other[place]]))
        for place in order
    )
