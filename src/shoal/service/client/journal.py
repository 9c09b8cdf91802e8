"""The journal: what was put, kept on the owner's side, and what is on its way.

Whatever must happen once is written here with its idempotency key, body and all, before it is sent, and struck off when
it is answered. A put that was interrupted sends the same bytes with the same keys again, so nothing is done twice.
What is about to be sent is on the disk before it is. An answer need not be: one that a power failure takes from the
journal is asked for again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.private_files import private_file

__all__ = ["Beginning", "Journal", "Outgoing", "digest_of"]

TABLES = """
CREATE TABLE IF NOT EXISTS documents (
    digest BLOB PRIMARY KEY,     -- of name and text
    name TEXT NOT NULL,
    key TEXT UNIQUE NOT NULL,    -- of the request that sends it
    id TEXT UNIQUE,              -- once the server has it
    representative TEXT          -- once it is in a group; '' if the server alone knows which, or makes it wait
) STRICT;
CREATE INDEX IF NOT EXISTS documents_by_name ON documents (name);
CREATE TABLE IF NOT EXISTS waiting (
    key TEXT PRIMARY KEY REFERENCES documents (key) ON UPDATE CASCADE ON DELETE CASCADE,
    since REAL NOT NULL, terms BLOB NOT NULL, counts BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS about (what TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS outgoing (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL
) STRICT;
"""


@dataclass(frozen=True)
class Outgoing:
    """A request that must be answered once."""

    key: str
    path: str
    kind: str  # content type
    body: bytes


@dataclass(frozen=True)
class Beginning:
    """A document on its way, and its counts if it waits for a group here."""

    digest: bytes
    name: str
    request: Outgoing
    waits: sp.csr_matrix | None = None


def digest_of(name: str, text: str) -> bytes:
    """What the journal knows a document by: the same text under the same name is the same document."""
    return blake2b(f"{len(name)} {name}{text}".encode(), digest_size=32).digest()


class Journal:
    """The documents of one account."""

    def __init__(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(private_file(str(file), os.O_CREAT | os.O_RDWR))
            self._database = sqlite3.connect(file, timeout=60.0, isolation_level=None)
            for setting in ("foreign_keys = ON", "journal_mode = WAL", "secure_delete = ON"):
                self._database.execute(f"PRAGMA {setting}")
            self._database.executescript(TABLES)
        except (OSError, sqlite3.Error):
            raise InputError(f"the journal {shown(file)} cannot be used; check it, or set SHOAL_STATE") from None

    def close(self) -> None:
        self._database.close()

    def about(self) -> dict[str, str]:
        """What was noted of the index."""
        return dict(self._all("SELECT what, value FROM about"))

    def note(self, about: dict[str, str]) -> None:
        """Keep this of the index in mind."""
        with self._transaction():
            for item in about.items():
                self._all("INSERT OR REPLACE INTO about VALUES (?, ?)", *item)

    def documents(self) -> list[str]:
        """The ids of all documents that the server has, as far as is known here."""
        return [row[0] for row in self._all("SELECT id FROM documents WHERE id IS NOT NULL")]

    def settle(self, statuses: dict[str, str | None]) -> None:
        """What the server says of documents; None: it does not have them. It is right, whatever was known here."""
        with self._transaction():
            for document, status in statuses.items():
                if status is None:
                    self._all("DELETE FROM documents WHERE id = ?", document)
                elif status == "stored":
                    self._all("UPDATE documents SET representative = NULL WHERE id = ?", document)
                else:
                    self._all("UPDATE documents SET representative = ifnull(representative, '') WHERE id = ?", document)
                    self._all("DELETE FROM waiting WHERE key = (SELECT key FROM documents WHERE id = ?)", document)

    def change_terms(self) -> None:
        """The index has another vocabulary: counts and requests of the one before mean nothing to it."""
        with self._transaction():
            for rows in ("outgoing", "documents WHERE id IS NULL", "waiting"):
                self._all(f"DELETE FROM {rows}")

    def __contains__(self, digest: bytes) -> bool:
        return bool(self._all("SELECT 1 FROM documents WHERE digest = ?", digest))

    def begin(self, documents: Sequence[Beginning]) -> list[Beginning]:
        """Documents are about to be sent: those of them that no other put is sending."""
        begun = []
        with self._transaction(durable=True):
            insert = "INSERT OR IGNORE INTO documents (digest, name, key) VALUES (?, ?, ?) RETURNING key"
            for document in documents:
                if self._all(insert, document.digest, document.name, document.request.key):
                    self._send(document.request, document.waits)
                    begun.append(document)
        return begun

    def unplaced(self, digest: bytes) -> str | None:
        """The id of a document that the server has, if it is in no group and does not wait for one here."""
        resting = "id IS NOT NULL AND representative IS NULL AND key NOT IN (SELECT key FROM waiting)"
        found = self._all(f"SELECT id FROM documents WHERE digest = ? AND {resting}", digest)
        return found[0][0] if found else None

    def in_no_group(self, document: str) -> bool:
        """Whether the server has this document in no group."""
        return bool(self._all("SELECT 1 FROM documents WHERE id = ? AND representative IS NULL", document))

    def hold(self, document: str, counts: sp.csr_matrix) -> None:
        """A document that the server has waits for a group from now on."""
        with self._transaction():
            for (key,) in self._all("SELECT key FROM documents WHERE id = ?", document):
                self._hold(key, counts)

    def begin_placing(self, request: Outgoing) -> None:
        """Documents that the server has are about to get into groups."""
        with self._transaction(durable=True):
            self._send(request)

    def replace(self, old: Outgoing, new: Outgoing, counts: sp.csr_matrix | None) -> bool:
        """The server refused a request for good; another is sent instead. False if another put has seen to it."""
        with self._transaction(durable=True):
            if not self._all("DELETE FROM outgoing WHERE key = ? RETURNING key", old.key):
                return False
            self._all("UPDATE documents SET key = ? WHERE key = ?", new.key, old.key)
            self._send(new, counts)
            return True

    def forget(self, request: Outgoing) -> None:
        """The server refused a request for good; what it was to put is not put."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            self._all("DELETE FROM documents WHERE key = ?", request.key)

    def outgoing(self) -> list[Outgoing]:
        """Requests that were not answered yet, in their order."""
        return [Outgoing(*row) for row in self._all("SELECT key, path, kind, body FROM outgoing ORDER BY number")]

    def stored(self, request: Outgoing, document: str, representative: str | None) -> None:
        """The server has the document."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            placed = "UPDATE documents SET id = ?, representative = ? WHERE key = ?"
            self._all(placed, document, representative, request.key)

    def placed(self, request: Outgoing, representative_of: dict[str, str]) -> None:
        """By this request documents got into groups: they wait no longer."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            for document, representative in representative_of.items():
                self._all("UPDATE documents SET representative = ? WHERE id = ?", representative, document)
                self._all("DELETE FROM waiting WHERE key = (SELECT key FROM documents WHERE id = ?)", document)

    def gone(self, document: str) -> None:
        """The document was deleted."""
        self._all("DELETE FROM documents WHERE id = ?", document)

    def waiting(self, n_terms: int) -> list[tuple[str, float, sp.csr_matrix]]:
        """Documents that wait for a group here, oldest first: id, since when, counts."""
        both = "waiting JOIN documents USING (key)"
        found = self._all(f"SELECT id, since, terms, counts FROM {both} WHERE id IS NOT NULL ORDER BY since")
        return [(document, since, _row(terms, counts, n_terms)) for document, since, terms, counts in found]

    def name(self, document: str) -> str | None:
        """What the owner calls a document."""
        found = self._all("SELECT name FROM documents WHERE id = ?", document)
        return str(found[0][0]) if found else None

    def is_text(self, document: str, text: str) -> bool:
        """Whether this is the text that was put; True if the journal does not know the document."""
        found = self._all("SELECT name, digest FROM documents WHERE id = ?", document)
        return not found or bool(digest_of(found[0][0], text) == found[0][1])

    def named(self, name: str) -> list[tuple[str, str]]:
        """Id and name of the documents that were put under a name: several when the text changed between."""
        return self._all("SELECT id, name FROM documents WHERE name = ? AND id IS NOT NULL ORDER BY rowid", name)

    def ending_with(self, name: str) -> list[tuple[str, str]]:
        """The same for a name without its folder."""
        ending = "substr(name, -length(?1)) = ?1 AND id IS NOT NULL"
        return self._all(f"SELECT id, name FROM documents WHERE {ending} ORDER BY rowid", f"/{name}")

    def placed_by_digest(self) -> dict[bytes, tuple[str | None, str | None]]:
        """Id and representative of every document."""
        found = self._all("SELECT digest, id, representative FROM documents")
        return {digest: (document, representative) for digest, document, representative in found}

    def overdue(self, since: float) -> int:
        """How many documents have been waiting here since this time or longer."""
        return int(self._all("SELECT count(*) FROM waiting WHERE since <= ?", since)[0][0])

    def figures(self) -> dict[str, int]:
        """How many documents are stored, wait for a group here, and are on their way."""
        counted = {"stored": "count(id) FROM documents", "waiting": "count(*) FROM waiting"}
        counted["unfinished"] = "count(*) FROM outgoing"
        return {name: self._all(f"SELECT {count}")[0][0] for name, count in counted.items()}

    def _send(self, request: Outgoing, counts: sp.csr_matrix | None = None) -> None:
        if counts is not None:
            self._hold(request.key, counts)
        insert = "INSERT INTO outgoing (key, path, kind, body) VALUES (?, ?, ?, ?)"
        self._all(insert, request.key, request.path, request.kind, request.body)

    def _hold(self, key: str, counts: sp.csr_matrix) -> None:
        arrays = counts.indices.astype("<i4").tobytes(), counts.data.astype("<i8").tobytes()
        self._all("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?, ?)", key, time.time(), *arrays)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return self._database.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self, durable: bool = False) -> Iterator[None]:
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _row(terms: bytes, counts: bytes, n_terms: int) -> sp.csr_matrix:
    columns, data = np.frombuffer(terms, dtype="<i4"), np.frombuffer(counts, dtype="<i8")
    return sp.csr_matrix((data, columns, [0, len(columns)]), shape=(1, n_terms))
