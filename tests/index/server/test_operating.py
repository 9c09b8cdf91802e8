"""What an operator meets: revoked accounts, a damaged file, a full disk, hostile bodies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from shoal.index.server.accounts import revoke
from shoal.index.server.database import Database
from shoal.index.server.gate import Limits
from shoal.index.server.operator_key import OperatorKey
from shoal.index.server.problems import problem_of
from shoal.index.server.schemas import SearchWanted
from tests.index.server.api import BINARY, LAND, Api, arrow
from tests.index.server.test_commands import shoal


def test_a_query_of_a_million_terms_is_refused_before_it_is_parsed(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchWanted, "model_validate_json", lambda _: pytest.fail("it was parsed"))
    body = b'{"terms": {' + b",".join(b'"%d": 1' % term for term in range(1_500_000)) + b"}}"
    refused = api.ask("POST", "/v1/search", "reader", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 413 and "larger than 262144 bytes" in refused.json()["detail"]


def test_the_documents_of_a_revoked_account_are_transferred_and_erased(api: Api, sqlite: str, tmp_path: Path) -> None:
    api.group(who="other")
    kept, ids = api.group(LAND, who="user")
    assert api.store is not None
    accounts = {name: api.tokens[name].split("_")[1] for name in ("user", "other")}
    command = ("--database", sqlite, "--key-file", str(tmp_path / "key"))
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
    assert api.sizes("reader") == [] and api.members(kept, "reader") == []
    assert set(arrow(api.ask("GET", "/v1/records", "reader"))["status"]) <= {"gone"}


def test_a_damaged_database_says_so_and_not_to_try_again(sqlite: str) -> None:
    database = Database(sqlite)
    database.migrate()
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
    refused = api.ask("POST", "/v1/documents?status=stored", content=b"x", headers=BINARY)
    assert refused.status_code == 507
    assert api.ask("DELETE", f"/v1/documents/{document}").status_code == 204
    assert not reserve.exists()


def test_a_server_whose_disk_is_nearly_full_is_not_ready(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.store is not None
    api.sizes()
    assert api.client.get("/health/ready").status_code == 200
    monkeypatch.setattr("shoal.index.server.database.LEAST_ROOM", 1 << 60)
    assert "nearly full" in api.client.get("/health/ready").json()["detail"]


def test_a_key_file_in_a_missing_folder_is_made_with_its_folder(tmp_path: Path) -> None:
    OperatorKey.read_or_make(tmp_path / "etc" / "shoal" / "key")
    assert (tmp_path / "etc" / "shoal").stat().st_mode & 0o777 == 0o700


def test_only_operators_make_groups_unless_the_operator_says_otherwise(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite, tmp_path / "key", Limits()) as api:
        api.create()
        assert api.ask("GET", "/v1/index").json()["mine"]["may_group"] is False
        assert api.ask("GET", "/v1/index", "operator").json()["mine"]["may_group"] is True


def test_records_are_seen_by_their_owner_and_by_all_once_their_document_is_visible(api: Api) -> None:
    def batch(*representatives: str | None) -> list[str]:
        line = {"documents": [{"bytes": 4, "record": 3, "representative": name} for name in representatives]}
        body = json.dumps(line).encode() + b"\n" + b"textrec" * len(representatives)
        made = api.ask("POST", "/v1/batches", content=body, headers=BINARY)
        assert made.status_code == 201, made.text
        return [document["id"] for document in made.json()["documents"]]

    def seen(who: str) -> set[str]:
        return set(arrow(api.ask("GET", "/v1/records", who))["document"])

    group, _ = api.group()
    placed, stored, retired = batch(group, None, "0" * 32)
    assert seen("user") == {placed, stored, retired} and seen("other") == {placed}
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
