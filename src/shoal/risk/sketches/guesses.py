"""From sketches and signs to items: three ways, from the simplest to the one that finds most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from shoal.kernels.sketching.beliefs import believed_numbers
from shoal.kernels.sketching.pursuit import pursue
from shoal.kernels.threads import side_by_side
from shoal.risk.sketches.sketched import Floats, Ints

__all__ = ["Expectations", "largest_estimates", "matching_pursuit", "message_passing"]

BLOCK = 64  # rows at a time, the same on any number of cores: products of other shapes are rounded otherwise
STEPS = 30
STEP = 0.7  # share of each step that is taken: whole steps swing
LEAST_NOISE = 1e-4  # of a component, in squares; below that all is explained
LEAST_SHARE = 1e-5  # of rows that have an item; none is impossible
FEW = 10  # rows with an item that tell as much of its numbers as all items together


@dataclass(frozen=True, eq=False)
class Expectations:
    """What the attacker expects of numbers before seeing a sketch: how often items occur, and how large numbers are."""

    shares: Floats  # of each item, the share of rows that have it
    means: Floats  # of each item, of the numbers that are there
    variances: Floats  # of these; 0: all are equal, as in baskets without repetitions

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Expectations:
        """From many rows; of a rare item, mostly what all numbers are like."""
        n_items = rows.shape[1]
        counts, mean = np.bincount(rows.indices, minlength=n_items), rows.data.mean()
        sums = np.bincount(rows.indices, weights=rows.data, minlength=n_items)
        means = (sums + FEW * mean) / (counts + FEW)
        squares = np.bincount(rows.indices, weights=(rows.data - means[rows.indices]) ** 2, minlength=n_items)
        variances = (squares + FEW * rows.data.var()) / (counts + FEW)
        shares = np.clip(counts / rows.shape[0], LEAST_SHARE, 1.0 - LEAST_SHARE)
        return cls(*(one.astype(np.float32) for one in (shares, means, variances)))


def largest_estimates(sketches: Floats, signs: Floats) -> Floats:
    """The usual estimate of every number, up to a factor: (rows, items)."""
    return sketches @ signs.T


def matching_pursuit(sketches: Floats, lengths: Ints, signs: Floats, counts: Ints) -> Floats:
    """Orthogonal matching pursuit for counts[row] items: 1 for those taken, else 0."""
    items = pursue(sketches, lengths, signs, counts)
    taken = np.zeros((len(sketches), len(signs)), np.float32)
    row, place = np.nonzero(items >= 0)
    taken[row, items[row, place]] = 1.0
    return taken


def message_passing(
    sketches: Floats, lengths: Ints, signs: Floats, expected: Expectations, caution: float = 1.0
) -> Floats:
    """The numbers expected, given the sketch: approximate message passing.

    Numbers are 0 or near their mean, and exactly 0 or 1 in baskets. `signs` may lie between -1 and 1: an uncertain
    sign counts less. `caution` multiplies the noise that is reckoned with: signs that were computed are wrong alike in
    many components, which then agree on something that is not there.
    """
    beliefs = np.empty((len(sketches), len(signs)), np.float32)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(sketches), BLOCK)]
    squares = np.square(signs)
    with threadpool_limits(1, "blas"):  # blocks run side by side
        parts = [(sketches[b], lengths[b], signs, squares, expected, caution, beliefs[b]) for b in blocks]
        side_by_side(_pass, parts)
    return beliefs


def _pass(
    sketches: Floats,
    lengths: Ints,
    signs: Floats,
    squares: Floats,
    expected: Expectations,
    caution: float,
    beliefs: Floats,
) -> None:
    """Fill in the beliefs of a few rows."""
    there = (np.arange(sketches.shape[1]) < lengths[:, None]).astype(np.float32)
    weights = np.maximum(there @ squares.T, 1e-3)
    odds = np.log(expected.shares / (1.0 - expected.shares))
    beliefs[:] = expected.shares * expected.means
    left = (sketches - beliefs @ signs) * there
    least = LEAST_NOISE * float(np.average(expected.means**2 + expected.variances, weights=expected.shares))
    for _ in range(STEPS):
        noise = np.square(left).sum(axis=1) / lengths + least
        estimates = beliefs + (left @ signs.T) / weights
        told, spread = believed_numbers(estimates, weights, caution * noise, odds, expected.means, expected.variances)
        beliefs += STEP * (told - beliefs)
        # Beliefs were drawn from what was left: part of it is taken off, or they would confirm themselves.
        own = np.minimum(spread / lengths / noise, 3.0).astype(np.float32)
        left += STEP * ((sketches - beliefs @ signs) * there + own[:, None] * left - left)
