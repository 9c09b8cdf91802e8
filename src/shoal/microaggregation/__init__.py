"""Microaggregation: groups of at least k records, each replaced by the group's representative.
One loop (mdav) over spaces that know distance and centre; thin estimators in front.
"""

from shoal.microaggregation.categorical import CategoricalMicroaggregation
from shoal.microaggregation.coarsen import coarsened
from shoal.microaggregation.mixed import MixedMicroaggregation
from shoal.microaggregation.numeric import Microaggregation
from shoal.microaggregation.semantic import SemanticMicroaggregation
from shoal.microaggregation.spherical import SphericalMicroaggregation

__all__ = [
    "CategoricalMicroaggregation",
    "MixedMicroaggregation",
    "Microaggregation",
    "SemanticMicroaggregation",
    "SphericalMicroaggregation",
    "coarsened",
]
