"""The store: reads and writes of the index, each at one version of the database.

A write holds the one writer's lock. It catches up, does its operation on the replica, records what that changed, and
commits before anybody hears of it. A commit that fails puts what it touched in doubt; the next use looks it up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from shoal.index import Changes, DynamicIndex
from shoal.service.accounts import Account, account_of
from shoal.service.problems import Problem
from shoal.service.storage.database import Database
from shoal.service.storage.idempotency import Answer, Repeatable
from shoal.service.storage.replica import Replica
from shoal.service.storage.sealing import OperatorKey
from shoal.service.storage.tables import waiting

__all__ = ["Reading", "Store", "Writing"]

NO_INDEX = "there is no index yet; an operator creates it with POST /v1/index"


@dataclass(frozen=True)
class Reading:
    """The index at one version."""

    index: DynamicIndex
    state: Row[Any]
    replica: Replica


@dataclass(frozen=True)
class Writing:
    """A transaction alone, for an account."""

    connection: Connection
    state: Row[Any]
    account: Account
    replica: Replica

    @property
    def index(self) -> DynamicIndex:
        """The index as it is in this transaction."""
        if self.replica.index is None:
            raise Problem(404, NO_INDEX)
        return self.replica.index


class Store:
    """One index in a database, used by many threads here and by other processes elsewhere."""

    def __init__(self, database: Database, key: OperatorKey) -> None:
        self.database, self.key = database, key
        self._replica = Replica(key)

    @property
    def loaded(self) -> int:
        """The version in memory; -1 for none."""
        return self._replica.version

    def check_key(self) -> None:
        """Refuse a key that does not open the vectors that wait."""
        with self.database.reading() as connection:
            for sealed in connection.execute(select(waiting.c.sealed).limit(1)).scalars():
                self.key.open(sealed)

    def who(self, token: str) -> Account | None:
        """Whose token this is."""
        with self.database.reading() as connection:
            return account_of(connection, token)

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """The index, as the database has it now."""
        with self._replica.lock:
            with self.database.reading() as connection:
                now = self._replica.catch_up(connection)
            if self._replica.index is None:
                raise Problem(404, NO_INDEX)
            yield Reading(self._replica.index, now, self._replica)

    def write(self, account: Account, repeatable: Repeatable | None, operation: Callable[[Writing], Answer]) -> Answer:
        """What the operation answers, once it is committed; or what it answered before to the same request."""
        with self.database.writing() as connection:
            kept = repeatable.kept_answer(connection) if repeatable else None
            if kept is not None:
                return kept
            with self._replica.lock:
                now = self._replica.catch_up(connection)
                answer = self._done(operation, Writing(connection, now, account, self._replica))
                made = self._replica.index.changes() if self._replica.index else Changes()
                try:
                    if made:
                        self._replica.record(connection, now, made)
                    if repeatable:
                        repeatable.keep(connection, answer)
                    connection.commit()
                except BaseException:
                    self._replica.doubt(made)
                    raise
                self._replica.version = now.version + bool(made)
        return answer

    def _done(self, operation: Callable[[Writing], Answer], writing: Writing) -> Answer:
        try:
            return operation(writing)
        except BaseException:
            if writing.replica.index is not None and writing.replica.index.changes():
                writing.replica.forget()
            raise
