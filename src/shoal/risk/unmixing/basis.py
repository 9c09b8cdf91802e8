"""Few scales that make all quotients of a group: those that are no sum of others, and those that show only in sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking import unmixing as kernel
from shoal.risk.unmixing.counts import Sums, count_vectors

__all__ = ["basis", "strongest"]

Floats = NDArray[np.float64]

EACH_SIDE = 1_000
TRIED = 6  # hidden scales in one round
SIMPLE = 400  # sums that a hidden scale may be found in
CANDIDATES = 6  # for each member, when weights are rounded
FEWEST_SUMS = 12  # of half the members that a scale is compared with
BY_CHANCE = 0.02  # so often may a scale be taken for a sum by chance


def basis(scales: Floats, values: Floats, size: int, tolerance: float) -> Floats:
    """At most `size` scales whose whole-number sums are the values, as far as that can be.

    `scales` are candidates and `values` all quotients of the group, both rising.
    """
    kept = _without_sums(scales, 3 * size, tolerance)
    left = _no_sums(values, kept, tolerance)
    while len(left) or len(kept) > size:
        better = _with_hidden(kept, values, left, tolerance)
        if better is None:
            break
        kept, left = better
    if len(kept) > size:  # those that most values need
        need = [len(_no_sums(values, np.delete(kept, place), tolerance)) for place in range(len(kept))]
        kept = np.sort(kept[np.argsort(need, kind="stable")[::-1][:size]])
    return kept


def strongest(scales: Floats, bits: Floats, size: int, tolerance: float) -> Floats:
    """At most `size` scales with the most evidence that are no simple sums of smaller ones: for rounded weights."""
    each_side = int(np.clip(np.sqrt(BY_CHANCE / tolerance), FEWEST_SUMS, EACH_SIDE))
    likely = np.sort(np.argsort(-bits, kind="stable")[: CANDIDATES * size])
    kept: list[int] = []
    for place in likely.tolist():
        if not kept or not Sums.of(scales[kept], each_side).has(scales[place], tolerance):
            kept.append(place)
    kept.sort(key=lambda place: -bits[place])
    return np.sort(scales[kept[:size]])


def _without_sums(scales: Floats, most: int, tolerance: float) -> Floats:
    """Those that are no sum of smaller ones."""
    kept = np.empty(0)
    for scale in scales.tolist():
        if len(kept) == most:
            break
        if not len(kept) or not Sums.of(kept, EACH_SIDE).has(scale, tolerance):
            kept = np.append(kept, scale)
    return kept


def _no_sums(values: Floats, scales: Floats, tolerance: float) -> Floats:
    """Values that are no sum of the scales."""
    if not len(scales):
        return values
    sums = Sums.of(scales, EACH_SIDE)
    return values[[not sums.has(value, tolerance) for value in values.tolist()]]


def _with_hidden(kept: Floats, values: Floats, left: Floats, tolerance: float) -> tuple[Floats, Floats] | None:
    """The scales with one more that several of the values left, or of the scales, are a sum with; if that helps.

    A scale that no term has alone makes sums look like scales of their own: with it they are sums again.
    """
    whole = np.unique(np.concatenate([left, kept]))
    vectors, costs = count_vectors(len(kept), SIMPLE)
    rest = (whole[:, None] - (vectors @ kept)[None, :]).ravel()
    owners = np.repeat(np.arange(len(whole)), len(vectors))
    slack = 2 * tolerance * whole[owners]
    gains = 1.0 + 0.5 / (1.0 + np.tile(costs, len(whole)))
    usable = rest > 0.02 * whole[owners]
    order = np.flatnonzero(usable)[np.argsort(rest[usable], kind="stable")]
    rest, owners, slack, gains = rest[order], owners[order], slack[order], gains[order]
    support, ends = kernel.coincidences(rest, slack, gains, owners, len(whole))
    best: tuple[Floats, Floats] | None = None
    least = len(kept) + len(left)
    tried: list[float] = []
    for start in np.argsort(-support, kind="stable"):
        if len(tried) == TRIED or support[start] < 2.0:
            break
        hidden = float(np.median(rest[start : ends[start]]))
        if any(abs(hidden - other) <= 10 * tolerance * hidden for other in [*tried, *kept.tolist()]):
            continue
        tried.append(hidden)
        scales = _without_sums(np.sort(np.append(kept, hidden)), len(kept) + 1, 4 * tolerance)
        unexplained = _no_sums(values, scales, 4 * tolerance)
        if len(scales) + len(unexplained) < least:
            best, least = (scales, unexplained), len(scales) + len(unexplained)
    return best
