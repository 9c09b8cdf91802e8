"""Columns that say whose a record is and how large its crowd must be: read for the grouping, and never released."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io import Roles
from shoal.io.delimited import MISSING
from shoal.io.files import counted, shown, unknown_column
from shoal.protection.groups import meanings
from shoal.protection.masked import values_of
from shoal.protection.tables.layout import OWN_K, PERSON
from shoal.results.promised import GroupPromises, asked_option

__all__ = ["check_promised_columns", "crowd_columns"]

LARGEST = 2**31  # of a crowd that anybody may ask for

Ints = NDArray[np.int64]


def check_promised_columns(promises: GroupPromises, columns: Sequence[str], roles: Roles) -> None:
    """The columns that promises speak of are there, and are not released."""
    if promises.of_values and not roles.confidential:
        value = promises.l if promises.l is not None else promises.t
        raise InputError(
            f"{asked_option(promises)[2:]}={value:g} needs a confidential column; name it with --confidential"
        )
    for option, name in (("--person", promises.person), ("--k-column", promises.k_column)):
        if name is None:
            continue
        if name not in columns:
            raise unknown_column(name, columns, "the table")
        if name in (*roles.quasi, *roles.confidential, *roles.insensitive):
            raise InputError(
                f"column {shown(name)} is for {option} and would be released, too; take it out of the other roles"
            )
    if promises.person is not None and promises.person == promises.k_column:
        raise InputError(f"column {shown(promises.person)} is for --person and for --k-column; name two columns")


def crowd_columns(data: pa.Table, promises: GroupPromises) -> dict[str, Ints]:
    """Whose each row is, as a number, and the k that it asks for; as far as that is promised."""
    found: dict[str, Ints] = {}
    if promises.person is not None:
        found[PERSON] = _people(data[promises.person], shown(promises.person))
    if promises.k_column is not None:
        found[OWN_K] = _own_k(data[promises.k_column], shown(promises.k_column))
    return found


def _people(column: pa.ChunkedArray, name: str) -> Ints:
    """A number for each person, the same in every part. Spellings of one id are one person, as they are one value."""
    meant = meanings(values_of(column))
    missing = [row for row, value in enumerate(meant) if value is None]
    if missing:
        raise InputError(
            f"column {name}: {counted(len(missing), 'value')} missing (first in row {missing[0] + 1}), and it is not "
            "known whose these rows are; fill them in, or drop the rows"
        )
    number = {
        value: int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=8).digest(), "big", signed=True)
        for value in set(meant)
    }
    return np.fromiter((number[value] for value in meant), np.int64, len(meant))


def _own_k(column: pa.ChunkedArray, name: str) -> Ints:
    """The k of each row; 1, which asks for nothing, where it is missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.is_in(column, pa.array(MISSING, column.type)), None, column)
    try:
        numbers = column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name} is {column.type}, and a crowd is a whole number; correct it, or leave out --k-column"
        ) from None
    asked = np.where(np.isnan(numbers), 1.0, numbers)
    wrong = np.flatnonzero((asked < 1) | (asked > LARGEST) | (asked != np.floor(asked)))
    if len(wrong):
        raise InputError(
            f"column {name}: {counted(len(wrong), 'value')} no whole number from 1 to {LARGEST:,} (first in row "
            f"{wrong[0] + 1}); correct them, or leave them empty"
        )
    return asked.astype(np.int64)
