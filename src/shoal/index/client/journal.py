"""The journal: the owner's list of documents on the server, and of requests that are not answered yet.

A request that must be carried out once is written here with its idempotency key and body before it is sent, and removed
when it is answered. A put that was interrupted sends the same bytes with the same keys again, so nothing is done twice.
Requests are flushed to the disk before they are sent. Answers need not be: if a power failure loses one, the request is
sent again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from shoal.index.client.sources import SourceDocument

DAY = 86_400.0  # seconds
WAIT = 7.0  # days before a document that fits no group is placed anyway

TABLES = """
CREATE TABLE IF NOT EXISTS documents (
    digest BLOB PRIMARY KEY,     -- of name and text
    name TEXT NOT NULL,
    key TEXT UNIQUE NOT NULL,    -- of the request that sends it, and its place in it if there are several
    id TEXT UNIQUE,              -- once the server has it
    representative TEXT          -- once it is in a group; '' if this machine does not know which
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
OF_REQUEST = "(key = ?1 OR key > ?1 || '.' AND key < ?1 || '/')"  # its own key, or the key, a dot and a number


@dataclass(frozen=True)
class PendingRequest:
    """A request that the server must carry out once."""

    key: str  # of idempotency
    path: str
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Upload:
    """A document on its way, and its counts by the index's terms."""

    document: SourceDocument
    digest: bytes
    counts: sp.csr_matrix
    group: str | None = None
    waits: bool = False  # for a group, on this machine


def digest_of(name: str, text: str) -> bytes:
    """Identifies a document in the journal: the same text under the same name is the same document."""
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

    def promises(self) -> dict[str, str]:
        """Id, k and vocabulary of the index as this client last saw them."""
        return dict(self._all("SELECT what, value FROM about"))

    def keep_promises(self, promises: dict[str, str]) -> None:
        """Remember id, k and vocabulary."""
        with self._transaction():
            for item in promises.items():
                self._all("INSERT OR REPLACE INTO about VALUES (?, ?)", *item)

    def documents(self) -> list[str]:
        """The ids of all uploaded documents."""
        return [row[0] for row in self._all("SELECT id FROM documents WHERE id IS NOT NULL")]

    def settle(self, statuses: dict[str, str | None]) -> None:
        """Take over the server's status of documents; None: it does not have them."""
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
        """Drop counts and requests of an earlier vocabulary: they mean nothing in the new one."""
        with self._transaction():
            for rows in ("outgoing", "documents WHERE id IS NULL", "waiting"):
                self._all(f"DELETE FROM {rows}")

    def __contains__(self, digest: bytes) -> bool:
        return bool(self._all("SELECT 1 FROM documents WHERE digest = ?", digest))

    def begin_uploads(
        self, key: str, uploads: Sequence[Upload], request_of: Callable[[list[Upload]], PendingRequest]
    ) -> list[Upload]:
        """Note documents, and the request that sends them, before it is sent; returns those no other put is sending."""
        insert = "INSERT OR IGNORE INTO documents (digest, name, key) VALUES (?, ?, ?) RETURNING key"
        begun = []
        with self._transaction(durable=True):
            for place, upload in enumerate(uploads):
                own = f"{key}.{place}"
                if self._all(insert, upload.digest, upload.document.name, own):
                    begun.append(upload)
                    if upload.waits:
                        self._hold(own, upload.counts)
            if begun:
                self._add_request(request_of(begun))
        return begun

    def adopt(self, documents: Sequence[tuple[bytes, str, str, bool]]) -> None:
        """Take over documents that another machine put: digest, name, id, and whether each is in a group."""
        insert = "INSERT OR IGNORE INTO documents (digest, name, key, id, representative) VALUES (?, ?, ?, ?, ?)"
        with self._transaction():
            for digest, name, document, grouped in documents:
                self._all(insert, digest, name, document, document, "" if grouped else None)

    def unplaced(self, digest: bytes) -> str | None:
        """The id of an uploaded document that is in no group and does not wait for one on this machine."""
        ungrouped = "id IS NOT NULL AND representative IS NULL AND key NOT IN (SELECT key FROM waiting)"
        rows = self._all(f"SELECT id FROM documents WHERE digest = ? AND {ungrouped}", digest)
        return rows[0][0] if rows else None

    def in_no_group(self, document: str) -> bool:
        """Whether an uploaded document is in no group."""
        return bool(self._all("SELECT 1 FROM documents WHERE id = ? AND representative IS NULL", document))

    def hold(self, document: str, counts: sp.csr_matrix) -> None:
        """Let an uploaded document wait for a group on this machine."""
        with self._transaction():
            for (key,) in self._all("SELECT key FROM documents WHERE id = ?", document):
                self._hold(key, counts)

    def begin(self, request: PendingRequest) -> None:
        """Note a request before it is sent."""
        with self._transaction(durable=True):
            self._add_request(request)

    def forget(self, request: PendingRequest) -> None:
        """Drop a request that was refused for good, and the documents that it was to upload."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            self._all(f"DELETE FROM documents WHERE id IS NULL AND {OF_REQUEST}", request.key)

    def unanswered(self) -> list[PendingRequest]:
        """Requests that were not answered yet, in their order."""
        return [PendingRequest(*row) for row in self._all("SELECT key, path, kind, body FROM outgoing ORDER BY number")]

    def uploaded(self, request: PendingRequest, ids: Sequence[str], representatives: Sequence[str | None]) -> None:
        """The server stored the documents of a request under these ids, in the groups of these representatives."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            sent = f"SELECT key FROM documents WHERE id IS NULL AND {OF_REQUEST} ORDER BY rowid"
            # None is left if another put has sent the request too.
            stored = zip(self._all(sent, request.key), ids, representatives, strict=False)
            for (key,), document, representative in stored:
                update = "UPDATE documents SET id = ?, representative = ? WHERE key = ?"
                self._all(update, document, representative, key)

    def grouped(self, request: PendingRequest, representative_of: dict[str, str]) -> None:
        """The request put documents into groups: they wait no longer."""
        with self._transaction():
            self._all("DELETE FROM outgoing WHERE key = ?", request.key)
            for document, representative in representative_of.items():
                self._all("UPDATE documents SET representative = ? WHERE id = ?", representative, document)
                self._all("DELETE FROM waiting WHERE key = (SELECT key FROM documents WHERE id = ?)", document)

    def deleted(self, document: str) -> None:
        """The server does not have the document any more."""
        self._all("DELETE FROM documents WHERE id = ?", document)

    def waiting(self, n_terms: int) -> list[tuple[str, float, sp.csr_matrix]]:
        """Documents that wait for a group on this machine, oldest first: id, since when, counts."""
        both = "waiting JOIN documents USING (key)"
        rows = self._all(f"SELECT id, since, terms, counts FROM {both} WHERE id IS NOT NULL ORDER BY since")
        return [(document, since, _row(terms, counts, n_terms)) for document, since, terms, counts in rows]

    def name(self, document: str) -> str | None:
        """The name that a document was put under; None if it was put from another machine."""
        rows = self._all("SELECT name FROM documents WHERE id = ?", document)
        return str(rows[0][0]) if rows else None

    def is_text(self, document: str, text: str) -> bool:
        """Whether this is the text that was put; True if the journal does not know the document."""
        rows = self._all("SELECT name, digest FROM documents WHERE id = ?", document)
        return not rows or bool(digest_of(rows[0][0], text) == rows[0][1])

    def earlier_texts(self, name: str, digest: bytes) -> list[str]:
        """Ids of the uploads of a name with another text."""
        rows = self._all("SELECT id FROM documents WHERE name = ? AND digest != ? AND id IS NOT NULL", name, digest)
        return [row[0] for row in rows]

    def named(self, name: str) -> list[tuple[str, str]]:
        """Ids and names of the uploads of a name, or of a name in any folder: several if the text has changed."""
        ending = "(name = ?1 OR substr(name, -length(?1) - 1) = '/' || ?1)"
        rows = self._all(f"SELECT id, name FROM documents WHERE {ending} AND id IS NOT NULL ORDER BY rowid", name)
        return [row for row in rows if row[1] == name] or rows

    def id_and_group_by_digest(self) -> dict[bytes, tuple[str | None, str | None]]:
        """Id and representative of every document."""
        rows = self._all("SELECT digest, id, representative FROM documents")
        return {digest: (document, representative) for digest, document, representative in rows}

    def overdue(self, since: float) -> int:
        """How many documents have waited on this machine since this time or longer."""
        return int(self._all("SELECT count(*) FROM waiting WHERE since <= ?", since)[0][0])

    def figures(self) -> dict[str, int]:
        """How many documents are stored and how many wait on this machine, and how many requests are not answered."""
        counts = {"stored": "count(id) FROM documents", "waiting": "count(*) FROM waiting"}
        counts["unfinished"] = "count(*) FROM outgoing"
        return {name: self._all(f"SELECT {count}")[0][0] for name, count in counts.items()}

    def _add_request(self, request: PendingRequest) -> None:
        insert = "INSERT INTO outgoing (key, path, kind, body) VALUES (?, ?, ?, ?)"
        self._all(insert, request.key, request.path, request.content_type, request.body)

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
    import numpy as np
    import scipy.sparse as sp

    columns, data = np.frombuffer(terms, dtype="<i4"), np.frombuffer(counts, dtype="<i8")
    return sp.csr_matrix((data, columns, [0, len(columns)]), shape=(1, n_terms))
