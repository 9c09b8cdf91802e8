"""Probabilistic record linkage: pairs weighed by the attributes they agree on, and linked one to one.

How often pairs agree that belong together, and how often others do, is learned without knowing which pairs those are:
by expectation maximisation over the counts of agreement patterns, attributes being independent within each kind of
pair. That each masked record has one original is known: were the share of such pairs learned, too, labels that agree
by chance could pass for matches, and far fewer records would be found.

Sources: Fellegi and Sunter (1969), Jaro (1989); for numeric tables Domingo-Ferrer and Torra (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from shoal.attacks.labels import LabelPair
from shoal.attacks.rates import check_count, identical_rows, rate_of, sample_rows, shared
from shoal.data.pairs import NumericPair, numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.kernels.linking import nearest as kernel
from shoal.results.attacks import Rate

START = (0.1, 0.9, 0.1)  # share of matches if unknown, agreement of matches, of others: Jaro's usual start
CLOSE = 1e-8  # when no parameter moves more in a step, it is done
STEPS = 10_000
NEVER = 1e-12  # a probability is never quite 0 or 1
MOST_ATTRIBUTES = 20  # a million patterns
ONE_TO_ONE = 5_000  # rows up to which a matrix of all pairs is made: 200 MB
SAMPLE = 5_000  # masked records looked at in larger tables


@dataclass(frozen=True)
class FellegiSunter:
    """What was learnt of pairs; patterns have one bit an attribute, the lowest for the first."""

    matches: float  # share of pairs that belong together
    agree_if_match: Floats  # m, (d,)
    agree_if_not: Floats  # u, (d,)
    steps: int

    @property
    def weights(self) -> Floats:
        """log2 of how much more likely each of the 2^d patterns is for a match, (2^d,).

        An attribute that agrees as often either way says nothing, so nor does one that always or never agrees.
        """
        agree = np.log2(self.agree_if_match / self.agree_if_not)
        differ = np.log2((1.0 - self.agree_if_match) / (1.0 - self.agree_if_not))
        total = np.zeros(1)
        for if_agreed, if_not in zip(agree, differ, strict=True):  # each attribute doubles the patterns
            total = np.concatenate([total + if_not, total + if_agreed])
        return total


def learn(counts: Ints, known_matches: float | None = None) -> FellegiSunter:
    """The parameters that make the counted patterns (2^d,) most likely, from the usual start.

    `known_matches` is the share of pairs that belong together, if that is known.
    """
    n_attributes = len(counts).bit_length() - 1
    seen = np.flatnonzero(counts)
    weight = counts[seen].astype(np.float64)
    agrees = ((seen[:, None] >> np.arange(n_attributes)) & 1).astype(np.float64)  # (patterns, d)
    matches = START[0] if known_matches is None else known_matches
    m, u = np.full(n_attributes, START[1]), np.full(n_attributes, START[2])
    step = 0
    for step in range(1, STEPS + 1):  # noqa: B007 - reported
        odds = agrees @ (np.log(m) - np.log(u)) + (1.0 - agrees) @ (np.log1p(-m) - np.log1p(-u))
        odds += np.log(matches) - np.log1p(-matches)
        matched = weight / (1.0 + np.exp(np.clip(-odds, -700, 700)))
        others = weight - matched
        new_matches = known_matches or float(_probability(matched.sum() / weight.sum()))
        new_m = _probability(matched @ agrees / max(matched.sum(), NEVER))
        new_u = _probability(others @ agrees / max(others.sum(), NEVER))
        moved = max(abs(new_matches - matches), float(np.abs(new_m - m).max()), float(np.abs(new_u - u).max()))
        matches, m, u = new_matches, new_m, new_u
        if moved < CLOSE:
            break
    return FellegiSunter(matches, m, u, step)


def _probability(value: Floats) -> Floats:
    return np.clip(value, NEVER, 1.0 - NEVER)


class ProbabilisticLinkage:
    """Link masked records to originals by the model of Fellegi and Sunter, and count how often that is right.

    The intruder has the original values of everybody, notes for each pair on which attributes it agrees, learns from
    the patterns alone how often matches and others agree, and links so that the links' total weight is highest, each
    original once (linear assignment). Two values agree when at most `tolerance` of the originals lie between them: what
    is near is judged by ranks, so that neither the unit nor a few large values matter.

    A label agrees with the values that it can stand for: itself, those of a set or a more general label, all for a gap.

    Where links could go either way, chance decides: records are shuffled, the mean over several shuffles is taken, and
    records that are the same share what is found. The order of rows has no bearing.

    All pairs are counted up to 5,000 rows. In larger tables the patterns are those of a random sample of 5,000 masked
    records with all originals, and each record of the sample is linked to the original of the highest weight, ties by
    chance, without the rule of one to one; `n` and `about` say so.

    Parameters
    ----------
    tolerance : float from 0 to 1, share of the records
    shuffles : int or None: ten for a few hundred rows, fewer for more, one from 3,000
    random_state : int
    one_to_one : int, rows up to which links are one to one; 5,000 unless given

    Examples
    --------
    >>> from shoal.attacks.probabilistic import ProbabilisticLinkage
    >>> table = [[1.0, 7.0], [2.0, 5.0], [3.0, 8.0], [4.0, 6.0]]
    >>> ProbabilisticLinkage().run(table, table).rate
    1.0
    """

    def __init__(
        self,
        tolerance: float = 0.1,
        shuffles: int | None = None,
        random_state: int = 0,
        one_to_one: int | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.one_to_one = one_to_one
        self.shuffles = shuffles
        self.random_state = random_state

    def run(self, original: Any, protected: Any, labels: Sequence[LabelPair] = ()) -> Rate:
        """The share of records found; `chances` says with what chance each is, `targets` which were looked at.

        Where there are labels and no numbers, None is given for both tables.
        """
        compared = self._compare(original, protected, labels)
        n_rows = len(compared.original)
        weights = learn(kernel.count_patterns(compared.pairs), known_matches=1.0 / n_rows).weights
        if n_rows <= (self.one_to_one or ONE_TO_ONE):
            chances = np.empty(n_rows)
            chances[compared.rows] = self._assign(compared, weights)
            return rate_of("probabilistic linkage, one to one", chances, baseline=1.0 / n_rows)
        about = f"probabilistic linkage, best weight, sample of {min(SAMPLE, n_rows):,}"
        return rate_of(about, _best(compared, weights), baseline=1.0 / n_rows, targets=compared.rows)

    def _compare(self, original: Any, protected: Any, labels: Sequence[LabelPair] = ()) -> _Compared:
        if not 0 <= self.tolerance <= 1:
            raise InputError(f"tolerance={self.tolerance!r} must be a share of the records, from 0 to 1")
        if original is None:
            empty = np.empty((len(labels[0].before), 0))
            pair = NumericPair(empty, empty, ())
        else:
            pair = numeric_pair(original, protected)
        n_rows, n_numbers = pair.original.shape
        if n_numbers + len(labels) > MOST_ATTRIBUTES:
            raise InputError(
                f"probabilistic linkage takes at most {MOST_ATTRIBUTES} attributes, got {n_numbers + len(labels)}; "
                "leave out those an intruder would not know"
            )
        codes = [np.column_stack([np.empty((n_rows, 0), np.int64), *side]) for side in _codes(labels)]
        together = [np.column_stack([pair.original, codes[0]]), np.column_stack([pair.protected, codes[1]])]
        # Rows in the order of their values: a shuffle by a seed is then the same whatever order they came in.
        by_value = np.lexsort((*together[0].T[::-1], *together[1].T[::-1]))
        all_rows = n_rows <= (self.one_to_one or ONE_TO_ONE)
        rows = by_value if all_rows else by_value[sample_rows(n_rows, SAMPLE, self.random_state)]
        ranks = _relative_ranks(pair)
        pairs = kernel.Pairs(
            np.ascontiguousarray(ranks[0].T),
            ranks[1][rows],
            # The small addition keeps places that are exactly `tolerance` apart from falling to a rounding.
            np.full(n_numbers, self.tolerance + 1e-12),
            np.ascontiguousarray(codes[0].T),
            codes[1][rows],
            _agreement(labels),
        )
        return _Compared(pairs, rows, *together)

    def _assign(self, compared: _Compared, weights: Floats) -> Floats:
        """The chance of each row, in the order of `compared.rows`, under the best assignment."""
        n_rows = len(compared.rows)
        pairs, rows = compared.pairs, compared.rows
        same_masked, same_original = identical_rows(compared.protected[rows]), identical_rows(compared.original[rows])
        in_order = pairs._replace(
            originals=np.ascontiguousarray(pairs.originals[:, rows]), labels=np.ascontiguousarray(pairs.labels[:, rows])
        )
        all_weights = kernel.weigh_pairs(in_order, weights)
        all_weights -= all_weights.max(axis=0)  # the same links are best, and found in half the time
        shuffles = max(1, min(10, 3_000 // n_rows)) if self.shuffles is None else check_count(self.shuffles, "shuffles")
        random = np.random.default_rng(self.random_state)
        chances = np.zeros(n_rows)
        for _ in range(shuffles):
            masked, originals = random.permutation(n_rows), random.permutation(n_rows)
            partners = linear_sum_assignment(all_weights[np.ix_(masked, originals)], maximize=True)[1]
            linked = np.empty(n_rows, dtype=np.int64)
            linked[masked] = originals[partners]
            chances += _by_chance(linked, same_masked, same_original)
        return chances / shuffles


@dataclass(frozen=True)
class _Compared:
    """Numbers as places among the originals, labels as codes; `rows` are the masked records looked at."""

    pairs: kernel.Pairs
    rows: Ints  # (m,)
    original: Floats  # (n, numbers and codes)
    protected: Floats


def _codes(labels: Sequence[LabelPair]) -> tuple[list[Ints], list[Ints]]:
    return [pair.before for pair in labels], [pair.after for pair in labels]


def _agreement(labels: Sequence[LabelPair]) -> Ints:
    """For each column of labels, which value agrees with which released label."""
    shape = [max((pair.chance.shape[side] for pair in labels), default=0) for side in (0, 1)]
    agree = np.zeros((len(labels), *shape), dtype=np.bool_)
    for column, pair in enumerate(labels):
        agree[column, : pair.chance.shape[0], : pair.chance.shape[1]] = pair.chance > 0
    return agree


def _relative_ranks(pair: NumericPair) -> tuple[Floats, Floats]:
    """Where each value stands among the original values of its attribute, 0 to 1; equal ones at their middle."""
    ranks = np.empty_like(pair.original), np.empty_like(pair.protected)
    for column, ranked in enumerate(np.sort(pair.original, axis=0).T):
        for table, into in zip((pair.original, pair.protected), ranks, strict=True):
            below = np.searchsorted(ranked, table[:, column], "left")
            into[:, column] = (below + np.searchsorted(ranked, table[:, column], "right")) / (2 * len(ranked))
    return ranks


def _by_chance(linked: Ints, same_masked: Ints, same_original: Ints) -> Floats:
    """The chance of each record to be linked right, when those that are the same are exchanged at random.

    Of a group of g equal masked records, a are linked to an original like one's own, of which there are s: a/g · 1/s.
    """
    n_classes = int(same_original.max()) + 1
    to_class = same_masked * n_classes + same_original[linked]
    own = same_masked * n_classes + same_original
    kinds, counts = np.unique(to_class, return_counts=True)
    nearest_kind = np.minimum(np.searchsorted(kinds, own), len(kinds) - 1)
    right_class = np.where(kinds[nearest_kind] == own, counts[nearest_kind], 0)
    group, like_own = np.bincount(same_masked)[same_masked], np.bincount(same_original)[same_original]
    return np.asarray(right_class / (group * like_own))


def _best(compared: _Compared, weights: Floats) -> Floats:
    """The chance of each row when it is linked to any original of the highest weight."""
    ties, own_ties = kernel.best_partners(compared.pairs, weights, compared.rows)
    return shared(np.where(own_ties, 1.0 / ties, 0.0), identical_rows(compared.protected[compared.rows]))
