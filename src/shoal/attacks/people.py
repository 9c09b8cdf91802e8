"""The intersection over a person's rows: who carries all the published rows that somebody carries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from shoal.attacks.rates import rate_of
from shoal.kernels import Ints
from shoal.language import N_, sayable
from shoal.results.attacks import IntersectedPeople, Rate

ROUNDING = 1e-12  # products that are nearer to each other are equal


class PeopleIntersection:
    """Look up all rows of a person, and see who else has all of them.

    The attacker knows the quasi-identifiers of a person in all of that person's rows, finds the group of each, and
    keeps the people who have a row in every one of these groups. A confidential column that is the same in all rows of
    a person must have that value in all of these groups: the attacker guesses the one that fits them all best.

    The baselines look up one of the person's groups only.

    Parameters
    ----------
    k : int, the people that are promised

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.attacks.people import PeopleIntersection
    >>> person, group = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
    >>> found = PeopleIntersection(k=2).run(person, group, {})
    >>> found.smallest, found.exposed.rate, found.exposed.baseline
    (1, 0.3333333333333333, 0.0)
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def run(self, person_of_row: Ints, group_of_row: Ints, constants: Mapping[str, Ints]) -> IntersectedPeople:
        """`constants` are codes of confidential columns, of which those are guessed that are constant in people."""
        groups_of, people_of = _lookup(person_of_row, group_of_row), _lookup(group_of_row, person_of_row)
        left = np.array([len(set.intersection(*(people_of[g] for g in groups))) for groups in groups_of.values()])
        of_one = [np.mean([len(people_of[group]) < self.k for group in groups]) for groups in groups_of.values()]
        guesses = (
            _guessed(name, values, person_of_row, group_of_row)
            for name, values in constants.items()
            if len(np.unique(np.column_stack([person_of_row, values]), axis=0)) == len(groups_of)
        )
        return IntersectedPeople(
            k=self.k,
            people=len(groups_of),
            smallest=int(left.min()),
            alone=int(np.sum(left == 1)),
            exposed=rate_of(N_("people below k"), (left < self.k).astype(np.float64), float(np.mean(of_one))),
            constants=tuple(guess for guess in guesses if guess is not None),
        )


def _lookup(keys: Ints, values: Ints) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        found.setdefault(key, set()).add(value)
    return found


def _guessed(about: str, values: Ints, person_of_row: Ints, group_of_row: Ints) -> Rate | None:
    """How often the value of people in two or more groups is guessed; None if there are no such people.

    The attacker knows how many rows everybody has in a group: several rows of one person are one piece of evidence, and
    a value that fewer rows of the group have than the person is not the person's.
    """
    rows = list(zip(group_of_row.tolist(), person_of_row.tolist(), values.tolist(), strict=True))
    people: dict[int, Counter[int]] = {}  # with each value, by group
    for group, _, value in set(rows):
        people.setdefault(group, Counter())[value] += 1
    carried = Counter((group, person) for group, person, _ in rows)
    shown = Counter((group, value) for group, _, value in rows)
    own = {person: value for _, person, value in rows}
    right, of_one = [], []
    for person, groups in _lookup(person_of_row, group_of_row).items():
        if len(groups) > 1:
            seen = [
                Counter({v: n for v, n in people[g].items() if shown[g, v] >= carried[g, person]})
                for g in sorted(groups)
            ]
            right.append(_chance(seen, own[person]))
            of_one.append(np.mean([_chance([one], own[person]) for one in seen]))
    if not right:
        return None
    return rate_of(sayable("{column} by all groups of a person", column=about), np.array(right), float(np.mean(of_one)))


def _chance(groups: Sequence[Counter[int]], own: int) -> float:
    """The chance that the value that fits all groups best, one at random where several do, is the person's own.

    Values that fit equally well are equally likely to an attacker who knows no more, whichever they name: the mean over
    all ways to break the tie is what they find, and no order of rows or values can change it.
    """
    fits = {value: math.prod(counts[value] / counts.total() for counts in groups) for value in groups[0]}
    best = [value for value, fit in fits.items() if fit >= max(fits.values()) * (1.0 - ROUNDING)]
    return (own in best) / len(best)
