"""The client's copy of what an index publishes: representatives, kept for ever, and which groups can be seen now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
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
from shoal.service.client.copy import PAGE, Copy

__all__ = ["Groups", "Published"]

WRONG = "the server's representatives are not what their names promise; do not use this server, and ask the operator"

Ints = NDArray[np.int64]


@dataclass
class Groups:
    """The groups that can be seen at one version of the index. Those that cannot are retired here."""

    representatives: Representatives  # by number
    sizes: dict[int, int] = field(default_factory=dict)  # documents in each group that can be seen, by number
    made_here: int = 0  # representatives behind the others, whose numbers are not known yet

    def __len__(self) -> int:
        return len(self.sizes)

    def add(self, pool: sp.csr_matrix, size: int) -> None:
        """A group that was just made."""
        (number,) = self.representatives.add(pool)
        self.sizes[number] = size
        self.made_here += 1

    def published(self) -> tuple[sp.csr_matrix, Ints]:
        """Pools and sizes."""
        numbers = sorted(self.sizes)
        return self.representatives.pools[numbers], np.array([self.sizes[number] for number in numbers], dtype=np.int64)

    def can_go_on(self, numbers: Iterable[int]) -> bool:
        """Whether these groups come of the ones here by adding and retiring representatives, which is all they do."""
        last = len(self.representatives)
        return not self.made_here and all(number in self.sizes or number >= last for number in numbers)


@dataclass(frozen=True)
class Published:
    """Where an index publishes, and the folder in which a copy of it is kept."""

    connection: Connection
    index: str
    folder: Path
    idf: NDArray[np.float64]
    k: int

    def groups(self, before: Groups | None = None) -> Groups:
        """The groups as they are now; of those that were seen `before`, only what is new is fetched.

        Everything that is fetched is checked: a representative must have the name of its content, and no group be below
        k.
        """
        # The groups first: what they name is published by then, so that all of it is in the pages that follow.
        sizes = self._sizes()
        published = int(self.connection.get_json("/v1/index")["representatives"])
        n_pages = -(-published // PAGE)
        groups = before if before is not None and before.can_go_on(sizes) else Groups(self._copy.open())
        first = len(groups.representatives)
        names: list[str] = []
        pools: list[sp.csr_matrix] = []
        for page in range(first // PAGE, n_pages if first < published else 0):
            progress.step("fetching", page, n_pages)
            page_names, page_pools = self._page(page)
            there = max(first - page * PAGE, 0)
            names += page_names[there:]
            pools.append(page_pools[there:])
        progress.step("fetching", n_pages, n_pages)
        if names:
            groups.representatives.add(sp.csr_matrix(sp.vstack(pools, format="csr")))
        if groups.representatives.names[first:] != names or max(sizes, default=-1) >= len(groups.representatives):
            raise InputError(WRONG)
        self._copy.keep(groups.representatives)
        groups.representatives.retire_all_but(np.fromiter(sizes, dtype=np.int64, count=len(sizes)))
        groups.sizes = sizes
        return groups

    @property
    def _copy(self) -> Copy:
        return Copy(self.folder, self.idf)

    def _sizes(self) -> dict[int, int]:
        table = _table(self.connection.get("/v1/groups").content, {"number": pa.int64(), "size": pa.int64()})
        sizes = dict(zip(*(table[name].to_pylist() for name in ("number", "size")), strict=True))
        if min(sizes, default=0) < 0:
            raise InputError(WRONG)
        least = min(sizes.values(), default=self.k)
        if least < self.k:
            raise InputError(
                f"the server shows a group of {least}, below k={self.k}; ask the operator, and do not use it"
            )
        return sizes

    def _page(self, number: int) -> tuple[list[str], sp.csr_matrix]:
        """Names and pools of a page."""
        kept = self._copy.page(number)
        if kept is not None:
            return _pools(kept, number, len(self.idf))
        body = self.connection.get(f"/v1/representatives/pages/{number}?index={quote(self.index)}").content
        names, pools = _pools(body, number, len(self.idf))
        if len(names) == PAGE:
            self._copy.keep_page(number, body)
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
