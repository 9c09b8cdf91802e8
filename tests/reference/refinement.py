"""Slow, obviously right twins of the search's kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def worth(X, groups, spherical):
    """Σ over groups of |sum| on the sphere, of |sum|² / size else."""
    total = 0.0
    for group in sorted(set(groups)):
        rows = X[np.array(groups) == group]
        length = float(np.linalg.norm(rows.sum(axis=0)))
        total += length if spherical else length**2 / len(rows)
    return total


def error(X, groups, spherical):
    """SSE of a partition; the rows have unit length on the sphere."""
    return float(np.sum(X**2)) - worth(X, groups, spherical)


def partitions(n_rows: int, k: int) -> Iterator[list[int]]:
    """Every partition of rows 0 to n_rows - 1 into groups of at least k, as the group of each row."""

    def extend(groups: list[int], sizes: list[int]) -> Iterator[list[int]]:
        missing = sum(max(0, k - size) for size in sizes)
        if missing > n_rows - len(groups):
            return
        if len(groups) == n_rows:
            yield list(groups)
            return
        for group in range(len(sizes) + 1):
            sizes_then = [*sizes, 1] if group == len(sizes) else [s + (g == group) for g, s in enumerate(sizes)]
            yield from extend([*groups, group], sizes_then)

    yield from extend([], [])


def least_error(X, k, spherical):
    """SSE of the best of all partitions."""
    return min(error(X, groups, spherical) for groups in partitions(len(X), k))


def better_by_one_step(X, groups, k, spherical):
    """Whether moving one record or swapping two, sizes from k to 2k - 1, raises the worth noticeably."""
    now = worth(X, groups, spherical)
    n_groups = max(groups) + 1
    for one in range(len(groups)):
        for other in range(n_groups):
            moved = [*groups]
            moved[one] = other
            sizes = np.bincount(moved, minlength=n_groups)
            if sizes.min() >= k and sizes.max() < 2 * k and worth(X, moved, spherical) > now + 1e-8:
                return True
        for two in range(one):
            swapped = [*groups]
            swapped[one], swapped[two] = groups[two], groups[one]
            if worth(X, swapped, spherical) > now + 1e-8:
                return True
    return False
