"""From the scales of a group's members to the counts of every term in each of them.

The basis are few scales that make all quotients of a group: those that are no sum of others, and those that show only
in sums. Each quotient is then written as the likeliest whole-number sum of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.unmixing.published import Frequencies, PublishedRow
from shoal.kernels import Floats, Ints
from shoal.kernels.linking import unmixing as kernel

LARGEST = 64  # a count beyond that is not looked for
EACH_SIDE = 1_000
TRIED = 6  # hidden scales in one round
SIMPLE = 400  # sums that a hidden scale may be found in
CANDIDATES = 6  # for each member, when weights are rounded
FEWEST_SUMS = 12  # of half the members that a scale is compared with
BY_CHANCE = 0.02  # so often may a scale be taken for a sum by chance
REFITS = (4.0, 2.0, 1.5)  # how far weights may be off while the scales are not yet right, in slacks
FEW_OPTIONS = 100  # the later tries are for terms whose df is known or nearly so


def price(counts: Ints) -> Floats:
    """What counts cost, in bits: a term is missing from most members, and large counts are rare."""
    bits: Floats = np.where(counts > 0, 1.5 + 2.0 * np.log2(np.maximum(counts, 1)), 0.0)
    return bits


def total(counts: Ints) -> Floats:
    """A price for terms that all members have several times: what counts cost is their sum."""
    cost: Floats = 0.7 * counts.astype(np.float64)
    return cost


@lru_cache(maxsize=64)
def count_vectors(members: int, most: int, price: Callable[[Ints], Floats] = price) -> tuple[Ints, Floats]:
    """The cheapest vectors of counts, one column per member, and their prices.

    >>> count_vectors(2, 5)[0].tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]]
    """
    vectors, costs = np.zeros((1, 0), np.int64), np.zeros(1)
    steps = price(np.arange(LARGEST + 1))
    for _ in range(members):
        # The pair of places (i, n) costs no less than the (i + 1)(n + 1) pairs up to it, so few pairs can be among the
        # cheapest.
        ends = np.minimum(len(costs), most // np.arange(1, LARGEST + 2))
        before = np.concatenate([np.arange(end) for end in ends.tolist()])
        count = np.repeat(np.arange(LARGEST + 1), ends)
        sums = costs[before] + steps[count]
        order = np.lexsort((count, before, sums))[:most]
        vectors = np.column_stack([vectors[before[order]], count[order]])
        costs = sums[order]
    return vectors, costs


@dataclass(frozen=True)
class Sums:
    """Sums of scales with counts, as two sorted halves that meet in the middle."""

    scales: Floats
    vectors: tuple[Ints, Ints]
    values: tuple[Floats, Floats]
    costs: tuple[Floats, Floats]

    @staticmethod
    def of(scales: Floats, most: int, price: Callable[[Ints], Floats] = price) -> Sums:
        middle = (len(scales) + 1) // 2
        halves = [_half(scales[:middle], most, price), _half(scales[middle:], most, price)]
        vectors, values, costs = zip(*halves, strict=True)
        return Sums(scales, vectors, values, costs)

    def nearest(self, targets: Floats, slacks: Floats, extra: Floats) -> tuple[int, Ints]:
        """The cheapest counts whose sum is within the slack of a target: which target (-1: none), and the counts."""
        (left, right), (left_costs, right_costs) = self.values, self.costs
        target, on_the_left, on_the_right = kernel.decode(left, left_costs, right, right_costs, targets, slacks, extra)
        if target < 0:
            return -1, np.zeros(len(self.scales), np.int64)
        return int(target), np.concatenate([self.vectors[0][on_the_left], self.vectors[1][on_the_right]])

    def has(self, value: float, tolerance: float) -> bool:
        return self.nearest(np.array([value]), np.array([tolerance * value]), np.zeros(1))[0] >= 0


def _half(scales: Floats, most: int, price: Callable[[Ints], Floats]) -> tuple[Ints, Floats, Floats]:
    vectors, costs = count_vectors(len(scales), most, price)
    values = vectors @ scales if len(scales) else np.zeros(1)
    order = np.argsort(values, kind="stable")
    return vectors[order], values[order], costs[order]


def basis(scales: Floats, values: Floats, size: int, tolerance: float) -> Floats:
    """At most `size` scales whose whole-number sums are the values, as far as that can be.

    `scales` are candidates and `values` all quotients of the group, both rising.
    """
    kept = _without_sums(scales, 3 * size, tolerance)
    left = _no_sums(values, kept, tolerance)
    while len(left) or len(kept) > size:
        better = _with_hidden(kept, values, left, tolerance)
        if better is None:
            break
        kept, left = better
    if len(kept) > size:  # those that most values need
        need = [len(_no_sums(values, np.delete(kept, scale), tolerance)) for scale in range(len(kept))]
        kept = np.sort(kept[np.argsort(need, kind="stable")[::-1][:size]])
    return kept


def strongest(scales: Floats, bits: Floats, size: int, tolerance: float) -> Floats:
    """At most `size` scales with the most evidence that are no simple sums of smaller ones: for rounded weights."""
    each_side = int(np.clip(np.sqrt(BY_CHANCE / tolerance), FEWEST_SUMS, EACH_SIDE))
    likely = np.sort(np.argsort(-bits, kind="stable")[: CANDIDATES * size])
    kept: list[int] = []
    for scale in likely.tolist():
        if not kept or not Sums.of(scales[kept], each_side).has(scales[scale], tolerance):
            kept.append(scale)
    kept.sort(key=lambda scale: -bits[scale])
    return np.sort(scales[kept[:size]])


def _without_sums(scales: Floats, most: int, tolerance: float) -> Floats:
    """Those that are no sum of smaller ones."""
    kept = np.empty(0)
    for scale in scales.tolist():
        if len(kept) == most:
            break
        if not len(kept) or not Sums.of(kept, EACH_SIDE).has(scale, tolerance):
            kept = np.append(kept, scale)
    return kept


def _no_sums(values: Floats, scales: Floats, tolerance: float) -> Floats:
    """Values that are no sum of the scales."""
    if not len(scales):
        return values
    sums = Sums.of(scales, EACH_SIDE)
    return values[[not sums.has(value, tolerance) for value in values.tolist()]]


def _with_hidden(kept: Floats, values: Floats, left: Floats, tolerance: float) -> tuple[Floats, Floats] | None:
    """The scales with one more that several of the values left, or of the scales, are a sum with; if that helps.

    A scale that no term has alone makes sums look like scales of their own: with it they are sums again.
    """
    whole = np.unique(np.concatenate([left, kept]))
    vectors, costs = count_vectors(len(kept), SIMPLE)
    rest = (whole[:, None] - (vectors @ kept)[None, :]).ravel()
    owners = np.repeat(np.arange(len(whole)), len(vectors))
    slack = 2 * tolerance * whole[owners]
    gains = 1.0 + 0.5 / (1.0 + np.tile(costs, len(whole)))
    usable = rest > 0.02 * whole[owners]
    order = np.flatnonzero(usable)[np.argsort(rest[usable], kind="stable")]
    rest, owners, slack, gains = rest[order], owners[order], slack[order], gains[order]
    support, ends = kernel.coincidences(rest, slack, gains, owners, len(whole))
    best: tuple[Floats, Floats] | None = None
    least = len(kept) + len(left)
    tried: list[float] = []
    for start in np.argsort(-support, kind="stable"):
        if len(tried) == TRIED or support[start] < 2.0:
            break
        hidden = float(np.median(rest[start : ends[start]]))
        if any(abs(hidden - other) <= 10 * tolerance * hidden for other in [*tried, *kept.tolist()]):
            continue
        tried.append(hidden)
        scales = _without_sums(np.sort(np.append(kept, hidden)), len(kept) + 1, 4 * tolerance)
        unexplained = _no_sums(values, scales, 4 * tolerance)
        if len(scales) + len(unexplained) < least:
            best, least = (scales, unexplained), len(scales) + len(unexplained)
    return best


# Vectors of counts of half the members, by what they cost: a first try, and others for what it leaves.
TRIES = ((2_000, price), (100_000, total), (100_000, price))


@dataclass(frozen=True)
class Decoded:
    """The counts of a row's terms in the members found."""

    scales: Floats  # (members,)
    counts: Ints  # (terms, members); zeros where nothing fits
    frequencies: Ints  # (terms,); 0 where nothing fits

    @property
    def solved(self) -> NDArray[np.bool_]:
        solved: NDArray[np.bool_] = self.frequencies > 0
        return solved


