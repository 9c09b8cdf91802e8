"""What is asked of every group, checked before anything is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.results.promised import DISTINCT, DIVERSITIES, ENTROPY, RECURSIVE, GroupPromises

__all__ = ["PROMISES", "checked_promises"]

PROMISES = ("diversity", "c", "t", "person", "k_column")  # options of `protect` beside l


def checked_promises(
    l: Any = None, *, diversity: Any = DISTINCT, c: Any = None, t: Any = None, person: Any = None, k_column: Any = None
) -> GroupPromises:
    """The promises, if there can be such; what they need of the data is seen later."""
    if diversity not in DIVERSITIES:
        raise InputError(f"diversity={diversity!r} is not known; use one of {', '.join(DIVERSITIES)}")
    if diversity != DISTINCT and l is None:
        raise InputError(f"diversity={diversity!r} needs l, such as --l 2; give it, or leave diversity out")
    if l is not None and diversity == ENTROPY:
        if not _is_number(l) or not 1 < l < 1e9:
            raise InputError(f"l={l!r} must be a number above 1, since it is counted by entropy")
    elif l is not None and (not isinstance(l, int | np.integer) or isinstance(l, bool) or l < 2):
        raise InputError(f"l={l!r} must be a whole number of at least 2; raise it, or leave it out")
    if (diversity == RECURSIVE) != (c is not None):
        raise InputError(
            "diversity='recursive' needs c, such as --c 3; give it"
            if c is None
            else f"c={c!r} is for diversity='recursive'; ask for that, or leave c out"
        )
    if c is not None and (not _is_number(c) or not 0 < c < 1e9):
        raise InputError(f"c={c!r} must be a number above 0")
    if t is not None and (not _is_number(t) or not 0 < t <= 1):
        raise InputError(f"t={t!r} must be a number above 0 and at most 1")
    for name, column in (("person", person), ("k_column", k_column)):
        if column is not None and (not isinstance(column, str) or not column.strip()):
            raise InputError(f"{name}={column!r} names no column; give the name of one")
    whole = l is None or diversity == ENTROPY
    return GroupPromises(
        l=None if l is None else float(l) if whole else int(l),
        diversity=diversity,
        c=None if c is None else float(c),
        t=None if t is None else float(t),
        person=person,
        k_column=k_column,
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool) and value == value
