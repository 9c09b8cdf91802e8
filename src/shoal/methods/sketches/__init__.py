"""Sketches of sparse data: a few numbers per record that keep dot products, while the vocabulary stays secret.
`DeltaSketch` and `KVarianceSketch` are as published and promise no crowd; `CrowdSketch` does.
"""

from __future__ import annotations

from shoal.methods.sketches.crowd import CrowdSketch
from shoal.methods.sketches.delta import DeltaSketch
from shoal.methods.sketches.k_variance import KVarianceSketch
from shoal.methods.sketches.key import SketchKey
from shoal.methods.sketches.models import SketchKMeans, SketchNeighborsClassifier
from shoal.methods.sketches.sketches import (
    Estimate,
    Sketches,
    attributes,
    centroid,
    cosine,
    dot_product,
    euclidean_distance,
    squared_length,
)

__all__ = [
    "CrowdSketch",
    "DeltaSketch",
    "Estimate",
    "KVarianceSketch",
    "SketchKMeans",
    "SketchKey",
    "SketchNeighborsClassifier",
    "Sketches",
    "attributes",
    "centroid",
    "cosine",
    "dot_product",
    "euclidean_distance",
    "squared_length",
]
