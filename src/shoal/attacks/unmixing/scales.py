"""Document frequencies and scales: what the weights of a group show of its members.

A weight is a count times ln(N / df), so df is the first thing to know. At least as many documents have a term as groups
show it, at most all documents of those groups; the groups vote on the rest.

A term that one member alone has once weighs idf · q, where q is that member's scale; of two such terms the quotients
weight / idf are the same number. Such coincidences are sought first, then scales that show only in sums with others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.attacks.unmixing.published import Precision, Published
from shoal.kernels import Floats, Ints
from shoal.kernels.linking import unmixing as kernel

CLEAR = 2.0  # the first choice has so many times the votes of the second
SPREAD = 5.0  # natural logarithm of the range that quotients are spread over, for the odds of chance
SHARE = 0.1  # of the terms that are expected at one scale
SURE = 6.0  # bits beyond chance that a coincidence needs


@dataclass
class Frequencies:
    """The possible document frequencies of every term, and the one that the groups agree on."""

    n_documents: int
    low: Ints  # (terms,)
    high: Ints
    settled: Ints = field(repr=False)  # (terms,); 0: not yet
    widest: int = 1_000  # terms whose df may be more numbers than that wait until the others are settled

    @staticmethod
    def of(published: Published) -> Frequencies:
        present = sp.csr_matrix(published.rows != 0, dtype=np.int64)
        groups = np.asarray(present.sum(axis=0)).ravel()
        documents = np.asarray(published.sizes @ present).ravel()
        low = np.maximum(published.min_df, groups)
        high = np.maximum(low, np.minimum(published.n_documents - 1, documents))
        settled = np.where(low == high, low, 0)
        return Frequencies(published.n_documents, low, high, settled)

    def options(self, term: int) -> Ints:
        if self.settled[term]:
            return self.settled[term : term + 1]
        if self.high[term] - self.low[term] >= self.widest:
            return np.empty(0, np.int64)
        return np.arange(self.low[term], self.high[term] + 1)

    def idf(self, frequency: NDArray[Any]) -> Floats:
        idf: Floats = np.log(self.n_documents / frequency)
        return idf

    def chance(self, term: int, frequency: Ints) -> Floats:
        """How likely each option is before any weight is seen: most terms are in few members of a group."""
        spread = 0.7 * self.low[term] + 1.0
        chance: Floats = np.exp(-(frequency - self.low[term]) / spread)
        chance /= chance.sum()
        return chance

    def settle(self, votes: dict[int, dict[int, float]]) -> None:
        """Take for each term the frequency that clearly has the most votes."""
        for term, by_frequency in votes.items():
            ranked = sorted(by_frequency.items(), key=lambda entry: (-entry[1], entry[0]))
            if len(ranked) == 1 or ranked[0][1] >= CLEAR * ranked[1][1]:
                self.settled[term] = ranked[0][0]


@dataclass(frozen=True)
class PublishedRow:
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


def coincidences(row: PublishedRow, frequencies: Frequencies) -> list[Coincidence]:
    """Quotients weight / idf that terms share beyond chance, rising; of overlapping ones the strongest."""
    terms = row.terms.tolist()
    options_of = [frequencies.options(term) for term in terms]
    options = np.concatenate([np.empty(0, np.int64), *options_of])
    if len(options) < 2:
        return []
    owners = np.repeat(np.arange(len(terms)), [len(frequency_options) for frequency_options in options_of])
    idf = frequencies.idf(options)
    values = np.log(row.weights[owners] / idf)
    widths = 2.0 * row.slack[owners] / row.weights[owners]
    chances = np.concatenate(
        [frequencies.chance(term, frequency_options) for term, frequency_options in zip(terms, options_of, strict=True)]
    )
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
    strongest: list[Coincidence] = []
    taken = np.zeros(len(values), np.bool_)
    for start in np.argsort(-evidence, kind="stable"):
        if evidence[start] < SURE:
            break
        part = slice(start, ends[start])
        if taken[part].any():
            continue
        taken[part] = True
        value = float(np.exp(np.median(values[part])))
        strongest.append(Coincidence(value, float(evidence[start]), owners[part], options[part]))
    return sorted(strongest, key=lambda coincidence: coincidence.value)
