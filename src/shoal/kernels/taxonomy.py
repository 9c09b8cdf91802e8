"""Pairs of concepts in a taxonomy: their deepest common subsumer and their Wu-Palmer distance.

A concept's ancestors are a sorted run of `ancestors`, with the links up to each in `links`: two runs are merged.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.threads import runs, side_by_side


@njit(cache=True, nogil=True)
def _meet(indptr: Ints, ancestors: Ints, links: Ints, depth: Ints, a: int, b: int) -> tuple[int, int]:
    """The deepest common subsumer and the links from both up to it; ties to fewer links, then to the lower number."""
    i, i_end = indptr[a], indptr[a + 1]
    j, j_end = indptr[b], indptr[b + 1]
    best = -1
    best_depth = 0
    best_links = 0
    while i < i_end and j < j_end:
        if ancestors[i] < ancestors[j]:
            i += 1
        elif ancestors[i] > ancestors[j]:
            j += 1
        else:
            concept = ancestors[i]
            both = links[i] + links[j]
            if depth[concept] > best_depth or (depth[concept] == best_depth and both < best_links):
                best = concept
                best_depth = depth[concept]
                best_links = both
            i += 1
            j += 1
    return best, best_links


def wu_palmer_distances(indptr: Ints, ancestors: Ints, links: Ints, depth: Ints, a: Ints, b: Ints) -> Floats:
    """1 - Wu-Palmer similarity of every concept of a with every one of b."""
    distances = np.empty((len(a), len(b)))
    tree = indptr, ancestors, links, depth
    side_by_side(_distances, [(*tree, a[run], b, distances[run]) for run in runs(len(a))])
    return distances


def deepest_common(indptr: Ints, ancestors: Ints, links: Ints, depth: Ints, a: Ints, b: Ints) -> Ints:
    """The deepest common subsumer of every concept of a with every one of b."""
    subsumers = np.empty((len(a), len(b)), np.int64)
    tree = indptr, ancestors, links, depth
    side_by_side(_subsumers, [(*tree, a[run], b, subsumers[run]) for run in runs(len(a))])
    return subsumers


@njit(cache=True, nogil=True)
def _distances(indptr: Ints, ancestors: Ints, links: Ints, depth: Ints, a: Ints, b: Ints, distances: Floats) -> None:
    for row in range(a.shape[0]):
        for column in range(b.shape[0]):
            concept, both = _meet(indptr, ancestors, links, depth, a[row], b[column])
            # 1 - 2d / (l + 2d) as one division: 0 is exactly 0, and the order of the two plays no part.
            distances[row, column] = both / (both + 2 * depth[concept])


@njit(cache=True, nogil=True)
def _subsumers(indptr: Ints, ancestors: Ints, links: Ints, depth: Ints, a: Ints, b: Ints, subsumers: Ints) -> None:
    for row in range(a.shape[0]):
        for column in range(b.shape[0]):
            subsumers[row, column] = _meet(indptr, ancestors, links, depth, a[row], b[column])[0]
