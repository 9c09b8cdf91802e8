"""Databases of both kinds, empty for each test, and the application on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.index.server.api import Api
from tests.index.server.processes import running_postgres

numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Addresses of new databases on a real PostgreSQL."""
    with running_postgres() as server:

        def new() -> str:
            name = f"shoal{next(numbers)}"
            server.psql(f"CREATE DATABASE {name}")
            return str(server.get_uri(name))

        yield new


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "shoal.db")
    return str(request.getfixturevalue("postgres")())


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """An empty SQLite database, where the kind has no bearing."""
    return str(tmp_path / "shoal.db")


@pytest.fixture
def api(sqlite: str, tmp_path: Path) -> Iterator[Api]:
    """An application with an operator, two users and a reader, and an index with k=3 that holds nothing."""
    with Api.on(sqlite) as api:
        api.create()
        yield api
