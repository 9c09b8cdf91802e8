"""The store: writes to the database, each of them once.

A write holds the one writer's lock, and commits before anybody hears of it. The same request with the same idempotency
key gets the same answer again, and changes nothing.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from shoal.index.server.accounts import Account, account_of
from shoal.index.server.database import Database
from shoal.index.server.groups import Pools, visible
from shoal.index.server.problems import Problem
from shoal.index.server.tables import representatives, requests, state

KEPT_ANSWERS = 30 * 86_400.0  # seconds


Answer = dict[str, Any]  # the JSON that a write is answered with; it may be kept, so it holds no secret


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
        answer: Answer | None = json.loads(row.body) if row is not None else None
        return answer

    def keep_answer(self, connection: Connection, answer: Answer) -> None:
        """Keep the answer for when the request comes again."""
        values = {"digest": self.digest, "body": json.dumps(answer), "at": time.time()}
        connection.execute(insert(requests), self._primary_key | values)


@dataclass(frozen=True)
class WriteTransaction:
    """The only writer's transaction, for an account."""

    connection: Connection
    account: Account
    pools: Pools
    state: Row[Any]  # at its start


class Store:
    """One index in a database, used by many threads here and by other processes elsewhere."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._pools = Pools()

    def tidy(self) -> None:
        """Load new pools before they are needed, and forget the answers to requests of long ago."""
        self.database.keep_reserve()
        with self.database.reading() as connection:
            if connection.execute(select(state.c.k)).scalar_one() is not None:
                self._pools.refresh(connection)
            old = requests.c.at < time.time() - KEPT_ANSWERS
            forgettable = connection.execute(select(requests.c.key).where(old).limit(1)).first()
        if forgettable is not None:
            with self.database.writing() as connection:
                connection.execute(delete(requests).where(old))

    def visible_groups(self) -> float:
        """How many groups can be seen; not a number if the database does not answer."""
        try:
            with self.database.reading() as connection:
                count = select(func.count()).select_from(representatives).where(visible(connection))
                return float(connection.execute(count).scalar_one())
        except (Problem, SQLAlchemyError):
            return math.nan

    def account_of(self, token: str) -> Account | None:
        """The active account with this token."""
        with self.database.reading() as connection:
            return account_of(connection, token)

    def write(
        self, account: Account, request: IdempotentRequest | None, operation: Callable[[WriteTransaction], Answer]
    ) -> Answer:
        """The answer of an operation, once it is committed; or the answer that the same request got before."""
        with self.database.writing() as connection:
            earlier = request.earlier_answer(connection) if request else None
            if earlier is not None:
                return earlier
            now = connection.execute(select(state)).one()
            answer = operation(WriteTransaction(connection, account, self._pools, now))
            if request:
                request.keep_answer(connection, answer)
        return answer
