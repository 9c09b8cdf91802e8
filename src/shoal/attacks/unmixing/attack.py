"""Recover the members of every group from the published rows alone; column sums are divided by prior knowledge.

Nothing in a sum shows whose part it is. Terms that groups have together more often than chance belong together, and how
many documents have a term shows in how many members of a group it is, on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.attacks.rates import check_count, log_choose, sample_rows
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.kernels.linking.unmixing import part_counts

SWEEPS = 60
STARTS = 3
SCALE = 8.0  # of the odds against the other costs, for a member of one term
SMOOTH = 0.5  # pseudo-counts in the odds of two terms
EVEN = 0.8  # a member's number of terms varies by so much of the mean


@dataclass(frozen=True)
class Published:
    """A release of documents as its reader has it: the row of each group, and how many documents share it."""

    rows: sp.csr_matrix  # (groups, terms): how often the documents of each group have each term, together
    sizes: Ints  # (groups,)
    n_documents: int  # of the collection
    min_df: int  # fewest documents that have a term

    def __post_init__(self) -> None:
        rows = sp.csr_matrix(self.rows, dtype=np.float64)
        sizes = np.asarray(self.sizes, dtype=np.int64)
        if rows.shape[0] != len(sizes):
            raise InputError(f"{rows.shape[0]} rows with {len(sizes)} sizes; give every row the size of its group")
        if len(sizes) and sizes.min() < 1:
            raise InputError(f"a group has {sizes.min()} documents; each needs at least 1")
        if self.n_documents < sizes.sum():
            raise InputError(
                f"n_documents={self.n_documents} is less than the {sizes.sum()} documents of the groups; pass all of "
                "the collection"
            )
        if rows.nnz and not (np.isfinite(rows.data).all() and rows.data.min() >= 0):
            raise InputError("a count is negative or no number; the rows must hold counts from 0 up")
        rows.eliminate_zeros()
        rows.sort_indices()
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "sizes", sizes)

    def row(self, group: int) -> tuple[Any, Floats]:
        """Terms of a group, and how often it has each."""
        part = slice(self.rows.indptr[group], self.rows.indptr[group + 1])
        return self.rows.indices[part], self.rows.data[part]

    def documents_with(self) -> Floats:
        """About how many documents have each term: at least as many as groups show it, at most all of those groups."""
        present = sp.csr_matrix(self.rows != 0, dtype=np.int64)
        low = np.maximum(self.min_df, np.asarray(present.sum(axis=0)).ravel())
        high = np.maximum(low, np.minimum(self.n_documents - 1, np.asarray(self.sizes @ present).ravel()))
        middle: Floats = np.sqrt(low * high)
        return middle


@dataclass(frozen=True)
class Guesses:
    """Members that the attacker believes in: a row each, with the counts of its terms."""

    counts: sp.csr_matrix  # (guesses, terms)
    group_of_guess: Ints  # (guesses,); at most as many of a group as it has members
    tried: Ints  # groups that were attacked


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


class Unmixing:
    """Recover the members of every group of a release of documents.

    The attacker has the release and nothing else: how often the documents of each group together have each term, how
    many documents share a row, the number of all documents and the parameters that the certificate states. Column sums
    show no member; the attacker parts them by which terms the other groups have together.

    Parameters
    ----------
    groups : int, the most that are attacked, drawn at random
    random_state : int

    Examples
    --------
    See docs/methods/pooling.md.
    """

    def __init__(self, groups: int = 300, random_state: int = 0) -> None:
        self.groups = groups
        self.random_state = random_state

    def run(self, published: Published) -> Guesses:
        """Up to as many guesses per group as it has members."""
        pools = published.rows
        tried = sample_rows(pools.shape[0], check_count(self.groups, "groups"), self.random_state)
        rows = [(terms, counts.astype(np.int64)) for terms, counts in map(published.row, tried.tolist())]
        together, groups_with = TermCooccurrence(pools), np.bincount(pools.indices, minlength=pools.shape[1])
        documents_with = published.documents_with()
        holders = [documents_with[terms] / groups_with[terms] for terms, _ in rows]
        # Occurrences for each document that has a term, less one, follow a geometric law as far as an attacker knows.
        occurrences, held = sum(int(counts.sum()) for _, counts in rows), sum(float(part.sum()) for part in holders)
        again = float(np.clip(1.0 - 1.0 / max(occurrences / max(1.0, held), 1.0), 0.02, 0.8))
        blocks, groups = [sp.csr_matrix((0, pools.shape[1]))], [np.empty(0, np.int64)]
        for number, group in enumerate(tried.tolist()):
            (terms, counts), size = rows[number], int(published.sizes[group])
            odds, seed = together.odds(terms), self.random_state + number
            parts = part_row(odds, counts, holders[number], again, size, seed)
            guessed = parts[parts.sum(axis=1) > 0][:size]
            member, term = np.nonzero(guessed)
            shape = (len(guessed), pools.shape[1])
            blocks.append(sp.csr_matrix((guessed[member, term], (member, terms[term])), shape=shape))
            groups.append(np.full(len(guessed), group))
        return Guesses(sp.csr_matrix(sp.vstack(blocks)), np.concatenate(groups), tried)
