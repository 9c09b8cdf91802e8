"""What a write changed, recorded in the tables: the change itself, and by name what it touched.

The names are enough for every other process to look up how it is now. They say nothing of how it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Executable, Row, bindparam, delete, insert, update

from shoal.index import Changes
from shoal.service.storage.sealing import OperatorKey
from shoal.service.storage.tables import changes, documents, representatives, state, waiting

__all__ = ["Touched", "record"]

WHICH: Any = bindparam("which")
PLACED = {"status": "placed", "representative": bindparam("number"), "place": bindparam("among_equals")}
KEPT_VERSIONS = 1_000  # a process that missed more loads everything


@dataclass(frozen=True)
class Touched:
    """Documents by id, representatives by name."""

    documents: frozenset[str] = frozenset()
    representatives: frozenset[str] = frozenset()

    @classmethod
    def by(cls, changes: Changes) -> Touched:
        """All that these changes name."""
        documents = frozenset((*changes.placed, *changes.waiting, *changes.gone))
        return cls(documents, frozenset((*changes.published, *changes.retired)))

    @classmethod
    def of_json(cls, content: str) -> Touched:
        """As it was written by `to_json`."""
        documents, representatives = json.loads(content)
        return cls(frozenset(documents), frozenset(representatives))

    def to_json(self) -> str:
        """For a table."""
        return json.dumps([sorted(self.documents), sorted(self.representatives)])

    def __or__(self, other: Touched) -> Touched:
        return Touched(self.documents | other.documents, self.representatives | other.representatives)

    def __bool__(self) -> bool:
        return bool(self.documents or self.representatives)


def record(
    connection: Connection, now: Row[Any], made: Changes, number_of: Mapping[str, int], key: OperatorKey
) -> None:
    """Write changes as the next version; `number_of` has the numbers of all representatives that they name."""
    published = [
        {
            "number": number_of[name],
            "name": name,
            "terms": pool.indices.astype("<i4").tobytes(),
            "counts": pool.data.astype("<i8").tobytes(),
            "retired": False,
        }
        for name, pool in made.published.items()
    ]
    retired = [{"which": number_of[name]} for name in made.retired]
    placed = [
        {"which": document, "number": number_of[name], "among_equals": place}
        for document, (name, place) in made.placed.items()
    ]
    held = [
        {"which": document, "document": document, "sealed": key.seal(counts), "since": time.time()}
        for document, (counts, _) in made.waiting.items()
    ]
    _each(connection, insert(representatives), published)
    _each(connection, update(representatives).where(representatives.c.number == WHICH).values(retired=True), retired)
    # Once its group is known, a document's vector is destroyed.
    _each(connection, delete(waiting).where(waiting.c.document == WHICH), placed)
    _each(connection, update(documents).where(documents.c.id == WHICH).values(PLACED), placed)
    _each(connection, insert(waiting), held)
    _each(connection, update(documents).where(documents.c.id == WHICH).values(status="waiting"), held)
    version, oldest = now.version + 1, now.version + 1 - KEPT_VERSIONS
    connection.execute(update(state).values(version=version, published=now.published + len(published)))
    connection.execute(insert(changes), {"version": version, "touched": Touched.by(made).to_json()})
    connection.execute(delete(changes).where(changes.c.version <= oldest))


def _each(connection: Connection, statement: Executable, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(statement, rows)
