"""Coarsening: the values of one column, masked already, aggregated once more in larger classes.

Source: Hansen and Mukherjee (2003) for the exact cut of one sorted attribute; here of its distinct values with their
counts, so that equal values stay equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.grouping import euclidean as kernel
from shoal.methods.estimator import check_k

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST = 1e300  # differences of larger numbers may overflow


def coarsened(values: Any, k: int) -> Floats:
    """Each value replaced by the mean of its class of at least k, the classes cut at the least squared error.

    A class is a run of the sorted values and has all that are equal: rows that were alike stay alike. The order of the
    values has no bearing on what each becomes.

    Parameters
    ----------
    values : (n,) numbers
    k : int, at least 2 and at most n

    Examples
    --------
    >>> from shoal.methods import coarsened
    >>> coarsened([1, 2, 9, 9, 9, 30, 40], k=2).tolist()
    [1.5, 1.5, 9.0, 9.0, 9.0, 35.0, 35.0]
    """
    numbers = _numbers(values)
    k = check_k(k, len(numbers))
    distinct, value_of_row, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    # To at most 1 by a power of two: squares neither overflow nor vanish.
    unit = np.ldexp(distinct, -np.frexp(np.abs(distinct).max())[1])
    edges = _edges(kernel.best_last_classes(unit, counts, k))
    class_of_value = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    sizes = np.bincount(class_of_value, weights=counts)
    lowest, highest = distinct[edges[:-1]], distinct[edges[1:] - 1]
    # Counted from the lowest value of the class: a value alone stays as it is, and the means rise with the classes.
    above = (distinct - lowest[class_of_value]) * (counts / sizes[class_of_value])
    means = np.minimum(lowest + np.bincount(class_of_value, weights=above), highest)
    coarse: Floats = means[class_of_value][value_of_row]
    return coarse


def _numbers(values: Any) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("only numbers can be coarsened, and some values are none; correct or drop them") from None
    if numbers.ndim != 1:
        raise InputError(f"values of shape {numbers.shape} are not one column; coarsen each column on its own")
    bad = np.flatnonzero(~(np.abs(numbers) < LARGEST))
    if len(bad):
        raise InputError(
            f"values that are missing, infinite or beyond {LARGEST:g}: {len(bad)} (first in row {bad[0] + 1}); "
            "fill them, rescale the column or drop the rows"
        )
    return numbers


def _edges(start_of_last: Ints) -> Ints:
    """From the start of each last class back to the first value: [0, ..., number of values]."""
    edges = [len(start_of_last)]
    while edges[-1] > 0:
        edges.append(int(start_of_last[edges[-1] - 1]))
    return np.array(edges[::-1])
