"""Linkage: an attacker who knows a record searches for its sketch, with the key or by what needs no key."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from shoal.attacks.rates import rate_of
from shoal.attacks.sketches.key_holder import checked_signs
from shoal.attacks.sketches.records import Ints, SketchedRecords
from shoal.kernels.linking.nearest import nearest_sketches
from shoal.results.attacks import Rate

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
        table = checked_signs(sketched, signs).astype(np.float64)
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
    return normalize(records) if sketched.pooled else records


def _expected(rows: Ints, lengths: Ints | None) -> Ints:
    return np.full(len(rows), -1) if lengths is None else np.asarray(lengths)[rows]


def _squares_and_parity(sketched: SketchedRecords, rows: Ints) -> tuple[Numbers, Ints]:
    """The mean square of each sketch; and 0 where all components are even, 1 where all are odd, else -1."""
    starts = sketched.offsets[rows]
    lengths = sketched.lengths[rows]
    places = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(lengths.sum())
    values, first = sketched.values[places], np.concatenate(([0], np.cumsum(lengths)[:-1]))
    squares = np.add.reduceat(values * values, first) / lengths
    odd = _parity(values)
    least, most = np.minimum.reduceat(odd, first), np.maximum.reduceat(odd, first)
    return squares, np.where(least == most, least, -1)


def _parity(numbers: Numbers) -> Ints:
    """0 for even, 1 for odd, -1 for numbers that are not whole."""
    return np.where(numbers % 1 == 0, np.abs(numbers) % 2, -1).astype(np.int64)
