"""Keys: what quasi-identifiers together say of a record, and how many records or people have the same key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.keys import divide_keys

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Keys:
    """The key of each row, and how many rows have each key."""

    of_row: Ints
    count: Ints

    def divided(self, codes: Ints) -> Keys:
        """Keys with one more column."""
        return Keys(*divide_keys(self.of_row, len(self.count), codes, int(codes.max()) + 1))

    @property
    def first_rows(self) -> Bools:
        """Whether a row is the first with its key."""
        row_of_key = np.empty(len(self.count), dtype=np.int64)
        row_of_key[self.of_row[::-1]] = np.arange(len(self.of_row))[::-1]  # of several rows, the last one stays
        first = np.zeros(len(self.of_row), dtype=np.bool_)
        first[row_of_key] = True
        return first


@dataclass(frozen=True)
class KeyColumns:
    """Quasi-identifiers as codes: 0 for a gap, values from 1 on.

    A gap is a value of its own, or with `gaps_match` it stands for every value. With `person`, people are counted.
    """

    names: tuple[str, ...]
    codes: tuple[Ints, ...]
    gaps_match: bool = False
    person: Ints | None = None

    @property
    def n_rows(self) -> int:
        """How many records there are."""
        return len(self.codes[0])

    def keys(self, columns: Iterable[int] | None = None) -> Keys:
        """The keys by these columns, or by all; a gap is a value."""
        keys = Keys(np.zeros(self.n_rows, dtype=np.int64), np.array([self.n_rows]))
        for column in range(len(self.codes)) if columns is None else columns:
            keys = keys.divided(self.codes[column])
        return keys

    def frequencies(self, columns: Iterable[int] | None = None, weights: Floats | None = None) -> Floats:
        """How many records or people have the key of each row, or what their weights add up to."""
        chosen = tuple(range(len(self.codes)) if columns is None else columns)
        return self._frequencies(chosen, self.keys(chosen), weights)

    def walk(self, max_size: int) -> Iterator[tuple[tuple[int, ...], Floats]]:
        """Every combination of at most so many columns with its frequencies, each after all that are part of it."""
        return self._with_smaller((), self.keys(()), len(self.codes), max_size)

    def _with_smaller(
        self, chosen: tuple[int, ...], keys: Keys, end: int, room: int
    ) -> Iterator[tuple[tuple[int, ...], Floats]]:
        for column in range(end):
            columns, divided = (column, *chosen), keys.divided(self.codes[column])
            yield columns, self._frequencies(columns, divided, None)
            if room > 1:
                yield from self._with_smaller(columns, divided, column, room - 1)

    def _frequencies(self, columns: tuple[int, ...], keys: Keys, weights: Floats | None) -> Floats:
        if self.gaps_match and any((self.codes[column] == 0).any() for column in columns):
            return self._matching(columns, np.ones(self.n_rows) if weights is None else weights)
        if self.person is None and weights is None:
            counts: Floats = keys.count.astype(np.float64)[keys.of_row]
            return counts
        counted = np.ones(self.n_rows, dtype=np.bool_)
        if self.person is not None:
            counted = keys.divided(self.person).first_rows
        added = np.bincount(keys.of_row[counted], None if weights is None else weights[counted], len(keys.count))
        return added.astype(np.float64)[keys.of_row]

    def _matching(self, columns: tuple[int, ...], weights: Floats) -> Floats:
        """Sums over the rows that agree wherever neither has a gap, for each pair of patterns of gaps."""
        gaps = [self.codes[column] == 0 for column in columns]
        pattern = self.keys(())
        for gap in gaps:
            pattern = pattern.divided(gap.astype(np.int64))
        rows_of = [np.flatnonzero(pattern.of_row == number) for number in range(len(pattern.count))]
        totals = np.zeros(self.n_rows)
        for rows in rows_of:
            for others in rows_of:
                both = np.concatenate((rows, others))
                keys = Keys(np.zeros(len(both), dtype=np.int64), np.array([len(both)]))
                for column, gap in zip(columns, gaps, strict=True):
                    if not gap[rows[0]] and not gap[others[0]]:
                        keys = keys.divided(self.codes[column][both])
                of_rows, of_others = keys.of_row[: len(rows)], keys.of_row[len(rows) :]
                totals[rows] += np.bincount(of_others, weights[others], len(keys.count))[of_rows]
        return totals
