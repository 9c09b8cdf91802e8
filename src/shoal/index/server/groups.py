"""Groups on the server, by the rules of `shoal.index.DynamicIndex`: documents join them, and what is left of one that
falls below k joins the nearest. The last group stays, hidden while it is below k.

All of it is in the database. Only the pools, which never change, are in memory as well, to find the nearest.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, bindparam, false, insert, or_, select, update

from shoal.errors import InputError
from shoal.index.representatives import Representatives, name_of_pool
from shoal.index.server.database import execute_for_each, rows_where_in
from shoal.index.server.problems import Problem
from shoal.index.server.tables import documents, records, representatives, state, vocabulary

if TYPE_CHECKING:
    from shoal.index.server.store import WriteTransaction

LOADED_AT_ONCE = 20_000  # rows
NO_INDEX = "there is no index yet; an operator creates it with POST /v1/index"
WHICH: Any = bindparam("which")
published = representatives.c
IN_USE = ~published.retired


class Pools:
    """The pools of groups that were in use when they were loaded."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._numbers: list[int] = []
        self._representatives: Representatives | None = None  # in the same order

    def load(self, connection: Connection) -> Representatives:
        """Add the pools that were published since."""
        with self._lock:
            if self._representatives is None:
                self._representatives = Representatives(weights_of(connection))
            last = self._numbers[-1] if self._numbers else -1
            new = select(published.number, published.terms, published.counts).where(IN_USE, published.number > last)
            result = connection.execute(new.order_by(published.number).execution_options(yield_per=LOADED_AT_ONCE))
            parts = []
            for rows in result.partitions():  # one matrix for many: one for each would take far more memory
                self._numbers += [row.number for row in rows]
                parts.append(_matrix_of_rows(rows, len(self._representatives.idf)))
            if parts:
                self._representatives.add(sp.csr_matrix(sp.vstack(parts, format="csr")))
            return self._representatives

    def refresh(self, connection: Connection) -> None:
        """Add new pools, and leave out those that were retired."""
        with self._lock:
            loaded = self.load(connection)
            retired = connection.execute(select(published.number).where(published.retired)).scalars()
            for place in np.flatnonzero(np.isin(self._numbers, list(retired))).tolist():
                loaded.retire(place)

    def nearest(self, connection: Connection, number: int) -> int:
        """The number of the group in use that is most similar to another."""
        with self._lock:
            loaded = self.load(connection)
            (similarity,) = loaded.similarities(loaded.weights(bisect_left(self._numbers, number)))
        while True:
            place = int(np.argmax(similarity))
            found = self._numbers[place]
            in_use = select(published.number).where(IN_USE, published.number == found)
            if found != number and connection.execute(in_use).first() is not None:
                return found
            similarity[place] = -np.inf


def state_of(connection: Connection) -> Any:
    """The state of the index; refused if there is none yet."""
    now = connection.execute(select(state)).one()
    if now.k is None:
        raise Problem(404, NO_INDEX)
    return now


def weights_of(connection: Connection) -> NDArray[np.float64]:
    """The weight of each term of the vocabulary."""
    content = select(vocabulary.c.content).where(vocabulary.c.hash == state_of(connection).vocabulary)
    return np.array(json.loads(connection.execute(content).scalar_one())["weights"], dtype=np.float64)


def seen_by(connection: Connection, account: str) -> ColumnElement[bool]:
    """Which documents an account may see: its own, and those of visible groups."""
    hidden = _hidden(connection, state_of(connection).k) is not None
    return or_(documents.c.owner == account, false() if hidden else documents.c.representative.is_not(None))


def visible(connection: Connection) -> ColumnElement[bool]:
    """Which representatives have a visible group."""
    k: int = state_of(connection).k
    return and_(IN_USE, published.size >= k)


