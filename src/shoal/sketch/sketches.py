"""Sketches of different lengths in one compact form, and how sparse rows become sketches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.grouping.spherical import csr
from shoal.kernels.sketching.rows import add_components
from shoal.kernels.sketching.signs import sign_table
from shoal.sketch.key import SketchKey

__all__ = ["Sketches", "sketch_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TABLE = 1 << 26  # bytes of signs kept at a time


@dataclass(frozen=True, eq=False)
class Sketches:
    """n sketches: that of row i is values[offsets[i] : offsets[i + 1]]. One without components was withheld."""

    values: Floats
    offsets: Ints  # (n + 1,)

    @classmethod
    def of(cls, sketches: Iterable[Any]) -> Sketches:
        """From any sequence of sequences of numbers; None stands for one that was withheld."""
        rows = [np.zeros(0) if row is None else np.asarray(row, dtype=np.float64) for row in sketches]
        if any(row.ndim != 1 for row in rows):
            raise InputError("a sketch is a sequence of numbers; give a list of such sequences")
        return cls(
            np.concatenate(rows or [np.zeros(0)]), _offsets(np.array([len(row) for row in rows], dtype=np.int64))
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """Components of each sketch."""
        return np.diff(self.offsets)

    @property
    def withheld(self) -> NDArray[np.bool_]:
        """Records that got no component."""
        none: NDArray[np.bool_] = self.lengths == 0
        return none

    def __getitem__(self, rows: Any) -> Any:
        """The sketch of one row, or the Sketches of several (a slice, numbers or a mask)."""
        if isinstance(rows, int | np.integer):
            start, end = self.offsets[:-1][rows], self.offsets[1:][rows]
            return self.values[start:end]
        chosen = np.arange(len(self))[rows]
        lengths = self.lengths[chosen]
        offsets = _offsets(lengths)
        places = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Sketches(self.values[places], offsets)

    def checked(self) -> Sketches:
        """The same; refused if a record was withheld, of which nothing can be estimated."""
        count = int(self.withheld.sum())
        if count:
            raise InputError(
                f"{count} of {len(self)} records were withheld; leave them out: sketches[~sketches.withheld]"
            )
        return self


def _offsets(lengths: Ints) -> Ints:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def sketch_rows(X: sp.csr_matrix, terms: Sequence[str], key: SketchKey, lengths: Ints) -> Sketches:
    """Sketch every row with as many components as `lengths` says; `terms` name the columns."""
    offsets = _offsets(lengths)
    values = np.zeros(offsets[-1])
    most = int(lengths.max(initial=0))
    hashed = key.hashed(terms)
    width = max(16, TABLE // max(len(terms), 1))
    for first in range(0, most, width):
        signs = sign_table(hashed, key.coefficients(first, min(width, most - first)))
        add_components(csr(X), signs, first, offsets, values)
    return Sketches(values, offsets)
