"""What an index publishes, and the client's copy of it: vocabulary, representatives, and the groups visible now.

Representatives never change. Full pages of them are kept, and checked whenever they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from shoal.index.client.connection import Connection
from shoal.index.client.opened import UNUSABLE, write_whole
from shoal.index.representatives import Representatives
from shoal.terms.vector_space import VectorSpace

PAGE = 5_000  # representatives
TAMPERED = "the server's representatives do not match their names; do not use this server, and ask the operator"

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """Terms in alphabetical order, the weight of one occurrence of each, and the parameters of a `VectorSpace`."""

    terms: NDArray[np.str_]
    weights: NDArray[np.float64]
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not len(self.terms) == len(self.weights) > 0:
            raise InputError(f"{len(self.terms)} terms and {len(self.weights)} weights; give as many, and at least 1")
        if np.any(self.terms[:-1] >= self.terms[1:]):
            raise InputError("the terms are not distinct and in alphabetical order; sort them, with their weights")
        if not np.all(np.isfinite(self.weights)) or np.any(self.weights <= 0):
            raise InputError("a weight is not above 0; give the weight of one occurrence of each term")

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary as a server has it."""
        try:
            terms, weights = np.array(content["terms"], np.str_), np.array(content["weights"], np.float64)
            return cls(terms, weights, content["space"])
        except (ValueError, TypeError):  # InputError is a ValueError
            raise InputError(UNUSABLE) from None

    def as_json(self) -> dict[str, Any]:
        """The body of the request that creates an index with it."""
        return {"terms": self.terms.tolist(), "weights": self.weights.tolist(), "space": dict(self.parameters)}

    def space(self) -> VectorSpace:
        """The space in which texts are counted."""
        try:
            return VectorSpace(**self.parameters).use_terms(self.terms, self.weights)
        except TypeError:  # a parameter of another version
            raise InputError(UNUSABLE) from None


@dataclass
class Groups:
    """The groups that are visible at one version of the index. The representatives of all others are retired here."""

    representatives: Representatives  # by number
    sizes: dict[int, int] = field(default_factory=dict)  # documents in each visible group, by number
    made_here: int = 0  # representatives at the end, which have no number on the server yet

    def __len__(self) -> int:
        return len(self.sizes)

    def add(self, pool: sp.csr_matrix, size: int) -> None:
        """Add a group that this client just made."""
        (number,) = self.representatives.add(pool)
        self.sizes[number] = size
        self.made_here += 1

    def pools_and_sizes(self) -> tuple[sp.csr_matrix, Ints]:
        """The pooled counts and the size of every visible group."""
        numbers = sorted(self.sizes)
        return self.representatives.pools[numbers], np.array([self.sizes[number] for number in numbers], dtype=np.int64)

    def can_become(self, numbers: Iterable[int]) -> bool:
        """Whether these groups follow from the ones here by adding and retiring representatives alone."""
        last = len(self.representatives)
        return not self.made_here and all(number in self.sizes or number >= last for number in numbers)


@dataclass
class Published:
    """What an index publishes, and the folder with the client's copy of it."""

    connection: Connection
    index: str
    folder: Path
    idf: NDArray[np.float64]
    k: int
    _known: Groups | None = field(default=None, init=False, repr=False)

    def groups(self) -> Groups:
        """The groups as they are now. Only what is new is fetched.

        All that is fetched is checked: a representative is named after its content, and no group is below k.
        """
        before, self._known = self._known, None
        # Groups first: the representatives that they name are published by then, and on the pages that follow.
        sizes = self._sizes()
        published = int(self.connection.get_json("/v1/index")["representatives"])
        n_pages = -(-published // PAGE)
        groups = before if before is not None and before.can_become(sizes) else Groups(Representatives(self.idf))
        first = len(groups.representatives)
        names: list[str] = []
        pools: list[sp.csr_matrix] = []
        for page in range(first // PAGE, n_pages if first < published else 0):
            progress.step("fetching", page, n_pages)
            page_names, page_pools = self._page(page)
            known = max(first - page * PAGE, 0)
            names += page_names[known:]
            pools.append(page_pools[known:])
        progress.step("fetching", n_pages, n_pages)
        if names:
            groups.representatives.add(sp.csr_matrix(sp.vstack(pools, format="csr")))
        if groups.representatives.names[first:] != names or max(sizes, default=-1) >= len(groups.representatives):
            raise InputError(TAMPERED)
        groups.representatives.retire_all_but(np.fromiter(sizes, dtype=np.int64, count=len(sizes)))
        groups.sizes = sizes
        self._known = groups
        return groups

    def _sizes(self) -> dict[int, int]:
        table = _table(self.connection.get("/v1/groups"), {"number": pa.int64(), "size": pa.int64()})
        sizes = dict(zip(*(table[name].to_pylist() for name in ("number", "size")), strict=True))
        if min(sizes, default=0) < 0:
            raise InputError(TAMPERED)
        smallest = min(sizes.values(), default=self.k)
        if smallest < self.k:
            raise InputError(
                f"the server shows a group of {smallest}, below k={self.k}; ask the operator, and do not use it"
            )
        return sizes

    def _page(self, number: int) -> tuple[list[str], sp.csr_matrix]:
        """Names and pools of a page."""
        file = self.folder / f"{number}.arrow"
        if file.exists():
            return _pools(file.read_bytes(), number, len(self.idf))
        body = self.connection.get(f"/v1/representatives/pages/{number}?index={quote(self.index)}")
        names, pools = _pools(body, number, len(self.idf))
        if len(names) == PAGE:
            write_whole(file, body)
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
        raise InputError(TAMPERED)
    return table["name"].to_pylist(), sp.csr_matrix((data, columns, ends), shape=(len(table), n_terms))


def table_of(body: bytes, types: dict[str, Any], contents: str) -> list[dict[str, Any]]:
    """The rows of a table with these columns, and one of bytes that may be missing."""
    table = _table(body, types | {contents: pa.binary()}, may_be_missing=contents)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _table(body: bytes, types: dict[str, Any], may_be_missing: str = "") -> pa.Table:
    """A table with these columns and no missing values."""
    try:
        with pa.ipc.open_stream(body) as stream:
            table = stream.read_all().select(list(types)).cast(pa.schema(types.items()))
        if any(table[name].null_count for name in types if name != may_be_missing):
            raise InputError(TAMPERED)
    except (pa.ArrowException, KeyError, OSError):
        raise InputError("the server's answer is not that of an index; is this the address of an index?") from None
    return table
