"""Tables to the draft of a release: quasi-identifiers masked, rows in canonical order."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import InputError
from shoal.io import Roles, Table, check_complete, quasi_matrix, resolve_roles
from shoal.microaggregation import Microaggregation
from shoal.microaggregation.diversity import merge_until_diverse
from shoal.microaggregation.numeric import group_means, table_loss
from shoal.release.bundle import MAPPING, write_csv, write_mapping
from shoal.release.distances import NOT_TOLD, euclidean_distances
from shoal.release.draft import Draft
from shoal.release.groups import FEW, check_values, diversities, sizes_of, stated_loss, value_codes
from shoal.release.summary import ColumnChange, Summary
from shoal.results import Withheld

__all__ = ["draft_table"]

INCOMPLETE = "a quasi-identifier is missing"

# What protects a table, in the words of the report.
IN_WORDS = {
    "mdav": "microaggregation (MDAV)",
    "ranking": "microaggregation of each attribute on its own",
    "z-scores": "microaggregation along the sum of z-scores",
    "principal-component": "microaggregation along the first principal component",
}

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def draft_table(
    table: Table, k: int, roles: Roles | None, method: Microaggregation, l: int | None, missing: str
) -> Draft:
    """Mask the quasi-identifiers, drop the identifiers, and put the rows in the order of their content."""
    roles = resolve_roles(table, roles)
    values, complete = quasi_matrix(table, roles)
    if missing == "refuse":
        check_complete(table, roles, complete)
    kept = _in_order_of_content(table.data, roles, complete)
    values = values[kept]
    if len(kept) < k:
        withheld = f" ({len(complete) - len(kept)} withheld)" if len(kept) < len(complete) else ""
        raise InputError(f"k={k} needs at least {k} rows, got {len(kept)}{withheld}; lower k or add rows")

    model = clone(method).set_params(k=k)
    named = pa.table({name: values[:, place] for place, name in enumerate(roles.quasi)})
    masked = np.column_stack([column.to_numpy() for column in model.fit_transform(named).columns])
    if l is not None:
        masked = _diverse(model, values, table.data, roles, kept, l)
    masked = masked + 0.0  # no negative zeros: equal numbers are written alike
    released, order = _sorted(_replaced(table.data.take(pa.array(kept)), roles, masked))
    values, masked, source = values[order], masked[order], kept[order]

    parts = [tuple(roles.quasi[column] for column in columns) for columns in model.attribute_groups_]
    classes = _classes(masked)
    sizes = np.bincount(classes)
    smallest = min(int(np.bincount(_classes(masked[:, columns])).min()) for columns in model.attribute_groups_)
    confidential = {name: _values_of(released[name]) for name in roles.confidential}
    standard, standard_masked = ((part - model.mean_) / model.scale_ for part in (values, masked))
    left_out = np.flatnonzero(~complete)
    # Where few records moved in some column, its spread and the error tell what they were.
    moved = np.sum(values != masked, axis=0)
    told = bool(np.all((moved == 0) | (moved >= FEW)))
    name = _file_name(table.format)
    summary = Summary(
        kind="table",
        k=k,
        method=IN_WORDS[method.method] + (", refined" if method.refine and method.method == "mdav" else ""),
        promises_k=model.k_anonymous_,
        rows=len(masked),
        smallest_group=smallest,
        group_sizes=sizes_of(sizes),
        loss=stated_loss(table_loss(standard, standard_masked), told),
        distances=euclidean_distances(standard, standard_masked) if told else NOT_TOLD,
        withheld=(Withheld(INCOMPLETE, len(left_out)),) if len(left_out) else (),
        diversity=diversities(classes, confidential),
        l_promised=l,
        above_optimum=_above_optimum(model, standard, standard_masked) if told else None,
        columns=tuple(_changes(roles.quasi, values, masked, standard, standard_masked)) if told else (),
        insensitive=roles.insensitive,
        dropped_columns=table.data.num_columns - released.num_columns,
        files=((name, "one row a record"),),
    )
    row_ids = [str(row + 1) for row in source]
    return Draft(
        summary=summary,
        columns=tuple(_described(released, roles)),
        shared_columns=tuple(parts),
        parameters={"microaggregation": model.get_params()},
        files={name: lambda path: _write(released, path)},
        private_files={
            MAPPING: write_mapping(row_ids, classes),
            "withheld.csv": write_csv(("row", "reason"), [(row + 1, INCOMPLETE) for row in left_out.tolist()]),
        },
    )


def _in_order_of_content(data: pa.Table, roles: Roles, complete: NDArray[np.bool_]) -> Ints:
    """Complete rows sorted by what will be released of them: the order of the input then has no bearing."""
    columns = [*roles.quasi, *roles.confidential, *roles.insensitive]
    order = _sort(data.select(columns))
    return order[complete[order]]


def _sort(data: pa.Table) -> Ints:
    plain = pa.table({field.name: _sortable(data[field.name]) for field in data.schema})
    for name in plain.column_names:
        _check_sortable(name, plain[name])
    keys = [(name, "ascending") for name in plain.column_names]
    return np.asarray(pc.sort_indices(plain, sort_keys=keys), dtype=np.int64)


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries and the like as their values: sorting then goes by what is read."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _check_sortable(name: str, column: pa.ChunkedArray) -> None:
    """Refuse what has no order, or cannot be read back: a release could not be verified."""
    if pa.types.is_nested(column.type):
        raise InputError(f"column {name} holds lists or records; drop it or make it text")
    try:
        pc.sort_indices(pa.table({name: column.slice(0, 1)}), sort_keys=[(name, "ascending")])
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            pc.min_max(column).as_py()  # fails for years that no calendar of Python has
    except (pa.ArrowException, OverflowError, ValueError):
        reason = f"column {name} is {column.type}, which cannot be put in order and read back"
        raise InputError(f"{reason}; drop it or make it text") from None


def _sorted(data: pa.Table) -> tuple[pa.Table, Ints]:
    order = _sort(data)
    return data.take(pa.array(order)), order


def _replaced(data: pa.Table, roles: Roles, masked: Floats) -> pa.Table:
    """The columns that go out, as they stood: quasi-identifiers masked, identifiers and columns without role gone."""
    columns = {}
    for name in data.column_names:
        if name in roles.quasi:
            columns[name] = pa.chunked_array([pa.array(masked[:, roles.quasi.index(name)])])
        elif name in roles.confidential or name in roles.insensitive:
            columns[name] = _sortable(data[name])
    return pa.table(columns)


def _diverse(model: Microaggregation, values: Floats, data: pa.Table, roles: Roles, kept: Ints, least: int) -> Floats:
    """Merge groups until each has `least` values of every confidential column; the model's groups change with it."""
    if not model.k_anonymous_:
        raise InputError(f"l={least} needs groups over all quasi-identifiers at once; leave out the attribute groups")
    if not roles.confidential:
        raise InputError(f"l={least} needs a confidential column; name it with --confidential")
    for name in roles.confidential:
        check_values(name, _values_of(data[name])[kept], least)
    means = (model.representatives_ - model.mean_) / model.scale_
    standard = (values - model.mean_) / model.scale_

    def distance_to_groups(rows: Ints) -> Floats:
        distance: Floats = np.sum((means - standard[rows].mean(axis=0)) ** 2, axis=1)
        return distance

    codes = [value_codes(_values_of(data[name])[kept]) for name in roles.confidential]
    model.groups_ = merge_until_diverse(model.groups_, codes, least, distance_to_groups)
    model.representatives_ = group_means(values, model.groups_)
    masked: Floats = model.representatives_[model.groups_]
    return masked


