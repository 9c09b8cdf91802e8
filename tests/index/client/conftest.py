"""A real server for each test, and clients of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shoal.index.client import IndexClient, Keys
from shoal.index.client.demo import LocalServer, local_server

NewClient = Callable[..., IndexClient]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    with local_server(tmp_path / "shoal.db") as running:
        yield running


@pytest.fixture
def new_client(server: LocalServer, tmp_path: Path) -> Iterator[NewClient]:
    """Clients by the name of their account, which has a folder and, unless others are given, keys of its own."""
    made: list[IndexClient] = []
    accounts: dict[str, tuple[str, Keys]] = {}

    def new(name: str, role: str = "operator", keys: Keys | None = None, address: str | None = None) -> IndexClient:
        if name not in accounts:
            accounts[name] = server.account(name, role), Keys.draw()
        token, own = accounts[name]
        client = IndexClient(address or server.address, token, keys or own, folder=tmp_path / name)
        made.append(client)
        return client

    yield new
    for client in made:
        client.close()


@pytest.fixture
def operator(new_client: NewClient) -> IndexClient:
    return new_client("operator", "operator")
