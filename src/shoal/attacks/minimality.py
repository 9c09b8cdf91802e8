"""Minimality: what an attacker concludes from groups that were joined only where diversity required it.

Source: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from shoal.attacks.rates import check_count, log_choose, rate_of
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Inferred

MOST_SETS = 500  # sets of values that rows short of values can have had; of more, the likeliest
EQUAL = 1e-9  # chances nearer to each other are equal


@dataclass(frozen=True)
class Evidence:
    """Released groups that are larger than they would be without l, and every way to explain that.

    A reason has, for each crowd, one or more sets of its rows. It holds if one set of each crowd, all these sets taken
    together, had fewer than l values.
    """

    crowds: tuple[Ints, ...]  # rows of each released group
    reasons: tuple[tuple[tuple[Ints, ...], ...], ...]


class MinimalityAttack:
    """Conclude confidential values from which groups were joined.

    The attacker knows everybody's quasi-identifiers, the method and its parameters, and repeats the grouping without l.
    Where released groups are larger, somebody was short of values, and the attacker lists who may have been: the
    evidence. Then they weigh every way to spread the values of a released group over its rows that fits a reason.

    The baseline is the best guess of somebody who does not know the method: the most frequent value of the released
    group. A conclusion is certain if no other value fits.

    Parameters
    ----------
    l : int, at least 2
    """

    def __init__(self, l: int = 2) -> None:
        self.l = l

    def run(self, released: Ints, values: Ints, evidence: Sequence[Evidence]) -> Inferred:
        """Attack one confidential column.

        `released` is the released group of each row; `values` are codes from 0, -1 for a missing one.
        """
        least = check_count(self.l, "l", 2)
        known_values = np.flatnonzero(values >= 0)
        n_values = int(values.max(initial=0)) + 1
        majority = np.zeros(len(values))
        for rows in _rows_of(released, known_values):
            counts = np.bincount(values[rows], minlength=n_values)
            majority[rows] = _chances(np.tile(counts / len(rows), (len(rows), 1)), values[rows])
        chances = majority.copy()
        joined = certain = right = 0
        for joined_crowds in evidence:
            crowds = [rows[values[rows] >= 0] for rows in joined_crowds.crowds]
            weighed = _weigh(crowds, joined_crowds.reasons, [values[rows] for rows in crowds], least)
            for rows, (codes, posterior, possible) in zip(crowds, weighed, strict=True):
                joined += len(rows)
                code = np.searchsorted(codes, values[rows])
                chances[rows] = _chances(posterior, code)
                sure = possible.sum(axis=1) == 1
                certain += int(sure.sum())
                right += int(possible[sure, code[sure]].sum())
        rate = rate_of("minimality", chances[known_values], float(majority[known_values].mean()))
        return Inferred(rate, joined, certain, right)


def _rows_of(groups: Ints, rows: Ints) -> list[Ints]:
    order = rows[np.argsort(groups[rows], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _weigh(
    crowds: list[Ints], reasons: tuple[tuple[tuple[Ints, ...], ...], ...], values: list[Ints], least: int
) -> list[tuple[Ints, Floats, NDArray[np.bool_]]]:
    """Of each crowd its values, how likely each is for every row, and whether it is possible at all."""
    codes, counts = zip(*(np.unique(column, return_counts=True) for column in values), strict=True)
    worlds = list(_worlds(crowds, reasons, codes, counts, least))
    listed = comb(len(np.unique(np.concatenate(codes))), least - 1) <= MOST_SETS
    posterior = [np.zeros((len(rows), len(code))) for rows, code in zip(crowds, codes, strict=True)]
    possible = [np.zeros(part.shape, dtype=np.bool_) for part in posterior]
    total = logsumexp([world.weight for world in worlds]) if worlds else 0.0
    for world in worlds:
        for crowd, sets in enumerate(world.sets):
            inside = np.isin(codes[crowd], world.short_of)
            among = [np.where(part, counts[crowd], 0) for part in (inside, ~inside)]
            shares = [part / max(int(part.sum()), 1) for part in among]
            for short, weight in sets:
                free = len(crowds[crowd]) - int(short.sum())
                others = int(among[1].sum()) / max(free, 1)
                elsewhere = (1.0 - others) * shares[0] + others * shares[1]
                chance = np.where(short[:, None], shares[0], elsewhere)
                posterior[crowd] += np.exp(world.weight + weight - total) * chance
                possible[crowd] |= chance > 0
    for crowd, part in enumerate(posterior):
        if not worlds:  # no reason fits: nothing is learned
            part[:] = counts[crowd] / counts[crowd].sum()
        if not worlds or not listed:
            possible[crowd][:] = True
    return list(zip(codes, posterior, possible, strict=True))


@dataclass(frozen=True)
class _World:
    """Rows with only these values, for a reason; of each crowd which rows, with the logarithm of each set's chance."""

    weight: float  # logarithm of the number of ways
    short_of: Ints
    sets: list[list[tuple[NDArray[np.bool_], float]]]


def _worlds(
    crowds: list[Ints],
    reasons: tuple[tuple[tuple[Ints, ...], ...], ...],
    codes: Sequence[Ints],
    counts: Sequence[Ints],
    least: int,
) -> Iterator[_World]:
    """Every reason with every set of l - 1 values that fits."""
    masks = [
        [[np.isin(rows, rows_short) for rows_short in sets] for rows, sets in zip(crowds, reason, strict=True)]
        for reason in reasons
    ]
    for only in _value_sets(codes, counts, least - 1):
        others = [int(count[~np.isin(code, only)].sum()) for code, count in zip(codes, counts, strict=True)]
        for reason in masks:
            weight, sets = 0.0, []
            for other, mine in zip(others, reason, strict=True):
                fitting = [
                    (short, float(log_choose(int(np.sum(~short)), other))) for short in mine if np.sum(~short) >= other
                ]
                if not fitting:
                    break
                total = float(logsumexp([ways for _, ways in fitting]))
                weight += total
                sets.append([(short, ways - total) for short, ways in fitting])
            else:
                yield _World(weight, only, sets)


def _value_sets(codes: Sequence[Ints], counts: Sequence[Ints], size: int) -> Iterator[Ints]:
    """All sets of this size; if there are too many, those of the most frequent values."""
    there = np.unique(np.concatenate(codes))
    total = np.zeros(len(there), dtype=np.int64)
    for code, count in zip(codes, counts, strict=True):
        total[np.searchsorted(there, code)] += count
    frequent = there[np.argsort(-total, kind="stable")]
    while comb(len(frequent), size) > MOST_SETS and len(frequent) > size + 1:
        frequent = frequent[:-1]
    for values in combinations(frequent.tolist(), min(size, len(frequent))):
        yield np.array(values, dtype=np.int64)


def _chances(shares: Floats, values: Ints) -> Floats:
    """The chance of each row that its likeliest value is the right one; of equally likely ones one is picked."""
    likeliest = shares >= shares.max(axis=1, keepdims=True) - EQUAL
    picked: Floats = likeliest[np.arange(len(values)), values] / likeliest.sum(axis=1)
    return picked