def decoded(row: PublishedRow, scales: Floats, frequencies: Frequencies, tries: int = len(TRIES)) -> Decoded:
    """For each term the likeliest counts that its weight allows; few counts first, more where none of them fits."""
    counts = np.zeros((len(row.terms), len(scales)), np.int64)
    document_frequency = np.zeros(len(row.terms), np.int64)
    for number, (most, cost) in enumerate(TRIES[:tries] if len(scales) else ()):
        left = np.flatnonzero(document_frequency == 0)
        if not len(left) or (number and not row.precision.exact):
            break
        sums = Sums.of(scales, most, cost)
        for column in left.tolist():
            term = int(row.terms[column])
            options = frequencies.options(term)
            if number and len(options) > FEW_OPTIONS:
                continue
            idf, chances = frequencies.idf(options), frequencies.chance(term, options)
            option, counts[column] = sums.nearest(row.weights[column] / idf, row.slack[column] / idf, -np.log2(chances))
            if option >= 0:
                document_frequency[column] = options[option]
    return Decoded(scales, counts, document_frequency)


def refitted(row: PublishedRow, scales: Floats, frequencies: Frequencies) -> Decoded:
    """The counts and scales that fit rounded weights, in turns: counts for the scales, scales for the counts."""
    for slack in REFITS:
        loose = replace(row, slack=slack * row.slack)
        fit = decoded(loose, scales, frequencies)
        use = fit.solved
        if not len(scales) or use.sum() < 2 * len(scales):
            return fit
        idf = frequencies.idf(fit.frequencies[use])
        weight = idf / row.slack[use]
        fitted: Floats = np.linalg.lstsq(
            fit.counts[use] * weight[:, None], row.weights[use] / idf * weight, rcond=None
        )[0].astype(np.float64)
        if fitted.min() <= 0:
            return fit
        scales = fitted
    return decoded(replace(row, slack=1.2 * row.slack), scales, frequencies)
