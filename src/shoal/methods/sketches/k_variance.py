"""K-variance sketches: similarities to the k nearest neighbours are estimated too coarsely to tell them apart.

Source: Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches" (2007), with the exact
variance of a dot product in place of the printed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.grouping.spherical import csr, invert
from shoal.kernels.sketching import sketches as kernel
from shoal.methods.blocks.tree import SAMPLE, grow
from shoal.methods.mdav import SphericalSpace
from shoal.methods.sketches.key import SketchKey, key_of
from shoal.methods.sketches.sketches import SketchesRows, check_components, named_rows, sketch_rows
from shoal.terms.vector_space import at_unit_length

Ints = NDArray[np.int64]

IN_ONE_PIECE = 100_000  # records whose neighbours are searched for among all
BLOCK = 20_000  # records of a block beyond that
LISTED = 1_000  # records of a block that have an item of one of them, on average


class KVarianceSketch(SketchesRows):
    """Sketch each record so that the estimated product with each of its k nearest neighbours is uncertain.

    The standard deviation of that estimate is at least the difference between the product and its largest possible
    value. A record that no component satisfies is withheld. **No crowd is promised.**

    Parameters
    ----------
    k : int, at least 1
        Neighbours, by cosine.
    max_components : int
        Most components of a sketch.
    blocks : int, False or None
        Neighbours are searched for in blocks of at most about this many near records. None: among all up to 100,000
        records, in blocks of about 20,000 beyond. With blocks, neighbours may be missed; components are then so few
        that the pairs missed hold as well.
    terms, key, random_state : see DeltaSketch

    Attributes
    ----------
    key_ : SketchKey
    sketches_ : Sketches
    neighbours_ : (n, k) array of rows; -1 for a record without items.

    Examples
    --------
    >>> from shoal.methods.sketches import KVarianceSketch
    >>> baskets = [["bread", "milk"], ["bread", "milk", "tea"], ["tea", "rice"], ["rice", "salt"]]
    >>> KVarianceSketch(k=1, max_components=8).fit_transform(baskets).lengths.tolist()
    [8, 8, 2, 8]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        max_components: int = 64,
        blocks: int | bool | None = None,
        terms: Sequence[str] | None = None,
        key: SketchKey | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.max_components = max_components
        self.blocks = blocks
        self.terms = terms
        self.key = key
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KVarianceSketch:
        """Find the neighbours, settle how long each sketch may be, and sketch the rows."""
        self.check()
        rows = named_rows(self, X, self.terms)
        self.key_ = key_of(self.key, self.random_state)
        self.neighbours_, lengths = self._settled(rows.X)
        self.sketches_ = sketch_rows(rows.X, rows.terms, self.key_, lengths)
        return self

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        k, blocks = self.k, self.blocks
        check_components("max_components", self.max_components)
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise InputError(f"k={k!r} must be a whole number of at least 1")
        if blocks is not None and blocks is not False and (isinstance(blocks, bool) or not int(blocks) >= 2 * k + 2):
            raise InputError(f"blocks={blocks!r} must be False or at least {2 * k + 2}, two more than twice k")

    def components_of(self, X: sp.csr_matrix) -> Ints:
        """How many components the sketch of each row may have; 0: it is withheld."""
        return self._settled(X)[1]

    def _settled(self, X: sp.csr_matrix) -> tuple[Ints, Ints]:
        """The neighbours of each row, -1 for a row without items; and how many components its sketch may have."""
        k, most = int(self.k), int(self.max_components)
        filled = np.flatnonzero(np.diff(X.indptr))
        if len(filled) <= k:
            raise InputError(
                f"k={k} needs at least {k + 1} records with items, got {len(filled)} (n_samples={len(filled)}); "
                "lower k or add records"
            )
        unit = at_unit_length(X[filled])
        if self._in_one_piece(len(filled)):
            nearest, allowed = components_in_one_piece(unit, k, most)
        else:
            nearest, allowed = components_in_blocks(unit, k, most, self.blocks or BLOCK)
        neighbours, lengths = np.full((X.shape[0], k), -1), np.zeros(X.shape[0], dtype=np.int64)
        neighbours[filled], lengths[filled] = filled[nearest], allowed
        return neighbours, lengths

    def _in_one_piece(self, n_rows: int) -> bool:
        return self.blocks is False or n_rows <= (IN_ONE_PIECE if self.blocks is None else int(self.blocks))


