"""Baskets: records of items, counted into sparse rows."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError

__all__ = ["basket_counts", "count_baskets"]

MOST = 10**9  # of one item


def count_baskets(records: Iterable[Any]) -> tuple[sp.csr_matrix, list[str]]:
    """Rows of counts, and the items that the columns stand for, in their order.

    A record is a list of items, one for each time it is there, or a mapping of items to counts.
    """
    rows = [basket_counts(record, f"record {number}") for number, record in enumerate(records, start=1)]
    items = sorted(set().union(*rows)) if rows else []
    column = {item: place for place, item in enumerate(items)}
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter((column[item] for row in rows for item in row), dtype=np.int32, count=indptr[-1])
    data = np.fromiter((count for row in rows for count in row.values()), dtype=np.float64, count=indptr[-1])
    X = sp.csr_matrix((data, indices, indptr), shape=(len(rows), len(items)))
    X.sort_indices()
    return X, items


def basket_counts(record: Any, place: str) -> dict[str, float]:
    """The items of a record and their counts, zeros left out; nothing of the record is quoted in an error."""
    if isinstance(record, str | bytes) or not isinstance(record, Iterable):
        kind = type(record).__name__
        raise InputError(f"{place} is {kind}; give a list of items or a mapping of items to counts")
    if not isinstance(record, Mapping):
        return dict(Counter(_item(item, place) for item in record))
    for count in record.values():
        if isinstance(count, bool) or not isinstance(count, int | float | np.number) or not 0 <= count <= MOST:
            raise InputError(f"{place} has a count outside 0 to {MOST:,}; correct it")
    return {_item(item, place): float(count) for item, count in record.items() if count > 0}


def _item(item: Any, place: str) -> str:
    """A text, or a whole number, which is a name as well."""
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return str(item)
    if not isinstance(item, str) or not item or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in item):
        raise InputError(f"{place} has an item that is empty, no text, or has control characters; clean it")
    return item
