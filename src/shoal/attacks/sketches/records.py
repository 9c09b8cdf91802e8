"""Records and the sketches published of them, and an attacker who knows a record and searches for its sketch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.attacks.rates import check_count, rate_of, sample_rows
from shoal.errors import InputError
from shoal.kernels.linking.nearest import nearest_sketches
from shoal.results.attacks import Rate
from shoal.terms.vector_space import at_unit_length

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

TABLE = 1 << 26  # signs that are kept at a time; of sketches of more components only the first ones are attacked
WORK = 1_000_000_000  # numbers looked at in one pass over all the records attacked
PER_ITEM = 128  # components that take as long as what is done once per item


@dataclass(frozen=True, eq=False)
class SketchedRecords:
    """n records, and their sketches: that of record i is values[offsets[i] : offsets[i + 1]].

    What was sketched is row group_of_row[i] of `pools`: the record itself, or the sums of its group scaled to length 1.
    """

    records: sp.csr_matrix  # (n, items), not negative
    values: NDArray[np.float64]
    offsets: Ints  # (n + 1,)
    pools: sp.csr_matrix  # (groups, items)
    group_of_row: Ints  # (n,); -1: withheld
    rarity: NDArray[np.float64] | None = None  # of each item: what counts were multiplied with before they were summed

    def __post_init__(self) -> None:
        n_rows, n_items = self.records.shape
        if len(self.offsets) != n_rows + 1 or len(self.group_of_row) != n_rows or self.pools.shape[1] != n_items:
            raise InputError(
                f"{n_rows} records of {n_items} items, {len(self.offsets) - 1} sketches, groups of "
                f"{len(self.group_of_row)} and pools of {self.pools.shape[1]} items; give the same of all"
            )
        if not len(self.filled):
            raise InputError("no record has both items and a sketch; there is nothing to attack")

    @classmethod
    def each_its_own(cls, records: sp.csr_matrix, values: NDArray[np.float64], offsets: Ints) -> SketchedRecords:
        """Every record was sketched by itself."""
        return cls(records, values, offsets, records, np.arange(records.shape[0]))

    @cached_property
    def lengths(self) -> Ints:
        """Components of each sketch."""
        return np.diff(self.offsets)

    @cached_property
    def sizes(self) -> Ints:
        """Items of each record."""
        return np.asarray(np.diff(self.records.indptr), dtype=np.int64)

    @cached_property
    def filled(self) -> Ints:
        """The records that have items and a sketch."""
        return np.flatnonzero((self.lengths > 0) & (self.sizes > 0) & (self.group_of_row >= 0))

    @property
    def pooled(self) -> bool:
        """Whether records share sketches."""
        return self.pools is not self.records

    @cached_property
    def width(self) -> int:
        """The components that are attacked."""
        n_items = int(self.records.shape[1])
        return max(min(int(self.lengths.max(initial=0)), TABLE // n_items), 1)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Of each item, the share of the records that have it: what everybody may know."""
        n_rows, n_items = self.records.shape
        return np.asarray(np.bincount(self.records.indices, minlength=n_items) / n_rows)

    def as_counts(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Numbers of shared sketches, (rows, items), as sums of counts again, up to a factor."""
        return scores if self.rarity is None else scores / self.rarity

    def drawn(self, attacked: int, random_state: int) -> Ints:
        """The records to attack, at random: fewer than asked for where each takes long."""
        affordable = max(WORK // ((self.width + PER_ITEM) * self.records.shape[1]), 100)
        return self.filled[
            sample_rows(len(self.filled), min(check_count(attacked, "attacked"), affordable), random_state)
        ]

    def checked_signs(self, signs: NDArray[np.int8]) -> Floats:
        """The signs of the components that are attacked, as numbers to compute with."""
        n_items = self.records.shape[1]
        if signs.shape[0] != n_items or signs.shape[1] < self.width:
            raise InputError(
                f"signs of {signs.shape[0]} items in {signs.shape[1]} components, and there are {n_items} items in "
                f"{self.width}; give the sign of each item in each component"
            )
        return signs[:, : self.width].astype(np.float32)

    def table(self, rows: Ints) -> tuple[Floats, Ints]:
        """The sketches of some records side by side, (rows, width), zeros after the last component; and lengths."""
        lengths = np.minimum(self.lengths[rows], self.width)
        there = np.arange(self.width) < lengths[:, None]
        sketches = np.zeros(there.shape, np.float32)
        sketches[there] = self.values[(self.offsets[rows, None] + np.arange(self.width))[there]]
        return sketches, lengths


Scores = NDArray[np.float64]


def hits(scores: NDArray[np.floating], records: sp.csr_matrix) -> tuple[Scores, Scores]:
    """For each record the share of its items that are named, and the chance that all are; `scores` (rows, items).

    Of a record with l items, those with the l largest scores are named; of equal scores at the end some at random.

    >>> basket = sp.csr_matrix([[1, 1, 0, 0]])
    >>> hits(np.array([[3.0, 1.0, 1.0, 0.0]]), basket)
    (array([0.75]), array([0.5]))
    """
    shares, whole = np.zeros(len(scores)), np.zeros(len(scores))
    for row in range(len(scores)):
        own = records.indices[records.indptr[row] : records.indptr[row + 1]]
        size = len(own)
        if not size:
            continue
        last = np.partition(scores[row], -size)[-size]
        above, tied = int(np.sum(scores[row] > last)), int(np.sum(scores[row] == last))
        own_above, own_tied = int(np.sum(scores[row, own] > last)), int(np.sum(scores[row, own] == last))
        shares[row] = (own_above + own_tied * (size - above) / tied) / size
        if own_above == above and own_above + own_tied == size:
            whole[row] = 1.0 / comb(tied, own_tied)
    return shares, whole


Numbers = NDArray[np.float64]


class SketchLinkage:
    """Look for the sketch of a record whose items are known.

    With the key the attacker sketches the record, as the owner did, and takes the sketch that is nearest. Without the
    key they compare what any sketch reveals: the sum of the record's squares, which the mean square of the components
    estimates; whether components are even or odd, as the sum of whole numbers is; and where the number of components
    is computed from the record, that. Of sketches equally near one is picked at random. The baseline is 1 / n.

    Parameters
    ----------
    attacked : int, records drawn at random; the sketches of all are searched
    random_state : int
    """

    def __init__(self, attacked: int = 1_000, random_state: int = 0) -> None:
        self.attacked = attacked
        self.random_state = random_state

    def with_key(self, sketched: SketchedRecords, signs: NDArray[np.int8], lengths: Ints | None = None) -> Rate:
        """`lengths`: the number of components of each record's sketch, where the attacker can compute it."""
        rows = sketched.drawn(self.attacked, self.random_state)
        table = sketched.checked_signs(signs).astype(np.float64)
        targets = np.ascontiguousarray(_as_sketched(sketched, rows) @ table)
        chances = nearest_sketches(targets, rows, _expected(rows, lengths), sketched.offsets, sketched.values)
        return rate_of("linkage with the key", chances, 1.0 / len(sketched.filled), targets=rows)

    def without_key(self, sketched: SketchedRecords, lengths: Ints | None = None) -> Rate:
        """By sum of squares, parity and, where given, the number of components."""
        rows = sketched.drawn(self.attacked, self.random_state)
        candidates = sketched.filled
        squares, parity = _squares_and_parity(sketched, candidates)
        known = _as_sketched(sketched, rows)
        true_squares = np.asarray(known.multiply(known).sum(axis=1)).ravel()
        true_parity = _parity(np.asarray(known.sum(axis=1)).ravel())
        expected, own = _expected(rows, lengths), np.searchsorted(candidates, rows)
        chances = np.zeros(len(rows))
        for target in range(len(rows)):
            possible = (parity < 0) | (true_parity[target] < 0) | (parity == true_parity[target])
            if expected[target] >= 0:
                possible &= sketched.lengths[candidates] == expected[target]
            apart = np.where(possible, np.abs(squares - true_squares[target]), np.inf)
            slack = 1e-9 * true_squares[target]
            if apart[own[target]] <= apart.min() + slack:
                chances[target] = 1.0 / np.sum(apart <= apart.min() + slack)
        return rate_of("linkage without the key", chances, 1.0 / len(candidates), targets=rows)


def _as_sketched(sketched: SketchedRecords, rows: Ints) -> sp.csr_matrix:
    """Records on the scale of what was sketched: sums of groups have length 1."""
    records = sp.csr_matrix(sketched.records[rows])
    return at_unit_length(records) if sketched.pooled else records


def _expected(rows: Ints, lengths: Ints | None) -> Ints:
    return np.full(len(rows), -1) if lengths is None else np.asarray(lengths)[rows]


def _squares_and_parity(sketched: SketchedRecords, rows: Ints) -> tuple[Numbers, Ints]:
    """The mean square of each sketch; and 0 where all components are even, 1 where all are odd, else -1."""
    starts = sketched.offsets[rows]
    lengths = sketched.lengths[rows]
    entries = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(lengths.sum())
    values, first = sketched.values[entries], np.concatenate(([0], np.cumsum(lengths)[:-1]))
    squares = np.add.reduceat(values * values, first) / lengths
    odd = _parity(values)
    least, most = np.minimum.reduceat(odd, first), np.maximum.reduceat(odd, first)
    return squares, np.where(least == most, least, -1)


def _parity(numbers: Numbers) -> Ints:
    """0 for even, 1 for odd, -1 for numbers that are not whole."""
    return np.where(numbers % 1 == 0, np.abs(numbers) % 2, -1).astype(np.int64)
