"""A taxonomy as arrays (concepts, parents, depths, all ancestors), and how far apart its concepts are.

A concept may have several parents; there is one root. The depth of a concept is the number of nodes on its *longest*
path from the root, the root at 1. So an ancestor is always shallower than its descendants, the deepest common subsumer
of two concepts has no other below it, and that of a concept with itself is the concept. (Counted by the shortest path,
an ancestor can be the deeper one, and a concept would differ from itself.)

Distances are those of Wu and Palmer (1994):

    similarity = 2 · depth(lcs) / (links(a, lcs) + links(b, lcs) + 2 · depth(lcs)),    distance = 1 - similarity

The lcs is the deepest common subsumer; of several equally deep the one with the fewest links from both, then the one
with the lowest number. Links are counted along the shortest way up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InputError

Ints = NDArray[Any]

_SHOWN = 5  # how many concepts a message names at most


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Concepts numbered from 0, of which one is the root. Ontologies number them in the order of their names."""

    names: tuple[str, ...]  # unique
    parent_indptr: Ints  # (n + 1,) int64
    parents: Ints  # int32, rising within a concept
    depth: Ints  # (n,) int32: nodes on the longest path from the root, the root at 1
    ancestor_indptr: Ints  # (n + 1,) int64
    ancestors: Ints  # int32, rising within a concept, the concept itself among them
    links: Ints  # int32: fewest links from the concept up to each of `ancestors`

    def __len__(self) -> int:
        return len(self.depth)

    @property
    def root(self) -> int:
        """The one concept without a parent."""
        return int(np.flatnonzero(self.depth == 1)[0])

    def parents_of(self, concept: int) -> Ints:
        """The concepts right above."""
        return self.parents[self.parent_indptr[concept] : self.parent_indptr[concept + 1]]

    def ancestors_of(self, concept: int) -> Ints:
        """The concept and all above it, by number."""
        return self.ancestors[self.ancestor_indptr[concept] : self.ancestor_indptr[concept + 1]]

    def descendants_of(self, concept: int) -> Ints:
        """The concept and all below it, by number."""
        entries = np.flatnonzero(self.ancestors == concept)
        return np.searchsorted(self.ancestor_indptr, entries, side="right") - 1


def build_taxonomy(names: Sequence[str], pairs: ArrayLike) -> Taxonomy:
    """The taxonomy of `names`, a concept each, and (child, parent) pairs of their numbers."""
    n = len(names)
    if n == 0:
        raise InputError("a hierarchy of 0 concepts; give at least one, the root")
    edges = np.unique(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
    own = edges[edges[:, 0] == edges[:, 1], 0]
    if len(own):
        raise InputError(
            f"{_listed([names[c] for c in own.tolist()])}: a concept cannot be its own parent; remove the link"
        )
    children, parents = edges[:, 0], edges[:, 1]
    parent_indptr = _indptr(children, n)
    depth = _depths(names, parent_indptr, edges)
    keys, links = _closure(n, parent_indptr, parents)
    return Taxonomy(
        names=tuple(names),
        parent_indptr=parent_indptr,
        parents=parents.astype(np.int32),
        depth=depth.astype(np.int32),
        ancestor_indptr=_indptr(keys // n, n),
        ancestors=(keys % n).astype(np.int32),
        links=links.astype(np.int32),
    )


def segments(indptr: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The places that the rows own in a CSR array, one row after the other, and how many each has."""
    counts = indptr[rows + 1] - indptr[rows]
    starts = np.repeat(indptr[rows] - (np.cumsum(counts) - counts), counts)
    return starts + np.arange(len(starts)), counts


def _indptr(rows: Ints, n: int) -> Ints:
    """Where each of n rows begins in an array sorted by row."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)


def _depths(names: Sequence[str], parent_indptr: Ints, edges: Ints) -> Ints:
    """Nodes on the longest path from the root: a concept is reached once all its parents have been."""
    n = len(names)
    waiting = np.diff(parent_indptr)
    roots = np.flatnonzero(waiting == 0)
    if len(roots) > 1:
        raise InputError(
            f"{len(roots)} roots ({_listed([names[root] for root in roots.tolist()])}), and a hierarchy has one; "
            "put one concept above them, for instance with root="
        )
    downwards = edges[np.argsort(edges[:, 1], kind="stable")]
    child_indptr = _indptr(downwards[:, 1], n)
    depth = np.zeros(n, np.int64)
    level, reached = 1, roots
    while len(reached):
        depth[reached] = level
        entries, _ = segments(child_indptr, reached)
        below, arrivals = np.unique(downwards[entries, 0], return_counts=True)
        waiting[below] -= arrivals
        level, reached = level + 1, below[waiting[below] == 0]
    if (depth == 0).any():
        raise InputError(f"a cycle: {_cycle(names, parent_indptr, edges[:, 1], depth == 0)}; remove one of its links")
    return depth


def _cycle(names: Sequence[str], parent_indptr: Ints, parents: Ints, unreached: Ints) -> str:
    """One cycle, from its first concept upwards and back: every unreached concept has an unreached parent."""
    concept = int(np.flatnonzero(unreached)[0])
    path: dict[int, None] = {}
    while concept not in path:
        path[concept] = None
        above = parents[parent_indptr[concept] : parent_indptr[concept + 1]]
        concept = int(above[unreached[above]][0])
    walk = list(path)
    circle = [*walk[walk.index(concept) :], concept]
    if len(circle) > 2 * _SHOWN:
        return " > ".join(repr(names[c]) for c in circle[:_SHOWN]) + " > … > " + repr(names[concept])
    return " > ".join(repr(names[c]) for c in circle)


def _closure(n: int, parent_indptr: Ints, parents: Ints) -> tuple[Ints, Ints]:
    """Every concept with every ancestor as concept · n + ancestor, rising, and the fewest links between the two.

    One link up at a time: an ancestor first met after t links is t links away.
    """
    concepts = above = np.arange(n, dtype=np.int64)
    keys_by_links = [concepts * n + above]
    while True:
        entries, counts = segments(parent_indptr, above)
        if not len(entries):
            break
        keys = np.unique(np.repeat(concepts, counts) * n + parents[entries])
        keys_by_links.append(keys)
        concepts, above = keys // n, keys % n
    links = np.repeat(np.arange(len(keys_by_links)), [len(keys_at) for keys_at in keys_by_links])
    keys, first = np.unique(np.concatenate(keys_by_links), return_index=True)
    return keys, links[first]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def distances(taxonomy: Taxonomy, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """1 - Wu-Palmer similarity of each concept of `a` with each of `b`: (len(a), len(b)), between 0 and 1."""
    # numba takes longer to load than a whole ontology, so it is loaded when there is something to compute.
    from shoal.kernels.taxonomy import wu_palmer_distances

    result: NDArray[np.float64] = wu_palmer_distances(*_arrays(taxonomy), *_numbers(a, b))
    return result


def subsumers(taxonomy: Taxonomy, a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """The deepest common subsumer of each concept of `a` with each of `b`: (len(a), len(b))."""
    from shoal.kernels.taxonomy import deepest_common

    result: NDArray[np.int64] = deepest_common(*_arrays(taxonomy), *_numbers(a, b))
    return result


def _arrays(taxonomy: Taxonomy) -> tuple[Ints, Ints, Ints, Ints]:
    return taxonomy.ancestor_indptr, taxonomy.ancestors, taxonomy.links, taxonomy.depth


def _numbers(*concepts: ArrayLike) -> Iterator[NDArray[np.int64]]:
    return (np.ascontiguousarray(some, dtype=np.int64).reshape(-1) for some in concepts)
