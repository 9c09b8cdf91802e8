"""A release as the attacker has it: how precise its weights are, document frequencies, and scales of members.

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

from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.kernels.linking import unmixing as kernel

DOUBLE = 2e-15  # relative: what a sum of a dozen products may be off by
MOST_DIGITS = 12  # more digits than that are as good as all
FEWEST = 8  # weights that a grid must fit before it is believed


@dataclass(frozen=True)
class Published:
    """A release of documents as its reader has it: the row of each group, and how many documents share it."""

    rows: sp.csr_matrix  # (groups, terms), the weights; or counts
    sizes: Ints  # (groups,)
    n_documents: int  # documents the weights were computed from
    min_df: int  # fewest documents that have a term
    pooled: bool = False  # the rows are the pooled counts of the groups: nothing needs to be found out about weights

    def __post_init__(self) -> None:
        rows = sp.csr_matrix(self.rows, dtype=np.float64)
        sizes = np.asarray(self.sizes, dtype=np.int64)
        if rows.shape[0] != len(sizes):
            raise InputError(f"{rows.shape[0]} rows with {len(sizes)} sizes; give every row the size of its group")
        if len(sizes) and sizes.min() < 1:
            raise InputError(f"a group of {sizes.min()} documents; the least is 1")
        if self.n_documents < sizes.sum():
            raise InputError(
                f"n_documents={self.n_documents} is less than the {sizes.sum()} documents of the groups; pass all that "
                "the weights were computed from"
            )
        if rows.nnz and not (np.isfinite(rows.data).all() and rows.data.min() >= 0):
            raise InputError("a weight is negative or no number; the rows must hold weights from 0 up")
        rows.eliminate_zeros()
        rows.sort_indices()
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "sizes", sizes)

    def row(self, group: int) -> tuple[Any, Floats]:
        """Terms and weights of a group."""
        part = slice(self.rows.indptr[group], self.rows.indptr[group + 1])
        return self.rows.indices[part], self.rows.data[part]


@dataclass(frozen=True)
class Guesses:
    """Members that the attacker believes in: a row each, with the counts of its terms."""

    counts: sp.csr_matrix  # (guesses, terms)
    group_of_guess: Ints  # (guesses,); at most as many of a group as it has members
    tried: Ints  # groups that were attacked
    form: str  # what the weights turned out to be, in words


@dataclass(frozen=True)
class Precision:
    """How far a published weight may be from the true one."""

    decimals: int | None = None  # number of decimals it was rounded to
    unit: float = 0.0  # or to multiples of this
    ratio: float = 1.0  # or to powers of this

    def slack(self, weights: Floats) -> Floats:
        """How far each weight may be off."""
        slack: Floats = np.maximum(weights * max(DOUBLE, np.sqrt(self.ratio) - 1.0), self.unit * (0.5 + 1e-9))
        return slack

    @property
    def exact(self) -> bool:
        return self.unit == 0.0 and self.ratio == 1.0

    def __str__(self) -> str:
        if self.exact:
            return "in full precision"
        if self.ratio > 1.0:
            return f"rounded to powers of {self.ratio:.3g}"
        return f"rounded to {self.decimals} decimals" if self.decimals is not None else "rounded to a grid"


def precision_of(weights: Floats) -> Precision:
    """The coarsest grid that all weights are on: powers of a number, decimals, or none."""
    if len(weights) < FEWEST:
        return Precision()
    ratio = _common_ratio(weights)
    if ratio is not None:
        return Precision(ratio=ratio)
    for decimals in range(1, MOST_DIGITS + 1):
        scaled = weights * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) < np.maximum(1e-6, scaled * 1e-14)):
            return Precision(decimals=decimals, unit=10.0**-decimals)
    return Precision()


def _common_ratio(weights: Floats) -> float | None:
    """The number that all quotients of weights are powers of, if there is one worth the name."""
    levels = np.unique(np.round(np.log(weights), 9))
    if len(levels) < 2:
        return None
    step = float(np.diff(levels).min())
    steps_up = (levels - levels[0]) / step
    regular = np.all(np.abs(steps_up - np.round(steps_up)) < 1e-5) and len(levels) < len(weights) / 3
    return float(np.exp(step)) if regular and step > 1e-3 else None


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
