"""The dynamic index: documents are added and deleted, and every visible one is in a group of at least k.

Source: Navarro-Arribas, Abril and Torra, "Dynamic anonymous index for confidential data" (2014). Embargo, batches and
the published form are ours; see docs/methods/dynamic-index.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.index.histories import Snapshot
from shoal.index.representatives import Representatives, name_of_pool
from shoal.index.waiting import Waiting
from shoal.methods.pools import pooled_counts, unit_rows, with_length, without_giveaways
from shoal.methods.spherical import SphericalMicroaggregation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """Where a document was placed: in the group of a representative, by its name, or nowhere yet (it waits)."""

    representative: str | None
    similarity: float | None = None

    @property
    def waits(self) -> bool:
        return self.representative is None


@dataclass(frozen=True)
class Hit:
    """A search result: a document, the similarity of its whole group, and the terms that matched."""

    document: str
    similarity: float
    terms: tuple[int, ...]  # columns, the heaviest first


class DynamicIndex:
    """A k-anonymous vector space over documents that are added and deleted. It keeps no vector of a grouped document.

    Parameters
    ----------
    k : int, at least 2
        Smallest number of documents that a representative is computed from, and that share it.
    idf : (d,) array
        The weight of one occurrence of each term. It never changes.
    embargo : float or None
        A document less similar than this (cosine, 0 to 1) to every representative waits until k such documents are
        similar to each other and form a group of their own. None: it joins the nearest group at once.
    random_state : int
        Seeds the order of equal documents in a search, and the search for groups of a batch.
    """

    def __init__(self, k: int, idf: Floats, *, embargo: float | None = 0.45, random_state: int = 0) -> None:
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 2:
            raise InputError(f"k={k!r} must be a whole number of at least 2")
        if embargo is not None and not 0 < embargo < 1:
            raise InputError(f"embargo={embargo!r} must be between 0 and 1, or None for no embargo")
        self.k = int(k)
        self.embargo = embargo
        self._seed = random_state
        self._random = np.random.default_rng(random_state)
        self._representatives = Representatives(np.asarray(idf, dtype=np.float64))
        self._number_of: dict[str, int] = {}  # of the representatives in use, by name
        self._members: dict[int, set[str]] = {}  # by the number of the representative
        self._group_of: dict[str, int] = {}
        self._rank: dict[str, float] = {}  # of each document among equals: random, so that it reveals nothing
        self._waiting = Waiting(self.k, self._representatives.idf)
        self._hidden: int | None = None  # the number of the last group, once it is below k

    def __len__(self) -> int:
        return len(self._group_of) + len(self._waiting)

    def __contains__(self, document: str) -> bool:
        return document in self._group_of or document in self._waiting

    @property
    def waiting(self) -> tuple[str, ...]:
        """The waiting documents, oldest first."""
        return tuple(self._waiting)

    def insert(self, document: str, counts: sp.csr_matrix) -> Placement:
        """Add a document by its term counts: to the nearest group, or it waits."""
        row = self._checked([document], counts)
        unit = unit_rows(row, self._representatives.idf)[0]
        number, similarity = self._representatives.nearest(unit)[0] if self._members else (-1, -1.0)
        if number >= 0 and similarity >= (self.embargo or -1.0):
            return self._join(document, number, similarity)
        self._waiting.add(document, row)
        self._group_waiting(document)
        group = self._group_of.get(document)
        return Placement(None) if group is None else Placement(self._representatives.names[group])

    def insert_into(self, document: str, representative: str) -> Placement:
        """Add a document to the group that its owner chose, without its vector."""
        self._check_new([document])
        if representative not in self._number_of:
            raise InputError("this representative is not in use; fetch the representatives again and choose another")
        return self._join(document, self._number_of[representative])

    def insert_batch(self, documents: Sequence[str], counts: sp.csr_matrix) -> list[Placement]:
        """Add k or more documents as groups of their own. An index starts with such a batch."""
        rows = self._checked(documents, counts)
        self._check_crowd(len(documents))
        groups = self._grouped(rows)
        numbers = np.array(self._published(pooled_counts(rows, groups)))[groups].tolist()
        self._enter(documents, numbers)
        return [Placement(self._representatives.names[number]) for number in numbers]

    def insert_groups(self, groups: Sequence[Sequence[str]], pools: sp.csr_matrix) -> list[Placement]:
        """Add groups of k or more documents, such as those of a release, by their pooled counts alone."""
        members = [document for documents in groups for document in documents]
        self._check_new(members)
        for documents in groups:
            self._check_crowd(len(documents))
        numbers = self._published(self._checked_counts(pools, len(groups)))
        number_of = [number for number, documents in zip(numbers, groups, strict=True) for _ in documents]
        self._enter(members, number_of)
        return [Placement(self._representatives.names[number]) for number in numbers]

    def admit(self, document: str) -> Placement:
        """Place a waiting document in the nearest group."""
        if document not in self._waiting:
            raise InputError("this document does not wait; see `waiting`")
        if not self._members:
            raise InputError(f"there is no group yet: one needs {self.k} documents, and {len(self._waiting)} wait")
        unit = unit_rows(self._waiting.take([document]), self._representatives.idf)[0]
        return self._join(document, *self._representatives.nearest(unit)[0])

    def delete(self, document: str) -> None:
        """Delete a document. If fewer than k are left in its group, they join the nearest one, which stays as it is."""
        if document not in self:
            raise InputError("there is no such document in the index")
        if document in self._waiting:
            self._waiting.take([document])
            return
        number = self._group_of.pop(document)
        del self._rank[document]
        members = self._members[number]
        members.discard(document)
        if len(members) < self.k:
            self._dissolve(number)

    def search(self, counts: sp.csr_matrix, limit: int = 10) -> list[Hit]:
        """The documents of the representatives most similar to a query."""
        query = unit_rows(sp.csr_matrix(counts).astype(np.float64), self._representatives.idf)[0]
        hits: list[Hit] = []
        for number, similarity in self._representatives.most_similar(query, limit + 1):
            if len(hits) >= limit:
                break
            if len(self._members[number]) >= self.k:
                equal = sorted(self._members[number], key=self._rank.__getitem__)
                terms = self._representatives.matching(query, number)
                hits += [Hit(document, similarity, terms) for document in equal]
        return hits[:limit]

    def sizes(self) -> dict[str, int]:
        """The size of every visible group, by the name of its representative."""
        sizes = {name: len(self._members[number]) for name, number in self._number_of.items()}
        return {name: size for name, size in sizes.items() if size >= self.k}

    def snapshot(self) -> Snapshot:
        """All that is visible now."""
        visible = [number for number, members in sorted(self._members.items()) if len(members) >= self.k]
        names = self._representatives.names
        members = {names[number]: frozenset(self._members[number]) for number in visible}
        return Snapshot(self.k, members, self._representatives.pools[visible])

    def _grouped(self, counts: sp.csr_matrix) -> Ints:
        """Groups of a batch, avoiding groups whose pool reveals a member."""
        unit, lengths = unit_rows(counts.astype(np.float64), self._representatives.idf)
        method = SphericalMicroaggregation(self.k, random_state=self._seed)
        return without_giveaways(counts, unit, lengths, method.fit(with_length(unit, lengths)).groups_)

    def _published(self, pools: sp.csr_matrix) -> list[int]:
        """Publish pools; the numbers of their representatives. Equal pools share one, which may exist already."""
        ends = pairwise(pools.indptr.tolist())
        names = [name_of_pool(pools.indices[start:end], pools.data[start:end]) for start, end in ends]
        new = {name: row for row, name in enumerate(names) if name not in self._number_of}
        numbers = self._representatives.add(pools[list(new.values())])
        self._number_of.update(zip(new, numbers, strict=True))
        self._members.update((number, set()) for number in numbers)
        return [self._number_of[name] for name in names]

    def _group_waiting(self, document: str) -> None:
        """If a document completes a crowd of waiting ones, they become a group, and similar ones join it."""
        least = self.embargo or -1.0
        made = self._waiting.group_around(document, least if self._members else -1.0, least)
        if made is not None:
            documents, pool = made
            self._enter(documents, self._published(pool) * len(documents))

    def _join(self, document: str, number: int, similarity: float | None = None) -> Placement:
        self._enter([document], [number])
        return Placement(self._representatives.names[number], similarity)

    def _enter(self, documents: Sequence[str], numbers: Sequence[int]) -> None:
        """Add documents to groups. A last group that was too small has grown, or joins the nearest of the new ones."""
        ranks = self._random.random(len(documents)).tolist()
        for document, number, rank in zip(documents, numbers, ranks, strict=True):
            self._put(document, number, rank)
        hidden, self._hidden = self._hidden, None
        if hidden not in self._members:
            return
        if len(self._members[hidden]) < self.k:
            self._dissolve(hidden)

    def _put(self, document: str, number: int, rank: float) -> None:
        self._members[number].add(document)
        self._group_of[document] = number
        self._rank[document] = rank

    def _dissolve(self, number: int) -> None:
        """What is left of a group joins the nearest one. The last group stays, hidden while it is below k."""
        if len(self._members) == 1 and self._members[number]:
            self._hidden = number
            return
        members = self._members[number]
        self._retire(self._representatives.names[number])
        if not members:
            return
        nearest, _ = self._representatives.nearest(self._representatives.weights(number))[0]
        for document in sorted(members):
            self._put(document, nearest, self._rank[document])

    def _retire(self, name: str) -> None:
        number = self._number_of.pop(name)
        del self._members[number]
        self._representatives.retire(number)

    def _checked(self, documents: Sequence[str], counts: sp.csr_matrix) -> sp.csr_matrix:
        self._check_new(documents)
        return self._checked_counts(counts, len(documents))

    def _checked_counts(self, counts: sp.csr_matrix, n_rows: int) -> sp.csr_matrix:
        rows = sp.csr_matrix(counts).astype(np.int64)
        rows.sort_indices()
        if rows.shape != (n_rows, len(self._representatives.idf)):
            expected = f"{n_rows} x {len(self._representatives.idf)}"
            raise InputError(f"counts are {rows.shape[0]} x {rows.shape[1]}; give {expected}, a column per term")
        if rows.nnz and rows.data.min() < 1:
            raise InputError("a count is below 1; give how often a document has each of its terms")
        if not np.diff(rows.indptr).all():
            raise InputError("a document has none of the index's terms; it can be stored, but not searched for")
        return rows

    def _check_crowd(self, size: int) -> None:
        if size < self.k:
            raise InputError(f"{size} documents are fewer than k={self.k}; add documents, or insert them one by one")

    def _check_new(self, documents: Sequence[str]) -> None:
        if len(set(documents)) < len(documents) or any(document in self for document in documents):
            raise InputError("a document with this id is in the index already; every document needs an id of its own")
