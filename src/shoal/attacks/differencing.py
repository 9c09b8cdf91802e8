"""Differencing: what two releases of one table reveal of the record that only the first has.

Sums add up. A mean times the size of its group is a sum, so the rows of a release sum to what the table sums to,
whatever the groups; of two releases that differ by one record, exact means give that record to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.attacks.rates import check_count, near_by_chance, rate_of, sample_rows
from shoal.data.pairs import numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.language import N_, sayable
from shoal.results.attacks import Differenced


class Differencing:
    """Subtract a release without a record from one with it, and see how near that comes to the record.

    The attacker has both releases and nothing else. Rows that both have cancel; what the others of the first sum to
    beyond those of the second is their guess. A cell is disclosed when the guess is within `tolerance`
    standard deviations of the column in the original.

    The baseline is the best guess without any release: the one value that is near enough to the most records.

    Parameters
    ----------
    tolerance : float, in standard deviations
    removals : int, records drawn at random, each left out in turn
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.attacks.differencing import Differencing
    >>> people = np.array([[23.0], [18.0], [58.0], [46.0]])
    >>> Differencing().run(people, lambda rows: np.tile(rows.mean(axis=0), (len(rows), 1))).cells.rate
    1.0
    """

    def __init__(self, tolerance: float = 0.05, removals: int = 60, random_state: int = 0) -> None:
        self.tolerance = tolerance
        self.removals = removals
        self.random_state = random_state

    def run(self, original: Any, protect: Callable[[Floats], Floats]) -> Differenced:
        """`protect` takes the table's rows, all or all but one, and gives what would be released, in any order."""
        if not self.tolerance >= 0:
            raise InputError(f"tolerance={self.tolerance!r} must be at least 0 standard deviations")
        pair = numeric_pair(original, original)
        values = pair.original
        # The small addition keeps equal values equal after a rounding.
        reach = self.tolerance * values.std(axis=0) + 1e-9 * np.abs(values).max(axis=0)
        rows = sample_rows(len(values), check_count(self.removals, "removals"), self.random_state)
        whole = protect(values)
        guesses = np.array([subtracted(whole, protect(np.delete(values, row, axis=0))) for row in rows.tolist()])
        disclosed = (np.abs(guesses - values[rows]) <= reach).astype(np.float64)  # (removals, columns)
        blind = [near_by_chance(column, near) for column, near in zip(values.T, reach.tolist(), strict=True)]
        return Differenced(
            cells=rate_of(N_("differencing"), disclosed.mean(axis=1), float(np.mean(blind)), targets=rows),
            columns=tuple(
                rate_of(
                    sayable("differencing of {column}", column=name), disclosed[:, column], blind[column], targets=rows
                )
                for column, name in enumerate(pair.names)
            ),
        )


def subtracted(first: Floats, second: Floats) -> Floats:
    """The sum of the first release's rows less that of the second's; rows that both have cancel.

    >>> subtracted(np.array([[5.0], [5.0], [2.0]]), np.array([[2.0], [6.0]])).tolist()
    [4.0]
    """
    rows, which = np.unique(np.vstack([first, second]), axis=0, return_inverse=True)
    signs = np.concatenate([np.ones(len(first)), -np.ones(len(second))])
    difference: Floats = np.bincount(which.ravel(), weights=signs).astype(np.float64) @ rows
    return difference
