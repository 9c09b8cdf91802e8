"""How far apart concepts are (Wu and Palmer, 1994), and what they have in common.

    similarity = 2 · depth(lcs) / (links(a, lcs) + links(b, lcs) + 2 · depth(lcs)),    distance = 1 - similarity

The lcs is the deepest common subsumer; of several equally deep the one with the fewest links from both, then the one
with the lowest number. Links are counted along the shortest way up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InputError
from shoal.ontology.taxonomy import Taxonomy, segments

__all__ = ["candidates", "distances", "least_common_subsumer", "subsumers"]

Ints = NDArray[Any]


def distances(taxonomy: Taxonomy, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """1 - Wu-Palmer similarity of each concept of `a` with each of `b`: (len(a), len(b)), between 0 and 1."""
    # numba takes longer to load than a whole ontology, so it is loaded when there is something to compute.
    from shoal.kernels.taxonomy import wu_palmer_distances

    result: NDArray[np.float64] = wu_palmer_distances(*_arrays(taxonomy), _checked(taxonomy, a), _checked(taxonomy, b))
    return result


def subsumers(taxonomy: Taxonomy, a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """The deepest common subsumer of each concept of `a` with each of `b`: (len(a), len(b))."""
    from shoal.kernels.taxonomy import deepest_common

    result: NDArray[np.int64] = deepest_common(*_arrays(taxonomy), _checked(taxonomy, a), _checked(taxonomy, b))
    return result


def least_common_subsumer(taxonomy: Taxonomy, concepts: ArrayLike) -> int:
    """The deepest concept above (or among) all of `concepts`, how often each is given aside.

    Ties go to the fewest links in all, then to the lowest number: for two concepts the same as in `subsumers`.
    """
    distinct = _distinct(taxonomy, concepts)
    places, _ = segments(taxonomy.ancestor_indptr, distinct)
    above, met = np.unique(taxonomy.ancestors[places], return_inverse=True)
    common = np.bincount(met) == len(distinct)
    links = np.bincount(met, weights=taxonomy.links[places])[common]
    shared = above[common]
    return int(shared[np.lexsort((shared, links, -taxonomy.depth[shared]))[0]])


def candidates(taxonomy: Taxonomy, concepts: ArrayLike) -> NDArray[np.int64]:
    """Every concept on a path from one of `concepts` up to their least common subsumer, both ends included."""
    distinct = _distinct(taxonomy, concepts)
    top = least_common_subsumer(taxonomy, distinct)
    places, _ = segments(taxonomy.ancestor_indptr, distinct)
    above = np.unique(taxonomy.ancestors[places]).astype(np.int64)
    places, counts = segments(taxonomy.ancestor_indptr, above)
    # Nobody has no ancestors (each is its own), so no run is empty.
    below_top = np.logical_or.reduceat(taxonomy.ancestors[places] == top, np.cumsum(counts) - counts)
    return above[below_top]


def _arrays(taxonomy: Taxonomy) -> tuple[Ints, Ints, Ints, Ints]:
    return taxonomy.ancestor_indptr, taxonomy.ancestors, taxonomy.links, taxonomy.depth


def _checked(taxonomy: Taxonomy, concepts: ArrayLike) -> NDArray[np.int64]:
    """Concept numbers as an array; the kernels look nowhere else."""
    numbers = np.ascontiguousarray(concepts, dtype=np.int64).reshape(-1)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(taxonomy)):
        wrong = numbers[(numbers < 0) | (numbers >= len(taxonomy))][0]
        raise InputError(f"concept {wrong} is unknown; this taxonomy has the numbers 0 to {len(taxonomy) - 1}")
    return numbers


def _distinct(taxonomy: Taxonomy, concepts: ArrayLike) -> NDArray[np.int64]:
    distinct = np.unique(_checked(taxonomy, concepts))
    if not len(distinct):
        raise InputError("0 concepts have no common subsumer; give at least one")
    return distinct
