"""Minimality: what it tells that groups were joined for the sake of diversity, and not more than was needed.

Source: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

from shoal.errors import InputError
from shoal.results import Inferred
from shoal.risk.rates import check_count, rate_of

__all__ = ["MinimalityAttack"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SURE = 1e-9  # a chance that near to 0 or 1 is a rounding


class MinimalityAttack:
    """Conclude confidential values from which groups were joined.

    The attacker knows everybody's quasi-identifiers, the method and its parameters, and repeats the grouping without l:
    `plain` groups. The released groups are made of those. A plain group that was joined to another had fewer than l
    values, or was one of the few that are joined without need. With that the attacker weighs every way in which the
    values of a released group can be spread over its plain groups: one of them had l values and took the others in,
    and it was the nearest that any of those could go to. Groups that were left alone are known to have had l values.

    The baseline is the best guess of somebody who does not know the method: the most frequent value of the released
    group. A conclusion is certain if no other value is possible.

    Parameters
    ----------
    l : int, at least 2
    unneeded : float, chance that a group with l values is joined to another all the same; 0: only where needed
    """

    def __init__(self, l: int = 2, unneeded: float = 0.0) -> None:
        self.l = l
        self.unneeded = unneeded

    def run(self, plain: Ints, released: Ints, values: Ints, distance_to_groups: Callable[[Ints], Floats]) -> Inferred:
        """Attack one confidential column.

        `plain` and `released` are the group of each row, numbered from 0; `values` are codes from 0, -1 for a missing
        one; `distance_to_groups(rows)` is the distance of the centre of these rows to every plain group.
        """
        least = check_count(self.l, "l", 2)
        if not 0 <= self.unneeded < 1:
            raise InputError(f"unneeded={self.unneeded!r} must be a chance of at least 0 and below 1")
        crowds = _crowds(plain, released, values)
        near = _Nearness(plain, distance_to_groups)
        self._find_hosts(crowds, near)

        told = np.flatnonzero(values >= 0)
        chances, by_majority = np.zeros(len(values)), np.zeros(len(values))
        certain = right = 0
        for crowd in crowds:
            shares = crowd.shares()
            by_majority[crowd.told] = _chances(shares[None, :], crowd.values)
            if len(crowd.groups) == 1:
                chances[crowd.told] = by_majority[crowd.told]
                continue
            posterior, known = _posterior(crowd, least, self.unneeded)
            chances[crowd.told] = _chances(posterior[crowd.place], crowd.values)
            sure = known[crowd.place]
            certain += int(np.sum(sure >= 0))
            right += int(np.sum(sure[sure >= 0] == crowd.values[sure >= 0]))
        rate = rate_of("minimality", chances[told], float(by_majority[told].mean()))
        joined = int(sum(len(crowd.told) for crowd in crowds if len(crowd.groups) > 1))
        return Inferred(rate, joined, certain, right)

    def _find_hosts(self, crowds: list[_Crowd], near: _Nearness) -> None:
        """Which plain groups of a crowd can have taken the others in; a host found out rules out others elsewhere."""
        known = {crowd.groups[0]: crowd.leading() for crowd in crowds if len(crowd.groups) == 1}
        open_crowds = [crowd for crowd in crowds if len(crowd.groups) > 1]
        before = -1
        while len(known) > before:
            before = len(known)
            for crowd in open_crowds:
                if self.unneeded:
                    crowd.may_host = near.nearest_hosts(crowd, known)
                    if crowd.may_host.sum() == 1:
                        known[crowd.groups[int(np.argmax(crowd.may_host))]] = crowd.leading()
                else:
                    crowd.may_host, crowd.may_lack_a_host = near.hosts_where_needed(crowd, known)


@dataclass
class _Crowd:
    """A released group: what the attacker knows of it, and the values, which only the score looks at row by row."""

    groups: list[int]  # plain ones
    sizes: Ints  # rows with a value, by plain group
    told: Ints  # rows with a value
    place: Ints  # of each of them, its plain group's place in `groups`
    values: Ints  # of each of them
    counts: Ints  # rows by value
    may_host: Bools
    may_lack_a_host: bool = False

    def shares(self) -> Floats:
        total: Floats = self.counts / max(int(self.counts.sum()), 1)
        return total

    def leading(self) -> frozenset[int]:
        """The most frequent values."""
        return frozenset(np.flatnonzero(self.counts == self.counts.max()).tolist())


def _crowds(plain: Ints, released: Ints, values: Ints) -> list[_Crowd]:
    n_values = int(values.max(initial=0)) + 1
    order = np.argsort(released, kind="stable")
    found = []
    for rows in np.split(order, np.cumsum(np.bincount(released))[:-1]):
        groups, place = np.unique(plain[rows], return_inverse=True)
        told = values[rows] >= 0
        found.append(
            _Crowd(
                groups=groups.tolist(),
                sizes=np.bincount(place[told], minlength=len(groups)),
                told=rows[told],
                place=place[told],
                values=values[rows[told]],
                counts=np.bincount(values[rows[told]], minlength=n_values),
                may_host=np.ones(len(groups), dtype=np.bool_),
            )
        )
    return found


class _Nearness:
    """How far plain groups are from each other."""

    def __init__(self, plain: Ints, distance_to_groups: Callable[[Ints], Floats]) -> None:
        order = np.argsort(plain, kind="stable")
        self._rows = np.split(order, np.cumsum(np.bincount(plain))[:-1])
        self._distance = distance_to_groups
        self._found: dict[int, Floats] = {}

    def __getitem__(self, group: int) -> Floats:
        if group not in self._found:
            self._found[group] = self._distance(self._rows[group])
        return self._found[group]

    def nearest_hosts(self, crowd: _Crowd, known: dict[int, frozenset[int]]) -> Bools:
        """Everybody else in the crowd would have gone to a nearer host with the same leading value."""
        leading = crowd.leading()
        rivals = np.array([group for group, values in known.items() if values & leading], dtype=np.int64)
        farther = np.array([[self[group][host] for host in crowd.groups] for group in crowd.groups])
        if len(rivals):
            nearest = np.array([self[group][rivals].min() for group in crowd.groups])
            beaten = (farther > nearest[:, None]) & ~np.eye(len(farther), dtype=np.bool_)
            possible: Bools = ~beaten.any(axis=0)
            if possible.any():
                return possible
        return np.ones(len(crowd.groups), dtype=np.bool_)

    def hosts_where_needed(self, crowd: _Crowd, known: dict[int, frozenset[int]]) -> tuple[Bools, bool]:
        """Who looked for company found it in the crowd, nearer than any group that is known to have l values."""
        rivals = np.array(list(known), dtype=np.int64)
        sought = np.ones(len(crowd.groups), dtype=np.bool_)
        for place, group in enumerate(crowd.groups):
            others = [other for other in crowd.groups if other != group]
            if len(rivals):
                sought[place] = self[group][others].min() <= self[group][rivals].min()
        idle = int(np.sum(~sought))
        return (np.ones_like(sought) if not idle else ~sought if idle == 1 else np.zeros_like(sought)), idle <= 1


def _posterior(crowd: _Crowd, least: int, unneeded: float) -> tuple[Floats, Ints]:
    """The chance of each value, (plain groups, values), and the value that all rows of a group must have, or -1."""
    value = int(np.argmax(crowd.counts))
    others = np.delete(crowd.counts, value)
    short = _chance_to_be_short(others, int(crowd.sizes.max(initial=0)), least)
    ways, hosting = [], []
    for size in crowd.sizes.tolist():
        having = np.arange(size + 1)  # rows with the leading value
        weight = comb(size, having) * (comb(int(others.sum()), size - having) > 0)
        lacks = short[size - having, (having > 0).astype(np.int64)]
        ways.append(weight * (lacks + unneeded * (1.0 - lacks)))
        hosting.append(weight * (1.0 - lacks))
    if unneeded and np.sum(crowd.counts > 0) == 2:  # who joins has the same leading value as who takes in
        for size, one, other in zip(crowd.sizes.tolist(), ways, hosting, strict=True):
            one[: (size + 1) // 2] = other[: (size + 1) // 2] = 0.0
    chances = _spread(ways, hosting, crowd.may_host, crowd.may_lack_a_host, int(crowd.counts[value]))
    rest = others / max(int(others.sum()), 1)
    posterior = np.empty((len(chances), len(crowd.counts)))
    known = np.full(len(chances), -1, dtype=np.int64)
    only_other = int(np.flatnonzero(np.arange(len(crowd.counts)) != value)[np.argmax(rest)]) if len(rest) else -1
    for place, (size, chance) in enumerate(zip(crowd.sizes.tolist(), chances, strict=True)):
        share = float(chance @ np.arange(size + 1)) / max(size, 1)
        posterior[place] = np.insert((1.0 - share) * rest, value, share)
        if size and chance[size] > 1.0 - SURE:
            known[place] = value
        elif size and chance[0] > 1.0 - SURE and rest.max(initial=0.0) == 1.0:
            known[place] = only_other
    return posterior, known


def _chance_to_be_short(others: Ints, most: int, least: int) -> Floats:
    """That rows drawn from the other values have, with the leading value or without, fewer than l; (drawn, with)."""
    # Ways to draw so many rows (columns) with so many different values (rows), value by value.
    ways = np.zeros((least + 1, most + 1))
    ways[0, 0] = 1.0
    for count in others[others > 0].tolist():
        some = comb(count, np.arange(most + 1))
        some[0] = 0.0
        more = np.stack([np.convolve(row, some)[: most + 1] for row in ways])
        ways[1:] += more[:-1]
        ways[-1] += more[-1]  # l or more
    total = np.maximum(ways.sum(axis=0), np.finfo(float).tiny)
    without = ways[:least].sum(axis=0) / total
    beside = ways[: least - 1].sum(axis=0) / total
    return np.column_stack([without, beside])


def _spread(ways: list[Floats], hosting: list[Floats], may_host: Bools, no_host: bool, total: int) -> list[Floats]:
    """For each plain group the chance of every number of rows with the leading value, `total` in all; one is host."""
    ways, hosting = ([each / max(each.max(), 1e-300) for each in both] for both in (ways, hosting))
    nothing, one = np.zeros(1), np.ones(1)
    before = [(one, nothing)]  # (without host, with host) of the groups up to here
    after = [(one, nothing)]
    for forward in (True, False):
        sums = before if forward else after
        for place in range(len(ways)) if forward else reversed(range(len(ways))):
            alone, hosted = sums[-1]
            joined = np.convolve(hosted, ways[place])
            if may_host[place]:
                joined = _plus(joined, np.convolve(alone, hosting[place]))
            scale = max(float(joined.max()), float(np.convolve(alone, ways[place]).max()), 1e-300)
            sums.append((np.convolve(alone, ways[place]) / scale, joined / scale))
    after.reverse()
    chances = []
    for place in range(len(ways)):
        (left, left_hosted), (right, right_hosted) = before[place], after[place + 1]
        around = _plus(np.convolve(left, right_hosted), np.convolve(left_hosted, right))
        if no_host:
            around = _plus(around, np.convolve(left, right))
        weight = ways[place] * _at(around, total, len(ways[place]))
        if may_host[place]:
            weight = weight + hosting[place] * _at(np.convolve(left, right), total, len(ways[place]))
        if not weight.sum() > 0:  # nothing of what is known fits: any way is as good
            weight = ways[place] + hosting[place]
        chances.append(weight / weight.sum())
    return chances


def _plus(one: Floats, other: Floats) -> Floats:
    total = np.zeros(max(len(one), len(other)))
    total[: len(one)] += one
    total[: len(other)] += other
    return total


def _at(sums: Floats, total: int, n: int) -> Floats:
    """sums[total - 0], sums[total - 1], ..., n of them; 0 outside."""
    places = total - np.arange(n)
    inside = (places >= 0) & (places < len(sums))
    found: Floats = np.where(inside, sums[np.clip(places, 0, len(sums) - 1)], 0.0)
    return found


def _chances(shares: Floats, values: Ints) -> Floats:
    """The chance of each row that the likeliest value is its own; values equally likely are picked at random."""
    likeliest = shares >= shares.max(axis=1, keepdims=True) - SURE
    rows = np.arange(len(values)) if len(shares) > 1 or len(values) == 1 else np.zeros(len(values), dtype=np.int64)
    picked: Floats = likeliest[rows, values] / likeliest.sum(axis=1)[rows]
    return picked
