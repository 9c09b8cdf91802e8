"""Any kind of data in, the same kind out: NumPy, SciPy sparse, pandas, polars, Arrow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from shoal.errors import InputError
from shoal.io.files import counted, shown

__all__ = ["Frame", "like", "number_rows", "refuse_lazy"]

_NOT_NUMBERS = (nw.String, nw.Date, nw.Datetime, nw.Duration, nw.Time)
_CELLS_NOT_NUMBERS = (str, bytes, date, time, timedelta, np.datetime64, np.timedelta64)


def number_rows(estimator: Any, X: Any, *, reset: bool, sparse: bool = False) -> Any:
    """X as rows of finite numbers, checked as scikit-learn wants an estimator to check its input; CSR if `sparse`."""
    refuse_lazy(X)
    _refuse_text_and_dates(X)
    accept = "csr" if sparse else False
    checked = validate_data(estimator, X, dtype=np.float64, accept_sparse=accept, ensure_all_finite=False, reset=reset)
    entries = checked.data if sp.issparse(checked) else checked
    if not np.isfinite(entries).all():
        _refuse_missing(estimator, sp.csc_array(checked) if sp.issparse(checked) else checked)
    return checked


def refuse_lazy(X: Any) -> None:
    """A lazy frame has no rows yet."""
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise InputError(f"X is a {type(X).__name__}, whose rows are not computed yet; pass X.collect()")


@dataclass(frozen=True)
class Frame:
    """The kind of frame that an estimator gives back."""

    names: list[str]
    library: Any  # narwhals' name of it
    index: Any = None  # pandas' row labels; the others have none

    @classmethod
    def wanted(cls, X: Any, estimator: Any = None) -> Frame | None:
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


def _refuse_text_and_dates(X: Any) -> None:
    """Text and dates would be read as numbers where they can be, and fail with another library's message elsewhere."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        for name in frame.columns:
            column = frame.get_column(name)
            objects = column.dtype in (nw.Object, nw.Categorical, nw.Enum)
            if column.dtype in _NOT_NUMBERS or (objects and _has_text_or_dates(column.to_list())):
                raise _not_numbers(f"column {shown(str(name))}")
    elif not sp.issparse(X):
        cells: NDArray[Any] = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if cells.dtype.kind in "USMm" or (cells.dtype.kind == "O" and _has_text_or_dates(cells.ravel())):
            raise _not_numbers("X")


def _has_text_or_dates(cells: Any) -> bool:
    return any(isinstance(cell, _CELLS_NOT_NUMBERS) for cell in cells)


def _not_numbers(where: str) -> InputError:
    return InputError(f"{where} has text or dates where numbers are needed; convert them, or leave the column out")


def _refuse_missing(estimator: Any, values: Any) -> None:
    names = getattr(estimator, "feature_names_in_", range(values.shape[1]))
    for place, name in enumerate(names):
        column = values[:, [place]]
        entries = column.data if sp.issparse(column) else column
        wrong = int((~np.isfinite(entries)).sum())
        if wrong:
            raise InputError(
                f"column {shown(str(name))}: {counted(wrong, 'missing (NaN) or infinite value')}; "
                "fill them, or drop the rows"
            )
