"""The store: reads and writes of the index, each at one version of the database.

A write holds the one writer's lock. It brings the replica up to date, carries out its operation there, records the
changes, and commits before anybody hears of it. A commit that fails leaves what it touched in doubt; the next use looks
it up. The same request with the same idempotency key gets the same answer again, and changes nothing.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from shoal.index import Changes, DynamicIndex
from shoal.index.server.accounts import Account, account_of
from shoal.index.server.database import Database
from shoal.index.server.problems import Problem
from shoal.index.server.records import renumber
from shoal.index.server.replica import Replica
from shoal.index.server.tables import requests

KEPT_ANSWERS = 30 * 86_400.0  # seconds
NO_INDEX = "there is no index yet; an operator creates it with POST /v1/index"


@dataclass(frozen=True)
class Answer:
    """The answer of a write: a status and JSON. It may be kept, so it holds no secret."""

    status: int
    body: dict[str, Any]


@dataclass(frozen=True)
class IdempotentRequest:
    """A request with an idempotency key. Answers to successful ones are kept, in the same transaction."""

    account: str
    key: str = field(repr=False)
    digest: bytes  # of method, path, query and body

    @property
    def _primary_key(self) -> dict[str, Any]:
        return {"account": self.account, "key": sha256(self.key.encode()).digest()}

    def earlier_answer(self, connection: Connection) -> Answer | None:
        """The answer that was kept, if the request came before."""
        row = connection.execute(select(requests).filter_by(**self._primary_key)).one_or_none()
        if row is not None and row.digest != self.digest:
            raise Problem(422, "this Idempotency-Key was used for another request; use a new key for each request")
        return Answer(row.status, json.loads(row.body)) if row is not None else None

    def keep_answer(self, connection: Connection, answer: Answer) -> None:
        """Keep the answer for when the request comes again."""
        values = {"digest": self.digest, "status": answer.status, "body": json.dumps(answer.body), "at": time.time()}
        connection.execute(insert(requests), self._primary_key | values)


@dataclass(frozen=True)
class ReadTransaction:
    """The index at one version."""

    index: DynamicIndex
    state: Row[Any]
    replica: Replica


@dataclass(frozen=True)
class WriteTransaction:
    """The only writer's transaction, for an account."""

    connection: Connection
    state: Row[Any]
    account: Account
    replica: Replica
    stored: set[str] = field(default_factory=set)  # documents that are new: their records have new numbers already

    @property
    def index(self) -> DynamicIndex:
        """The index as it is in this transaction."""
        if self.replica.index is None:
            raise Problem(404, NO_INDEX)
        return self.replica.index


class Store:
    """One index in a database, used by many threads here and by other processes elsewhere."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._replica = Replica()

    def visible_groups(self) -> float:
        """How many groups can be seen; not a number if the database does not answer."""
        try:
            with self.read() as read:
                return len(read.replica.groups()[0])
        except (Problem, SQLAlchemyError):
            return math.nan

    def forget_answers(self) -> None:
        """Forget the answers to requests of long ago."""
        old = requests.c.at < time.time() - KEPT_ANSWERS
        with self.database.reading() as connection:
            if connection.execute(select(requests.c.key).where(old).limit(1)).first() is None:
                return
        with self.database.writing() as connection:
            connection.execute(delete(requests).where(old))

    @property
    def loaded_version(self) -> int:
        """The version in memory; -1 if none is loaded."""
        return self._replica.version

    def account_of(self, token: str) -> Account | None:
        """The active account with this token."""
        with self.database.reading() as connection:
            return account_of(connection, token)

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """The index as the database has it now."""
        with self._replica.lock:
            with self.database.reading() as connection:
                state = self._replica.catch_up(connection)
            if self._replica.index is None:
                raise Problem(404, NO_INDEX)
            yield ReadTransaction(self._replica.index, state, self._replica)

    def write(
        self, account: Account, request: IdempotentRequest | None, operation: Callable[[WriteTransaction], Answer]
    ) -> Answer:
        """The answer of an operation, once it is committed; or the answer that the same request got before."""
        with self.database.writing() as connection:
            earlier = request.earlier_answer(connection) if request else None
            if earlier is not None:
                return earlier
            with self._replica.lock:
                state = self._replica.catch_up(connection)
                transaction = WriteTransaction(connection, state, account, self._replica)
                answer = self._carry_out(operation, transaction)
                changes = self._replica.index.changes() if self._replica.index is not None else Changes()
                try:
                    if changes:
                        self._replica.record(connection, state, changes)
                        renumber(connection, [id for id in changes.placed if id not in transaction.stored])
                    if request:
                        request.keep_answer(connection, answer)
                    connection.commit()
                except BaseException:
                    self._replica.mark_doubtful(changes)
                    raise
                self._replica.version = state.version + bool(changes)
        return answer

    def _carry_out(self, operation: Callable[[WriteTransaction], Answer], transaction: WriteTransaction) -> Answer:
        try:
            return operation(transaction)
        except BaseException:
            if self._replica.index is not None and self._replica.index.changes():
                self._replica.forget()
            raise
