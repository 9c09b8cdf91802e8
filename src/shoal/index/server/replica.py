"""The replica: the index in this process's memory, kept in step with the database.

Every version of the database lists the documents and representatives that it touched, by name; how they are now is read
at one moment, and how they were is not kept. So a replica that missed a version, and one whose last write was not
committed, are brought up to date in the same way.
"""

from __future__ import annotations

import gc
import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sqlalchemy import Column, Connection, Executable, Result, Row, bindparam, delete, insert, select, update

from shoal.index import Changes, DynamicIndex
from shoal.index.server import tables
from shoal.index.server.problems import Problem
from shoal.index.server.tables import documents, records, representatives, state, vocabulary

Ints = NDArray[np.int64]

NO_INDEX = "there is no index yet; an operator creates it with POST /v1/index"
KEPT_VERSIONS = 1_000  # a process that missed more loads everything
ASKED_AT_ONCE = 500  # ids in a query
LOADED_AT_ONCE = 20_000  # rows
LOADED_ANEW = 100_000  # touched documents from which loading everything is quicker
PLACED: Any = select(documents.c.id, documents.c.representative, documents.c.place)
WHICH: Any = bindparam("which")
TO_PLACE = {"status": "placed", "representative": bindparam("number"), "place": bindparam("rank")}


@dataclass(frozen=True)
class _Touched:
    """Documents by id and representatives by name that a version changed."""

    documents: frozenset[str] = frozenset()
    representatives: frozenset[str] = frozenset()

    @classmethod
    def by(cls, changes: Changes) -> _Touched:
        documents = frozenset((*changes.placed, *changes.gone))
        return cls(documents, frozenset((*changes.published, *changes.retired)))

    @classmethod
    def from_json(cls, content: str) -> _Touched:
        return cls(*map(frozenset, json.loads(content)))

    def to_json(self) -> str:
        return json.dumps([sorted(self.documents), sorted(self.representatives)])

    def __or__(self, other: _Touched) -> _Touched:
        return _Touched(self.documents | other.documents, self.representatives | other.representatives)

    def __bool__(self) -> bool:
        return bool(self.documents or self.representatives)


