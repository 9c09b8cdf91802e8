"""Terms: words counted into vector spaces, and what values mean: WordNet and users' hierarchies as arrays.
An ontology has a `taxonomy` and knows the concepts of a value: `senses`, `concept`, `label`, `gloss`, `suggest`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "VectorSpace",
    "WordNet",
    "Hierarchy",
    "Taxonomy",
    "build_taxonomy",
    "distances",
    "subsumers",
    "least_common_subsumer",
    "candidates",
]

if TYPE_CHECKING:
    from shoal.terms.hierarchy import Hierarchy
    from shoal.terms.taxonomy import Taxonomy, build_taxonomy, candidates, distances, least_common_subsumer, subsumers
    from shoal.terms.vector_space import VectorSpace
    from shoal.terms.wordnet import WordNet

# Loaded on first use: WordNet is ready before what reads users' files would be loaded.
_HOME = {
    "VectorSpace": "vector_space",
    "WordNet": "wordnet",
    "Hierarchy": "hierarchy",
} | dict.fromkeys(
    ("Taxonomy", "build_taxonomy", "distances", "subsumers", "least_common_subsumer", "candidates"), "taxonomy"
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.terms.{_HOME[name]}"), name)
    raise AttributeError(f"module 'shoal.terms' has no attribute {name!r}")
