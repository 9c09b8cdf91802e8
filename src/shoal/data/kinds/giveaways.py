"""Columns that are released as they are, and yet single records out or give protected columns away."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.data.columns import NUMBER, all_match, is_text, value_codes
from shoal.data.files import shown
from shoal.data.kinds.recognition import plain_values, recognise
from shoal.data.roles import Kind, Roles
from shoal.errors import InputError

FEWEST_ROWS = 20  # below, most columns have as many values as rows
DETERMINED = 0.95  # of the rows: a column from which so many values of another follow gives that one away
COMMON = 0.8  # of the rows with the most frequent value: guessing it is no better


def giveaways(data: pa.Table, roles: Roles) -> dict[str, str]:
    """The columns that should not be released as they are, and why."""
    reasons = {}
    for name in (*roles.confidential, *roles.insensitive):
        reason = _names_records(name, data[name])
        if reason is None and name in roles.insensitive:
            reason = _singles_out(data[name]) or _determines(data, name, roles.quasi)
        if reason is not None:
            reasons[name] = reason
    return reasons


def check_released_columns(data: pa.Table, roles: Roles, allowed: Sequence[str]) -> None:
    """Refuse columns that give records away, unless they are allowed."""
    for name, reason in giveaways(data, roles).items():
        if name not in allowed:
            raise InputError(
                f"column {shown(name)} would be released as it is, and {reason}; drop it, protect it, or say that it "
                "may be released with {option}",
                f"allow {shown(name)}",
            )
        warnings.warn(f"column {shown(name)} is released as it is, and {reason}", stacklevel=2)
    released = {*roles.confidential, *roles.insensitive}
    for name in allowed:
        if name not in released:
            raise InputError(f"column {shown(name)} is not released as it is, so nothing need be allowed; leave it out")


def _names_records(name: str, column: pa.ChunkedArray) -> str | None:
    if len(column) < FEWEST_ROWS:
        return None
    kind = recognise(name, column).kind
    if kind is Kind.IDENTIFIER:
        values = plain_values(column)
        amounts = is_text(values.type) and all_match(values, NUMBER)  # an income is no name
        return None if amounts else "nearly every record has a value of its own"
    return "it holds sentences, which can hold names" if kind is Kind.TEXT else None


def _singles_out(column: pa.ChunkedArray) -> str | None:
    if len(column) < FEWEST_ROWS or 2 * len(column.unique()) <= len(column):
        return None
    return f"{len(column.unique()):,} of {len(column):,} rows have a value of their own"


def _determines(data: pa.Table, name: str, quasi: Sequence[str]) -> str | None:
    """Whether the values of a protected column follow from this one."""
    n_rows, codes = data.num_rows, value_codes(data[name])
    if n_rows < FEWEST_ROWS or not codes.any():
        return None
    for protected in quasi:
        others = value_codes(data[protected])
        if np.bincount(others).max() > COMMON * n_rows:
            continue
        pairs, counts = np.unique(codes * (int(others.max()) + 1) + others, return_counts=True)
        likeliest = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        np.maximum.at(likeliest, pairs // (int(others.max()) + 1), counts)
        if likeliest.sum() >= DETERMINED * n_rows:
            share = f"{likeliest.sum() / n_rows:.0%}"
            return f"it gives {shown(protected)} away, which is protected: {share} of its values follow from it"
    return None