def _above_optimum(model: Microaggregation, standard: Floats, standard_masked: Floats) -> float | None:
    """How far, at most, the error is above the least that groups of k can have."""
    bound = getattr(model, "lower_bound_", 0.0)
    return round(table_loss(standard, standard_masked).sse / bound - 1.0, 3) if bound > 0 else None


def _classes(masked: Floats) -> Ints:
    """Rows that are equal, as numbers."""
    return np.unique(masked, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def _values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values


def _changes(names: tuple[str, ...], values: Floats, masked: Floats, standard: Floats, standard_masked: Floats) -> Any:
    for column, name in enumerate(names):
        spread = float(np.sum(standard[:, column] ** 2))
        lost = float(np.sum((standard[:, column] - standard_masked[:, column]) ** 2))
        yield ColumnChange(
            name=name,
            mean=float(f"{masked[:, column].mean():.6g}"),
            sd_before=float(f"{values[:, column].std():.3g}"),
            sd_after=float(f"{masked[:, column].std():.3g}"),
            loss=round(lost / spread, 4) if spread else 0.0,
        )


def _described(released: pa.Table, roles: Roles) -> Any:
    for field in released.schema:
        role = "quasi" if field.name in roles.quasi else "insensitive"
        role = "confidential" if field.name in roles.confidential else role
        yield {"name": field.name, "role": role, "type": str(field.type)}


def _file_name(format: str) -> str:
    return "table.parquet" if format == "memory" else f"table.{format}"


def _write(data: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(data, path, compression="zstd")
        return
    delimiter = "\t" if ".tsv" in path.name else ","
    text = io.BytesIO()
    pyarrow.csv.write_csv(data, text, pyarrow.csv.WriteOptions(delimiter=delimiter))
    content = text.getvalue()
    # A gzip header carries a time and a name: the time is left out, and there is no name.
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