def nearest_rows(unit: sp.csr_matrix, k: int) -> tuple[Ints, NDArray[np.float64]]:
    """The k nearest other rows of each, and their cosines, both (n, k)."""
    rows = csr(unit)
    return kernel.nearest_rows(rows, invert(rows, unit.shape[1]), k)


def components_in_one_piece(unit: sp.csr_matrix, k: int, most: int) -> tuple[Ints, Ints]:
    """Neighbours among all rows, and the components that all pairs together allow each row."""
    nearest, cosines = nearest_rows(unit, k)
    limits = kernel.pair_limits(unit.indptr, unit.indices, unit.data, nearest, cosines, most)
    order = np.lexsort((np.arange(len(nearest)), cosines[:, -1]))  # the farthest from their neighbours first
    return nearest, kernel.raise_components(order, *_pairs_of_both(nearest, limits), most)


def components_in_blocks(unit: sp.csr_matrix, k: int, most: int, block: int) -> tuple[Ints, Ints]:
    """Neighbours among rows of the same block, and components so few that pairs across blocks hold, too."""
    nearest = np.empty((unit.shape[0], k), dtype=np.int64)
    components = np.empty(unit.shape[0], dtype=np.int64)
    for rows in _blocks(unit, block, k + 1):
        inside = unit[rows]
        nearest_inside, cosines = nearest_rows(inside, k)
        limits = kernel.pair_limits(inside.indptr, inside.indices, inside.data, nearest_inside, cosines, most)
        nearest[rows] = rows[nearest_inside]
        components[rows] = kernel.fewest_components(inside.indptr, inside.data, limits, cosines, most)
    return nearest, components


def _blocks(unit: sp.csr_matrix, most: int, least: int) -> list[Ints]:
    """The rows in blocks of about `most` near ones, by a tree grown on rows spread evenly over all.

    Blocks whose items are in too many of their rows are cut in two, so the search takes time in proportion to the
    entries.
    """
    sample = unit[np.linspace(0, unit.shape[0] - 1, min(SAMPLE, unit.shape[0])).astype(np.int64)]
    tree = grow(sample, unit.shape[0], most, SphericalSpace.between)
    block_of = tree.block_of(unit)
    used = tree.with_blocks_of(least, np.bincount(block_of, minlength=tree.n_blocks))[block_of]
    blocks = [np.flatnonzero(used == block) for block in np.unique(used)]
    parts: list[Ints] = []
    for rows in blocks:
        inside = unit[rows]
        again = len(blocks) > 1 and _rows_per_entry(inside) > LISTED
        parts += [rows[part] for part in _blocks(inside, -(-len(rows) // 2), least)] if again else [rows]
    return parts


def _rows_per_entry(unit: sp.csr_matrix) -> float:
    """With how many rows an entry is compared, on average: those that have its column."""
    listed = np.bincount(unit.indices)
    return float(np.sum(listed**2) / unit.nnz)


def _pairs_of_both(nearest: Ints, limits: Ints) -> tuple[Ints, Ints, Ints]:
    """Every pair listed for both its records: where each record's pairs start, the partners, the limits."""
    rows, neighbours = np.repeat(np.arange(len(nearest)), nearest.shape[1]), nearest.ravel()
    record, partner = np.concatenate((rows, neighbours)), np.concatenate((neighbours, rows))
    order = np.argsort(record, kind="stable")
    start = np.zeros(len(nearest) + 1, dtype=np.int64)
    np.cumsum(np.bincount(record, minlength=len(nearest)), out=start[1:])
    return start, partner[order], np.concatenate((limits.ravel(), limits.ravel()))[order]