class Replica:
    """An index in memory. Whoever uses it holds its lock, and brings it up to date first."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.forget()

    @property
    def index(self) -> DynamicIndex:
        """The index; refused if there is none yet."""
        if self._index is None:
            raise Problem(404, NO_INDEX)
        return self._index

    def __contains__(self, document: str) -> bool:
        return self._index is not None and document in self._index

    def take_changes(self) -> Changes:
        """The changes of the index since the last call."""
        return self._index.changes() if self._index is not None else Changes()

    def forget(self) -> None:
        """Load everything again at the next use."""
        self._index: DynamicIndex | None = None
        self.version = -1
        self.number_of: dict[str, int] = {}  # of the representatives in use, by name
        self._name_of: dict[int, str] = {}
        self._doubtful = _Touched()
        self._groups: tuple[int, Ints, Ints] | None = None

    def groups(self) -> tuple[Ints, Ints]:
        """Numbers and sizes of the visible groups, by number; computed once per version."""
        if self._groups is None or self._groups[0] != self.version:
            sizes = self.index.sizes()
            numbers = np.array([self.number_of[name] for name in sizes], dtype=np.int64)
            order = np.argsort(numbers)
            self._groups = self.version, numbers[order], np.array(list(sizes.values()), dtype=np.int64)[order]
        return self._groups[1:]

    def mark_doubtful(self, changes: Changes) -> None:
        """Look these changes up at the next use: they were made here, and may not be committed."""
        self._doubtful |= _Touched.by(changes)

    def record(self, connection: Connection, changes: Changes) -> None:
        """Write changes of the index into the tables, as the next version."""
        now = self.state
        self._number(changes.published, now.published)
        named = {*changes.published, *changes.retired, *(name for name, _ in changes.placed.values())}
        number_of = {name: self.number_of[name] for name in named}
        self._retire(changes.retired)  # before anything can fail: memory is as the index is
        published = [
            {
                "number": number_of[name],
                "name": name,
                "terms": pool.indices.astype("<i4").tobytes(),
                "counts": pool.data.astype("<i8").tobytes(),
                "retired": False,
            }
            for name, pool in changes.published.items()
        ]
        retired = [{"which": number_of[name]} for name in changes.retired]
        placed = [
            {"which": document, "number": number_of[name], "rank": rank}
            for document, (name, rank) in changes.placed.items()
        ]
        retire = update(representatives).where(representatives.c.number == WHICH).values(retired=True)
        execute_for_each(connection, insert(representatives), published)
        execute_for_each(connection, retire, retired)
        execute_for_each(connection, update(documents).where(documents.c.id == WHICH).values(TO_PLACE), placed)
        version = now.version + 1
        connection.execute(update(state).values(version=version, published=now.published + len(published)))
        touched = {"version": version, "touched": _Touched.by(changes).to_json()}
        connection.execute(insert(tables.changes), touched)
        connection.execute(delete(tables.changes).where(tables.changes.c.version <= version - KEPT_VERSIONS))

    def catch_up(self, connection: Connection) -> None:
        """Bring the index to the state of the connection's transaction."""
        now = connection.execute(select(state)).one()
        if now.k is None:
            self.forget()
        elif self._index is None or now.index_id != self.state.index_id or now.version < self.version:
            self._load(connection, now)
        elif now.version > self.version or self._doubtful:
            self._refresh(connection, now, self._index)
        self.state: Row[Any] = now
        self.version = now.version

    def _refresh(self, connection: Connection, now: Row[Any], index: DynamicIndex) -> None:
        """Read everything that was touched since; what has no row any more is gone."""
        later = select(tables.changes.c.touched).where(tables.changes.c.version > self.version)
        missed = connection.execute(later).scalars().all()
        touched = self._doubtful
        for content in missed:
            touched |= _Touched.from_json(content)
        if len(missed) < now.version - self.version or len(touched.documents) > LOADED_ANEW:
            self._load(connection, now)
            return
        in_use = select(representatives).where(~representatives.c.retired)
        used = sorted(
            rows_where_in(connection, in_use, representatives.c.name, touched.representatives),
            key=lambda row: row.number,
        )
        members = list(rows_where_in(connection, PLACED, documents.c.id, touched.documents))
        try:
            known = {name for name in touched.representatives if name in self.number_of}
            self._retire(known)
            for row in used:
                self._number([row.name], row.number)
            placed = self._placed(row for row in members if row.representative is not None)
            index.apply(
                Changes(
                    published={row.name: self._pool(row) for row in used if row.name not in known},
                    retired=sorted(known - {row.name for row in used}),
                    placed=placed,
                    gone=[document for document in touched.documents if document not in placed],
                )
            )
            self._doubtful = _Touched()
        except BaseException:
            self.forget()
            raise

    def _load(self, connection: Connection, now: Row[Any]) -> None:
        """Read everything."""
        self.forget()
        content = select(vocabulary.c.content).where(vocabulary.c.hash == now.vocabulary)
        self._weights = np.array(json.loads(connection.execute(content).scalar_one())["weights"], dtype=np.float64)
        # Ranks among equals must not repeat when a server starts again, so the seed is new.
        index = DynamicIndex(now.k, self._weights, embargo=None, random_state=secrets.randbits(32))
        in_use = select(representatives).where(~representatives.c.retired).order_by(representatives.c.number)
        grouped = PLACED.where(documents.c.representative.is_not(None))
        with _no_garbage_collection():
            index.publish(*self._all_pools(connection.execute(in_use.execution_options(yield_per=LOADED_AT_ONCE))))
            for part in connection.execute(grouped.execution_options(yield_per=LOADED_AT_ONCE)).partitions():
                index.apply(Changes(placed=self._placed(part)))
        self._index = index

    def _all_pools(self, result: Result[Any]) -> tuple[list[str], sp.csr_matrix]:
        """Names and pools of all representatives in use, as one matrix: one for each would take far more memory."""
        names: list[str] = []
        sizes: list[int] = [0]
        parts: list[tuple[NDArray[np.int32], Ints]] = [(np.zeros(0, np.int32), np.zeros(0, np.int64))]
        for rows in result.partitions():
            for row in rows:
                self._number([row.name], row.number)
                names.append(row.name)
                sizes.append(len(row.terms) // 4)
            terms, counts = (b"".join(each) for each in zip(*((row.terms, row.counts) for row in rows), strict=True))
            parts.append((np.frombuffer(terms, "<i4"), np.frombuffer(counts, "<i8")))
        indices, data = (np.concatenate(each) for each in zip(*parts, strict=True))
        return names, sp.csr_matrix((data, indices, np.cumsum(sizes)), shape=(len(names), len(self._weights)))

    def _number(self, names: Iterable[str], first: int) -> None:
        for number, name in enumerate(names, first):
            self.number_of[name], self._name_of[number] = number, name

    def _retire(self, names: Iterable[str]) -> None:
        for name in names:
            del self._name_of[self.number_of.pop(name)]

    def _pool(self, row: Row[Any]) -> sp.csr_matrix:
        terms, counts = np.frombuffer(row.terms, "<i4"), np.frombuffer(row.counts, "<i8")
        return sp.csr_matrix((counts, terms, [0, len(terms)]), shape=(1, len(self._weights)))

    def _placed(self, rows: Iterable[Any]) -> dict[str, tuple[str, float]]:
        return {document: (self._name_of[number], rank) for document, number, rank in rows}


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of objects are created, and none is garbage: looking for it again and again would take long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def renumber(connection: Connection, changed: Sequence[str]) -> None:
    """Have clients fetch the records of these documents again."""
    numbers = next_numbers(connection, len(changed))
    rows = [{"which": document, "number": number} for document, number in zip(changed, numbers, strict=True)]
    new_number = update(records).where(records.c.document == WHICH).values(number=bindparam("number"))
    execute_for_each(connection, new_number, rows)


def next_numbers(connection: Connection, count: int) -> range:
    """Numbers for records that changed. The transaction holds the writer's lock, so they appear in their order."""
    if not count:
        return range(0)
    last = connection.execute(update(state).values(recorded=state.c.recorded + count).returning(state.c.recorded))
    end: int = last.scalar_one() + 1
    return range(end - count, end)


def execute_for_each(connection: Connection, statement: Executable, rows: list[dict[str, Any]]) -> None:
    """Execute a statement once per row, if there is any."""
    if rows:
        connection.execute(statement, rows)


def rows_where_in(connection: Connection, query: Any, column: Column[Any], values: Iterable[str]) -> Iterator[Row[Any]]:
    """The rows of a query whose column has one of many values."""
    listed = sorted(values)
    for start in range(0, len(listed), ASKED_AT_ONCE):
        yield from connection.execute(query.where(column.in_(listed[start : start + ASKED_AT_ONCE])))
