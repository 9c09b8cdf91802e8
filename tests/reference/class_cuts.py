"""Classes of distinct values by trying every cut, without rounding."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, groupby, pairwise


def all_classes(values: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every way to cut the sorted values, equal ones together, into classes of at least k."""
    runs = [list(equal) for _, equal in groupby(sorted(values))]
    for n_cuts in range(len(runs)):
        for cuts in combinations(range(1, len(runs)), n_cuts):
            classes = [list(chain(*runs[start:end])) for start, end in pairwise([0, *cuts, len(runs)])]
            if all(len(one) >= k for one in classes):
                yield classes


def mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def error(classes: list[list[int]]) -> Fraction:
    """Squared distance of all values to the mean of their class."""
    return sum((sum((value - mean(one)) ** 2 for value in one) for one in classes), Fraction(0))


def least_error(values: list[int], k: int) -> Fraction:
    return min(error(classes) for classes in all_classes(values, k))
