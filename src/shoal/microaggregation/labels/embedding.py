"""Concepts as short vectors, near where they have ancestors in common: to cut large tables into blocks of like rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.ontology import Taxonomy

__all__ = ["embedded"]

LENGTH = 16  # of a vector; enough to send like rows to one block

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def embedded(taxonomy: Taxonomy, concepts: Ints) -> Floats:
    """A vector of about length 1 for each concept: the sum of the directions of its ancestors, itself included.

    A concept outside the taxonomy (below 0) has the root above it and a direction of its own.
    """
    vectors = np.empty((len(concepts), LENGTH))
    for place, concept in enumerate(concepts.tolist()):
        outside = [taxonomy.root, len(taxonomy) - concept]
        above = outside if concept < 0 else taxonomy.ancestors_of(concept).tolist()
        vectors[place] = sum(map(_direction, above)) / np.sqrt(len(above))
    return vectors


def _direction(concept: int) -> Floats:
    """The same for a concept on every machine."""
    direction: Floats = np.random.default_rng(concept).choice([-1.0, 1.0], size=LENGTH) / np.sqrt(LENGTH)
    return direction
