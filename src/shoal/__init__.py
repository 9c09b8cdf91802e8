"""Shoal: release confidential documents and tables so that every record hides in a crowd of at least k."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.version import __version__ as __version__

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
    "audit",
    "protect",
    "sign",
    "verify",
    "assess",
    "board",
    "count",
    "explore",
    "load",
    "sanitize",
    "redact",
    "unmask",
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
    from shoal.assessment.audit.audit import audit
    from shoal.assessment.board import board
    from shoal.assessment.count import count
    from shoal.assessment.exploration.explore import explore
    from shoal.data.corpus import Corpus
    from shoal.data.kinds.inspection import inspect
    from shoal.data.roles import Roles
    from shoal.data.sources import Query, TableFile
    from shoal.errors import InputError, ShoalError
    from shoal.index.client import IndexClient as IndexClient
    from shoal.index.client import Keys as Keys
    from shoal.methods.categorical import CategoricalMicroaggregation
    from shoal.methods.masking import Noise, RankSwap
    from shoal.methods.mixed import MixedMicroaggregation
    from shoal.methods.numeric import Microaggregation
    from shoal.methods.semantic import SemanticMicroaggregation
    from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch
    from shoal.methods.spherical import SphericalMicroaggregation
    from shoal.release.load import load
    from shoal.release.protect import protect
    from shoal.release.signing import sign
    from shoal.release.verifying import verify
    from shoal.sanitizer.redact import redact
    from shoal.sanitizer.texts import sanitize
    from shoal.sanitizer.unmask import unmask
    from shoal.terms.hierarchy import Hierarchy
    from shoal.terms.vector_space import VectorSpace
    from shoal.terms.wordnet import WordNet

# Loaded on first use, so that `import shoal` and `shoal --help` answer at once.
_HOME = {
    "VectorSpace": "shoal.terms.vector_space",
    "SphericalMicroaggregation": "shoal.methods.spherical",
    "SemanticMicroaggregation": "shoal.methods.semantic",
    "Microaggregation": "shoal.methods.numeric",
    "CategoricalMicroaggregation": "shoal.methods.categorical",
    "MixedMicroaggregation": "shoal.methods.mixed",
    "RankSwap": "shoal.methods.masking",
    "Noise": "shoal.methods.masking",
    "DeltaSketch": "shoal.methods.sketches",
    "KVarianceSketch": "shoal.methods.sketches",
    "CrowdSketch": "shoal.methods.sketches",
    "inspect": "shoal.data.kinds.inspection",
    "audit": "shoal.assessment.audit.audit",
    "protect": "shoal.release.protect",
    "sanitize": "shoal.sanitizer.texts",
    "redact": "shoal.sanitizer.redact",
    "unmask": "shoal.sanitizer.unmask",
    "sign": "shoal.release.signing",
    "verify": "shoal.release.verifying",
    "assess": "shoal.assessment.assess",
    "board": "shoal.assessment.board",
    "count": "shoal.assessment.count",
    "explore": "shoal.assessment.exploration.explore",
    "load": "shoal.release.load",
    "Roles": "shoal.data.roles",
    "TableFile": "shoal.data.sources",
    "Query": "shoal.data.sources",
    "Corpus": "shoal.data.corpus",
    "WordNet": "shoal.terms.wordnet",
    "Hierarchy": "shoal.terms.hierarchy",
    "ShoalError": "shoal.errors",
    "InputError": "shoal.errors",
    # These need an extra, so `from shoal import *` goes without them.
    "IndexClient": "shoal.index.client",
    "Keys": "shoal.index.client",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
