"""What sketches tell of records: products, lengths, distances, cosines, centroids; attributes only with the key.

Standard errors are computed from the sketches alone. That of a product leaves out the term - 2 sum x²y², which only the
owner can compute, so it is a little too large, never too small on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.kernels.sketching.products import mean_products, paired_products
from shoal.sketch.key import SketchKey
from shoal.sketch.sketches import Floats, Sketches

__all__ = [
    "Estimate",
    "attributes",
    "centroid",
    "cosine",
    "dot_product",
    "dot_products",
    "euclidean_distance",
    "squared_length",
]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated values, and the standard error of each."""

    value: Floats
    standard_error: Floats


def dot_product(one: Sketches, other: Sketches) -> Estimate:
    """Of each row with the row of the same place, over the components that both sketches have."""
    products, squares, other_squares, shared = _paired(one, other)
    return Estimate(products, np.sqrt((squares * other_squares + products**2) / shared))


def squared_length(sketches: Sketches) -> Estimate:
    """Of each row: the sum of its squares."""
    squares = _mean_squares(sketches)
    return Estimate(squares, squares * np.sqrt(2.0 / sketches.lengths))


def euclidean_distance(one: Sketches, other: Sketches) -> Estimate:
    """Between each row and the row of the same place."""
    products, squares, other_squares, shared = _paired(one, other)
    distance = np.sqrt(np.maximum(squares + other_squares - 2.0 * products, 0.0))
    return Estimate(distance, distance / np.sqrt(2.0 * shared))


def cosine(one: Sketches, other: Sketches) -> Estimate:
    """Of the angle between each row and the row of the same place."""
    products, squares, other_squares, shared = _paired(one, other)
    lengths = np.sqrt(squares * other_squares)
    value = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return Estimate(value, (1.0 - value**2) / np.sqrt(shared))


def attributes(sketches: Sketches, terms: Sequence[str], key: SketchKey) -> Estimate:
    """What each row has of each term, (rows, terms); only whoever has the key can tell."""
    sketches.checked()
    lengths = sketches.lengths
    signs = key.signs(list(terms), int(lengths.max(initial=1))).astype(np.float64)
    width = signs.shape[1]
    table = Sketches(signs.ravel(), np.arange(len(signs) + 1) * width)
    value = dot_products(sketches, table)
    squares = _mean_squares(sketches)[:, None]
    return Estimate(value, np.sqrt(np.maximum(squares - value**2, 0.0) / lengths[:, None]))


def centroid(sketches: Sketches) -> Sketches:
    """The sketch of the mean of the rows, over the components that all of them have."""
    if not len(sketches.checked()):
        raise InputError("the centroid of no records; give at least one sketch")
    shortest = int(sketches.lengths.min())
    starts = sketches.offsets[:-1, None] + np.arange(shortest)
    return Sketches(sketches.values[starts].mean(axis=0), np.array([0, shortest]))


def dot_products(one: Sketches, other: Sketches) -> Floats:
    """The estimated products of all rows with all others, (rows, other rows)."""
    one.checked(), other.checked()
    products: Floats = mean_products(one.offsets, one.values, other.offsets, other.values)
    return products


def _mean_squares(sketches: Sketches) -> Floats:
    sketches.checked()
    return _paired(sketches, sketches)[1]


def _paired(one: Sketches, other: Sketches) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean products and mean squares of both over the components that they share, and how many these are."""
    if len(one) != len(other):
        raise InputError(f"{len(one)} and {len(other)} sketches do not pair; give as many of each")
    one.checked(), other.checked()
    means = paired_products(one.offsets, one.values, other.offsets, other.values)
    return *means, np.minimum(one.lengths, other.lengths).astype(np.float64)
