"""Sketches of sparse data: a few numbers per record that keep dot products, while the vocabulary stays secret.
`DeltaSketch` and `KVarianceSketch` are as published and promise no crowd; `CrowdSketch` does.
"""

from __future__ import annotations

from shoal.sketch.clustering import SketchKMeans
from shoal.sketch.crowd import CrowdSketch
from shoal.sketch.delta import DeltaSketch
from shoal.sketch.estimates import (
    Estimate,
    attributes,
    centroid,
    cosine,
    dot_product,
    euclidean_distance,
    squared_length,
)
from shoal.sketch.k_variance import KVarianceSketch
from shoal.sketch.key import SketchKey
from shoal.sketch.neighbours import SketchNeighborsClassifier
from shoal.sketch.sketches import Sketches

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
