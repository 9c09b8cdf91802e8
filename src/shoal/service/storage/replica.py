"""The replica: the index in this process's memory, kept in step with the database.

The database says which documents and representatives were touched since; how they are now is read at one moment. So a
replica that missed something, and one whose last write was not committed, are mended in the same way.
"""

from __future__ import annotations

import gc
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import loads
from threading import RLock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sqlalchemy import Column, Connection, Result, Row, select

from shoal.index import Changes, DynamicIndex
from shoal.service.storage.recording import Touched, record
from shoal.service.storage.sealing import OperatorKey
from shoal.service.storage.tables import changes, documents, representatives, state, vocabulary, waiting

__all__ = ["Replica"]

Ints = NDArray[np.int64]

ASKED_AT_ONCE = 500  # ids in a query
LOADED_AT_ONCE = 20_000  # rows
LOADED_ANEW = 100_000  # touched documents from which loading everything is quicker
HELD: Any = select(waiting, documents.c.owner).join(documents, documents.c.id == waiting.c.document)
PLACES: Any = select(documents.c.id, documents.c.representative, documents.c.place)


class Replica:
    """An index in memory. Whoever uses it holds its lock, and has it catch up first."""

    def __init__(self, key: OperatorKey) -> None:
        self.lock = RLock()
        self._key = key
        self.forget()

    def forget(self) -> None:
        """Load everything when it is needed next."""
        self.index: DynamicIndex | None = None
        self.id: str | None = None
        self.version = -1
        self.number_of: dict[str, int] = {}  # of the representatives in use, by name
        self._name_of: dict[int, str] = {}
        self._doubtful = Touched()
        self._groups: tuple[int, Ints, Ints] | None = None

    def groups(self) -> tuple[Ints, Ints]:
        """Numbers and sizes of the groups that can be seen, by number; counted once for each version."""
        if self._groups is None or self._groups[0] != self.version:
            sizes = self.index.sizes() if self.index is not None else {}
            numbers = np.array([self.number_of[name] for name in sizes], dtype=np.int64)
            order = np.argsort(numbers)
            self._groups = self.version, numbers[order], np.array(list(sizes.values()), dtype=np.int64)[order]
        return self._groups[1:]

    def _number(self, names: Iterable[str], first: int) -> None:
        """New representatives get their numbers."""
        for number, name in enumerate(names, first):
            self.number_of[name], self._name_of[number] = number, name

    def _retire(self, names: Iterable[str]) -> None:
        for name in names:
            del self._name_of[self.number_of.pop(name)]

    def doubt(self, made: Changes) -> None:
        """These were made here, and whether the database has them is not certain."""
        self._doubtful |= Touched.by(made)

    def record(self, connection: Connection, now: Row[Any], made: Changes) -> None:
        """Write what changed here into the tables, as the next version."""
        self._number(made.published, now.published)
        named = {*made.published, *made.retired, *(name for name, _ in made.placed.values())}
        number_of = {name: self.number_of[name] for name in named}
        self._retire(made.retired)  # before anything can fail: memory is as the index is
        record(connection, now, made, number_of, self._key)

    def catch_up(self, connection: Connection) -> Row[Any]:
        """Bring the index to the state of the connection's transaction, and return that state."""
        now = connection.execute(select(state)).one()
        if now.k is None:
            self.forget()
        elif self.index is None or now.index_id != self.id or now.version < self.version:
            self._load(connection, now)
        elif now.version > self.version or self._doubtful:
            self._mend(connection, now)
        self.version = now.version
        return now

    def _mend(self, connection: Connection, now: Row[Any]) -> None:
        missed = connection.execute(select(changes.c.touched).where(changes.c.version > self.version)).scalars().all()
        touched = self._doubtful
        for content in missed:
            touched |= Touched.of_json(content)
        if len(missed) < now.version - self.version or len(touched.documents) > LOADED_ANEW or self.index is None:
            self._load(connection, now)
            return
        in_use = select(representatives).where(~representatives.c.retired)
        used = list(_where_in(connection, in_use, representatives.c.name, touched.representatives))
        members = list(_where_in(connection, PLACES, documents.c.id, touched.documents))
        held = list(_where_in(connection, HELD, waiting.c.document, touched.documents))
        try:
            self._apply(self.index, touched, used, members, held)
        except BaseException:
            self.forget()
            raise

    def _apply(
        self, index: DynamicIndex, touched: Touched, used: list[Row[Any]], members: list[Row[Any]], held: list[Row[Any]]
    ) -> None:
        """Make everything that was touched as the rows have it now; what has no row is gone."""
        known = {name for name in touched.representatives if name in self.number_of}
        self._retire(known)
        for row in used:
            self._number([row.name], row.number)
        placed = self._places(row for row in members if row.representative is not None)
        index.apply(
            Changes(
                published=self._pools(row for row in sorted(used, key=lambda row: row.number) if row.name not in known),
                retired=sorted(known - {row.name for row in used}),
                placed=placed,
                waiting=self._waiting(held),
                gone=[document for document in touched.documents if document not in placed],
            )
        )
        self._doubtful = Touched()

    def _load(self, connection: Connection, now: Row[Any]) -> None:
        with _no_collection():
            self._load_all(connection, now)

    def _load_all(self, connection: Connection, now: Row[Any]) -> None:
        self.forget()
        content = connection.execute(
            select(vocabulary.c.content).where(vocabulary.c.hash == now.vocabulary)
        ).scalar_one()
        self._weights = np.array(loads(content)["weights"], dtype=np.float64)
        embargo = now.embargo if now.trust else None
        # Places among equals must not repeat when a server starts again, so the seed is new.
        index = DynamicIndex(now.k, self._weights, embargo=embargo, random_state=secrets.randbits(32))
        in_use = select(representatives).where(~representatives.c.retired).order_by(representatives.c.number)
        index.publish(*self._all_pools(connection.execute(in_use.execution_options(yield_per=LOADED_AT_ONCE))))
        grouped = PLACES.where(documents.c.representative.is_not(None))
        for part in connection.execute(grouped.execution_options(yield_per=LOADED_AT_ONCE)).partitions():
            index.apply(Changes(placed=self._places(part)))
        index.apply(Changes(waiting=self._waiting(connection.execute(HELD.order_by(waiting.c.since)))))
        self.index, self.id = index, now.index_id

    def _all_pools(self, result: Result[Any]) -> tuple[list[str], sp.csr_matrix]:
        """Names and pools of all representatives in use, as one matrix: one for each would take far more memory."""
        names: list[str] = []
        sizes: list[int] = [0]
        parts: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = [(np.zeros(0, np.int32), np.zeros(0, np.int64))]
        for rows in result.partitions():
            for row in rows:
                self._number([row.name], row.number)
                names.append(row.name)
                sizes.append(len(row.terms) // 4)
            terms, counts = (b"".join(each) for each in zip(*((row.terms, row.counts) for row in rows), strict=True))
            parts.append((np.frombuffer(terms, "<i4"), np.frombuffer(counts, "<i8")))
        indices, data = (np.concatenate(each) for each in zip(*parts, strict=True))
        return names, sp.csr_matrix((data, indices, np.cumsum(sizes)), shape=(len(names), len(self._weights)))

    def _pools(self, rows: Iterable[Row[Any]]) -> dict[str, sp.csr_matrix]:
        return {row.name: self._row(np.frombuffer(row.terms, "<i4"), np.frombuffer(row.counts, "<i8")) for row in rows}

    def _row(self, terms: NDArray[Any], counts: NDArray[Any]) -> sp.csr_matrix:
        return sp.csr_matrix((counts, terms, [0, len(terms)]), shape=(1, len(self._weights)))

    def _places(self, rows: Iterable[Any]) -> dict[str, tuple[str, float]]:
        return {document: (self._name_of[number], place) for document, number, place in rows}

    def _waiting(self, rows: Iterable[Row[Any]]) -> dict[str, tuple[sp.csr_matrix, str]]:
        return {row.document: (self._row(*self._key.open(row.sealed)), row.owner) for row in rows}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of objects are made, and none is garbage: looking for it again and again would take long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _where_in(connection: Connection, query: Any, column: Column[Any], values: Iterable[str]) -> Iterator[Row[Any]]:
    """The rows of a query in which a column has one of many values."""
    listed = sorted(values)
    for start in range(0, len(listed), ASKED_AT_ONCE):
        yield from connection.execute(query.where(column.in_(listed[start : start + ASKED_AT_ONCE])))
