"""Groups that were published go on when records leave: their rows stay, and what became too small joins another group.

As in the dynamic index, a published row is never computed anew: two rows that differ by one record would tell it. A
group keeps its row while k of its records are left; fewer than k join, as a whole, the group with the nearest row and
take that row.

Where other columns are released as they are, the difference of two releases shows the values of whoever left. Then a
group loses nobody or at least k: others are withheld together with those who left, drawn at random, so that any of the
k may be the one. They must never come back, or who comes back would tell who was only withheld.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Followed", "follow"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Followed:
    """What becomes of records that were published."""

    old: Ints  # (n,) the group that published it
    kept: Mask  # (n,) the record is published again
    group: Ints  # (n,) by whose row, where it is
    companions: Mask  # (n,) stayed, and is withheld with those who left


def follow(
    groups: Ints,
    stays: Mask,
    k: int,
    distance: Callable[[int, Ints], Floats],
    *,
    enough: Callable[[Mask], bool] = lambda members: True,
    shown: bool = False,
    random: np.random.Generator | None = None,
) -> Followed:
    """Go on from published groups, each of at least k records.

    Parameters
    ----------
    groups : (n,) the group of each published record, numbered from 0
    stays : (n,) whether the record is still there
    distance : from the published row of a group to those of others
    enough : whether records that shall share a row meet what else is promised
    shown : columns beside the protected ones are released as they are
    random : draws the companions; a new secret seed unless given

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.microaggregation.following import follow
    >>> rows = np.array([10.0, 21.0, 30.0])
    >>> stays = np.array([True, True, True, True, True, False])
    >>> follow(np.array([0, 0, 1, 1, 2, 2]), stays, 2, lambda one, others: abs(rows[others] - rows[one])).group.tolist()
    [0, 0, 1, 1, 1, 1]
    """
    kept = stays.copy()
    if shown:
        kept &= ~_companions(groups, stays, k, enough, random or np.random.default_rng())
    group = groups.copy()
    lost = np.bincount(groups[~kept], minlength=int(groups.max(initial=-1)) + 1) > 0

    def short(one: int) -> bool:
        members = kept & (group == one)
        return int(members.sum()) < k or not enough(members)

    alive = np.unique(group[kept])
    waiting = [one for one in alive.tolist() if short(one)]
    while waiting:
        one = waiting.pop(0)
        others = alive[alive != one]
        sound = others[~np.isin(others, waiting)]
        # Where values are shown, what came and what went must not be mixed up in one row.
        choices = (sound[~lost[sound]],) if shown else (sound, others)
        choice = next((some for some in choices if len(some)), None)
        alive = others
        if choice is None:  # nobody to hide among: nothing may be published of them
            kept &= group != one
            continue
        nearest = int(choice[np.argmin(distance(one, choice))])
        group[group == one] = nearest
        if nearest in waiting and not short(nearest):
            waiting.remove(nearest)
    return Followed(groups, kept, group, stays & ~kept)


def _companions(groups: Ints, stays: Mask, k: int, enough: Callable[[Mask], bool], random: np.random.Generator) -> Mask:
    """Records to withhold so that of each group nobody is gone, or at least k who meet what else is promised."""
    chosen = np.zeros(len(groups), dtype=bool)
    for one in np.unique(groups[~stays]).tolist():
        members = groups == one
        gone = members & ~stays
        for record in random.permutation(np.flatnonzero(members & stays)).tolist():
            if int(gone.sum()) >= k and enough(gone):
                break
            gone[record] = chosen[record] = True
    return chosen
