"""Groups of a table's rows joined until each has what is promised; of whole people, where these have several rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.data.columns import values_of
from shoal.data.files import shown
from shoal.data.roles import Roles
from shoal.errors import InputError
from shoal.methods.mdav import numbered_by_first_row
from shoal.promises.joining import GroupDistances, join_until
from shoal.promises.people import OwnK, PeopleGroups, had_once, joined_crowds
from shoal.promises.values import value_requirements
from shoal.release.tables.rows import Ints, Mask, MaskedLabels, MaskedRows, TableMethod, TableRows
from shoal.request.options import GroupPromises


def join_groups(
    method: TableMethod,
    rows: TableRows,
    group_of_row: Ints,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]] | None = None,
) -> Ints:
    """Groups joined until each has what is promised beside k.

    `overall` has how many records of the whole table have each value of every confidential column; None: this is all.
    """
    if not method.k_anonymous:
        raise no_groups(method, promises)
    distances = method.group_distances(rows, group_of_row)
    columns = [values_of(rows.columns[name]) for name in method.layout.roles.confidential]
    crowds = [] if rows.own_k is None or int(np.max(rows.own_k)) <= method.k else [OwnK(rows.own_k)]
    requirements = [*crowds, *value_requirements(promises, columns, overall)]
    joined = join_until(group_of_row, requirements, distances)
    if overall is None and (promises.t is not None or promises.beta is not None):
        check_several(group_of_row, joined, promises)
    return joined


def no_groups(method: TableMethod, promises: GroupPromises) -> InputError:
    """The refusal of promises of groups where the method makes none over all quasi-identifiers."""
    why = "needs groups over all quasi-identifiers at once; leave it out, or use a method that makes them"
    if not method.averages:
        why = f"needs groups, and {method.name} makes none; leave it out"
    return InputError(f"{{option}} {why}", promises.asked)


def check_several(before: Ints, joined: Ints, promises: GroupPromises) -> None:
    """Refuse bounds that leave one group of all records."""
    strict = [f"{name}={bound:g}" for name, bound in (("t", promises.t), ("beta", promises.beta)) if bound is not None]
    if strict and before.max() > 0 and joined.max() == 0:
        raise InputError(
            f"{' and '.join(strict)} leaves one group of all {len(joined):,} records; raise it, or name fewer "
            "confidential columns"
        )


def check_strata(
    groups: Sequence[Ints],
    strata: Sequence[TableRows],
    roles: Roles,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]],
) -> None:
    """Refuse promises that cannot be held where groups never cross the values of kept columns."""
    broken = 0
    for group_of_row, rows in zip(groups, strata, strict=True):
        asked = value_requirements(promises, [values_of(rows.columns[name]) for name in roles.confidential], overall)
        ends = np.cumsum(np.bincount(group_of_row))[:-1]
        members = np.split(np.argsort(group_of_row, kind="stable"), ends)
        broken += not all(one.met(some) for one in asked for some in members)
    if broken:
        raise InputError(
            f"{{option}} cannot be held for {broken} of the {len(strata)} combinations of kept values: their records "
            "have too few values, or others than all have, and withholding them would tell; ask for less, recode the "
            "kept columns, or generalise them",
            promises.asked,
        )


def join_people(
    method: TableMethod,
    rows: TableRows,
    person: Ints,
    crowd_of_row: Ints,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]] | None = None,
) -> PeopleGroups:
    """Crowds joined until each of their slots has what is promised; `overall` as in `join_groups`."""

    def distances_of(chosen: Ints, group_of_row: Ints) -> GroupDistances:
        return method.group_distances(rows.take(chosen), group_of_row)

    if not method.k_anonymous:
        raise no_groups(method, promises)
    roles = method.layout.roles
    confidential = [values_of(rows.columns[name]) for name in roles.confidential]
    points = method.block_coordinates(rows)
    once = had_once([values_of(rows.columns[name]) for name in roles.quasi if name in rows.columns], person)
    # Farther than any two rows, so that these rows share a slot: one head stays one head.
    far = 1.0 + 4.0 * float(np.abs(points).max(initial=0.0)) * points.shape[1] ** 0.5
    points = np.column_stack([points, far * once])
    groups = joined_crowds(crowd_of_row, person, points, promises, confidential, distances_of, rows.own_k, overall)
    if overall is None:
        check_several(crowd_of_row, groups.crowd_of_row, promises)
    return groups


def warn_of_links(rows: TableRows, person: Ints, columns: Sequence[str]) -> None:
    """Warn of released values that all rows of a person share and few others have: they link rows as a number would."""
    people, person_of_row = np.unique(person, return_inverse=True)
    for name in constant_columns(rows, person_of_row, columns)[0] if len(people) < len(person) else ():
        if 2 * len(np.unique(_codes(rows.columns[name]))) > len(people):
            warnings.warn(
                f"{shown(name)}: all rows of a person share its value, and few others have it: rows can be linked, and "
                "what all people of a crowd have in some row is certain, whatever is promised of rows; drop it",
                stacklevel=2,
            )


def represent_people(method: TableMethod, rows: TableRows, person: Ints, groups: PeopleGroups) -> MaskedRows:
    """The rows with what stands for their slots; columns that are constant within people have one value in a crowd."""
    _, first_row, person_of_row = np.unique(person, return_index=True, return_inverse=True)
    masked = method.represent(rows, groups.group_of_row)
    labels, numbers = constant_columns(rows, person_of_row, method.layout.labels)
    if labels or numbers.any():
        people = one_row_per_person(rows, person_of_row)
        of_crowds = method.represent(people, numbered_by_first_row(groups.crowd_of_row[first_row]))
        masked = _with_columns(masked, of_crowds, person_of_row, labels, numbers)
    return masked


def constant_columns(rows: TableRows, person_of_row: Ints, labels: Sequence[str]) -> tuple[list[str], Mask]:
    """Labels that all rows of a person share, and numbers that they do."""
    first = np.unique(person_of_row, return_index=True)[1][person_of_row]
    numbers = (rows.numbers == rows.numbers[first]).all(axis=0)
    if rows.gaps is not None:
        numbers &= (rows.gaps == rows.gaps[first]).all(axis=0)
    codes = {name: _codes(rows.columns[name]) for name in labels}
    return [name for name, code in codes.items() if np.array_equal(code, code[first])], numbers


def one_row_per_person(rows: TableRows, person_of_row: Ints) -> TableRows:
    """The mean of each person's numbers, and the most frequent of their labels; other columns as in the first row."""
    first = np.unique(person_of_row, return_index=True)[1]
    typical = rows.take(first)
    known = np.ones_like(rows.numbers, dtype=bool) if rows.gaps is None else ~rows.gaps
    numbers, gaps = typical.numbers.copy(), np.zeros_like(typical.numbers, dtype=bool)
    for column in range(numbers.shape[1]):
        present = np.bincount(person_of_row, weights=known[:, column])
        total = np.bincount(person_of_row, weights=np.where(known[:, column], rows.numbers[:, column], 0.0))
        gaps[:, column] = present == 0  # such a person keeps what stands for a gap
        numbers[:, column] = np.divide(total, present, out=numbers[:, column].copy(), where=present > 0)
    columns = {name: _most_frequent(column, person_of_row) for name, column in rows.columns.items()}
    return replace(typical, numbers=numbers, gaps=None if rows.gaps is None else gaps, columns=columns)


