"""Tables to the draft of a release: quasi-identifiers masked, rows in canonical order."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.assessment.leaks import leaks_of_release
from shoal.bundle.folders import MAPPING, Writer, write_csv, write_mapping
from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.io import Roles, Table, check_complete, quasi_matrix, resolve_roles
from shoal.io.row_order import sort_rows, sortable
from shoal.io.table import check_labels, holds_numbers
from shoal.masking import Noise, RankSwap
from shoal.microaggregation import CategoricalMicroaggregation, Microaggregation, MixedMicroaggregation
from shoal.microaggregation.diversity import JOINED, merge_until_diverse
from shoal.microaggregation.numeric import group_means, table_loss
from shoal.ontology.value_mapping import mappings_of
from shoal.pages.leak_card import leaks_html, learned_rates
from shoal.protection.closeness import closeness
from shoal.protection.coarsening import check_coarsened_columns, coarsened_columns
from shoal.protection.distances import NOT_TOLD, euclidean_distances
from shoal.protection.groups import check_values, diversities, sizes_of, stated_loss, value_codes
from shoal.protection.labels import mask_labels, mask_numbers_and_labels
from shoal.protection.masked import Masked, Merge, distance_to_means, values_of
from shoal.protection.numbers import PublishedNumbers, publish_means, publish_values
from shoal.protection.publishable import DIGITS, FEW_MOVED, grid_of, reason_of_all
from shoal.release.draft import Draft
from shoal.results.claims import Withheld
from shoal.results.leaks import LeakCard
from shoal.results.methods import IN_WORDS
from shoal.results.rates import Rate
from shoal.results.summary import Summary
from shoal.risk.distance import DistanceLinkage
from shoal.risk.intervals import IntervalDisclosure

__all__ = [
    "classes_of",
    "described",
    "draft_table",
    "merged_until_diverse",
    "method_in_words",
    "table_method",
    "too_few_rows",
    "write_table",
]

MOST_ATTACKED = 100_000  # rows up to which a release is attacked before it is handed out
ROWS_AT_ONCE = 1 << 17  # rows of a row group: that many are in memory when a release is verified
INCOMPLETE = "a quasi-identifier is missing"

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def _all_quasi(quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    return quasi


def _only_numbers(quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    return numbers


def _none(quasi: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[str, ...]:
    return ()


def draft_table(
    table: Table,
    k: int,
    roles: Roles | None,
    method: Any,
    l: int | None,
    missing: str,
    coarsen: Mapping[str, int],
) -> Draft:
    """Mask the quasi-identifiers, drop the identifiers, and put the rows in the order of their content.

    `method` is what masks; or it chooses that, when told which of the quasi-identifiers are numbers and which are not.
    `coarsen` names columns that are aggregated once more after it, and the least number of rows of a class there.
    """
    roles = resolve_roles(table, roles)
    if l is not None and not roles.confidential:
        raise InputError(f"l={l} needs a confidential column; name it with --confidential")
    numbers = tuple(name for name in roles.quasi if holds_numbers(table.data[name].type))
    if callable(method):
        labels = tuple(name for name in roles.quasi if name not in numbers)
        method = method(numbers, labels)
        if isinstance(method, CategoricalMicroaggregation | MixedMicroaggregation):
            check_labels(table, [name for name in labels if not _explained(method, name)], method.ontology is not None)
    mask, averages = MASKS[type(method)]
    makes_groups = "k" in method.get_params()
    k = k if makes_groups else 1  # swapped and noisy records hide in no crowd
    averaged = replace(roles, quasi=averages(roles.quasi, numbers))
    values, complete = quasi_matrix(table, averaged)
    if missing == "refuse":
        check_complete(table, averaged, complete)
    kept = _in_order_of_content(table.data, roles, complete)
    if len(kept) < k:
        raise too_few_rows(k, len(kept), len(complete) - len(kept))
    check_coarsened_columns(coarsen, table.data.column_names, roles, averaged.quasi, len(kept))
    coarsen = {name: coarsen[name] for name in roles.quasi if name in coarsen}  # however they were listed

    data = table.data.take(pa.array(kept))
    columns = {name: sortable(data[name]).combine_chunks() for name in roles.quasi}
    columns |= {name: pa.array(values[kept, place]) for place, name in enumerate(averaged.quasi)}
    quasi = pa.table({name: columns[name] for name in roles.quasi})
    confidential = {name: values_of(data[name]) for name in roles.confidential}
    model = clone(method).set_params(k=k) if makes_groups else clone(method)
    masked = mask(quasi, model, None if l is None else partial(_diverse, confidential, l), coarsen)
    card = leaks_of_release(quasi, masked, averaged.quasi, getattr(model, "ontology", None))
    released, order = _sorted(_replaced(data, roles, masked, table.format))

    classes = masked.classes(roles.quasi)
    smallest = min(int(np.bincount(masked.classes(part)).min()) for part in masked.together)
    left_out = np.flatnonzero(~complete)
    name = _file_name(table.format)
    summary = Summary(
        kind="table",
        k=k,
        method=masked.method,
        promises_k=masked.k_anonymous,
        rows=len(kept),
        smallest_group=smallest,
        group_sizes=sizes_of(np.bincount(classes)),
        loss=masked.loss,
        distances=masked.distances,
        withheld=(Withheld(INCOMPLETE, len(left_out)),) if len(left_out) else (),
        diversity=diversities(classes, confidential),
        closeness=closeness(classes, confidential),
        l_promised=l,
        above_optimum=masked.above_optimum,
        columns=masked.changes,
        coarsened=tuple(coarsen.items()),
        generalisations=masked.generalisations,
        linked=masked.linked,
        attacks=masked.attacks + learned_rates(card) if masked.attacks else (),
        insensitive=roles.insensitive,
        dropped_columns=table.data.num_columns - released.num_columns,
        files=((name, "one row per record"),),
    )
    row_ids = [str(row + 1) for row in kept[order]]
    return Draft(
        summary=summary,
        columns=described(released.schema, roles),
        shared_columns=masked.together,
        parameters={"microaggregation" if makes_groups else "masking": masked.parameters}
        | ({"coarsen": dict(coarsen)} if coarsen else {})
        | ({} if l is None else {"diversity": JOINED})
        | ({"rounded_to": dict(masked.rounded_to)} if masked.rounded_to else {}),
        files={name: lambda path: write_table(released, path)},
        private_files={
            MAPPING: write_mapping(row_ids, classes[order]),
            "withheld.csv": write_csv(("row", "reason"), [(row + 1, INCOMPLETE) for row in left_out.tolist()]),
            **masked.private_files,
            **_card_files(card, len(kept)),
        },
        formulas=formulas_in(released),
    )


def _card_files(card: LeakCard | None, rows: int) -> dict[str, Writer]:
    """The card as a private file: its weights would help an attacker, so a release does not hold them."""
    if card is None:
        return {}
    html = leaks_html(card, rows)
    return {"leaks.html": lambda path: _write(path, html)}


def _write(path: Path, html: str) -> None:
    path.write_text(html, encoding="utf-8", newline="\n")


def mask_numbers(quasi: pa.Table, model: Microaggregation, merge: Merge | None, coarsen: Mapping[str, int]) -> Masked:
    """Numbers become the means of their groups."""
    values = _matrix(quasi)
    masked = _matrix(model.fit_transform(quasi))
    if merge is not None:
        if not model.k_anonymous_:
            raise InputError("--l needs groups over all quasi-identifiers at once; leave out the attribute groups")
        distance = distance_to_means((values - model.mean_) / model.scale_, model.groups_)
        groups = merge(model.groups_, distance)
        masked = group_means(values, groups)[groups]
    names = tuple(quasi.column_names)
    masked = coarsened_columns(names, masked, coarsen)
    together = tuple(tuple(names[column] for column in columns) for columns in model.attribute_groups_)
    numbers = publish_means(names, values, masked, model.k)
    found = _of_numbers(
        numbers,
        together=together,
        k_anonymous=model.k_anonymous_,
        method=method_in_words(model),
        parameters=model.get_params(),
    )
    bound = getattr(model, "lower_bound_", 0.0)
    if coarsen or bound <= 0 or not found.loss.measured:
        return found  # the bound is one of groups alone
    # How far, at most, the error is above the least that groups of k can have.
    standard, standard_masked = ((part - model.mean_) / model.scale_ for part in (values, masked))
    return replace(found, above_optimum=round(table_loss(standard, standard_masked).sse / bound - 1.0, 3))


def mask_values(quasi: pa.Table, model: RankSwap | Noise, merge: Merge | None, coarsen: Mapping[str, int]) -> Masked:
    """Numbers are swapped or blurred, each record on its own: no crowd is promised."""
    if merge is not None:
        raise InputError(f"--l needs groups, and {type(model).__name__} makes none; leave it out")
    names = tuple(quasi.column_names)
    values, masked = _matrix(quasi), coarsened_columns(names, _matrix(model.fit_transform(quasi)), coarsen)
    # Who knows the seed can undo the masking, so it is never told.
    parameters = {name: value for name, value in model.get_params().items() if name != "random_state"}
    return _of_numbers(
        publish_values(names, values, masked),
        together=(names,),
        k_anonymous=False,
        method=SWAPPED_OR_BLURRED[type(model)],
        parameters=parameters,
    )


def _matrix(table: pa.Table) -> Floats:
    return np.column_stack([column.to_numpy() for column in table.columns])


def _of_numbers(numbers: PublishedNumbers, **of_method: Any) -> Masked:
    """What may be said of masked numbers; `of_method` are the fields of Masked that do not depend on them."""
    mean, reason = numbers.values.mean(axis=0), reason_of_all(numbers.reasons)
    standard, standard_released = ((part - mean) / numbers.scale for part in (numbers.values, numbers.released))
    inner, inner_released = (part / numbers.inner_scale for part in (numbers.values, numbers.released))
    many_moved = FEW_MOVED not in numbers.reasons
    return Masked(
        columns={name: pa.array(numbers.released[:, place]) for place, name in enumerate(numbers.names)},
        loss=stated_loss(table_loss(standard, standard_released), reason is None, reason, DIGITS),
        rounded_to=grid_of(numbers.names, numbers.steps),
        distances=euclidean_distances(inner, inner_released) if many_moved else NOT_TOLD,
        changes=numbers.changes,
        attacks=_attacked(numbers.values, numbers.released)
        if many_moved and len(numbers.values) <= MOST_ATTACKED
        else (),
        **of_method,
    )


def _attacked(values: Floats, masked: Floats) -> tuple[Rate, ...]:
    """What an intruder who knows the originals finds; `assess` tells more."""
    linkage = (DistanceLinkage(metric).run(values, masked) for metric in ("euclidean", "mahalanobis"))
    return (*linkage, IntervalDisclosure().run(values, masked))


SWAPPED_OR_BLURRED: dict[type, str] = {RankSwap: "rank swapping", Noise: "added noise"}

# What masks with each method, and which of the quasi-identifiers it takes for numbers.
MASKS: dict[type, tuple[Callable[..., Masked], Callable[..., tuple[str, ...]]]] = {
    Microaggregation: (mask_numbers, _all_quasi),
    CategoricalMicroaggregation: (mask_labels, _none),
    MixedMicroaggregation: (mask_numbers_and_labels, _only_numbers),
    RankSwap: (mask_values, _all_quasi),
    Noise: (mask_values, _all_quasi),
}


def by_columns(numbers: tuple[str, ...], labels: tuple[str, ...]) -> Any:
    """What protects a table unless the user says: means of numbers, concepts of labels."""
    if not labels:
        return Microaggregation()
    return MixedMicroaggregation() if numbers else CategoricalMicroaggregation(refine=True)


def table_method(method: Any) -> Any:
    """The method, or what chooses it by the columns."""
    if method is None:
        return by_columns
    if type(method) in MASKS or callable(method):
        return method
    raise InputError(
        f"{type(method).__name__} cannot protect a table; use {', '.join(kind.__name__ for kind in MASKS)}"
    )


def method_in_words(method: Microaggregation) -> str:
    """What protects the table, as the report says it."""
    return IN_WORDS[method.method] + (", refined" if method.refine and method.method == "mdav" else "")


def too_few_rows(k: int, left: int, withheld: int) -> InputError:
    """What to say when fewer than k rows can be released."""
    why = f" ({withheld} withheld)" if withheld else ""
    return InputError(f"k={k} needs at least {k} rows, got {left}{why}; lower k or add rows")


def _explained(method: Any, column: str) -> bool:
    """Whether the user said what the labels of this column mean."""
    own = method.ontology.get(column) if isinstance(method.ontology, Mapping) else None
    return own is not None or bool(mappings_of(method.mapping, [column])[column])


def _in_order_of_content(data: pa.Table, roles: Roles, complete: NDArray[np.bool_]) -> Ints:
    """Complete rows sorted by what will be released of them: the order of the input then has no bearing."""
    columns = [*roles.quasi, *roles.confidential, *roles.insensitive]
    order = sort_rows(data.select(columns))
    return order[complete[order]]


def _sorted(data: pa.Table) -> tuple[pa.Table, Ints]:
    order = sort_rows(data)
    return data.take(pa.array(order)), order


def _replaced(data: pa.Table, roles: Roles, masked: Masked, format: str) -> pa.Table:
    """The columns that go out, as they stood: quasi-identifiers masked, identifiers and columns without role gone."""
    columns = {}
    for name in data.column_names:
        if name in roles.quasi:
            column = masked.columns[name]
            # Text files have no sign for a missing text but the empty one.
            text = pa.types.is_string(column.type) and format not in ("parquet", "memory")
            columns[name] = pa.chunked_array([pc.fill_null(column, "") if text else column])
        elif name in roles.confidential or name in roles.insensitive:
            columns[name] = sortable(data[name])
    return pa.table(columns)


def _diverse(confidential: Mapping[str, NDArray[Any]], least: int, groups: Ints, distance_to_groups: Any) -> Ints:
    """The groups, joined until each has `least` different values of every confidential column."""
    for name, values in confidential.items():
        check_values(name, values, least)
    codes = [value_codes(values) for values in confidential.values()]
    return merge_until_diverse(groups, codes, least, distance_to_groups)


def merged_until_diverse(standard: Floats, groups: Ints, confidential: Mapping[str, NDArray[Any]], least: int) -> Ints:
    """The same for rows of numbers."""
    return _diverse(confidential, least, groups, distance_to_means(standard, groups))


def classes_of(masked: Floats) -> Ints:
    """Rows that are equal, as numbers."""
    return np.unique(masked, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


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
        pq.write_table(data.combine_chunks(), path, compression="zstd", row_group_size=ROWS_AT_ONCE)
        return
    delimiter = "\t" if ".tsv" in path.name else ","
    text = io.BytesIO()
    pyarrow.csv.write_csv(data, text, pyarrow.csv.WriteOptions(delimiter=delimiter))
    content = text.getvalue()
    # A gzip header carries a time and a name: the time is left out, and there is no name.
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
