"""From the scales of a group's members to the counts of every term in each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.risk.unmixing.counts import Sums, price, total
from shoal.risk.unmixing.frequencies import Frequencies
from shoal.risk.unmixing.scales import Row

__all__ = ["Decoded", "decoded", "refitted"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Vectors of counts of half the members, by what they cost: a first try, and others for what it leaves.
TRIES = ((2_000, price), (100_000, total), (100_000, price))
REFITS = (4.0, 2.0, 1.5)  # how far weights may be off while the scales are not yet right, in slacks
FEW_OPTIONS = 100  # the later tries are for terms whose df is known or nearly so


@dataclass(frozen=True)
class Decoded:
    """The counts of a row's terms in the members found."""

    scales: Floats  # (members,)
    counts: Ints  # (terms, members); zeros where nothing fits
    frequencies: Ints  # (terms,); 0 where nothing fits

    @property
    def solved(self) -> NDArray[np.bool_]:
        solved: NDArray[np.bool_] = self.frequencies > 0
        return solved


def decoded(row: Row, scales: Floats, frequencies: Frequencies, tries: int = len(TRIES)) -> Decoded:
    """For each term the likeliest counts that its weight allows; few counts first, more where none of them fits."""
    counts = np.zeros((len(row.terms), len(scales)), np.int64)
    found = np.zeros(len(row.terms), np.int64)
    for number, (most, cost) in enumerate(TRIES[:tries] if len(scales) else ()):
        left = np.flatnonzero(found == 0)
        if not len(left) or (number and not row.precision.exact):
            break
        sums = Sums.of(scales, most, cost)
        for place in left.tolist():
            term = int(row.terms[place])
            options = frequencies.options(term)
            if number and len(options) > FEW_OPTIONS:
                continue
            idf, chances = frequencies.idf(options), frequencies.chance(term, options)
            option, counts[place] = sums.nearest(row.weights[place] / idf, row.slack[place] / idf, -np.log2(chances))
            if option >= 0:
                found[place] = options[option]
    return Decoded(scales, counts, found)


def refitted(row: Row, scales: Floats, frequencies: Frequencies) -> Decoded:
    """The counts and scales that fit rounded weights, in turns: counts for the scales, scales for the counts."""
    for slack in REFITS:
        loose = replace(row, slack=slack * row.slack)
        found = decoded(loose, scales, frequencies)
        use = found.solved
        if not len(scales) or use.sum() < 2 * len(scales):
            return found
        idf = frequencies.idf(found.frequencies[use])
        weight = idf / row.slack[use]
        fitted: Floats = np.linalg.lstsq(
            found.counts[use] * weight[:, None], row.weights[use] / idf * weight, rcond=None
        )[0].astype(np.float64)
        if fitted.min() <= 0:
            return found
        scales = fitted
    return decoded(replace(row, slack=1.2 * row.slack), scales, frequencies)
