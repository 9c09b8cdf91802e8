"""Distinct l-diversity: groups are merged until each has at least l different confidential values.

k-anonymity hides who is who, not what a whole group has in common. Merging keeps k and costs information.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.errors import InputError

__all__ = ["merge_until_diverse"]

Ints = NDArray[np.int64]


def merge_until_diverse(
    groups: Ints,
    values: Sequence[Ints],
    least: int,
    distance_to_groups: Callable[[Ints], NDArray[np.float64]],
) -> Ints:
    """Merge each group that has fewer than `least` values with the nearest ones that bring it another.

    `values` are the confidential columns as codes 0, 1, ..., -1 for a missing value, which counts for nothing;
    `distance_to_groups(rows)` gives the distance of the centre of these rows to every group as it came in. Returns the
    group of each row, numbered anew.
    """
    for column, codes in enumerate(values):
        there = len(set(codes.tolist()) - {-1})
        if there < least:
            raise InputError(f"l={least} needs {least} different values, confidential column {column + 1} has {there}")
    n_groups = int(groups.max()) + 1
    rows_of = _rows_of(groups)
    cluster_of = np.arange(n_groups)  # a cluster is named by one of the groups merged in it
    has = [[set(codes[rows].tolist()) - {-1} for rows in rows_of] for codes in values]

    for group in range(n_groups):
        progress.step("merging groups", group + 1, n_groups)
        cluster = int(cluster_of[group])
        while any(len(has_values[cluster]) < least for has_values in has):
            needy = next(has_values for has_values in has if len(has_values[cluster]) < least)
            distance = distance_to_groups(rows_of[cluster])
            for other in np.argsort(distance, kind="stable").tolist():
                partner = int(cluster_of[other])
                if partner != cluster and not needy[partner] <= needy[cluster]:
                    break
            rows_of[cluster] = np.sort(np.concatenate((rows_of[cluster], rows_of[partner])))
            for has_values in has:
                has_values[cluster] |= has_values[partner]
            cluster_of[cluster_of == partner] = cluster
    _, numbered = np.unique(cluster_of, return_inverse=True)
    merged: Ints = numbered[groups].astype(np.int64)
    return merged


def _rows_of(groups: Ints) -> list[Ints]:
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    return list(np.split(order, ends))
