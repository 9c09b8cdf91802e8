"""Confidential values of people with equal keys: l, t, α, β and δ, as promises and pyCANON define them.

A record without a value is left out. Sources: docs/audit.md.
"""

from __future__ import annotations

import numpy as np

from shoal.assessment.audit.key_columns import Ints, Keys
from shoal.promises.closeness import largest_distance
from shoal.results.audit import ConfidentialValues


def confidential_values(
    column: str, keys: Keys, codes: Ints, ordered: bool, person: Ints | None = None
) -> ConfidentialValues | None:
    """What a column's values reveal; `codes` are 0 for a gap, else ranks from 1 on. None where there is no value.

    With `person`, a value counts once for each person who has it with this key.
    """
    known = codes > 0
    missing = int(np.count_nonzero(~known))
    if person is not None:
        known &= keys.divided(codes).divided(person).first_rows
    if not known.any():
        return None
    values = np.unique(codes[known], return_inverse=True)[1].astype(np.int64)
    groups = np.unique(keys.of_row[known], return_inverse=True)[1].astype(np.int64)
    n_values = int(values.max()) + 1
    entries, count = np.unique(groups * n_values + values, return_counts=True)  # by group, then by value
    group, value = entries // n_values, entries % n_values
    share = count / np.bincount(group, count)[group]
    overall = np.bincount(values) / len(values)
    distinct = np.bincount(group)
    entropy = np.bincount(group, -share * np.log(share))
    gain = float(np.max(share / overall[value])) - 1.0
    l = int(distinct.min())
    return ConfidentialValues(
        column=column,
        distinct_l=l,
        entropy_l=float(np.exp(entropy.min())),
        recursive_c=None if l < 2 else _recursive(group, count, l),
        t=largest_distance(group, value, count, ordered),
        alpha=float(share.max()),
        beta=gain,
        enhanced_beta=min(gain, float(-np.log(overall.min()))),
        delta=float(np.max(np.abs(np.log(share / overall[value])))),
        ordered=ordered,
        missing=missing,
    )


def _recursive(group: Ints, count: Ints, l: int) -> float:
    """The most frequent value by all from the l-th on, the largest of any group."""
    order = np.lexsort((-count, group))
    group, count = group[order], count[order]
    first = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    rank = np.arange(len(group)) - first[group]
    rest = np.bincount(group, np.where(rank >= l - 1, count, 0))
    return float(np.max(count[first] / rest))
