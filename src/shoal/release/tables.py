"""Tables to the draft of a release: quasi-identifiers masked, rows in canonical order."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
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
from shoal.release.row_order import sort_rows, sortable
from shoal.release.summary import ColumnChange, Summary
from shoal.results import Withheld

__all__ = [
    "classes_of",
    "column_change",
    "described",
    "draft_table",
    "merged_until_diverse",
    "method_in_words",
    "too_few_rows",
    "values_of",
    "write_table",
]

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
        raise too_few_rows(k, len(kept), len(complete) - len(kept))

    model = clone(method).set_params(k=k)
    named = pa.table({name: values[:, place] for place, name in enumerate(roles.quasi)})
    masked = np.column_stack([column.to_numpy() for column in model.fit_transform(named).columns])
    if l is not None:
        masked = _diverse(model, values, table.data, roles, kept, l)
    masked = masked + 0.0  # no negative zeros: equal numbers are written alike
    released, order = _sorted(_replaced(table.data.take(pa.array(kept)), roles, masked))
    values, masked, source = values[order], masked[order], kept[order]

    parts = [tuple(roles.quasi[column] for column in columns) for columns in model.attribute_groups_]
    classes = classes_of(masked)
    sizes = np.bincount(classes)
    smallest = min(int(np.bincount(classes_of(masked[:, columns])).min()) for columns in model.attribute_groups_)
    confidential = {name: values_of(released[name]) for name in roles.confidential}
    standard, standard_masked = ((part - model.mean_) / model.scale_ for part in (values, masked))
    left_out = np.flatnonzero(~complete)
    # Where few records moved in some column, its spread and the error tell what they were.
    moved = np.sum(values != masked, axis=0)
    told = bool(np.all((moved == 0) | (moved >= FEW)))
    name = _file_name(table.format)
    summary = Summary(
        kind="table",
        k=k,
        method=method_in_words(method),
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
        columns=described(released.schema, roles),
        shared_columns=tuple(parts),
        parameters={"microaggregation": model.get_params()},
        files={name: lambda path: write_table(released, path)},
        private_files={
            MAPPING: write_mapping(row_ids, classes),
            "withheld.csv": write_csv(("row", "reason"), [(row + 1, INCOMPLETE) for row in left_out.tolist()]),
        },
    )


def method_in_words(method: Microaggregation) -> str:
    """What protects the table, as the report says it."""
    return IN_WORDS[method.method] + (", refined" if method.refine and method.method == "mdav" else "")


def too_few_rows(k: int, left: int, withheld: int) -> InputError:
    """What to say when fewer than k rows can be released."""
    why = f" ({withheld} withheld)" if withheld else ""
    return InputError(f"k={k} needs at least {k} rows, got {left}{why}; lower k or add rows")


def _in_order_of_content(data: pa.Table, roles: Roles, complete: NDArray[np.bool_]) -> Ints:
    """Complete rows sorted by what will be released of them: the order of the input then has no bearing."""
    columns = [*roles.quasi, *roles.confidential, *roles.insensitive]
    order = sort_rows(data.select(columns))
    return order[complete[order]]


def _sorted(data: pa.Table) -> tuple[pa.Table, Ints]:
    order = sort_rows(data)
    return data.take(pa.array(order)), order


def _replaced(data: pa.Table, roles: Roles, masked: Floats) -> pa.Table:
    """The columns that go out, as they stood: quasi-identifiers masked, identifiers and columns without role gone."""
    columns = {}
    for name in data.column_names:
        if name in roles.quasi:
            columns[name] = pa.chunked_array([pa.array(masked[:, roles.quasi.index(name)])])
        elif name in roles.confidential or name in roles.insensitive:
            columns[name] = sortable(data[name])
    return pa.table(columns)


def _diverse(model: Microaggregation, values: Floats, data: pa.Table, roles: Roles, kept: Ints, least: int) -> Floats:
    """Merge groups until each has `least` values of every confidential column; the model's groups change with it."""
    if not model.k_anonymous_:
        raise InputError(f"l={least} needs groups over all quasi-identifiers at once; leave out the attribute groups")
    if not roles.confidential:
        raise InputError(f"l={least} needs a confidential column; name it with --confidential")
    standard = (values - model.mean_) / model.scale_
    confidential = {name: values_of(data[name])[kept] for name in roles.confidential}
    model.groups_ = merged_until_diverse(standard, model.groups_, confidential, least)
    model.representatives_ = group_means(values, model.groups_)
    masked: Floats = model.representatives_[model.groups_]
    return masked


def merged_until_diverse(standard: Floats, groups: Ints, confidential: Mapping[str, NDArray[Any]], least: int) -> Ints:
    """The groups, merged until each has `least` different values of every confidential column."""
    for name, values in confidential.items():
        check_values(name, values, least)
    means = group_means(standard, groups)

    def distance_to_groups(rows: Ints) -> Floats:
        distance: Floats = np.sum((means - standard[rows].mean(axis=0)) ** 2, axis=1)
        return distance

    codes = [value_codes(values) for values in confidential.values()]
    return merge_until_diverse(groups, codes, least, distance_to_groups)


def _above_optimum(model: Microaggregation, standard: Floats, standard_masked: Floats) -> float | None:
    """How far, at most, the error is above the least that groups of k can have."""
    bound = getattr(model, "lower_bound_", 0.0)
    return round(table_loss(standard, standard_masked).sse / bound - 1.0, 3) if bound > 0 else None


def classes_of(masked: Floats) -> Ints:
    """Rows that are equal, as numbers."""
    return np.unique(masked, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values as Python has them."""
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values


def _changes(names: tuple[str, ...], values: Floats, masked: Floats, standard: Floats, standard_masked: Floats) -> Any:
    for column, name in enumerate(names):
        spread = float(np.sum(standard[:, column] ** 2))
        lost = float(np.sum((standard[:, column] - standard_masked[:, column]) ** 2))
        mean, before, after = masked[:, column].mean(), values[:, column].std(), masked[:, column].std()
        yield column_change(name, float(mean), float(before), float(after), lost / spread if spread else 0.0)


def column_change(name: str, mean: float, sd_before: float, sd_after: float, loss: float) -> ColumnChange:
    """What became of a column, in as many digits as are told."""
    before, after = float(f"{sd_before:.3g}"), float(f"{sd_after:.3g}")
    return ColumnChange(name, float(f"{mean:.6g}"), before, after, round(loss, 4))


def described(schema: pa.Schema, roles: Roles) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    return tuple({"name": field.name, "role": _role_of(field.name, roles), "type": str(field.type)} for field in schema)


def _role_of(name: str, roles: Roles) -> str:
    if name in roles.quasi:
        return "quasi"
    return "confidential" if name in roles.confidential else "insensitive"


def _file_name(format: str) -> str:
    return "table.parquet" if format == "memory" else f"table.{format}"


def write_table(data: pa.Table, path: Path) -> None:
    """Write the rows in the format that the path's name says."""
    if path.suffix == ".parquet":
        pq.write_table(data, path, compression="zstd")
        return
    delimiter = "\t" if ".tsv" in path.name else ","
    text = io.BytesIO()
    pyarrow.csv.write_csv(data, text, pyarrow.csv.WriteOptions(delimiter=delimiter))
    content = text.getvalue()
    # A gzip header carries a time and a name: the time is left out, and there is no name.
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
