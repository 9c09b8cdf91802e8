"""What values mean: WordNet and users' hierarchies as arrays, and how far apart two concepts are.
An ontology has a `taxonomy` and knows the concepts of a value: `senses`, `concept`, `label`, `gloss`, `suggest`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
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
    from shoal.ontology.hierarchy import Hierarchy
    from shoal.ontology.similarity import candidates, distances, least_common_subsumer, subsumers
    from shoal.ontology.taxonomy import Taxonomy, build_taxonomy
    from shoal.ontology.wordnet import WordNet

# Loaded on first use: WordNet is ready before what reads users' files would be loaded.
_HOME = {
    "WordNet": "wordnet",
    "Hierarchy": "hierarchy",
    "Taxonomy": "taxonomy",
    "build_taxonomy": "taxonomy",
} | dict.fromkeys(("distances", "subsumers", "least_common_subsumer", "candidates"), "similarity")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.ontology.{_HOME[name]}"), name)
    raise AttributeError(f"module 'shoal.ontology' has no attribute {name!r}")
