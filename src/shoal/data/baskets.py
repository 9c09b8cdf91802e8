"""Baskets: records of items, counted into sparse rows."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError

if TYPE_CHECKING:
    import scipy.sparse as sp

MOST = 10**9  # of one item
NUMBERS = (int, float, np.integer, np.floating)
LONGEST = 1000  # letters of an item
OUTSIDE = f"a count is not a number from 0 to {MOST:,}"
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # control characters, ends of lines, halves


class Basket(dict[str, float]):
    """Items and how often they are there, checked by `read_basket`."""


class BasketFault(ValueError):
    """Why a record is not a basket; nothing of the record is quoted."""


@dataclass(frozen=True)
class CountedBaskets:
    """How often each basket has each item: CSR arrays, and the items they number, by first appearance."""

    items: tuple[str, ...]
    row_end: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[np.float64]


def stream_counts(baskets: Iterable[Mapping[str, float]]) -> CountedBaskets:
    """Number the items of all baskets; a basket is forgotten once it is counted."""
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    row_end, numbers, counts = array("q"), array("i"), array("d")
    for basket in baskets:
        numbers.extend(map(number_of.__getitem__, basket))
        counts.extend(basket.values())
        row_end.append(len(numbers))
    return CountedBaskets(
        tuple(number_of),
        np.frombuffer(row_end, dtype=np.int64),
        np.frombuffer(numbers, dtype=np.int32),
        np.frombuffer(counts, dtype=np.float64),
    )


def count_baskets(records: Iterable[Any]) -> tuple[sp.csr_matrix, list[str]]:
    """Rows of counts, and the items that the columns stand for, in their order.

    A record is a list of items, one for each time it is there, or a mapping of items to counts.
    """
    import scipy.sparse as sp  # reading baskets does not need it

    counted = stream_counts(basket_counts(record, f"record {number}") for number, record in enumerate(records, start=1))
    items = sorted(counted.items)
    column_of = {item: column for column, item in enumerate(items)}
    columns = np.fromiter((column_of[item] for item in counted.items), dtype=np.int32, count=len(items))
    indptr = np.concatenate(([0], counted.row_end))
    X = sp.csr_matrix((counted.counts, columns[counted.numbers], indptr), shape=(len(counted.row_end), len(items)))
    X.sort_indices()
    return X, items


def basket_counts(record: Any, where: str) -> Basket:
    """The items of a record and their counts, as `read_basket` has them; else an error that names the place."""
    try:
        return read_basket(record)
    except BasketFault as fault:
        raise InputError(f"{where}: {fault}; correct it") from None


def read_basket(record: Any) -> Basket:
    """The items of a record and their counts, zeros left out."""
    if isinstance(record, Basket):
        return record
    if isinstance(record, Mapping):
        return _from_counts(record)
    if isinstance(record, str | bytes) or not isinstance(record, Iterable):
        raise BasketFault("neither a list of items nor a mapping of items to counts")
    names = _names(record)
    once = dict.fromkeys(names, 1.0)
    return Basket(once if len(once) == len(names) else Counter(names))


def _from_counts(record: Mapping[Any, Any]) -> Basket:
    basket = Basket()
    for name, count in zip(_names(record), record.values(), strict=True):
        if isinstance(count, bool) or not isinstance(count, NUMBERS) or not 0 <= count <= MOST:
            raise BasketFault(OUTSIDE)
        if count:
            basket[name] = basket.get(name, 0.0) + float(count)  # an item may be written in two ways
    if basket and max(basket.values()) > MOST:
        raise BasketFault(OUTSIDE)
    return basket


def _names(items: Iterable[Any]) -> list[str]:
    """Texts as they are, letters composed; whole numbers are names as well."""
    names = list(items)
    if not set(map(type, names)) <= {str}:
        names = [_name(item) for item in names]
    if not all(map(str.strip, names)) or max(map(len, names), default=0) > LONGEST:
        raise BasketFault(f"an item is empty or has more than {LONGEST:,} letters")
    letters = "".join(names)
    if letters.isascii() and letters.isprintable():
        return names
    if _BREAKS.search(letters):
        raise BasketFault("an item has control characters")
    return [unicodedata.normalize("NFC", name) for name in names]


def _name(item: Any) -> str:
    if isinstance(item, str):
        return str(item)
    if isinstance(item, int | np.integer) and not isinstance(item, bool) and abs(int(item)) < 10**LONGEST:
        return str(item)
    raise BasketFault("an item is neither text nor a whole number")
