"""Groups of a table's rows, joined until each has what is promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data import Roles
from shoal.data.columns import values_of
from shoal.errors import InputError
from shoal.promises.diversity import check_kept
from shoal.promises.joining import join_until
from shoal.promises.people import OwnK
from shoal.promises.values import counted_values, value_requirements
from shoal.release.tables.rows import TableMethod, TableRows
from shoal.request.options import GroupPromises

Ints = NDArray[np.int64]


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
    if not promises.asked:
        return group_of_row
    check_groups(method, promises)
    distances = method.group_distances(rows, group_of_row)
    columns = confidential_values(rows, roles, promises, whole=overall is None)
    crowds = [] if rows.own_k is None or int(np.max(rows.own_k)) <= method.k else [OwnK(rows.own_k)]
    requirements = [*crowds, *value_requirements(promises, columns, overall)]
    joined = join_until(group_of_row, requirements, distances)
    if overall is None:
        check_several(group_of_row, joined, promises)
    return joined


def check_groups(method: TableMethod, promises: GroupPromises) -> None:
    """Refuse promises of groups where the method makes none over all quasi-identifiers."""
    if method.k_anonymous:
        return
    if method.averages:
        raise InputError(
            "{option} needs groups over all quasi-identifiers at once; leave out the attribute groups", promises.asked
        )
    raise InputError(f"{{option}} needs groups, and {method.name} makes none; leave it out", promises.asked)


def confidential_values(rows: TableRows, roles: Roles, promises: GroupPromises, whole: bool) -> list[NDArray[Any]]:
    """The confidential columns, which have what is promised if the table is `whole`."""
    columns = [values_of(rows.columns[name]) for name in roles.confidential]
    if whole:
        for name, values in zip(roles.confidential, columns, strict=True):
            check_kept(promises, name, counted_values(values))
    return columns


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
            "are too unlike all others; ask for less, recode the kept columns, or keep fewer",
            promises.asked,
        )
