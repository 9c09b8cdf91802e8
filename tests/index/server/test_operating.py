"""What an operator meets: revoked accounts, a damaged file, a full disk, hostile bodies."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from shoal.index.server.accounts import revoke
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.problems import problem_of
from shoal.index.server.schemas import GroupsWanted
from tests.index.server.api import BINARY, LAND, Api, arrow
from tests.index.server.processes import servers
from tests.index.server.test_commands import shoal


def test_a_sum_of_a_million_terms_is_refused_before_it_is_parsed(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupsWanted, "model_validate_json", lambda _: pytest.fail("it was parsed"))
    body = b'{"groups": [{"pool": {' + b",".join(b'"%d": 1' % term for term in range(1_500_000)) + b"}}]}"
    refused = api.ask("POST", "/v1/groups", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 413 and "larger than 2097152 bytes" in refused.json()["detail"]


def test_the_documents_of_a_revoked_account_are_transferred_and_erased(api: Api, sqlite: str) -> None:
    api.group(who="other")
    _, ids = api.group(LAND, who="user")
    assert api.store is not None
    accounts = {name: api.tokens[name].split("_")[1] for name in ("user", "other")}
    command = ("--database", sqlite)
    early = shoal("token", "erase", accounts["user"], *command)
    assert early.exit_code != 0 and "revoke it first" in str(early.exception)
    with api.store.database.writing() as connection:
        revoke(connection, accounts["user"])
    assert shoal("token", "transfer", accounts["user"], accounts["other"], *command).exit_code == 0
    assert api.ask("DELETE", f"/v1/documents/{ids[0]}", "other").status_code == 204
    with api.store.database.writing() as connection:
        revoke(connection, accounts["other"])
    erased = shoal("token", "erase", accounts["other"], *command)
    (line,) = [json.loads(line) for line in erased.stderr.splitlines() if line.startswith("{")]
    assert (line["message"], line["account"], line["documents"]) == ("documents erased", accounts["other"], 5)
    assert api.sizes("reader") == []
    assert set(arrow(api.ask("GET", "/v1/records", "reader"))["status"]) <= {"gone"}


def test_a_damaged_database_says_so_and_not_to_try_again(sqlite: str) -> None:
    database = Database(sqlite)
    database.create_tables()
    database.close()
    content = bytearray(Path(sqlite).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    Path(sqlite).write_bytes(content)
    for file in Path(sqlite).parent.glob("shoal.db-*"):
        file.unlink()
    listed = shoal("token", "list", "--database", sqlite)
    assert listed.exit_code != 0 and "damaged" in str(listed.exception)
    assert "restore the last backup" in str(listed.exception)


def test_on_a_full_disk_a_deletion_gets_the_room_that_is_kept_for_it(
    api: Api, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert api.store is not None
    document, write = api.keep(), api.store.write
    reserve = Path(f"{sqlite}.reserve")
    api.store.database.keep_reserve()
    assert reserve.stat().st_size == 8 << 20

    def full(*given: object) -> object:
        """As SQLite does while the reserve takes the last of the disk."""
        if reserve.exists():
            raise OperationalError("DELETE", {}, Exception("database or disk is full"))
        return write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(api.store, "write", full)
    refused = api.put(b"x", None)
    assert refused.status_code == 507
    assert api.ask("DELETE", f"/v1/documents/{document}").status_code == 204
    assert not reserve.exists()


def test_a_server_whose_disk_is_nearly_full_is_not_ready(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.store is not None
    api.sizes()
    assert api.client.get("/health/ready").status_code == 200
    monkeypatch.setattr("shoal.index.server.database.LEAST_ROOM", 1 << 60)
    assert "nearly full" in api.client.get("/health/ready").json()["detail"]


def test_records_are_seen_by_their_owner_and_by_all_once_their_document_is_visible(api: Api) -> None:
    def batch(*representatives: str | None) -> list[str]:
        line = {"documents": [{"bytes": 4, "record": 3, "representative": name} for name in representatives]}
        body = json.dumps(line).encode() + b"\n" + b"textrec" * len(representatives)
        made = api.ask("POST", "/v1/batches", content=body, headers=BINARY)
        assert made.status_code == 201, made.text
        return [document["id"] for document in made.json()["documents"]]

    def seen(who: str) -> set[str]:
        return set(arrow(api.ask("GET", "/v1/records", who))["document"])

    group, first = api.group()
    placed, stored, retired = batch(group, None, "0" * 32)
    assert seen("user") == {*first, placed, stored, retired} and seen("other") == {*first, placed}
    last = arrow(api.ask("GET", "/v1/records", "other"))["number"][-1]
    assert api.ask("POST", f"/v1/documents/{stored}/group", json={"representative": group}).status_code == 200
    later = arrow(api.ask("GET", f"/v1/records?after={last}", "other"))
    assert (later["document"], later["content"]) == ([stored], [b"rec"])
    api.ask("DELETE", f"/v1/documents/{stored}")
    gone = arrow(api.ask("GET", f"/v1/records?after={later['number'][0]}", "other"))
    assert (gone["document"], gone["status"], gone["content"]) == ([stored], ["gone"], [None])


def test_a_damaged_page_is_no_busy_database() -> None:
    found = problem_of(OperationalError("SELECT", {}, Exception("database disk image is malformed")))
    assert found is not None and found.status == 500


def test_a_token_expires_and_is_renewed_and_replaced(api: Api, sqlite: str) -> None:
    def status(token: str) -> int:
        return api.client.get("/v1/index", headers={"Authorization": f"Bearer {token}"}).status_code

    made = shoal("token", "make", "archive", "--days", "0.000000000001", "--database", sqlite)
    token = made.stdout.strip()
    account = token.split("_")[1]
    assert status(token) == 401
    assert shoal("token", "renew", account, "--days", "30", "--database", sqlite).exit_code == 0
    assert status(token) == 200
    assert "expires 2" in shoal("token", "list", "--database", sqlite).stdout
    new = shoal("token", "renew", account, "--new", "--database", sqlite).stdout.strip()
    assert new.split("_")[1] == account and [status(token), status(new)] == [401, 200]
    shoal("token", "revoke", account, "--database", sqlite)
    assert shoal("token", "renew", account, "--database", sqlite).exit_code != 0
    assert status(new) == 401


def test_an_account_keeps_no_more_bytes_than_allowed_records_included(sqlite: str) -> None:
    with Api.on(sqlite, Limits(account_bytes=100)) as api:
        api.create()
        first = api.keep(b"x" * 54)  # and 6 of its record
        full = api.put(b"x" * 35, None)
        assert full.status_code == 403 and "100 bytes" in full.json()["detail"]
        line = json.dumps({"documents": [{"bytes": 10, "record": 31}]}).encode()
        with_record = api.ask("POST", "/v1/batches", content=line + b"\n" + b"x" * 41, headers=BINARY)
        assert with_record.status_code == 403
        api.keep(b"x" * 34)
        assert api.put(b"x", None).status_code == 403
        api.ask("DELETE", f"/v1/documents/{first}")
        api.keep(b"x" * 54)


def test_answers_are_kept_for_thirty_days(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"Idempotency-Key": "5f0c"}
    first = api.put(b"x", None, headers=key)
    assert api.store is not None
    clock = time.time
    for days, is_kept in ((29, True), (31, False)):
        monkeypatch.setattr(time, "time", lambda days=days: clock() + days * 86_400)
        api.store.tidy()
        assert (api.put(b"x", None, headers=key).json() == first.json()) == is_kept


def test_metrics_have_an_address_of_their_own(sqlite: str, tmp_path: Path) -> None:
    with servers(1, sqlite, tmp_path, "--metrics", "127.0.0.1:0") as [server]:
        assert httpx.get(f"{server.url()}/metrics").status_code == 404
        (port,) = re.findall(r"metrics on port (\d+)", server.log)
        page = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    assert "shoal_representatives NaN" in page  # no index yet
    assert 'shoal_requests_total{method="GET",route="no route",status="404"} 1.0' in page


def test_a_server_warns_if_the_database_has_too_few_connections(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(postgres())
    assert database.lacks_connections() is None
    monkeypatch.setattr("shoal.index.server.database.CONNECTIONS", 1000)
    assert "1 servers may open 2000 connections" in str(database.lacks_connections())
    database.close()
