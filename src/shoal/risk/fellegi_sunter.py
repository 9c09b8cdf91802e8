"""The model of Fellegi and Sunter (1969): how often pairs agree that belong together, and pairs that do not.

It is learnt without knowing which pairs those are, by expectation and maximisation over the counts of agreement
patterns (Jaro 1989), attributes being independent within each kind of pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FellegiSunter", "learn"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

START = (0.1, 0.9, 0.1)  # share of matches, agreement of matches, of others: Jaro's usual start
CLOSE = 1e-8  # when no parameter moves more in a step, it is done
STEPS = 10_000
NEVER = 1e-12  # a probability is never quite 0 or 1


@dataclass(frozen=True)
class FellegiSunter:
    """What was learnt of pairs; patterns have one bit an attribute, the lowest for the first."""

    matches: float  # share of pairs that belong together
    agree_if_match: Floats  # m, (d,)
    agree_if_not: Floats  # u, (d,)
    steps: int

    @property
    def weights(self) -> Floats:
        """log2 of how much more likely each of the 2^d patterns is for a match, (2^d,).

        An attribute that agrees as often either way says nothing, so nor does one that always or never agrees.
        """
        agree = np.log2(self.agree_if_match / self.agree_if_not)
        differ = np.log2((1.0 - self.agree_if_match) / (1.0 - self.agree_if_not))
        total = np.zeros(1)
        for one, other in zip(agree, differ, strict=True):  # each attribute doubles the patterns
            total = np.concatenate([total + other, total + one])
        return total


def learn(counts: Ints) -> FellegiSunter:
    """The parameters that make the counted patterns (2^d,) most likely, from the usual start."""
    n_attributes = len(counts).bit_length() - 1
    seen = np.flatnonzero(counts)
    weight = counts[seen].astype(np.float64)
    agrees = ((seen[:, None] >> np.arange(n_attributes)) & 1).astype(np.float64)  # (patterns, d)
    matches, m, u = START[0], np.full(n_attributes, START[1]), np.full(n_attributes, START[2])
    step = 0
    for step in range(1, STEPS + 1):  # noqa: B007 - reported
        odds = agrees @ (np.log(m) - np.log(u)) + (1.0 - agrees) @ (np.log1p(-m) - np.log1p(-u))
        odds += np.log(matches) - np.log1p(-matches)
        matched = weight / (1.0 + np.exp(np.clip(-odds, -700, 700)))
        others = weight - matched
        new_matches = float(_probability(matched.sum() / weight.sum()))
        new_m = _probability(matched @ agrees / max(matched.sum(), NEVER))
        new_u = _probability(others @ agrees / max(others.sum(), NEVER))
        moved = max(abs(new_matches - matches), float(np.abs(new_m - m).max()), float(np.abs(new_u - u).max()))
        matches, m, u = new_matches, new_m, new_u
        if moved < CLOSE:
            break
    return FellegiSunter(matches, m, u, step)


def _probability(value: Floats) -> Floats:
    return np.clip(value, NEVER, 1.0 - NEVER)
