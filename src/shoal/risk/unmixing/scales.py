"""The scale that each member leaves in the weights of its group.

A term that one member alone has once weighs idf · q, where q is that member's scale; of two such terms the quotients
weight / idf are the same number. Such coincidences are sought first, then scales that show only in sums with others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking import unmixing as kernel
from shoal.risk.unmixing.frequencies import Frequencies
from shoal.risk.unmixing.precision import Precision

__all__ = ["Coincidence", "Row", "coincidences"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SPREAD = 5.0  # natural logarithm of the range that quotients are spread over, for the odds of chance
SHARE = 0.1  # of the terms that are expected at one scale
SURE = 6.0  # bits beyond chance that a coincidence needs


@dataclass(frozen=True)
class Row:
    """A published row: terms, weights, how far each may be off, and how many members it stands for."""

    terms: Ints
    weights: Floats
    slack: Floats
    size: int
    precision: Precision


@dataclass(frozen=True)
class Coincidence:
    """A quotient that several terms share."""

    value: float
    bits: float  # of evidence
    terms: Ints  # places in the row
    frequencies: Ints  # of those terms


def coincidences(row: Row, frequencies: Frequencies) -> list[Coincidence]:
    """Quotients weight / idf that terms share beyond chance, rising; of overlapping ones the strongest."""
    terms = row.terms.tolist()
    options_of = [frequencies.options(term) for term in terms]
    options = np.concatenate([np.empty(0, np.int64), *options_of])
    if len(options) < 2:
        return []
    owners = np.repeat(np.arange(len(terms)), [len(some) for some in options_of])
    idf = frequencies.idf(options)
    values = np.log(row.weights[owners] / idf)
    widths = 2.0 * row.slack[owners] / row.weights[owners]
    chances = np.concatenate([frequencies.chance(term, some) for term, some in zip(terms, options_of, strict=True)])
    gains = np.log2(1.0 + SHARE * chances * SPREAD / widths)
    # Equal weights have equal quotients for every df they share: one witness, unless their df is known.
    known = frequencies.settled[row.terms] > 0
    _, same = np.unique(np.round(np.log(row.weights), 12), return_inverse=True)
    witness = np.where(known, len(row.terms) + np.arange(len(row.terms)), same)[owners]
    order = np.argsort(values, kind="stable")
    values, widths, gains = values[order], widths[order], gains[order]
    owners, options = owners[order], options[order]
    bits, ends = kernel.coincidences(values, widths, gains, witness[order], 2 * len(row.terms))
    # The first term is where the window was placed, and there were as many windows as values.
    evidence = bits - gains - np.log2(len(values))
    found: list[Coincidence] = []
    taken = np.zeros(len(values), np.bool_)
    for start in np.argsort(-evidence, kind="stable"):
        if evidence[start] < SURE:
            break
        part = slice(start, ends[start])
        if taken[part].any():
            continue
        taken[part] = True
        value = float(np.exp(np.median(values[part])))
        found.append(Coincidence(value, float(evidence[start]), owners[part], options[part]))
    return sorted(found, key=lambda coincidence: coincidence.value)
