"""Groups of a table's rows: by people where that is asked for, joined until each has what is promised.

People: rows are put into layers: the first row of everybody, the second of those who have one, and so on. Within a
layer all rows are of different people, so that groups of k rows are groups of k people. A layer much smaller than the
first is not grouped, for its few rows lie far from each other: they join the groups that are there, each the nearest.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.data import Roles
from shoal.data.columns import values_of
from shoal.data.files import counted
from shoal.errors import InputError
from shoal.methods.mdav import numbered_by_first_row
from shoal.promises.diversity import check_kept
from shoal.promises.joining import join_until
from shoal.promises.people import OwnK, People
from shoal.promises.requirements import Requirement
from shoal.promises.values import counted_values, value_requirements
from shoal.release.tables.rows import TableMethod, TableRows
from shoal.request.options import GroupPromises

LARGE = 0.5  # of the first layer's rows: from there on a layer is grouped by itself

Ints = NDArray[np.int64]


def group_rows(method: TableMethod, rows: TableRows) -> tuple[Ints, float]:
    """The group of each row, and the least SSE possible if it is known; by people if the rows say whose they are."""
    layer = np.zeros(1, dtype=np.int64) if rows.person is None else layer_of_row(rows.person)
    sizes = np.bincount(layer)
    if len(sizes) == 1 or not method.k_anonymous:
        return method.group(rows)
    groups = np.full(len(layer), -1, dtype=np.int64)
    for number in np.flatnonzero(sizes >= max(LARGE * sizes[0], method.k)).tolist():
        in_layer = np.flatnonzero(layer == number)
        groups[in_layer] = method.group(rows.take(in_layer))[0] + groups.max() + 1
    rest = np.flatnonzero(groups < 0)
    if len(rest):
        grouped = np.flatnonzero(groups >= 0)
        groups[grouped] = numbered_by_first_row(groups[grouped])
        groups[rest] = method.nearest(rows.take(grouped), groups[grouped], rows.take(rest))
    return numbered_by_first_row(groups), 0.0


def join_groups(
    method: TableMethod,
    rows: TableRows,
    group_of_row: Ints,
    roles: Roles,
    promises: GroupPromises,
    overall: Sequence[Mapping[str, int]] | None = None,
) -> Ints:
    """Groups joined until each has what is promised; as they are where nothing is promised beside k.

    `overall` has how many records of the whole table have each value of every confidential column; None: this is all.
    """
    if not promises:
        return group_of_row
    if not method.k_anonymous:
        if method.averages:
            raise InputError(
                "{option} needs groups over all quasi-identifiers at once; leave out the attribute groups",
                promises.asked,
            )
        raise InputError(f"{{option}} needs groups, and {method.name} makes none; leave it out", promises.asked)
    columns = [values_of(rows.columns[name]) for name in roles.confidential]
    if overall is None:
        for name, values in zip(roles.confidential, columns, strict=True):
            check_kept(promises, name, counted_values(values))
    requirements = [*_crowd_requirements(rows, method.k), *value_requirements(promises, columns, overall)]
    joined = join_until(group_of_row, requirements, method.group_distances(rows, group_of_row))
    strict = [f"{name}={bound:g}" for name, bound in (("t", promises.t), ("beta", promises.beta)) if bound is not None]
    if strict and overall is None and group_of_row.max() > 0 and joined.max() == 0:
        raise InputError(
            f"{' and '.join(strict)} leaves one group of all {len(joined):,} records; raise it, or name fewer "
            "confidential columns"
        )
    return joined


def _crowd_requirements(rows: TableRows, k: int) -> list[Requirement]:
    requirements: list[Requirement] = []
    if rows.person is not None:
        requirements.append(People(rows.person, k))
    if rows.own_k is not None and int(np.max(rows.own_k)) > k:
        requirements.append(OwnK(rows.own_k, rows.person))
    return requirements


def warn_of_majority(person: Ints | None, group_of_row: Ints) -> None:
    """Tell the owner of a person who has most rows of a group: k people are in it, and yet a row is likely theirs."""
    if person is None:
        return
    pairs, rows = np.unique(np.column_stack([group_of_row, person]), axis=0, return_counts=True)
    most = 2 * rows > np.bincount(group_of_row)[pairs[:, 0]]
    if most.any():
        warnings.warn(
            f"in {counted(int(most.sum()), 'group')} one person has most of the rows, so that most of what it shows is "
            "theirs; keep fewer rows of people who have many, or make one of them",
            stacklevel=2,
        )


def layer_of_row(person: Ints) -> Ints:
    """How many rows of the same person come before each row."""
    order = np.argsort(person, kind="stable")
    first = np.concatenate(([True], person[order][1:] != person[order][:-1]))
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    layer = np.empty(len(order), dtype=np.int64)
    layer[order] = np.arange(len(order)) - start
    return layer
