"""What every estimator of this folder asks: a percentage, rows enough, and where randomness comes from."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from shoal.errors import InputError

__all__ = ["check_percentage", "check_rows", "generator"]


def check_percentage(p: object, *, zero: bool, most: float) -> float:
    """p as a percentage up to `most`; 0 only where `zero` says so."""
    number = float(p) if isinstance(p, Real) and not isinstance(p, bool) else np.nan
    if not (0.0 < number <= most or (zero and number == 0.0)):
        bound = "of at least 0" if zero else "above 0"
        raise InputError(f"p={p!r} must be a percentage {bound} and at most {most:g}; change it")
    return number


def check_rows(n_rows: int) -> None:
    """A single record has nobody to swap with and no spread to disturb."""
    if n_rows < 2:
        raise InputError(f"masking needs at least 2 rows, got {n_rows} (n_samples={n_rows}); add rows")


def generator(random_state: Any) -> np.random.Generator:
    """Random numbers from a seed; None takes fresh ones from the operating system.

    Not from NumPy's global state, as scikit-learn does: a program that seeds that for its own ends would make what is
    meant to be secret known.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is not None and not isinstance(random_state, int | np.integer | np.random.Generator):
        raise InputError(f"random_state={random_state!r} must be a whole number, a RandomState or None")
    return np.random.default_rng(random_state)
