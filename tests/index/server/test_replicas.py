"""Several servers on one database, and databases that fail: every replica ends up with the truth."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from tests.index.server.api import LAND, SEA, Api, arrow
from tests.index.server.processes import patiently, running_postgres


@contextmanager
def two(address: str) -> Iterator[tuple[Api, Api]]:
    """Two applications on one database, with the same accounts."""
    with Api.on(address) as first, Api.on(address) as second:
        second.tokens = first.tokens
        yield first, second


def everything(api: Api) -> tuple[Any, ...]:
    """All that can be seen through one server."""
    figures, page = api.ask("GET", "/v1/index").json(), arrow(api.ask("GET", "/v1/representatives/pages/0"))
    names = dict(zip(page["number"], page["name"], strict=True))
    groups = {names[number]: number for number in arrow(api.ask("GET", "/v1/groups"))["number"]}
    return figures["version"], {name: api.members(name) for name in groups}, groups


def test_two_servers_on_one_database_keep_in_step(address: str, tmp_path: Path) -> None:
    with two(address) as (first, second):
        first.create()
        sea, ids = first.group(SEA)
        assert second.join(sea, "other").status_code == 201
        assert first.sizes() == second.sizes() == [4]
        second.group(LAND)
        assert everything(first) == everything(second)
        for document in ids[:2]:
            second.ask("DELETE", f"/v1/documents/{document}")
        assert first.sizes() == second.sizes() == [5]  # two of sea and three of land
        assert everything(first) == everything(second)


def test_a_repeated_request_may_reach_another_server(address: str, tmp_path: Path) -> None:
    with two(address) as (first, second):
        first.create()
        name, _ = first.group()
        answers = [api.join(name, headers={"Idempotency-Key": "5f0c"}).json() for api in (first, second)]
        assert answers[0] == answers[1]
        assert first.sizes() == [4]


def test_a_pool_that_was_retired_can_be_published_again(address: str, tmp_path: Path) -> None:
    with two(address) as (first, second):
        first.create()
        land, _ = first.group(LAND)
        sea, ids = first.group(SEA)
        assert everything(first) == everything(second)
        first.ask("DELETE", f"/v1/documents/{ids[0]}")
        again, _ = first.group(SEA)
        assert again == sea
        assert second.sizes() == [5, 3]  # land with the rest of the first sea, and the new sea
        assert everything(first) == everything(second)
        assert everything(first)[2] == {land: 0, sea: 2}


@pytest.mark.parametrize("moment", ["commit", "before_cursor_execute"])
def test_a_write_that_is_not_committed_leaves_no_trace(address: str, tmp_path: Path, moment: str) -> None:
    with two(address) as (api, other):
        api.create()
        api.group(LAND)
        sea, ids = api.group(SEA)
        held = api.keep()
        before = everything(api)
        with failing(api, moment):
            assert api.join(sea, headers=key()).status_code == 503
            assert api.ask("DELETE", f"/v1/documents/{ids[0]}", headers=key()).status_code == 503  # would retire sea
        assert everything(api) == before == everything(other)
        assert api.join(sea).status_code == 201
        assert api.ask("DELETE", f"/v1/documents/{held}").status_code == 204
        assert everything(api) == everything(other)
        assert api.sizes() == [3, 4]


def key() -> dict[str, str]:
    return {"Idempotency-Key": secrets.token_hex(8)}


@contextmanager
def failing(api: Api, moment: str) -> Iterator[None]:
    """Within this block the database fails when a write is to be committed, or when it records its last change."""
    from sqlalchemy.exc import OperationalError

    assert api.store is not None
    engine = api.store.database._engine

    def fail(connection: Any, _: Any = None, statement: str = "INSERT INTO requests", *__: Any) -> None:
        writes = connection.get_execution_options().get("shoal_writes")
        if writes and statement.startswith("INSERT INTO requests"):
            raise OperationalError("COMMIT", {}, Exception("connection lost"))

    event.listen(engine, moment, fail)
    try:
        yield
    finally:
        event.remove(engine, moment, fail)


def test_a_full_disk_is_said_in_one_line_and_nothing_is_lost(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite) as api:
        api.create()
        name, ids = api.group()
        assert api.store is not None
        limited: list[Any] = []

        def limit(connection: Any, *_: Any) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
            limited.append(connection)

        api.store.database.close()
        event.listen(api.store.database._engine, "connect", limit)
        full = api.join(name, content=b"x" * 100_000)
        assert full.status_code == 507 and "disk" in full.json()["detail"] and "\n" not in full.text
        assert api.sizes() == [3] and api.ask("GET", f"/v1/documents/{ids[0]}").status_code == 200
        event.remove(api.store.database._engine, "connect", limit)
        api.store.database.close()
        assert api.join(name, content=b"x" * 100_000).status_code == 201
        assert api.sizes() == [4]


def test_a_database_that_goes_away_and_comes_back_loses_nothing(tmp_path: Path) -> None:
    with running_postgres() as server, Api.on(server.get_uri()) as api:
        api.create()
        name, ids = api.group()
        patiently(server.stop)
        away = [api.join(name), api.ask("GET", "/v1/groups"), api.ask("GET", f"/v1/documents/{ids[0]}")]
        assert {response.status_code for response in away} == {503}
        assert all("database does not answer" in response.json()["detail"] for response in away)
        assert api.client.get("/health/live").status_code == 200
        assert api.client.get("/health/ready").status_code == 503
        patiently(server.start)
        assert api.client.get("/health/ready").status_code == 200
        assert api.sizes() == [3] and sorted(api.members(name)) == sorted(ids)
        assert api.join(name).status_code == 201


def test_a_locked_database_is_waited_for_and_then_refused(
    sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.index.server.database.WAIT", 0.1)
    with Api.on(sqlite) as api:
        api.create()
        name, _ = api.group()
        other = sqlite3.connect(sqlite, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert api.join(name).status_code == 503
        assert api.sizes() == [3]  # readers never wait
        other.execute("ROLLBACK")
        other.close()
        assert api.join(name).status_code == 201


@pytest.mark.parametrize("jump", [-1e9, 1e9])
def test_a_clock_that_jumps_changes_nothing(api: Api, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    name, ids = api.group()
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + jump)
    key = {"Idempotency-Key": "5f0c"}
    first = api.join(name, headers=key)
    monkeypatch.setattr(time, "time", clock)
    assert first.status_code == 201 and api.join(name, headers=key).json() == first.json()
    assert api.sizes() == [4] and api.ask("DELETE", f"/v1/documents/{ids[0]}").status_code == 204
