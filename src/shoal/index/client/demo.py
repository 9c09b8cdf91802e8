"""The demonstration of the index: a server for a while, letters put encrypted, found, deleted, and a snapshot of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import uvicorn

from shoal.data.keys import Keys
from shoal.index.client.client import IndexClient
from shoal.index.client.search import SearchHit
from shoal.index.server.accounts import make_account
from shoal.index.server.app import create_app
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.store import Store

QUERY = "broken hip after a fall"


@dataclass(frozen=True)
class IndexDemo:
    """What the demonstration did."""

    put: int  # documents stored, encrypted
    query: str
    best: SearchHit
    text: str  # of the best, decrypted
    deleted: int
    snapshot: Path


@dataclass(frozen=True)
class LocalServer:
    """A server in this process, and the database behind it."""

    address: str
    database: Database

    def account(self, name: str, role: str) -> str:
        """The token of a new account."""
        with self.database.writing() as connection:
            return make_account(connection, name, role)[1]


@contextmanager
def local_server(database: str | Path, limits: Limits = Limits()) -> Iterator[LocalServer]:
    """A server on a free port of this machine, until the block ends."""
    opened = Database(str(database))
    opened.create_tables()
    app = create_app(Store(opened), limits)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield LocalServer(f"http://127.0.0.1:{listening.getsockname()[1]}", opened)
    finally:
        server.should_exit = True
        thread.join()
        opened.close()


def run_index_demo(letters: Path, release: Path, out: Path, force: bool = False) -> IndexDemo:
    """Start an index with a release and its letters; search, get, delete, and export a snapshot to `out`."""
    with TemporaryDirectory() as folder, local_server(Path(folder) / "shoal.db") as server:
        token = server.account("demo", "operator")
        with IndexClient(server.address, token, Keys.draw(), folder=folder) as client:
            report = client.create(letters, release=release)
            hits = client.search(QUERY)
            text = client.get(hits[0].document)
            for hit in hits:
                client.delete(hit.document)
            client.export(out, force=force)
            return IndexDemo(report.uploaded, QUERY, hits[0], text, len(hits), out)
