"""Requests that can be repeated safely: the same key again gives the same answer, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, select

from shoal.service.problems import Problem
from shoal.service.storage.tables import requests

__all__ = ["Answer", "Repeatable"]


@dataclass(frozen=True)
class Answer:
    """What a write answers: a status and JSON. It may be kept, so no secret is in it."""

    status: int
    body: dict[str, Any]


@dataclass(frozen=True)
class Repeatable:
    """A request that says which one it is. Only what succeeded is kept, in the transaction that did it."""

    account: str
    key: str = field(repr=False)
    digest: bytes  # of method, path, query and body

    @property
    def _where(self) -> dict[str, Any]:
        return {"account": self.account, "key": sha256(self.key.encode()).digest()}

    def kept_answer(self, connection: Connection) -> Answer | None:
        """What was answered before, if anything was."""
        row = connection.execute(select(requests).filter_by(**self._where)).one_or_none()
        if row is not None and row.digest != self.digest:
            raise Problem(422, "this Idempotency-Key was used for another request; use a new key for each request")
        return Answer(row.status, json.loads(row.body)) if row is not None else None

    def keep(self, connection: Connection, answer: Answer) -> None:
        """For when the request comes again."""
        kept = {"digest": self.digest, "status": answer.status, "body": json.dumps(answer.body)}
        connection.execute(insert(requests), self._where | kept)
