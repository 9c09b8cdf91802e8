"""The table to audit, a file or a release: its columns as codes, its weights, people and households."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.assessment.audit.key_columns import Floats, Ints, KeyColumns
from shoal.data.columns import check_sortable, column_numbers, holds_numbers, is_gap, plain
from shoal.data.files import counted, shown, unknown_column
from shoal.data.kinds.inspection import inspect
from shoal.data.roles import LISTED, Role, Roles, asked_roles, resolve_roles
from shoal.data.table import Table, read_table
from shoal.errors import InputError
from shoal.language import N_
from shoal.release.load import kind_of_release, load
from shoal.request.judging_options import AuditOptions
from shoal.request.options import ColumnOptions

MOST_PEOPLE = 100_000  # that a record stands for; more, and the weights of a file have decimals without a point


@dataclass(frozen=True)
class ConfidentialColumn:
    """Values as codes, 0 for a gap; those of numbers are ranks."""

    name: str
    codes: Ints
    ordered: bool


@dataclass(frozen=True)
class AuditedTable:
    """What the measures need of a table."""

    keys: KeyColumns
    confidential: tuple[ConfidentialColumn, ...]
    weights: Floats | None
    household: Ints | None
    release: bool
    proposed: bool  # nobody gave the roles
    found: Mapping[str, str]  # person, household and weight that nobody named
    unscaled: str | None = None  # the weight that nobody named and that does not add up to a population


def read_audited(source: Any, columns: ColumnOptions, person: str | None, asked: AuditOptions) -> AuditedTable:
    """The table with the roles given, else those of a release, else those that `inspect` proposes."""
    table, of_release = _table(source)
    beside = {"person": person, "weight": asked.weight, "household": asked.household}
    for name in beside.values():
        if name is not None and name not in table.data.column_names:
            raise unknown_column(name, table.data.column_names, "the table")
    given = asked_roles(columns)
    known = _of_columns(given) if given is not None else of_release or _proposed(table)
    for option, name in beside.items():
        if name is None:
            continue
        if given is not None and name in (*known["quasi"], *known["confidential"]):
            raise InputError(f"column {shown(name)} is {{option}} and has a role; give it one of the two", option)
        known = {role: [other for other in names if other != name] for role, names in known.items()} | {option: [name]}
    if given is None and not known["quasi"]:
        raise InputError("no column looks like a quasi-identifier; name those that others may know", "quasi age,sex")
    roles = resolve_roles(table, Roles(known["quasi"], known["confidential"]))  # type: ignore[arg-type]
    if asked.missing == "match" and person is None:
        known.pop("person", None)  # gaps that match are counted in records
    person, weight, household = (next(iter(known.get(role, ())), None) for role in ("person", "weight", "household"))
    weights = None if weight is None else _weights(table, weight, weight == asked.weight)
    used = {N_("person"): person, N_("household"): household, N_("weight"): None if weights is None else weight}
    keys = KeyColumns(
        roles.quasi,
        tuple(_codes(table, name) for name in roles.quasi),
        gaps_match=asked.missing == "match",
        person=None if person is None else _owners(table, person),
    )
    return AuditedTable(
        keys,
        tuple(_confidential(table, name) for name in roles.confidential),
        weights,
        None if household is None else _owners(table, household),
        of_release is not None,
        given is None and of_release is None,
        {role: name for role, name in used.items() if name is not None and name != beside[role]},
        weight if weights is None else None,
    )


def _table(source: Any) -> tuple[Table, dict[str, list[str]] | None]:
    """The rows, and the columns of each role in a release's certificate."""
    kind = kind_of_release(source) if isinstance(source, str | os.PathLike) and os.path.isdir(source) else None
    if kind is None:
        return read_table(source), None
    if kind != "table":
        raise InputError(f"{shown(source)} is a release of {kind}, which has no columns to audit; give a table")
    release = load(source)
    columns = release.certificate["promises"]["columns"]
    roles = (Role.QUASI, Role.CONFIDENTIAL, Role.WEIGHT)
    return Table(release.table, "release"), {
        role.value: [column["name"] for column in columns if column["role"] == role] for role in roles
    }


def _proposed(table: Table) -> dict[str, list[str]]:
    columns = inspect(table.data).columns
    return {role.value: [column.name for column in columns if column.role is role] for role in Role}


def _of_columns(roles: Roles) -> dict[str, list[str]]:
    return {role.value: list(roles.columns(role)) for role in LISTED}


def _codes(table: Table, name: str) -> Ints:
    """Values from 1 on in the order of their first rows, 0 for a gap."""
    column = plain(table.data[name])
    check_sortable(pa.table({name: column}))
    known = pc.if_else(is_gap(column), pa.scalar(None, column.type), column)
    codes: Ints = known.combine_chunks().dictionary_encode().indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1
    return codes


def _confidential(table: Table, name: str) -> ConfidentialColumn:
    codes = _codes(table, name)
    if not holds_numbers(table.data[name].type):
        return ConfidentialColumn(name, codes, ordered=False)
    ranks = np.unique(column_numbers(table.data[name], shown(name)), return_inverse=True)[1] + 1  # NaN comes last
    return ConfidentialColumn(name, np.where(codes > 0, ranks, 0), ordered=True)


def _owners(table: Table, name: str) -> Ints:
    """Whose each record is; who is not named is a person or household of their own."""
    codes = _codes(table, name)
    unnamed = codes == 0
    codes[unnamed] = codes.max() + np.arange(1, np.count_nonzero(unnamed) + 1)
    return codes


def _weights(table: Table, name: str, asked: bool) -> Floats | None:
    """The weights; None for those of which nobody asked for and that do not add up to a population."""
    weights = column_numbers(table.data[name], shown(name))
    wrong = np.flatnonzero(~(weights > 0))
    if wrong.size:
        raise InputError(
            f"column {shown(name)}: {counted(wrong.size, 'weight')} missing or not above 0 (first in row "
            f"{wrong[0] + 1}); correct them, or drop the rows"
        )
    if not asked and not len(weights) <= weights.sum() <= MOST_PEOPLE * len(weights):
        return None
    if weights.sum() < len(weights):
        raise InputError(
            f"the weights of column {shown(name)} add up to {weights.sum():,.0f} for {len(weights):,} records; scale "
            "them so that they add up to the population"
        )
    return weights
