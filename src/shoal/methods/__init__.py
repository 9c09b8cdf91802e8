"""Methods: records in groups of at least k, each replaced by what stands for its group; masking; sketches.
One loop (mdav) over spaces that know distance and centre; thin estimators in front.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "CategoricalMicroaggregation",
    "MixedMicroaggregation",
    "Microaggregation",
    "SemanticMicroaggregation",
    "SphericalMicroaggregation",
    "coarsened",
]

if TYPE_CHECKING:
    from shoal.methods.categorical import CategoricalMicroaggregation
    from shoal.methods.coarsen import coarsened
    from shoal.methods.mixed import MixedMicroaggregation
    from shoal.methods.numeric import Microaggregation
    from shoal.methods.semantic import SemanticMicroaggregation
    from shoal.methods.spherical import SphericalMicroaggregation

# Loaded on first use: most callers want one method, not all that they need.
_HOME = {
    "CategoricalMicroaggregation": "categorical",
    "MixedMicroaggregation": "mixed",
    "Microaggregation": "numeric",
    "SemanticMicroaggregation": "semantic",
    "SphericalMicroaggregation": "spherical",
    "coarsened": "coarsen",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.methods.{_HOME[name]}"), name)
    raise AttributeError(f"module 'shoal.methods' has no attribute {name!r}")
