"""Recover the members of every group from the published rows alone; column sums are divided by prior knowledge.

Nothing in a sum shows whose part it is. Terms that groups have together more often than chance belong together, and how
many documents have a term shows in how many members of a group it is, on average.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import scipy.sparse as sp

from shoal.attacks.rates import check_count, log_choose, sample_rows
from shoal.attacks.unmixing.decoding import Decoded, basis, decoded, refitted, strongest
from shoal.attacks.unmixing.published import (
    Frequencies,
    Guesses,
    Precision,
    Published,
    PublishedRow,
    coincidences,
    precision_of,
)
from shoal.kernels import Floats, Ints
from shoal.kernels.linking.unmixing import part_counts

MOST_PARTS = 6  # the smallest sum of a row
NEARLY_ALL = 0.9  # of the terms must have whole sums
SHARP = 0.05  # weights must be so precise that not every number is whole

ONCE = 0.25  # the quantile of quotients that is taken for a single occurrence

SWEEPS = 60
STARTS = 3
SCALE = 8.0  # of the odds against the other costs, for a member of one term
SMOOTH = 0.5  # pseudo-counts in the odds of two terms
EVEN = 0.8  # a member's number of terms varies by so much of the mean


class TermCooccurrence:
    """How much more often than chance terms share a group; the group in question does not count."""

    def __init__(self, rows: sp.csr_matrix) -> None:
        self._present = sp.csc_matrix(rows != 0, dtype=np.float64)
        self._groups = np.asarray(self._present.sum(axis=0)).ravel()

    def odds(self, terms: Ints) -> Floats:
        """Logarithms, (terms, terms), with mean 0: what is common to all pairs parts nothing."""
        part = self._present[:, terms]
        both = (part.T @ part).toarray() - 1.0
        groups = self._groups[terms] - 1.0
        by_chance = np.outer(groups, groups) / max(1, self._present.shape[0] - 1)
        odds: Floats = np.log((both + SMOOTH) / (by_chance + SMOOTH))
        np.fill_diagonal(odds, 0.0)
        n = len(terms)
        if n > 1:
            odds -= odds.sum() / (n * (n - 1))
        np.fill_diagonal(odds, 0.0)
        return odds


def column_sums(row: PublishedRow, frequencies: Frequencies) -> Ints | None:
    """The whole numbers that the quotients of a row are in proportion to; None if there are no such numbers.

    A quotient whose df is not known takes the first that makes it whole, and 1 if none does.
    """
    settled = frequencies.settled[row.terms]
    known = np.flatnonzero(settled > 0)
    if not len(known):
        return None
    quotients = row.weights[known] / frequencies.idf(settled[known])
    relative = row.slack[known] / row.weights[known]
    for parts in range(1, MOST_PARTS + 1):
        unit = quotients.min() / parts
        sums = quotients / unit
        whole = np.abs(sums - np.round(sums)) <= 2 * np.maximum(relative * sums, relative.max())
        if whole.mean() >= NEARLY_ALL and sums.max() * relative.max() < SHARP:
            whole_sums = np.ones(len(row.terms), np.int64)
            whole_sums[known[whole]] = np.round(sums[whole]).astype(np.int64)
            for column in np.flatnonzero(settled == 0).tolist():
                whole_sums[column] = _first_whole(
                    row.weights[column], unit, frequencies.options(int(row.terms[column])), frequencies
                )
            return whole_sums
    return None


def _first_whole(weight: float, unit: float, options: Ints, frequencies: Frequencies) -> int:
    sums = weight / (unit * frequencies.idf(options))
    whole = np.flatnonzero(np.abs(sums - np.round(sums)) < 1e-9 * sums)
    return max(1, int(np.round(sums[whole[0]]))) if len(whole) else 1


def split_sums(
    published: Published,
    rows: list[PublishedRow],
    sums: list[Ints | None],
    frequencies: Frequencies,
    random_state: int,
) -> list[Ints]:
    """The members of each group tried, (members, terms of the row)."""
    together = TermCooccurrence(published.rows)
    groups = np.bincount(published.rows.indices, minlength=published.rows.shape[1])
    counts = [
        _rough_sums(row, frequencies) if row_sums is None else row_sums
        for row, row_sums in zip(rows, sums, strict=True)
    ]
    holders = [_holders(row, frequencies) / groups[row.terms] for row in rows]
    # Occurrences for each document that has a term, less one, follow a geometric law as far as an attacker knows.
    mean = sum(int(row_sums.sum()) for row_sums in counts) / max(
        1.0, sum(float(row_sums.sum()) for row_sums in holders)
    )
    again = float(np.clip(1.0 - 1.0 / max(mean, 1.0), 0.02, 0.8))
    return [
        part_row(together.odds(row.terms), count, holder, again, row.size, random_state + number)
        for number, (row, count, holder) in enumerate(zip(rows, counts, holders, strict=True))
    ]


def _rough_sums(row: PublishedRow, frequencies: Frequencies) -> Ints:
    """Sums as far as weights that are in proportion to nothing whole show them; many terms come but once."""
    if not len(row.terms):
        return np.empty(0, np.int64)
    quotients = row.weights / frequencies.idf(_holders(row, frequencies))
    rough: Ints = np.clip(np.round(quotients / np.quantile(quotients, ONCE)), 1, 10 * row.size).astype(np.int64)
    return rough


def _holders(row: PublishedRow, frequencies: Frequencies) -> Floats:
    """In how many documents each term is, as far as that is known."""
    settled = frequencies.settled[row.terms]
    middle = np.sqrt(frequencies.low[row.terms] * frequencies.high[row.terms])
    holders: Floats = np.where(settled > 0, settled, middle)
    return holders


def part_row(odds: Floats, counts: Ints, holders: Floats, again: float, members: int, seed: int) -> Ints:
    """The counts of one group parted among its members; `holders` is in how many members a term is on average."""
    cost = _holders_cost(counts, holders, members, again)
    expected = np.minimum(np.maximum(1.0, holders), np.minimum(counts, members)).sum() / members
    scaled = SCALE * odds / max(1.0, expected)
    balance = 0.5 / max(1.0, (EVEN * expected)) ** 2
    temperatures = np.geomspace(3.0, 0.05, SWEEPS)
    random = np.random.default_rng(seed)
    best: Ints | None = None
    least = np.inf
    for _ in range(STARTS):
        first = _at_random(counts, members, random)
        parts, energy = part_counts(scaled, counts, first, cost, balance, temperatures, random)
        if energy < least:
            best, least = parts, energy
    assert best is not None
    return best


def _at_random(counts: Ints, members: int, random: np.random.Generator) -> Ints:
    owners = random.integers(members, size=int(counts.sum()))
    terms = np.repeat(np.arange(len(counts)), counts)
    parts = np.zeros((members, len(counts)), np.int64)
    np.add.at(parts, (owners, terms), 1)
    return parts


def _holders_cost(counts: Ints, holders: Floats, members: int, again: float) -> Floats:
    """Minus the log probability that each number of members has a term, given how often it occurs.

    One member has it, the others are equally likely to; and with probability `again` a member has it once more.
    """
    number = np.arange(members + 1)
    share = np.clip((holders - 1.0) / max(1, members - 1), 0.02, 0.98)[:, None]
    others = np.maximum(number - 1, 0)[None, :]
    more = np.maximum(counts[:, None] - number[None, :], 0)
    chance = log_choose(members - 1, others) + others * np.log(share) + (members - 1 - others) * np.log(1 - share)
    chance = chance + log_choose(counts[:, None] - 1, others) + number * np.log(1 - again) + more * np.log(again)
    cost: Floats = -chance
    return cost


HALF = 0.5  # of the groups
COARSE = 0.05  # weights that may be off by more show no scales


class Unmixing:
    """Recover the members of every group of a release of documents.

    The attacker has the release and nothing else: rows of weights, how many documents share each, the number of all
    documents and the parameters that the certificate states. They know how Shoal computes weights. A row that is a mean
    of unit rows holds idf_t · sum_i tf_it · q_i, with whole numbers df and tf and one number q_i for each member. The
    attacker divides every weight by each idf its term may have, and looks for quotients that coincide: those of terms
    that one member alone has once. The groups vote on every df; then each quotient is written as a whole-number sum of
    the members' scales, the likeliest that its precision allows. Where all weights have one scale, the row holds column
    sums: those show no member, and the attacker parts them by which terms the other groups have together.

    Parameters
    ----------
    groups : int, the most that are attacked, drawn at random
    random_state : int

    Examples
    --------
    See docs/methods/unmixing.md.
    """

    def __init__(self, groups: int = 300, random_state: int = 0) -> None:
        self.groups = groups
        self.random_state = random_state

    def run(self, published: Published) -> Guesses:
        """Up to as many guesses per group as it has members."""
        tried = sample_rows(published.rows.shape[0], check_count(self.groups, "groups"), self.random_state)
        rows = [_row(published, group) for group in tried.tolist()]
        frequencies = Frequencies.of(published)
        precision = rows[0].precision if rows else Precision()
        fine = [row for row in rows if len(row.terms) and np.median(row.slack / row.weights) < COARSE]
        sums: list[Ints | None]
        if published.pooled:
            form, sums = "pooled counts", [row.weights.astype(np.int64) for row in rows]
        elif len(fine) < HALF * len(rows):
            form, sums = f"weights {precision}, too coarse for scales", [None] * len(rows)
        else:
            _vote(fine, frequencies)
            frequencies.widest = published.n_documents
            _vote(fine, frequencies)
            form, sums = "column sums", [column_sums(row, frequencies) for row in rows]
            if np.mean([whole is not None for whole in sums]) < HALF:
                read = _agreed(rows, [_read(row, frequencies) for row in rows], frequencies)
                members = [decoded_row.counts.T for decoded_row in read]
                return _guesses(published, tried, rows, members, f"means of unit rows, {precision}")
        parts = split_sums(published, rows, sums, frequencies, self.random_state)
        return _guesses(published, tried, rows, parts, form)


def _row(published: Published, group: int) -> PublishedRow:
    terms, weights = published.row(group)
    precision = precision_of(weights)
    return PublishedRow(terms, weights, precision.slack(weights), int(published.sizes[group]), precision)


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
    if not row.precision.exact:
        scales = strongest(scales, np.array([coincidence.bits for coincidence in shared]), row.size, tolerance)
        return refitted(row, scales, frequencies)
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
    return [
        decoded(row, counts.scales, frequencies) if row.precision.exact else refitted(row, counts.scales, frequencies)
        for row, counts in zip(rows, read, strict=True)
    ]


def _guesses(published: Published, tried: Ints, rows: list[PublishedRow], parts: list[Ints], form: str) -> Guesses:
    blocks, groups = [], []
    for group, row, counts in zip(tried.tolist(), rows, parts, strict=True):
        guessed = counts[counts.sum(axis=1) > 0][: row.size]
        member, member_terms = np.nonzero(guessed)
        shape = (len(guessed), published.rows.shape[1])
        blocks.append(sp.csr_matrix((guessed[member, member_terms], (member, row.terms[member_terms])), shape=shape))
        groups.append(np.full(len(guessed), group))
    width = published.rows.shape[1]
    counts = sp.csr_matrix(sp.vstack(blocks)) if blocks else sp.csr_matrix((0, width))
    return Guesses(counts, np.concatenate([np.empty(0, np.int64), *groups]), tried, form)
