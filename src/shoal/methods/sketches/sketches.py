"""Sketches of different lengths in one compact form, how sparse rows become sketches, and what can be estimated.

Products, lengths, distances, cosines and centroids need no key; attributes do. Standard errors are computed from the
sketches alone. That of a product leaves out the term - 2 sum x²y², which only the owner can compute, so it is a little
too large, never too small on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import TransformerTags

from shoal.data.baskets import count_baskets
from shoal.errors import InputError
from shoal.kernels.grouping.spherical import csr
from shoal.kernels.sketching.sketches import fill_components, mean_products, paired_products, sign_table
from shoal.methods.estimator import number_rows
from shoal.methods.sketches.key import SketchKey

LARGEST = 1e9  # sums of whole numbers up to it are exact in every sketch


class SketchesRows(BaseEstimator):  # type: ignore[misc]
    """Rows of counts or records in, Sketches out."""

    def fit_transform(self, X: Any, y: Any = None) -> Sketches:
        """Fit, and return the sketch of each row."""
        sketches: Sketches = self.fit(X).sketches_
        return sketches

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        tags.non_deterministic = True  # a key is drawn unless one is given
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


@dataclass(frozen=True)
class NamedRows:
    """Non-negative sparse rows, columns rising in each, and the terms that the columns stand for."""

    X: sp.csr_matrix
    terms: Sequence[str]


def named_rows(estimator: Any, X: Any, terms: Sequence[str] | None, *, reset: bool = True) -> NamedRows:
    """Rows of a matrix or a dataframe, whose columns have names or numbers, or a list of records.

    Without `reset` a matrix must have the columns that the estimator was fitted to; a dataframe may have others.
    """
    if isinstance(X, list | tuple):
        if terms is not None:
            raise InputError("terms name the columns of a matrix, and these are records; leave it out")
        return NamedRows(*count_baskets(X))
    if not reset and isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame):
        estimator, reset = clone(estimator), True
    checked = sp.csr_matrix(number_rows(estimator, X, reset=reset, sparse=True))
    if not checked.has_canonical_format or not checked.data.all() or len(checked.data) > checked.nnz:
        checked = checked.copy()  # the caller's stay as they are
        checked.sum_duplicates()
        checked.eliminate_zeros()
    if terms is None:
        terms = [str(name) for name in getattr(estimator, "feature_names_in_", range(checked.shape[1]))]
    if len(terms) != checked.shape[1]:
        raise InputError(f"{len(terms)} terms for {checked.shape[1]} columns; give one per column")
    least, most = checked.data.min(initial=0), checked.data.max(initial=0)
    if least < 0:
        raise InputError(f"Negative values in data, the least {least:g}; give counts or weights from 0 to {LARGEST:g}")
    if most > LARGEST:
        raise InputError(f"a count or weight of {most:g} cannot be sketched; give numbers from 0 to {LARGEST:g}")
    return NamedRows(checked, terms)


def check_components(name: str, value: object) -> int:
    """A number of components: whole, at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 1 <= value <= 1 << 20:
        raise InputError(f"{name}={value!r} must be a whole number from 1 to {1 << 20}; 64 to 1024 are usual")
    return int(value)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

