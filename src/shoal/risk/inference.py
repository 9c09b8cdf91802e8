"""Attribute inference: does the release tell what was not known? One of the three risks that European guidance names.

Source: as in `linkability`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.pairs import NumericPair, numeric_control, numeric_pair
from shoal.kernels.linking.nearest_released import nearest_tell
from shoal.results.rates import Rate
from shoal.risk.linkability import column_number
from shoal.risk.rates import check_count, rate_of, sample_rows
from shoal.risk.scales import RELATIVE, standard

__all__ = ["AttributeInference"]

Floats = NDArray[np.float64]


class AttributeInference:
    """Guess a secret attribute of people whose other attributes are known.

    The intruder knows everything of a person but one attribute, takes the released record that is nearest by what is
    known, and guesses that the secret is what that record says. The guess is right within `tolerance` standard
    deviations of the attribute. Of records equally near one is picked at random.

    The baseline is the best guess without the release: the one value that is right for the most targets. The control
    are people who are not in the data: what is guessed of them as well follows from how the attributes hang together
    in the population, and is what the release is for.

    Parameters
    ----------
    secrets : sequence of columns (names, or numbers from 0), or None: every column in turn
    tolerance : float, in standard deviations of the original column
    attacks : int, targets drawn at random, the same for every secret
    random_state : int
    """

    def __init__(
        self,
        secrets: Sequence[Any] | None = None,
        tolerance: float = 0.1,
        attacks: int = 1_000,
        random_state: int = 0,
    ) -> None:
        self.secrets = secrets
        self.tolerance = tolerance
        self.attacks = attacks
        self.random_state = random_state

    def run(self, original: Any, protected: Any, control: Any = None) -> tuple[Rate, ...]:
        """A rate for each secret attribute; `targets` are the rows attacked."""
        if not self.tolerance >= 0:
            raise InputError(f"tolerance={self.tolerance!r} must be at least 0 standard deviations")
        pair = numeric_pair(original, protected)
        if len(pair.names) < 2:
            raise InputError(
                f"attribute inference needs something known and something secret, got {len(pair.names)} column"
            )
        rows = sample_rows(len(pair.original), check_count(self.attacks, "attacks"), self.random_state)
        outside = None
        if control is not None:
            outside = numeric_control(control, pair)
            outside = outside[sample_rows(len(outside), self.attacks, self.random_state)]
        secrets = range(len(pair.names)) if self.secrets is None else self.secrets
        return tuple(self._guess(pair, column_number(secret, pair.names), rows, outside) for secret in secrets)

    def _guess(self, pair: NumericPair, secret: int, rows: NDArray[np.int64], outside: Floats | None) -> Rate:
        truths = pair.original[rows, secret]
        # The small addition keeps equal values equal after a rounding.
        tolerance = self.tolerance * float(pair.original[:, secret].std()) + 1e-12 * float(np.abs(truths).max())
        chances = _tell(pair.protected, pair.original[rows], secret, tolerance)
        control = None if outside is None else _tell(pair.protected, outside, secret, tolerance)
        ranked = np.sort(truths)
        together = np.searchsorted(ranked, ranked + 2 * tolerance, "right") - np.arange(len(ranked))
        baseline = float(together.max()) / len(ranked)
        return rate_of(f"inference of {pair.names[secret]}", chances, baseline, control, rows)


def _tell(released: Floats, targets: Floats, secret: int, tolerance: float) -> Floats:
    """The chance of each target that the nearest released record tells its secret."""
    known = np.arange(released.shape[1]) != secret
    scale = standard(released[:, known], targets[:, known])
    chances: Floats = nearest_tell(
        np.ascontiguousarray(scale(released[:, known]).T),
        np.ascontiguousarray(released[:, secret]),
        scale(targets[:, known]),
        np.ascontiguousarray(targets[:, secret]),
        tolerance,
        RELATIVE,
        scale.rounding,
    )
    return chances
