"""Records from their sketches, and signs from records, by message passing.

Source: Donoho, Maleki and Montanari, "Message-passing algorithms for compressed sensing" (2009); for signs, the form
with a variance for each equation of Rangan, "Generalized approximate message passing" (2011).
"""

from __future__ import annotations

from math import exp, log, tanh
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Ints
from shoal.kernels.grouping.spherical import Csr
from shoal.kernels.threads import runs, side_by_side

Floats = NDArray[Any]

SIGN_STEPS = 50
SIGN_STEP = 0.4  # share of each step that is taken: whole steps swing
SURE = 30.0  # log odds beyond which a step changes nothing


@njit(cache=True, nogil=True)
def believed_numbers(
    estimates: Floats, weights: Floats, noise: Floats, odds: Floats, means: Floats, variances: Floats
) -> tuple[Floats, Floats]:
    """Expected numbers, (rows, items), and for each row the sum of their variances times the weights.

    An estimate has the variance noise[row] / weights[row, item]. The number behind it is 0, or, with the log odds
    `odds` of its item, normal with the item's mean and variance.
    """
    beliefs, spread = np.empty_like(estimates), np.zeros(estimates.shape[0])
    for row in range(estimates.shape[0]):
        for item in range(estimates.shape[1]):
            estimate, mean, variance = estimates[row, item], means[item], variances[item]
            uncertainty = noise[row] / weights[row, item]
            both = variance + uncertainty
            difference = estimate - mean
            likelier = estimate * estimate / uncertainty - difference * difference / both + log(uncertainty / both)
            there = 1.0 / (1.0 + exp(-min(max(odds[item] + likelier / 2, -SURE), SURE)))
            number = (estimate * variance + mean * uncertainty) / both
            belief = there * number
            beliefs[row, item] = belief
            spread[row] += weights[row, item] * (
                there * (variance * uncertainty / both + number * number) - belief * belief
            )
    return beliefs, spread


def believed_signs(rows: Csr, n_items: int, sketches: Floats, lengths: Ints, noise: Floats) -> Floats:
    """The expected sign of every item in every component, from -1 to 1: (items, width).

    Row i of known numbers has the sketch sketches[i, : lengths[i]], but for noise of the variance noise[i].
    """
    signs = np.zeros((n_items, sketches.shape[1]), np.float32)
    parts = runs(sketches.shape[1], least=1)
    side_by_side(_believed_signs, [(rows, sketches[:, r], lengths - r.start, noise, signs[:, r]) for r in parts])
    return signs


@njit(cache=True, nogil=True)
def _believed_signs(rows: Csr, sketches: Floats, lengths: Ints, noise: Floats, signs: Floats) -> None:
    """Component by component: each is a system of equations of its own."""
    for component in range(sketches.shape[1]):
        belief = np.zeros(signs.shape[0])
        surprise = np.zeros(sketches.shape[0])
        for _ in range(SIGN_STEPS):
            certainty = np.zeros(signs.shape[0])  # with which the equations determine each sign
            pull = np.zeros(signs.shape[0])
            for row in range(sketches.shape[0]):
                if component >= lengths[row]:
                    continue
                expected, variance = 0.0, noise[row]
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    item, number = rows.indices[entry], rows.data[entry]
                    expected += number * belief[item]
                    variance += number * number * max(1.0 - belief[item] * belief[item], 1e-6)
                # What the row itself added to the beliefs is taken off again, or it would confirm itself.
                missed = (sketches[row, component] - expected) / variance + surprise[row]
                surprise[row] += SIGN_STEP * (missed - surprise[row])
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    item, number = rows.indices[entry], rows.data[entry]
                    certainty[item] += number * number / variance
                    pull[item] += number * surprise[row]
            for item in range(signs.shape[0]):
                expected_sign = tanh(belief[item] * certainty[item] + pull[item])
                belief[item] += SIGN_STEP * (expected_sign - belief[item])
        signs[:, component] = belief
