"""Distinct values with their counts: where to cut them into classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_last_classes"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def best_last_classes(values: Floats, counts: Ints, k: int) -> Ints:
    """For the first 1, 2, ... of the rising values: where the last class starts when they are cut at the least error.

    A class is a run of values with at least k records in all; the error is the squared distance of its records to their
    mean. -1 where there are fewer than k records. Of starts equally good the last is taken.

    A class that can be cut into two of k records is no better than the two. So, once the class has its k records, fewer
    than k more are tried in front of them: that bounds the inner loop, whatever the counts are.
    """
    n_values = values.shape[0]
    cost = np.full(n_values + 1, np.inf)
    cost[0] = 0.0
    start_of_last = np.full(n_values, -1, np.int64)
    for end in range(1, n_values + 1):
        records = 0
        in_front = 0
        mean = 0.0
        error = 0.0
        for start in range(end - 1, -1, -1):
            if records >= k:
                in_front += counts[start]
                if in_front >= k:
                    break
            # The error grows value by value: nothing large is subtracted, so that far values do not drown near ones.
            difference = values[start] - mean
            share = counts[start] / (records + counts[start])
            error += difference * difference * records * share
            mean += difference * share
            records += counts[start]
            if records >= k and cost[start] + error < cost[end]:
                cost[end] = cost[start] + error
                start_of_last[end - 1] = start
    return start_of_last
