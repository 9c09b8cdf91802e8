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

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError

from shoal.index.server.accounts import Account, account_of
from shoal.index.server.database import Database
from shoal.index.server.problems import Problem
from shoal.index.server.replica import Replica, renumber
from shoal.index.server.tables import requests

KEPT_ANSWERS = 30 * 86_400.0  # seconds


Answer = dict[str, Any]  # the JSON that a write is answered with; it may be kept, so it holds no secret


@dataclass(frozen=True)
class IdempotentRequest:
    """A request with an idempotency key. Answers to successful ones are kept, in the same transaction."""

    account: str
    key: str = field(repr=False)
    digest: bytes  # of method, path, query and body
    status: int  # of its answer, if it succeeds

    @property
    def _primary_key(self) -> dict[str, Any]:
        return {"account": self.account, "key": sha256(self.key.encode()).digest()}

    def earlier_answer(self, connection: Connection) -> Answer | None:
        """The answer that was kept, if the request came before."""
        row = connection.execute(select(requests).filter_by(**self._primary_key)).one_or_none()
        if row is not None and row.digest != self.digest:
            raise Problem(422, "this Idempotency-Key was used for another request; use a new key for each request")
        answer: Answer | None = json.loads(row.body) if row is not None else None
        return answer

    def keep_answer(self, connection: Connection, answer: Answer) -> None:
        """Keep the answer for when the request comes again."""
        values = {"digest": self.digest, "status": self.status, "body": json.dumps(answer), "at": time.time()}
        connection.execute(insert(requests), self._primary_key | values)


@dataclass(frozen=True)
class WriteTransaction:
    """The only writer's transaction, for an account."""

    connection: Connection
    account: Account
    replica: Replica
    stored: set[str] = field(default_factory=set)  # documents that are new: their records have new numbers already


class Store:
    """One index in a database, used by many threads here and by other processes elsewhere."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._replica = Replica()

    def visible_groups(self) -> float:
        """How many groups can be seen; not a number if the database does not answer."""
        try:
            with self.read() as replica:
                return len(replica.groups()[0])
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
    def read(self) -> Iterator[Replica]:
        """The index as the database has it now."""
        with self._replica.lock:
            with self.database.reading() as connection:
                self._replica.catch_up(connection)
            yield self._replica

    def write(
        self, account: Account, request: IdempotentRequest | None, operation: Callable[[WriteTransaction], Answer]
    ) -> Answer:
        """The answer of an operation, once it is committed; or the answer that the same request got before."""
        with self.database.writing() as connection:
            earlier = request.earlier_answer(connection) if request else None
            if earlier is not None:
                return earlier
            replica = self._replica
            with replica.lock:
                replica.catch_up(connection)
                transaction = WriteTransaction(connection, account, replica)
                try:
                    answer = operation(transaction)
                except BaseException:
                    if replica.take_changes():
                        replica.forget()
                    raise
                changes = replica.take_changes()
                try:
                    if changes:
                        replica.record(connection, changes)
                        renumber(connection, [id for id in changes.placed if id not in transaction.stored])
                    if request:
                        request.keep_answer(connection, answer)
                    connection.commit()
                except BaseException:
                    replica.mark_doubtful(changes)
                    raise
                replica.version += bool(changes)
        return answer
