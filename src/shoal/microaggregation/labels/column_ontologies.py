"""Which ontology and which mapping each column is read with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from sklearn.utils.validation import validate_data

from shoal.errors import InputError
from shoal.io.columns import columns_of, is_text
from shoal.io.files import counted, shown
from shoal.io.frames import refuse_lazy
from shoal.microaggregation.labels.column import Reading
from shoal.microaggregation.labels.unordered import Flat
from shoal.ontology import WordNet
from shoal.ontology.value_mapping import mappings_of

__all__ = ["checked_columns", "readings"]


def checked_columns(estimator: Any, X: Any, reset: bool) -> tuple[list[str], list[pa.Array]]:
    """The names and the columns of X, as scikit-learn wants an estimator to look at its input."""
    refuse_lazy(X)
    is_frame = isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
    if is_frame:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:
        X = validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
    places = [str(place) for place in range(estimator.n_features_in_)]
    names = [str(name) for name in getattr(estimator, "feature_names_in_", places)]
    columns = columns_of(X, names)
    if not columns or not len(columns[0]):
        rows = len(columns[0]) if columns else 0
        raise InputError(
            f"{counted(len(columns), 'column')} and {rows} rows (n_samples={rows}); both must be at least 1"
        )
    return names, columns


def readings(names: Sequence[str], columns: Sequence[pa.Array], ontology: Any, mapping: Any) -> list[Reading]:
    """How each column is read: its ontology, by default WordNet for text and a flat set for anything else."""
    given = ontology if isinstance(ontology, Mapping) else {}
    astray = [shown(str(name)) for name in given if name not in names]
    if astray:
        listed = ", ".join(astray[:5])
        raise InputError(f"ontology names {counted(len(astray), 'column')} that is not there: {listed}; correct it")
    for_text = None if isinstance(ontology, Mapping) else ontology
    mappings = mappings_of(mapping, names)
    found = []
    for name, column in zip(names, columns, strict=True):
        own = given.get(name)
        if own is None and is_text(column):
            for_text = _wordnet() if for_text is None else for_text
            own = for_text
        own = Flat(_numbers(column)) if own is None else own
        found.append(Reading(name, own, {} if isinstance(own, Flat) else mappings[name]))
    return found


@cache
def _wordnet() -> WordNet:
    """Read once: it never changes, and reading it takes longer than most tables."""
    return WordNet()


def _numbers(column: pa.Array) -> list[Any]:
    return list(np.unique(np.array([one for one in column.unique().to_pylist() if one is not None], dtype=object)))
