"""An application on a database, and the requests that tests send to it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import pyarrow as pa
from fastapi.testclient import TestClient
from sqlalchemy import select

from shoal.index.server.accounts import make_account
from shoal.index.server.app import create_app
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.store import Store
from shoal.index.server.tables import documents, representatives

TERMS = ["angler", "boat", "crab", "dock", "eel", "fish", "gull", "heron", "ice", "jetty"]
VOCABULARY = {"terms": TERMS, "weights": [1.0] * len(TERMS), "space": {"language": "english"}}
BINARY = {"Content-Type": "application/octet-stream"}
ROLES = {"operator": "operator", "user": "operator", "other": "operator", "joining": "user", "reader": "reader"}
# Three documents each, none of which can be read off their sums.
SEA = [{"0": 1, "1": 1, "2": 2, "3": 2}, {"0": 1, "1": 1, "2": 1, "3": 2}, {"1": 2, "2": 2}]
LAND = [{"6": 1, "7": 1, "8": 2, "9": 2}, {"6": 1, "7": 1, "8": 1, "9": 2}, {"7": 2, "8": 2}]


def pool(rows: list[dict[str, int]]) -> dict[str, int]:
    """The sum of counts."""
    return {term: sum(row.get(term, 0) for row in rows) for term in sorted({term for row in rows for term in row})}


def arrow(response: httpx.Response) -> dict[str, list[Any]]:
    """A table that came as an Arrow stream."""
    assert response.status_code == 200, response.text
    return dict(pa.ipc.open_stream(response.content).read_all().to_pydict())


class Api:
    """Requests by role, through any HTTP client."""

    def __init__(self, client: httpx.Client, tokens: Mapping[str, str], store: Store | None = None) -> None:
        self.client, self.tokens, self.store = client, tokens, store

    @classmethod
    @contextmanager
    def on(cls, address: str, limits: Limits | None = None) -> Iterator[Api]:
        """The application on a database, which gets an account per role."""
        database = Database(address)
        database.create_tables()
        store = Store(database)
        app = create_app(store, limits or Limits())
        with TestClient(app, raise_server_exceptions=False) as client:
            yield cls(client, accounts_in(database), store)
        database.close()

    def ask(self, method: str, path: str, who: str = "user", **more: Any) -> httpx.Response:
        """A request with the token of an account."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} | more.pop("headers", {})
        return self.client.request(method, path, headers=headers, **more)

    def create(self, **more: Any) -> httpx.Response:
        """The index, k=3."""
        wanted = {"k": 3, "embargo": None, "vocabulary": VOCABULARY} | more
        return self.ask("POST", "/v1/index", "operator", json=wanted)

    def keep(self, content: bytes = b"ciphertext", who: str = "user", **more: Any) -> str:
        """The id of a document that is stored in no group."""
        response = self.put(content, None, who, **more)
        assert response.status_code == 201, response.text
        return id_of(response)

    def group(self, rows: list[dict[str, int]] = SEA, who: str = "user") -> tuple[str, list[str]]:
        """A group of new documents: the name of its representative, and their ids."""
        ids = [self.keep(f"ciphertext {number}".encode(), who) for number in range(len(rows))]
        response = self.ask("POST", "/v1/groups", who, json={"groups": [{"documents": ids, "pool": pool(rows)}]})
        assert response.status_code == 201, response.text
        return str(response.json()["groups"][0]["representative"]), ids

    def join(
        self, representative: str, who: str = "user", content: bytes = b"ciphertext", **more: Any
    ) -> httpx.Response:
        """A document for the group that the client chose."""
        return self.put(content, representative, who, **more)

    def put(self, content: bytes, representative: str | None, who: str = "user", **more: Any) -> httpx.Response:
        """A batch of one document with a record."""
        line = {"documents": [{"bytes": len(content), "record": 6, "representative": representative}]}
        headers = BINARY | more.pop("headers", {})
        body = json.dumps(line).encode() + b"\n" + content + b"record"
        return self.ask("POST", "/v1/batches", who, content=body, headers=headers, **more)

    def sizes(self, who: str = "user") -> list[int]:
        """Of the groups that can be seen."""
        return arrow(self.ask("GET", "/v1/groups", who))["size"]

    def members(self, representative: str) -> list[str]:
        """The documents of a group, as the database has them: no route tells."""
        assert self.store is not None
        belongs = documents.c.representative == representatives.c.number
        members = select(documents.c.id).join(representatives, belongs).where(representatives.c.name == representative)
        with self.store.database.reading() as connection:
            return list(connection.execute(members.order_by(documents.c.id)).scalars())


def id_of(response: httpx.Response) -> str:
    """The id of the document of a batch of one."""
    return str(response.json()["documents"][0]["id"])


def accounts_in(database: Database) -> dict[str, str]:
    """Tokens of new accounts. Users of tests may make groups; those with the role of a user may not."""
    tokens = {}
    with database.writing() as connection:
        for name, role in ROLES.items():
            _, tokens[name] = make_account(connection, f"{name} {secrets.token_hex(4)}", role)
    return tokens
