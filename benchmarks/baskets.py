"""Baskets of Agrawal and Srikant's scheme: customers buy items that belong together, and seldom all of them.

Written from its description: "Fast algorithms for mining association rules", VLDB 1994, section 4.1. T20.I6.D100K is
100,000 baskets of 20 items on average, out of 2,000 patterns of 6 on average, out of 1,000 items. As in Aggarwal and Yu
(2007), C20.I6.D200K is two such sets of half the size, each with patterns of its own, which are the two classes; .G1200
draws from 1,200 items.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

NAME = re.compile(r"([TC])(\d+)\.I(\d+)\.D(\d+)([KM])(?:\.G(\d+))?")
PATTERNS = 2_000
CORRELATION = 0.5  # mean share of a pattern that is taken from the one before
CORRUPTION = (0.5, 0.1**0.5)  # mean and standard deviation; the paper gives a variance of 0.1


@dataclass(frozen=True)
class Patterns:
    """Sets of items that are bought together: that of number p is items[start[p] : start[p + 1]]."""

    items: Any
    start: Any
    weights: Any  # (patterns,) the chance of each to be bought next
    corruption: Any  # (patterns,) the chance that one more item of it is left out


def named(name: str, seed: int = 0) -> tuple[sp.csr_matrix, Any]:
    """Baskets as rows of 0 and 1, in random order, and the class of each; T has a single class."""
    found = NAME.fullmatch(name)
    if not found:
        raise SystemExit(f"no baskets {name}; give a name such as T20.I6.D100K, C20.I4.D200K or C20.I6.D200K.G1200")
    kind, size, pattern, count, thousands, items = found.groups()
    n_baskets, n_items = int(count) * {"K": 1_000, "M": 1_000_000}[thousands], int(items or 1_000)
    random = np.random.default_rng((seed, int(size), int(pattern), n_items))
    n_classes = 1 if kind == "T" else 2
    parts = [
        baskets(patterns(int(pattern), n_items, random), n_baskets // n_classes, int(size), n_items, random)
        for _ in range(n_classes)
    ]
    classes = np.repeat(np.arange(n_classes), n_baskets // n_classes)
    order = random.permutation(len(classes))
    return sp.csr_matrix(sp.vstack(parts, format="csr"))[order], classes[order]


def patterns(mean_size: float, n_items: int, random: np.random.Generator, count: int = PATTERNS) -> Patterns:
    """Each takes a share of its items from the one before, and the rest at random from all."""
    sizes = np.clip(random.poisson(mean_size, count), 1, n_items)
    shares = random.exponential(CORRELATION, count)
    sets: list[Any] = []
    for size, share in zip(sizes, shares, strict=True):
        before = sets[-1] if sets else np.zeros(0, dtype=np.int64)
        common = random.permutation(before)[: min(round(share * size), size, len(before))]
        others = random.permutation(np.setdiff1d(np.arange(n_items), common))[: size - len(common)]
        sets.append(np.concatenate((common, others)))
    weights = random.exponential(1.0, count)
    corruption = np.clip(random.normal(*CORRUPTION, count), 0.0, 1.0)
    return Patterns(np.concatenate(sets), np.concatenate(([0], np.cumsum(sizes))), weights / weights.sum(), corruption)


def baskets(source: Patterns, count: int, mean_size: float, n_items: int, random: np.random.Generator) -> sp.csr_matrix:
    """Rows of 0 and 1, (count, n_items)."""
    sizes = np.clip(random.poisson(mean_size, count), 1, n_items)
    reach = np.cumsum(source.weights)
    reach[-1] = 1.0
    longest = int(np.diff(source.start).max())
    items = np.empty(int(sizes.sum()) + count * longest, np.int32)  # a basket exceeds its size by a pattern at most
    indptr = _fill(sizes, source.items, source.start, reach, source.corruption, n_items, random, items)
    indices = items[: indptr[-1]].copy()
    rows = sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(count, n_items))
    rows.sort_indices()
    return rows


@njit(cache=True)
def _fill(
    sizes: Any, items: Any, start: Any, reach: Any, corruption: Any, n_items: int, random: Any, filled: Any
) -> Any:
    """Put patterns into baskets until they are full, into `filled`; returns where each basket starts.

    A pattern that is too large for what is left goes in all the same in half of the cases, and else into the next
    basket; an empty basket takes it always.
    """
    indptr = np.zeros(sizes.shape[0] + 1, np.int64)
    basket_of_item = np.full(n_items, -1)
    kept = np.empty(np.diff(start).max(), np.int64)
    n_kept = 0  # items of a pattern at hand
    at = 0
    for basket in range(sizes.shape[0]):
        first = at
        while at - first < sizes[basket]:
            if n_kept == 0:
                pattern = np.searchsorted(reach, random.random(), side="right")
                n_kept = start[pattern + 1] - start[pattern]
                kept[:n_kept] = items[start[pattern] : start[pattern + 1]]
                while n_kept > 0 and random.random() < corruption[pattern]:
                    dropped = int(random.random() * n_kept)
                    n_kept -= 1
                    kept[dropped] = kept[n_kept]
            too_large = at - first + n_kept > sizes[basket]
            if too_large and at > first and random.random() < 0.5:
                break  # it waits for the next basket
            for place in range(n_kept):
                item = kept[place]
                if basket_of_item[item] != basket:
                    basket_of_item[item] = basket
                    filled[at] = item
                    at += 1
            n_kept = 0
            if too_large:
                break
        indptr[basket + 1] = at
    return indptr
