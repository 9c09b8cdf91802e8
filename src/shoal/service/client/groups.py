"""The client's copy of what an index publishes: representatives, kept for ever, and which groups can be seen now."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.errors import InputError
from shoal.index.representatives import Representatives
from shoal.service.client.connection import Connection

__all__ = ["Groups", "fetch_groups", "write_aside"]

PAGE = 5_000  # representatives
WRONG = "the server's representatives are not what their names promise; do not use this server, and ask the operator"

Ints = NDArray[np.int64]


@dataclass
class Groups:
    """The groups that can be seen at one version of the index. Those that cannot are retired here."""

    representatives: Representatives  # by number, and behind them those that this client has made since
    sizes: dict[int, int]  # documents in each group that can be seen, by number

    def __len__(self) -> int:
        return len(self.sizes)

    def add(self, pool: sp.csr_matrix, size: int) -> None:
        """A group that was just made."""
        (number,) = self.representatives.add(pool)
        self.sizes[number] = size

    def published(self) -> tuple[sp.csr_matrix, Ints]:
        """Pools and sizes."""
        numbers = sorted(self.sizes)
        return self.representatives.pools[numbers], np.array([self.sizes[number] for number in numbers], dtype=np.int64)


def fetch_groups(connection: Connection, index: str, folder: Path, idf: NDArray[np.float64], k: int) -> Groups:
    """Fetch what is not in the folder yet, and check everything: a representative must have the name of its content."""
    # The groups first: what they name is published by then, so that all of it is in the pages that follow.
    listed = _table(connection.get("/v1/groups").content, {"number": pa.int64(), "size": pa.int64()})
    numbers, sizes = (listed[name].to_numpy() for name in ("number", "size"))
    if len(sizes) and sizes.min() < k:
        raise InputError(f"the server shows a group of {sizes.min()}, below k={k}; do not use it, and ask the operator")
    n_pages = -(-int(connection.get_json("/v1/index")["representatives"]) // PAGE)
    pages = []
    for page in range(n_pages):
        progress.step("fetching", page, n_pages)
        pages.append(_page(connection, index, folder / f"{page}.arrow", page, len(idf)))
    progress.step("fetching", n_pages, n_pages)
    names = [name for page_names, _ in pages for name in page_names]
    representatives = Representatives(idf)
    if pages:
        representatives.add(sp.csr_matrix(sp.vstack([pools for _, pools in pages], format="csr")))
    if representatives.names != names or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names)):
        raise InputError(WRONG)
    for number in np.setdiff1d(np.arange(len(names)), numbers).tolist():
        representatives.retire(number)
    by_number = dict(zip(numbers.tolist(), sizes.tolist(), strict=True))
    return Groups(representatives, by_number)


def _page(connection: Connection, index: str, file: Path, number: int, n_terms: int) -> tuple[list[str], sp.csr_matrix]:
    """Names and pools of a page, from the folder if it is there: a full page never changes."""
    if file.exists():
        return _pools(file.read_bytes(), number, n_terms)
    body = connection.get(f"/v1/representatives/pages/{number}?index={quote(index)}").content
    names, pools = _pools(body, number, n_terms)
    if len(names) == PAGE:
        write_aside(file, body)
    return names, pools


def _pools(body: bytes, page: int, n_terms: int) -> tuple[list[str], sp.csr_matrix]:
    types = {"number": pa.int64(), "name": pa.string(), "terms": pa.list_(pa.int32()), "counts": pa.list_(pa.int64())}
    table = _table(body, types)
    terms, counts = (table[name].combine_chunks() for name in ("terms", "counts"))
    columns, data = (np.asarray(lists.flatten()) for lists in (terms, counts))
    ends = np.concatenate(([0], np.cumsum(np.asarray(terms.value_lengths(), dtype=np.int64))))
    sound = (
        np.array_equal(table["number"].to_numpy(), page * PAGE + np.arange(len(table)))
        and len(table) <= PAGE
        and terms.value_lengths().equals(counts.value_lengths())
        and (len(columns) == 0 or (columns.min() >= 0 and columns.max() < n_terms and data.min() >= 1))
        and bool(np.all(np.diff(ends) > 0))
    )
    if not sound:
        raise InputError(WRONG)
    return table["name"].to_pylist(), sp.csr_matrix((data, columns, ends), shape=(len(table), n_terms))


def _table(body: bytes, types: dict[str, Any]) -> pa.Table:
    """A table of these columns, none of which lacks a value."""
    try:
        with pa.ipc.open_stream(body) as stream:
            table = stream.read_all().select(list(types)).cast(pa.schema(types.items()))
        if any(column.null_count for column in table.columns):
            raise InputError(WRONG)
    except (pa.ArrowException, KeyError, OSError):
        raise InputError("the server's answer is not what an index gives; is this the address of an index?") from None
    return table


def write_aside(file: Path, body: bytes) -> None:
    """The file is whole or not there, also when two commands fetch the same page."""
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    with open(descriptor, "wb") as stream:
        stream.write(body)
    os.replace(aside, file)