def numbers_of(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The numbers of the representatives in use that have these names."""
    in_use = select(published.name, published.number).where(IN_USE)
    return {row.name: row.number for row in rows_where_in(connection, in_use, published.name, names)}


def make_groups(
    write: WriteTransaction, groups: Sequence[Sequence[str]], pools: Sequence[Mapping[str, int]]
) -> list[str]:
    """Make groups of documents in no group by their pools; returns names. Equal pools share a representative."""
    k, connection = write.state.k, write.connection
    smallest = min(map(len, groups))
    if smallest < k:
        raise InputError(f"{smallest} documents are fewer than k={k}; add documents, or let them join a group")
    counts = _matrix(pools, len(write.pools.load(connection).idf))
    ends = list(pairwise(counts.indptr.tolist()))
    names = [name_of_pool(counts.indices[start:end], counts.data[start:end]) for start, end in ends]
    number_of = numbers_of(connection, names)
    first = write.state.published
    made: list[dict[str, Any]] = []
    for name, (start, end) in zip(names, ends, strict=True):
        if name not in number_of:
            number_of[name] = first + len(made)
            terms, data = counts.indices[start:end].astype("<i4"), counts.data[start:end].astype("<i8")
            row = {"number": number_of[name], "name": name, "terms": terms.tobytes(), "counts": data.tobytes()}
            made.append(row | {"retired": False, "size": 0})
    execute_for_each(connection, insert(representatives), made)
    connection.execute(update(state).values(published=first + len(made)))
    join(write, {id: number_of[name] for name, group in zip(names, groups, strict=True) for id in group})
    return names


def join(write: WriteTransaction, number_of: Mapping[str, int]) -> None:
    """Place stored documents in groups."""
    place = update(documents).where(documents.c.id == WHICH).values(representative=bindparam("number"))
    rows = [{"which": id, "number": number} for id, number in number_of.items()]
    execute_for_each(write.connection, place, rows)
    renumber(write.connection, list(number_of))
    count_joined(write, number_of.values())


def count_joined(write: WriteTransaction, numbers: Iterable[int]) -> None:
    """Count documents that are in these groups now. A hidden group has grown, or joins the nearest of the new ones."""
    connection, k = write.connection, write.state.k
    hidden = _hidden(connection, k)
    _resize(connection, Counter(numbers))
    if hidden is None:
        return
    if _hidden(connection, k) == hidden:
        _dissolve(write, hidden, Pools())  # only it and the new ones are in use
    else:
        members = select(documents.c.id).where(documents.c.representative == hidden)
        renumber(connection, connection.execute(members).scalars().all())


def count_left(write: WriteTransaction, numbers: Iterable[int]) -> None:
    """Count documents that are in these groups no more. What is left of a group below k joins the nearest."""
    left = Counter(numbers)
    _resize(write.connection, Counter({number: -count for number, count in left.items()}))
    for number in sorted(left):
        _dissolve(write, number, write.pools)


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


def _dissolve(write: WriteTransaction, number: int, pools: Pools) -> None:
    connection = write.connection
    size = connection.execute(select(published.size).where(published.number == number)).scalar_one()
    others = connection.execute(select(published.number).where(IN_USE, published.number != number).limit(1)).first()
    if size >= write.state.k or (size and others is None):
        return
    nearest = pools.nearest(connection, number) if size else number
    connection.execute(update(representatives).where(published.number == number).values(retired=True, size=0))
    if size:
        moving = update(documents).where(documents.c.representative == number).values(representative=nearest)
        moved = connection.execute(moving.returning(documents.c.id)).scalars().all()
        _resize(connection, Counter({nearest: size}))
        renumber(connection, moved)


def _hidden(connection: Connection, k: int) -> int | None:
    """The number of the last group while it is below k."""
    below = select(published.number).where(IN_USE, published.size.between(1, k - 1)).limit(1)
    number: int | None = connection.execute(below).scalar_one_or_none()
    return number


def _resize(connection: Connection, changes: Counter[int]) -> None:
    more = update(representatives).where(published.number == WHICH).values(size=published.size + bindparam("count"))
    execute_for_each(connection, more, [{"which": number, "count": count} for number, count in changes.items()])


def _matrix_of_rows(rows: Sequence[Any], n_terms: int) -> sp.csr_matrix:
    terms, counts = (b"".join(each) for each in zip(*((row.terms, row.counts) for row in rows), strict=True))
    ends = np.cumsum([0, *(len(row.terms) // 4 for row in rows)])
    return sp.csr_matrix((np.frombuffer(counts, "<i8"), np.frombuffer(terms, "<i4"), ends), shape=(len(rows), n_terms))


def _matrix(pools: Sequence[Mapping[str, int]], n_terms: int) -> sp.csr_matrix:
    """Counts by the numbers of terms, as the rows of a matrix."""
    terms = [np.sort(np.array(list(pool), dtype=np.int64)) for pool in pools]
    if any(numbers[-1] >= n_terms for numbers in terms):
        raise InputError(f"a term's number is beyond {n_terms - 1}, the last; fetch the vocabulary again")
    counts = [pool[str(number)] for pool, numbers in zip(pools, terms, strict=True) for number in numbers.tolist()]
    ends = np.cumsum([0, *map(len, terms)])
    return sp.csr_matrix((np.array(counts, dtype=np.int64), np.concatenate(terms), ends), shape=(len(pools), n_terms))
