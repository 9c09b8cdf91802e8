"""Records and the sketches that were published of them; and how much of a record a guess hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.attacks.rates import check_count, sample_rows
from shoal.errors import InputError

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
