"""Groups that were published go on when records leave: their rows stay, and what became too small joins another group.

As in the dynamic index, a published row is never computed anew: two rows that differ by one record would reveal it. A
group keeps its row while k of its records are left; fewer than k join, as a whole, the group with the nearest row and
take that row.

Where other columns are released as they are, the difference of two releases shows the values of records that left, and
the old and new values of records that changed. So a group loses no record or at least k: others, drawn at random, are
withheld together with those that left, so that any of the k may be the one. They must never come back, or their return
would reveal who was only withheld. Records whose values changed stay in their group if they are at least k; fewer count
as having left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TRIES = 1_000  # of drawing companions with different enough values; then a whole group is withheld


@dataclass(frozen=True)
class ReleasedValues:
    """Values that are released as they are, before and now."""

    changed: Mask  # (n,) the record is still there, and its values are others
    enough: Callable[[Mask], bool] = lambda members: True  # the values before meet what is promised of a group
    enough_now: Callable[[Mask], bool] = lambda members: True  # the present ones do
    in_place: Callable[[Mask, Mask], bool] = lambda left, changed: True  # changing these values reveals none of them
    companions: int = 0  # fewest to withhold, so that any record that leaves is hidden among values that are `enough`


@dataclass(frozen=True)
class Followed:
    """What becomes of records that were published."""

    old: Ints  # (n,) the group that published it
    kept: Mask  # (n,) the record is published again
    group: Ints  # (n,) the group whose row publishes it
    withheld: Mask  # (n,) is still there, and is not


def follow(
    groups: Ints,
    stays: Mask,
    k: int,
    distance: Callable[[int, Ints], Floats],
    *,
    shown: ReleasedValues | None = None,
    random: np.random.Generator | None = None,
) -> Followed:
    """Go on from published groups, each of at least k records.

    Parameters
    ----------
    groups : (n,) the group of each published record, numbered from 0
    stays : (n,) whether the record is still there
    distance : from the published row of a group to those of others
    shown : what is released as it is beside the protected columns; None: nothing is
    random : draws the companions; a new secret seed unless given

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.methods.following import follow
    >>> rows = np.array([10.0, 21.0, 30.0])
    >>> stays = np.array([True, True, True, True, True, False])
    >>> follow(np.array([0, 0, 1, 1, 2, 2]), stays, 2, lambda one, others: abs(rows[others] - rows[one])).group.tolist()
    [0, 0, 1, 1, 1, 1]
    """
    kept = stays if shown is None else _kept_with_values(groups, stays, k, shown, random or np.random.default_rng())
    group = groups.copy()
    differs = ~kept if shown is None else ~kept | shown.changed
    lost = np.bincount(groups[differs], minlength=int(groups.max(initial=-1)) + 1) > 0

    def short(small: int) -> bool:
        members = kept & (group == small)
        return int(members.sum()) < k or not (shown is None or shown.enough_now(members))

    alive = np.unique(group[kept])
    waiting = [small for small in alive.tolist() if short(small)]
    while waiting:
        small = waiting.pop(0)
        others = alive[alive != small]
        sound = others[~np.isin(others, waiting)]
        # Where values are shown, what came and what went must not be mixed up in one row.
        choices = (sound, others) if shown is None else (sound[~lost[sound]],)
        choice = next((candidates for candidates in choices if len(candidates)), None)
        alive = others
        if choice is None:  # no group to hide in: these records are withheld
            kept = kept & (group != small)
            continue
        nearest = int(choice[np.argmin(distance(small, choice))])
        group[group == small] = nearest
        if nearest in waiting and not short(nearest):
            waiting.remove(nearest)
    return Followed(groups, kept, group, stays & ~kept)


def _kept_with_values(groups: Ints, stays: Mask, k: int, shown: ReleasedValues, random: np.random.Generator) -> Mask:
    """Who is published again, so that of each group no values vanish or those of a crowd."""
    kept = stays.copy()
    for number in np.unique(groups[~stays | shown.changed]).tolist():
        members = groups == number
        left, changed = members & ~stays, members & shown.changed
        if int(changed.sum()) >= k and shown.in_place(left, changed):
            continue  # old values vanish by the crowd, and new ones come in their place
        left |= changed
        kept &= ~left & ~_companions(left, members & ~left, k, shown, random)
    return kept


def _companions(left: Mask, others: Mask, k: int, shown: ReleasedValues, random: np.random.Generator) -> Mask:
    """Others of a group, to withhold together with those who left.

    How many depends on the number of those who left alone, and every draw with different enough values is as likely as
    any other: else the draw would reveal the values of those who left.
    """
    candidates = np.flatnonzero(others)
    count = max(k - int(left.sum()), shown.companions)
    for _ in range(TRIES if count < len(candidates) else 0):
        chosen = np.zeros(len(left), dtype=bool)
        chosen[random.choice(candidates, count, replace=False)] = True
        if shown.enough(left | chosen):
            return chosen
    return others
