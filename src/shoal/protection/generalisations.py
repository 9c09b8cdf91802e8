"""What became of a column of labels: the tree of its concepts, and how far its labels moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.microaggregation.labels.column import Reading
from shoal.protection.concept_tree import MISSING, concept_tree
from shoal.results.summary import Generalisation

__all__ = ["generalisation"]

ANY = "any value"  # what stands above values without structure, such as numbers or truth values


def generalisation(
    reading: Reading, moves: Mapping[tuple[int, int], int], spelt: Mapping[int, str], k: int, publishable: bool
) -> Generalisation:
    """`moves` counts records by their concepts before and after, `spelt` has how concepts are written."""
    ontology: Any = reading.ontology

    class Labels(dict[int, str]):
        def __missing__(self, concept: int) -> str:
            label = None if concept < 0 else ontology.label(concept)
            return MISSING if concept < 0 else ANY if label is None else str(label)

    pairs, counts = np.array(list(moves), dtype=np.int64), np.array(list(moves.values()), dtype=np.int64)
    before, after = (np.repeat(side, counts) for side in pairs.T)
    lines, unnamed = concept_tree(ontology.taxonomy, Labels(spelt), before, after, k)
    mean_move = round(float(reading.moved(*pairs.T) @ counts) / counts.sum(), 4) if publishable else None
    return Generalisation(reading.name, lines, unnamed, mean_move)
