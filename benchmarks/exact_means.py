"""Why exact means are not published: documents recovered from the means of unit rows, which Shoal never releases.

A row that is a mean of unit rows holds idf_t · sum_i tf_it · q_i, with whole numbers df and tf and one number q_i for
each member, its scale. A term that one member alone has once weighs idf · q; of two such terms the quotients weight /
idf are the same number. Such coincidences are sought first, and the groups vote on every df; then scales that show only
in sums with others. Each quotient is then written as the likeliest whole-number sum of the scales.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from shoal.attacks.rates import sample_rows
from shoal.attacks.unmixing.scoring import exact_hits, near_hits
from shoal.kernels import Floats, Ints

DOUBLE = 2e-15  # relative: what a sum of a dozen products may be off by
CLEAR = 2.0  # the first choice has so many times the votes of the second
SPREAD = 5.0  # natural logarithm of the range that quotients are spread over, for the odds of chance
SHARE = 0.1  # of the terms that are expected at one scale
SURE = 6.0  # bits beyond chance that a coincidence needs


LARGEST = 64  # a count beyond that is not looked for
EACH_SIDE = 1_000
TRIED = 6  # hidden scales in one round
SIMPLE = 400  # sums that a hidden scale may be found in
FEW_OPTIONS = 100  # the later tries are for terms whose df is known or nearly so


def recovered(
    rows: sp.csr_matrix, counts: sp.csr_matrix, groups: Ints, min_df: int, n_documents: int, tried: int
) -> Any:
    """Shares of the documents of some groups that are recovered from exact means: exactly, and nearly."""
    sizes = np.bincount(groups)
    frequencies = Frequencies.of(rows, sizes, n_documents, min_df)
    chosen = sample_rows(rows.shape[0], tried, 0)
    published = [_row(rows, sizes, group) for group in chosen.tolist()]
    _vote(published, frequencies)
    frequencies.widest = n_documents
    _vote(published, frequencies)
    exactly, nearly = [], []
    read = _agreed(published, [_read(row, frequencies) for row in published], frequencies)
    for group, row, found in zip(chosen.tolist(), published, read, strict=True):
        guessed = found.counts.T[found.counts.sum(axis=0) > 0][: row.size]
        member, term = np.nonzero(guessed)
        shape = (len(guessed), rows.shape[1])
        guesses = sp.csr_matrix((guessed[member, term].astype(float), (member, row.terms[term])), shape=shape)
        members = sp.csr_matrix(counts[np.flatnonzero(groups == group)])
        exactly.append(exact_hits(guesses, members))
        nearly.append(near_hits(guesses, members))
    return float(np.concatenate(exactly).mean()), float(np.concatenate(nearly).mean())


@dataclass(frozen=True)
class PublishedRow:
    """A published row: terms, weights, how far each may be off, and how many members it stands for."""

    terms: Ints
    weights: Floats
    slack: Floats
    size: int


def _row(rows: sp.csr_matrix, sizes: Ints, group: int) -> PublishedRow:
    part = slice(rows.indptr[group], rows.indptr[group + 1])
    return PublishedRow(rows.indices[part], rows.data[part], DOUBLE * rows.data[part], int(sizes[group]))


@dataclass
class Frequencies:
    """The possible document frequencies of every term, and the one that the groups agree on."""

    n_documents: int
    low: Ints  # (terms,)
    high: Ints
    settled: Ints = field(repr=False)  # (terms,); 0: not yet
    widest: int = 1_000  # terms whose df may be more numbers than that wait until the others are settled

    @staticmethod
    def of(rows: sp.csr_matrix, sizes: Ints, n_documents: int, min_df: int) -> Frequencies:
        present = sp.csr_matrix(rows != 0, dtype=np.int64)
        groups = np.asarray(present.sum(axis=0)).ravel()
        documents = np.asarray(sizes @ present).ravel()
        low = np.maximum(min_df, groups)
        high = np.maximum(low, np.minimum(n_documents - 1, documents))
        settled = np.where(low == high, low, 0)
        return Frequencies(n_documents, low, high, settled)

    def options(self, term: int) -> Ints:
        if self.settled[term]:
            return self.settled[term : term + 1]
        if self.high[term] - self.low[term] >= self.widest:
            return np.empty(0, np.int64)
        return np.arange(self.low[term], self.high[term] + 1)

    def idf(self, frequency: NDArray[Any]) -> Floats:
        idf: Floats = np.log(self.n_documents / frequency)
        return idf

    def chance(self, term: int, frequency: Ints) -> Floats:
        """How likely each option is before any weight is seen: most terms are in few members of a group."""
        spread = 0.7 * self.low[term] + 1.0
        chance: Floats = np.exp(-(frequency - self.low[term]) / spread)
        chance /= chance.sum()
        return chance

    def settle(self, votes: dict[int, dict[int, float]]) -> None:
        """Take for each term the frequency that clearly has the most votes."""
        for term, by_frequency in votes.items():
            ranked = sorted(by_frequency.items(), key=lambda entry: (-entry[1], entry[0]))
            if len(ranked) == 1 or ranked[0][1] >= CLEAR * ranked[1][1]:
                self.settled[term] = ranked[0][0]


@dataclass(frozen=True)
class Coincidence:
    """A quotient that several terms share."""

    value: float
    bits: float  # of evidence
    terms: Ints  # places in the row
    frequencies: Ints  # of those terms


def coincidences(row: PublishedRow, frequencies: Frequencies) -> list[Coincidence]:
    """Quotients weight / idf that terms share beyond chance, rising; of overlapping ones the strongest."""
    terms = row.terms.tolist()
    options_of = [frequencies.options(term) for term in terms]
    options = np.concatenate([np.empty(0, np.int64), *options_of])
    if len(options) < 2:
        return []
    owners = np.repeat(np.arange(len(terms)), [len(frequency_options) for frequency_options in options_of])
    idf = frequencies.idf(options)
    values = np.log(row.weights[owners] / idf)
    widths = 2.0 * row.slack[owners] / row.weights[owners]
    chances = np.concatenate(
        [frequencies.chance(term, frequency_options) for term, frequency_options in zip(terms, options_of, strict=True)]
    )
    gains = np.log2(1.0 + SHARE * chances * SPREAD / widths)
    # Equal weights have equal quotients for every df they share: one witness, unless their df is known.
    known = frequencies.settled[row.terms] > 0
    _, same = np.unique(np.round(np.log(row.weights), 12), return_inverse=True)
    witness = np.where(known, len(row.terms) + np.arange(len(row.terms)), same)[owners]
    order = np.argsort(values, kind="stable")
    values, widths, gains = values[order], widths[order], gains[order]
    owners, options = owners[order], options[order]
    bits, ends = _coincidences(values, widths, gains, witness[order], 2 * len(row.terms))
    # The first term is where the window was placed, and there were as many windows as values.
    evidence = bits - gains - np.log2(len(values))
    strongest: list[Coincidence] = []
    taken = np.zeros(len(values), np.bool_)
    for start in np.argsort(-evidence, kind="stable"):
        if evidence[start] < SURE:
            break
        part = slice(start, ends[start])
        if taken[part].any():
            continue
        taken[part] = True
        value = float(np.exp(np.median(values[part])))
        strongest.append(Coincidence(value, float(evidence[start]), owners[part], options[part]))
    return sorted(strongest, key=lambda coincidence: coincidence.value)


@njit(cache=True, nogil=True)
def _coincidences(values: Floats, widths: Floats, gains: Floats, owners: Ints, n_owners: int) -> tuple[Floats, Ints]:
    """For every value, the gains of the owners that have one in the window that begins there; and where it ends.

    `values` rise. An owner counts once in a window, with its largest gain.
    """
    n = values.shape[0]
    total = np.zeros(n)
    end_of = np.empty(n, np.int64)
    seen = np.full(n_owners, -1, np.int64)
    best = np.zeros(n_owners)
    for start in range(n):
        limit = values[start] + widths[start]
        at = start
        while at < n and values[at] <= limit:
            owner = owners[at]
            if seen[owner] != start:
                seen[owner] = start
                best[owner] = gains[at]
                total[start] += gains[at]
            elif gains[at] > best[owner]:
                total[start] += gains[at] - best[owner]
                best[owner] = gains[at]
            at += 1
        end_of[start] = at
    return total, end_of


@njit(cache=True, nogil=True)
def _cheapest_sum(
    left: Floats, left_costs: Floats, right: Floats, right_costs: Floats, targets: Floats, slacks: Floats, extra: Floats
) -> Ints:
    """The cheapest sum of one number of each side within the slack of any target: meet in the middle.

    Both sides rise; a target costs `extra`. Returns target, position on the left and on the right; -1 if nothing fits.
    """
    best = np.full(3, -1, np.int64)
    least = np.inf
    for target in range(targets.shape[0]):
        low, high = targets[target] - slacks[target], targets[target] + slacks[target]
        first = right.shape[0]  # the first on the right that is large enough: moves down as the left one rises
        for i in range(left.shape[0]):
            if left[i] > high:
                break
            while first > 0 and left[i] + right[first - 1] >= low:
                first -= 1
            j = first
            while j < right.shape[0] and left[i] + right[j] <= high:
                cost = left_costs[i] + right_costs[j] + extra[target]
                if cost < least:
                    least = cost
                    best[0], best[1], best[2] = target, i, j
                j += 1
    return best


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
        target, on_the_left, on_the_right = _cheapest_sum(left, left_costs, right, right_costs, targets, slacks, extra)
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
    support, ends = _coincidences(rest, slack, gains, owners, len(whole))
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
        if not len(left):
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


def _vote(rows: list[PublishedRow], frequencies: Frequencies) -> None:
    """Terms whose quotients coincide say what their df is."""
    votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        for coincidence in coincidences(row, frequencies):
            for term, frequency in zip(coincidence.terms.tolist(), coincidence.frequencies.tolist(), strict=True):
                votes[int(row.terms[term])][frequency] += coincidence.bits
    frequencies.settle(votes)


def _read(row: PublishedRow, frequencies: Frequencies) -> Decoded:
    """The scales of a row and the counts that follow."""
    shared = coincidences(row, frequencies)
    scales = np.array([coincidence.value for coincidence in shared])
    tolerance = 1.5 * float(np.median(row.slack / row.weights)) if len(row.weights) else 0.0
    known = frequencies.settled[row.terms]
    values = np.sort(row.weights[known > 0] / frequencies.idf(known[known > 0]))
    distinct = values[np.diff(values, prepend=-1.0) > 3 * tolerance * values]
    return decoded(row, basis(scales, distinct, row.size, tolerance), frequencies, tries=1)


def _agreed(rows: list[PublishedRow], read: list[Decoded], frequencies: Frequencies) -> list[Decoded]:
    """Terms whose df no coincidence settled take the one that most groups' counts have."""
    votes: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, counts in zip(rows, read, strict=True):
        for term in np.flatnonzero(counts.solved & (frequencies.settled[row.terms] == 0)).tolist():
            votes[int(row.terms[term])][int(counts.frequencies[term])] += 1.0
    frequencies.settle(votes)
    return [decoded(row, counts.scales, frequencies) for row, counts in zip(rows, read, strict=True)]
