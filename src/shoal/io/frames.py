"""Any kind of data in, the same kind out: NumPy, SciPy sparse, pandas, polars, Arrow."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import scipy.sparse as sp

__all__ = ["like"]


def like(values: Any, X: Any) -> Any:
    """`values` (an array with one row a row of X, one column a column of X) as the kind of thing that X is."""
    if sp.issparse(X):
        return sp.csr_array(values) if isinstance(X, sp.sparray) else sp.csr_matrix(values)
    dense = values.toarray() if sp.issparse(values) else values
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return dense
    columns = {name: dense[:, column] for column, name in enumerate(frame.columns)}
    made = nw.from_dict(columns, backend=frame.implementation)
    index = nw.maybe_get_index(frame)  # pandas' row labels; the others have none
    native = made.to_native()
    if index is not None:
        native.index = index
    return native
