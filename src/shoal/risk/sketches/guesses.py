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
LEAST_SHARE = 1e-5  # of records that have an item; none is impossible


@dataclass(frozen=True, eq=False)
class Expectations:
    """What the attacker expects of numbers before seeing a sketch: how often items occur, and how large numbers are."""

    shares: Floats  # of each item, the share of rows that have it
    mean: float  # of the numbers that are there
    variance: float  # 0: all are equal, as in baskets without repetitions

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Expectations:
        shares = np.bincount(rows.indices, minlength=rows.shape[1]) / rows.shape[0]
        held = np.clip(shares, LEAST_SHARE, 1.0 - LEAST_SHARE).astype(np.float32)
        return cls(held, float(rows.data.mean()), float(rows.data.var()))


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


def message_passing(sketches: Floats, lengths: Ints, signs: Floats, expected: Expectations) -> Floats:
    """The numbers expected, given the sketch: approximate message passing.

    Numbers are 0 or near their mean, and exactly 0 or 1 in baskets. `signs` may lie between -1 and 1: an uncertain
    sign counts less.
    """
    beliefs = np.empty((len(sketches), len(signs)), np.float32)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(sketches), BLOCK)]
    squares = np.square(signs)
    with threadpool_limits(1, "blas"):  # blocks run side by side
        side_by_side(_pass, [(sketches[b], lengths[b], signs, squares, expected, beliefs[b]) for b in blocks])
    return beliefs


def _pass(
    sketches: Floats, lengths: Ints, signs: Floats, squares: Floats, expected: Expectations, beliefs: Floats
) -> None:
    """Fill in the beliefs of a few rows."""
    there = (np.arange(sketches.shape[1]) < lengths[:, None]).astype(np.float32)
    weights = np.maximum(there @ squares.T, 1e-3)
    odds = np.log(expected.shares / (1.0 - expected.shares))
    beliefs[:] = expected.shares * np.float32(expected.mean)
    left = (sketches - beliefs @ signs) * there
    least = LEAST_NOISE * (expected.mean**2 + expected.variance)
    for _ in range(STEPS):
        noise = np.square(left).sum(axis=1) / lengths + least
        estimates = beliefs + (left @ signs.T) / weights
        told, spread = believed_numbers(estimates, weights, noise, odds, expected.mean, expected.variance)
        beliefs += STEP * (told - beliefs)
        # Beliefs were drawn from what was left: part of it is taken off, or they would confirm themselves.
        own = np.minimum(spread / lengths / noise, 3.0).astype(np.float32)
        left += STEP * ((sketches - beliefs @ signs) * there + own[:, None] * left - left)
