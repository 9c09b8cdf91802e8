"""Frames of any library, as columns, and made again of columns: NumPy, SciPy sparse, pandas, polars, Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from sklearn.utils._set_output import _get_output_config

from shoal.data.columns import plain
from shoal.data.files import shown
from shoal.errors import InputError


@dataclass(frozen=True)
class Frame:
    """The kind of frame that an estimator gives back."""

    names: list[str]
    library: Any  # narwhals' name of it
    index: Any = None  # pandas' row labels; the others have none

    @classmethod
    def wanted(cls, X: Any, estimator: Any) -> Frame | None:
        """The one that `set_output` asks for, else the kind that X is; None where X is none and none is asked for."""
        given = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
        index = nw.maybe_get_index(given) if isinstance(given, nw.DataFrame | nw.Series) else None
        asked = "default" if estimator is None else _get_output_config("transform", estimator)["dense"]
        if asked != "default":
            library = nw.Implementation.from_string(asked)
            return cls(estimator.get_feature_names_out().tolist(), library, index if library.is_pandas() else None)
        return cls(given.columns, given.implementation, index) if isinstance(given, nw.DataFrame) else None

    def of(self, columns: Iterable[Any]) -> Any:
        """The frame of these columns."""
        made = nw.from_dict(dict(zip(self.names, columns, strict=True)), backend=self.library).to_native()
        if self.index is not None:
            made.index = self.index
        return made

    def of_sparse(self, values: Any) -> Any:
        """The frame of a sparse matrix, which stays sparse in pandas."""
        if self.library.is_pandas():
            pandas = self.library.to_native_namespace()
            return pandas.DataFrame.sparse.from_spmatrix(values, index=self.index, columns=self.names)
        return self.of(values.toarray().T)


def like(values: Any, X: Any, estimator: Any = None) -> Any:
    """`values` (an array with one row per row of X, one column per column of X) as the kind of thing that X is.

    What the estimator's `set_output` asks for comes first.
    """
    frame = Frame.wanted(X, estimator)
    if sp.issparse(X):
        if frame is not None:
            return frame.of_sparse(values)
        return sp.csr_array(values) if isinstance(X, sp.sparray) else sp.csr_matrix(values)
    if frame is not None and sp.issparse(values) and hasattr(X, "sparse"):
        return frame.of_sparse(values)
    dense = values.toarray() if sp.issparse(values) else values
    return dense if frame is None else frame.of(dense.T)


class NotALabel(InputError, TypeError):
    """A cell holds something that is neither text nor a number."""


def columns_of(X: Any, names: Sequence[str]) -> list[pa.Array]:
    """Each column of a dataframe or an array as Arrow, null where a value is missing (None, NaN)."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [_whole(_arrow(frame, column, name)) for column, name in zip(frame.columns, names, strict=True)]
    return [_whole(_from_cells(X[:, number], name)) for number, name in enumerate(names)]


def like_columns(columns: Sequence[Sequence[Any]], X: Any, estimator: Any = None) -> Any:
    """Columns (one per column of X, None where a value is missing) as the kind of thing that X is.

    What the estimator's `set_output` asks for comes first. An array is one of numbers if all of them are, NaN where one
    is missing, and one of objects otherwise.
    """
    frame = Frame.wanted(X, estimator)
    if frame is not None:
        named = zip(frame.names, columns, strict=True)
        return frame.of(
            nw.new_series(name, list(cells), _kind(cells), backend=frame.library).to_native() for name, cells in named
        )
    try:
        made = np.array(
            [[np.nan if cell is None else _number(cell) for cell in cells] for cells in columns], np.float64
        )
    except TypeError:
        made = np.empty((len(columns), len(columns[0])), dtype=object)
        for number, cells in enumerate(columns):
            made[number] = cells
    return np.ascontiguousarray(made.T)


def _kind(cells: Sequence[Any]) -> Any:
    """The type of text, also where all of it is missing; None for other columns, whose type is inferred."""
    return nw.String() if any(isinstance(cell, str) for cell in cells) or all(cell is None for cell in cells) else None


def _number(cell: Any) -> float:
    if isinstance(cell, str):
        raise TypeError
    return float(cell)


def _arrow(frame: nw.DataFrame[Any], column: str, name: str) -> pa.Array:
    try:
        values = frame.get_column(column).to_arrow()
    except Exception:  # Each library has its own complaints, which may quote the value.
        return _from_cells(np.asarray(frame.get_column(column).to_numpy(), dtype=object), name)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    return values


def _from_cells(cells: Any, name: str) -> pa.Array:
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeError):
        types = {type(cell).__name__ for cell in cells}
    if types - {"str", "int", "float", "NoneType"}:
        raise NotALabel(f"column {shown(name)}: each cell's argument must be a string or a number; convert the others")
    raise InputError(f"column {shown(name)} mixes text and numbers; make its values all one type")


def _whole(column: Any) -> pa.Array:
    """In one piece, categories as their values, text that can be computed with."""
    column = plain(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
