"""What every estimator that groups rows has in common: parameters, the checks of them and of X, and the loss."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from shoal.data.files import counted, shown
from shoal.data.frames import like_columns
from shoal.errors import InputError
from shoal.results.utility import Loss

_NOT_NUMBERS = (nw.String, nw.Date, nw.Datetime, nw.Duration, nw.Time)
_CELLS_NOT_NUMBERS = (str, bytes, date, time, timedelta, np.datetime64, np.timedelta64)


class GroupsRows(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in, for each row the representative of its group out, one column per column."""

    def __init__(self, k: int, refine: bool, time_budget: float | None, random_state: int | None) -> None:
        self.k = k
        self.refine = refine
        self.time_budget = time_budget
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # transform gives the nearest representative, fit_transform the fitted group's: they may differ, and
        # scikit-learn has no other word for that. Both are deterministic; tests/test_conformance.py holds them to it.
        tags.non_deterministic = True
        return tags

    def _store_loss(self, loss: Loss) -> None:
        self.loss_ = loss
        self.sse_ = loss.sse
        self.information_loss_ = loss.information_loss


class GroupsLabels(GroupsRows):
    """The same for rows with columns of labels; `nearest` gives the group with the nearest representative."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the rows and return each row's representative."""
        self.fit(X)
        return like_columns(list(self.representatives_[self.groups_].T), X, self)

    def transform(self, X: Any) -> Any:
        """Give each row, new or old, the nearest existing representative."""
        nearest = self.nearest(X)
        return like_columns(list(self.representatives_[nearest].T), X, self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


def check_k(k: object, n_rows: int) -> int:
    """k as an int of at least 2 and at most the number of rows."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool):
        raise InputError(f"k={k!r} must be a whole number of at least 2")
    if k < 2:
        raise InputError(f"k={k} must be at least 2: a group of one hides nobody")
    if k > n_rows:
        raise InputError(f"k={k} needs at least {k} rows, got {n_rows} (n_samples={n_rows}); lower k or add rows")
    return int(k)


def check_time_budget(time_budget: object) -> None:
    """None or a positive number."""
    if time_budget is None:
        return
    number = isinstance(time_budget, int | float | np.number) and not isinstance(time_budget, bool)
    if not number or not 0 < float(time_budget) < np.inf:  # type: ignore[arg-type]
        raise InputError(f"time_budget={time_budget!r} must be a number of seconds above 0, or None for a few seconds")


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
    for number, name in enumerate(names):
        column = values[:, [number]]
        entries = column.data if sp.issparse(column) else column
        wrong = int((~np.isfinite(entries)).sum())
        if wrong:
            raise InputError(
                f"column {shown(str(name))}: {counted(wrong, 'missing (NaN) or infinite value')}; "
                "fill them, or drop the rows"
            )