TABLE = 1 << 26  # bytes of signs kept at a time
AT_A_TIME = 8  # components that are compared before the next ones are computed


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
        if not all(np.isfinite(row).all() for row in rows):
            raise InputError("a sketch has a number that is missing or not finite; leave the sketch out")
        return cls(
            np.concatenate(rows or [np.zeros(0)]), _offsets(np.array([len(row) for row in rows], dtype=np.int64))
        )

    @classmethod
    def joined(cls, parts: Sequence[Sketches]) -> Sketches:
        """All sketches of several parts, in their order."""
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(np.concatenate([part.values for part in parts]), _offsets(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Of the sketches as an array: rows, and components of the longest."""
        return len(self), int(self.lengths.max(initial=0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """One row per sketch, NaN behind its last component."""
        table = np.full(self.shape, np.nan)
        table[np.arange(self.shape[1]) < self.lengths[:, None]] = self.values
        return table if dtype is None else table.astype(dtype)

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
        entries = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Sketches(self.values[entries], offsets)

    @staticmethod
    def given(X: object) -> Sketches:
        """X, if it is Sketches; else a word on what to give."""
        if not isinstance(X, Sketches):
            raise InputError(
                f"got {type(X).__name__}; give Sketches, such as fit_transform of a sketch or load(…).sketches"
            )
        return X

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
    return SketchedRows(X, key.hashed(terms), key, lengths).all()


class SketchedRows:
    """Rows whose sketches are computed when they are asked for: those of a million rows need not be held at once."""

    def __init__(
        self, X: sp.csr_matrix, hashed: Words, key: SketchKey, lengths: Ints, decimals: int | None = None
    ) -> None:
        self.lengths = lengths
        self._row: Ints | None = None  # of X, for each of ours; None: the same
        self._X, self._hashed, self._key, self._decimals = X, hashed, key, decimals
        self._width = max(16, TABLE // max(len(hashed), 1))  # components whose signs are kept
        self._signs: tuple[int, NDArray[np.int8]] | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def all(self) -> Sketches:
        """The sketches of all rows."""
        return self._sketch(self._X if self._row is None else self._X[self._row], self.lengths)

    def take(self, rows: Ints) -> Sketches:
        """The sketches of some rows."""
        return self._sketch(self._chosen(rows), self.lengths[rows])

    def sorted(self) -> tuple[SketchedRows, Ints]:
        """The rows whose sketches differ, sorted by their numbers, and the place of each row among them."""
        ranks = self._ranks()
        first = np.unique(ranks, return_index=True)[1]
        different = copy(self)  # of the same matrix
        different._row = first if self._row is None else self._row[first]
        different.lengths = self.lengths[first]
        return different, ranks

    def _ranks(self) -> Ints:
        """The place of each row's sketch when they are sorted by their numbers; equal sketches share a place.

        A few components are compared at a time, and the next ones of those rows only that are equal so far.
        """
        run = np.zeros(len(self), dtype=np.int64)  # where the rows start that each row is equal to so far
        first, rows = 0, np.arange(len(self))
        while len(rows):
            numbers = self._components(rows, first)
            order = np.lexsort((*numbers.T[::-1], run[rows]))
            rows, numbers = rows[order], numbers[order]
            before = run[rows]
            other_run = np.concatenate(([True], before[1:] != before[:-1]))
            differs = other_run.copy()
            differs[1:] |= np.any(numbers[1:] != numbers[:-1], axis=1)
            run[rows] = before + _latest(differs) - _latest(other_run)
            first += AT_A_TIME
            alike = ~differs | ~np.concatenate((differs[1:], [True]))
            rows = rows[alike & (self.lengths[rows] >= first)]  # one that ends here comes before longer ones
        return np.unique(run, return_inverse=True)[1].astype(np.int64)

    def _chosen(self, rows: Ints) -> sp.csr_matrix:
        return self._X[rows if self._row is None else self._row[rows]]

    def _components(self, rows: Ints, first: int) -> Floats:
        """Some components of these rows, (rows, AT_A_TIME); minus infinity where a sketch has ended."""
        signs = sign_table(self._hashed, self._key.coefficients(first, AT_A_TIME))
        values = np.empty(len(rows) * AT_A_TIME)
        fill_components(csr(self._chosen(rows)), signs, 0, np.arange(len(rows) + 1) * AT_A_TIME, values)
        numbers = self._rounded(values).reshape(-1, AT_A_TIME)
        numbers[self.lengths[rows, None] <= first + np.arange(AT_A_TIME)] = -np.inf
        return numbers

    def _sketch(self, X: sp.csr_matrix, lengths: Ints) -> Sketches:
        offsets = _offsets(lengths)
        values = np.empty(offsets[-1])
        rows = csr(X)
        for first in range(0, int(lengths.max(initial=0)), self._width):
            fill_components(rows, self._signs_from(first), first, offsets, values)
        return Sketches(self._rounded(values), offsets)

    def _signs_from(self, first: int) -> NDArray[np.int8]:
        if self._signs is None or self._signs[0] != first:
            width = min(self._width, int(self.lengths.max()) - first)
            self._signs = first, sign_table(self._hashed, self._key.coefficients(first, width))
        return self._signs[1]

    def _rounded(self, values: Floats) -> Floats:
        return values if self._decimals is None else np.round(values, self._decimals) + 0.0  # no minus zero


def _latest(marks: NDArray[np.bool_]) -> Ints:
    """The place of the latest mark at or before each place."""
    latest: Ints = np.maximum.accumulate(np.where(marks, np.arange(len(marks)), 0))
    return latest


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated values, and the standard error of each."""

    value: Floats
    standard_error: Floats


def dot_product(first: Sketches, second: Sketches) -> Estimate:
    """Of each row with the row of the same place, over the components that both sketches have."""
    products, squares, second_squares, shared = _paired(first, second)
    return Estimate(products, np.sqrt((squares * second_squares + products**2) / shared))


def squared_length(sketches: Sketches) -> Estimate:
    """Of each row: the sum of its squares."""
    squares = _mean_squares(sketches)
    return Estimate(squares, squares * np.sqrt(2.0 / sketches.lengths))


def euclidean_distance(first: Sketches, second: Sketches) -> Estimate:
    """Between each row and the row of the same place."""
    products, squares, second_squares, shared = _paired(first, second)
    distance = np.sqrt(np.maximum(squares + second_squares - 2.0 * products, 0.0))
    return Estimate(distance, distance / np.sqrt(2.0 * shared))


def cosine(first: Sketches, second: Sketches) -> Estimate:
    """Of the angle between each row and the row of the same place."""
    products, squares, second_squares, shared = _paired(first, second)
    lengths = np.sqrt(squares * second_squares)
    value = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return Estimate(value, (1.0 - value**2) / np.sqrt(shared))


def attributes(sketches: Sketches, terms: Sequence[str], key: SketchKey) -> Estimate:
    """What each row has of each term, (rows, terms); this needs the key."""
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


def dot_products(first: Sketches, second: Sketches) -> Floats:
    """The estimated products of all rows with all others, (rows, other rows)."""
    first.checked(), second.checked()
    products: Floats = mean_products(first.offsets, first.values, second.offsets, second.values)
    return products


def _mean_squares(sketches: Sketches) -> Floats:
    sketches.checked()
    return _paired(sketches, sketches)[1]


def _paired(first: Sketches, second: Sketches) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean products and mean squares of both over the components that they share, and how many these are."""
    if len(first) != len(second):
        raise InputError(f"{len(first)} and {len(second)} sketches do not pair; give as many of each")
    first.checked(), second.checked()
    means = paired_products(first.offsets, first.values, second.offsets, second.values)
    return *means, np.minimum(first.lengths, second.lengths).astype(np.float64)
