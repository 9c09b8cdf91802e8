"""Shoal: release confidential documents and tables so that every record hides in a crowd of at least k."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "VectorSpace",
    "SphericalMicroaggregation",
    "SemanticMicroaggregation",
    "Microaggregation",
    "CategoricalMicroaggregation",
    "MixedMicroaggregation",
    "RankSwap",
    "Noise",
    "DeltaSketch",
    "KVarianceSketch",
    "CrowdSketch",
    "inspect",
    "protect",
    "sign",
    "verify",
    "assess",
    "explore",
    "load",
    "Roles",
    "TableFile",
    "Query",
    "Corpus",
    "WordNet",
    "Hierarchy",
    "ShoalError",
    "InputError",
]

if TYPE_CHECKING:
    from shoal.assessment.assess import assess
    from shoal.bundle.load import load
    from shoal.bundle.signing import sign
    from shoal.errors import InputError, ShoalError
    from shoal.exploration.explore import explore
    from shoal.io import Corpus, Roles
    from shoal.io.formats import Query, TableFile
    from shoal.io.kinds.inspection import inspect
    from shoal.masking import Noise, RankSwap
    from shoal.microaggregation import (
        CategoricalMicroaggregation,
        Microaggregation,
        MixedMicroaggregation,
        SemanticMicroaggregation,
        SphericalMicroaggregation,
    )
    from shoal.ontology import Hierarchy, WordNet
    from shoal.release.protect import protect
    from shoal.service.client import IndexClient as IndexClient
    from shoal.service.client import Keys as Keys
    from shoal.sketch import CrowdSketch, DeltaSketch, KVarianceSketch
    from shoal.vectors import VectorSpace
    from shoal.verification.verify import verify

# Loaded on first use, so that `import shoal` and `shoal --help` answer at once.
_HOME = {
    "VectorSpace": "shoal.vectors",
    "SphericalMicroaggregation": "shoal.microaggregation",
    "SemanticMicroaggregation": "shoal.microaggregation",
    "Microaggregation": "shoal.microaggregation",
    "CategoricalMicroaggregation": "shoal.microaggregation",
    "MixedMicroaggregation": "shoal.microaggregation",
    "RankSwap": "shoal.masking",
    "Noise": "shoal.masking",
    "DeltaSketch": "shoal.sketch",
    "KVarianceSketch": "shoal.sketch",
    "CrowdSketch": "shoal.sketch",
    "inspect": "shoal.io.kinds.inspection",
    "protect": "shoal.release.protect",
    "sign": "shoal.bundle.signing",
    "verify": "shoal.verification.verify",
    "assess": "shoal.assessment.assess",
    "explore": "shoal.exploration.explore",
    "load": "shoal.bundle.load",
    "Roles": "shoal.io",
    "TableFile": "shoal.io.formats",
    "Query": "shoal.io.formats",
    "Corpus": "shoal.io",
    "WordNet": "shoal.ontology",
    "Hierarchy": "shoal.ontology",
    "ShoalError": "shoal.errors",
    "InputError": "shoal.errors",
    # These need an extra, so `from shoal import *` goes without them.
    "IndexClient": "shoal.service.client",
    "Keys": "shoal.service.client",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
