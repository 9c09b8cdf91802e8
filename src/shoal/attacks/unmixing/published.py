"""A release as the attacker has it, how precise its weights are, and what the attacker guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.kernels import Floats, Ints

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

    decimals: int | None = None  # rounded to so many places
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
    places = (levels - levels[0]) / step
    regular = np.all(np.abs(places - np.round(places)) < 1e-5) and len(levels) < len(weights) / 3
    return float(np.exp(step)) if regular and step > 1e-3 else None
