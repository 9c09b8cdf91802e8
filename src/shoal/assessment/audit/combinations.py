"""Which few columns single records out: uniques of every small combination, what each column adds, special uniques.

Source of special uniques: Elliot, Manning, Mayes, Gurd and Bane (2005), SUDA; their search by Manning, Haglin and Keane
(2008), SUDA2, finds the same minimal sample uniques as the walk here, which counts every combination anyway.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.audit.key_columns import Floats, Ints, KeyColumns
from shoal.results.audit import LIMITS, ColumnUniqueness, Combination, SpecialUniques

MOST_SCORES = 10  # that are listed
MOST_WORK = 500_000_000  # rows times combinations that are counted unless more is asked for
LARGEST = 3  # columns of a combination, the same


@dataclass(frozen=True)
class CountedCombination:
    """A combination by the numbers of its columns, and which of the records unique by all columns it singles out."""

    columns: tuple[int, ...]
    below: tuple[int, ...]  # for each of LIMITS
    singled_out: NDArray[np.uint8]  # bits


def affordable_size(n_rows: int, n_columns: int) -> int:
    """Columns of the largest combinations that are counted where nothing else is asked for."""

    def work(size: int) -> int:
        return n_rows * sum(math.comb(n_columns, columns) for columns in range(1, size + 1))

    sizes = range(1, min(LARGEST, n_columns) + 1)
    return max((size for size in sizes if work(size) <= MOST_WORK), default=1)


def below_limits(frequencies: Floats) -> tuple[int, ...]:
    """How many records have fewer than each of LIMITS with their key."""
    return tuple(int(np.count_nonzero(frequencies < limit)) for limit in LIMITS)


def count_combinations(keys: KeyColumns, max_size: int, uniques: Ints) -> list[CountedCombination]:
    """All combinations of at most so many columns; `uniques` are the rows that all columns single out."""
    total = sum(math.comb(len(keys.names), size) for size in range(1, max_size + 1))
    counted = []
    for columns, frequencies in keys.walk(max_size):
        bits = np.packbits(frequencies[uniques] < 2)
        counted.append(CountedCombination(columns, below_limits(frequencies), bits))
        progress.step("combinations", len(counted), total)
    return counted


def named_combinations(names: Sequence[str], counted: Sequence[CountedCombination]) -> tuple[Combination, ...]:
    """By size, in each the most uniques first."""
    ordered = sorted(counted, key=lambda one: (len(one.columns), [-n for n in one.below], one.columns))
    return tuple(Combination(tuple(names[column] for column in one.columns), one.below) for one in ordered)


def rank_columns(keys: KeyColumns, counted: Sequence[CountedCombination]) -> tuple[ColumnUniqueness, ...]:
    """Columns by the uniques that they add on average to the small combinations they join."""
    uniques = {one.columns: one.below[0] for one in counted} | {(): 0}
    found = []
    for column, (name, codes) in enumerate(zip(keys.names, keys.codes, strict=True)):
        joined = [columns for columns in uniques if column in columns]
        gains = [uniques[columns] - uniques[_without(columns, column)] for columns in joined]
        others = _without(tuple(range(len(keys.names))), column)
        left = below_limits(keys.frequencies(others))[0] if others else 0
        there = np.unique(codes)
        missing, values = int(np.count_nonzero(codes == 0)), int(np.count_nonzero(there))
        found.append(ColumnUniqueness(name, values, missing, uniques[(column,)], float(np.mean(gains)), left))
    return tuple(sorted(found, key=lambda one: (-one.added, one.without)))


def _without(columns: tuple[int, ...], column: int) -> tuple[int, ...]:
    return tuple(other for other in columns if other != column)


def minimal_uniques(counted: Sequence[CountedCombination], n_uniques: int) -> list[tuple[tuple[int, ...], Ints]]:
    """For each combination, which unique records it singles out though no smaller part of it does."""
    singled_out = {one.columns: one.singled_out for one in counted}
    found = []
    for columns, bits in singled_out.items():
        # Whoever is singled out by a part is so by every larger part: those with one column less are enough.
        parts = [singled_out[_without(columns, column)] for column in columns] if len(columns) > 1 else []
        minimal = bits & ~reduce(np.bitwise_or, parts, np.zeros_like(bits))
        found.append((columns, np.flatnonzero(np.unpackbits(minimal, count=n_uniques))))
    return found


def special_uniques(
    names: Sequence[str],
    counted: Sequence[CountedCombination],
    n_uniques: int,
    n_in_pairs: int,
    fraction: float | None,
    threshold: float,
) -> SpecialUniques:
    """SUDA scores, and with the sampling fraction DIS-SUDA scores.

    `n_in_pairs` are the records whose key exactly one other has.
    """
    n_columns, max_size = len(names), max(len(one.columns) for one in counted)
    scores, by_column = np.zeros(n_uniques, dtype=np.int64), np.zeros(n_columns)
    by_size = [0] * max_size
    for columns, rows in minimal_uniques(counted, n_uniques):
        worth = _score(len(columns), n_columns, max_size)
        scores[rows] += worth
        by_column[list(columns)] += worth * len(rows)
        by_size[len(columns) - 1] += len(rows)
    total = max(int(scores.sum()), 1)
    contributions = sorted(zip(names, (by_column / total).tolist(), strict=True), key=lambda pair: -pair[1])
    values, records = np.unique(scores[scores > 0], return_counts=True)
    dis = None if fraction is None else _dis(n_uniques, n_in_pairs, fraction)
    of_records = None if dis is None else _dis_scores(scores[scores > 0].astype(np.float64), dis, n_uniques, n_columns)
    return SpecialUniques(
        max_size,
        int(records.sum()),
        tuple(by_size),
        int(scores.max(initial=0)),
        tuple(zip(values[::-1].tolist()[:MOST_SCORES], records[::-1].tolist()[:MOST_SCORES], strict=True)),
        tuple(contributions),
        dis,
        None if of_records is None else float(of_records.max(initial=0.0)),
        None if of_records is None else int(np.count_nonzero(of_records > threshold)),
    )


def _score(size: int, n_columns: int, max_size: int) -> int:
    """Of a minimal unique; all columns together have the score of an empty product."""
    return math.prod(n_columns - columns for columns in range(size, min(max_size, n_columns - 1) + 1))


def _dis(n_uniques: int, n_in_pairs: int, fraction: float) -> float:
    """The chance that a unique match is right (data intrusion simulation, Skinner and Elliot 2002)."""
    right, wrong = n_uniques * fraction, n_in_pairs * (1.0 - fraction)
    return right / (right + wrong) if right else 0.0


def _dis_scores(scores: Floats, dis: float, n_uniques: int, n_columns: int) -> Floats:
    """That chance, distributed over the special uniques by their scores as sdcMicro does it."""
    if not len(scores) or dis == 0.0:
        return np.zeros(len(scores))
    power = scores ** (1.0 + (8 - n_columns) / 20)
    spread: Floats = 1.0 / (1.0 + n_uniques * (1.0 / dis - 1.0) / (power * np.sum(1.0 / power)))
    return spread