def _most_frequent(column: pa.Array, person_of_row: Ints) -> pa.Array:
    codes = _codes(column)
    pairs, row, counts = np.unique(
        np.column_stack([person_of_row, codes]), axis=0, return_index=True, return_counts=True
    )
    order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
    leading = order[np.unique(pairs[order, 0], return_index=True)[1]]
    return column.take(pa.array(row[leading]))


def _codes(column: pa.Array) -> Ints:
    """The rank of each value among the different ones of a column, as texts; a missing value has one, too."""
    encoded = column.dictionary_encode(null_encoding="encode")
    texts = [str(value) for value in encoded.dictionary.to_pylist()]
    rank = np.empty(len(texts), dtype=np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    codes: Ints = rank[np.asarray(encoded.indices)]
    return codes


def _with_columns(masked: MaskedRows, other: MaskedRows, row_of: Ints, labels: list[str], numbers: Mask) -> MaskedRows:
    """Masked rows with these columns as other rows have them; `row_of` says which."""
    taken = {}
    for name in labels:
        own, after = masked.labels[name], other.labels[name]
        taken[name] = MaskedLabels(after.released.take(pa.array(row_of)), own.before, after.after[row_of])
    gaps = masked.gaps
    if gaps is not None and other.gaps is not None:
        gaps = np.where(numbers, other.gaps[row_of], gaps)
    return replace(
        masked,
        numbers=np.where(numbers, other.numbers[row_of], masked.numbers),
        labels={**masked.labels, **taken},
        gaps=gaps,
    )
