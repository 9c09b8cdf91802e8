"""The lines of the threat table: each promise is attacked."""

from __future__ import annotations

import asyncio
import gzip
import hmac
import json
import logging
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client import generate_latest

from shoal.errors import InputError
from shoal.index.server.app import create_app
from shoal.index.server.database import _prepare_sqlite
from shoal.index.server.documents import store_documents
from shoal.index.server.gate import Limits, Rates, read_body
from shoal.index.server.monitoring import LOGGER, Metrics
from shoal.index.server.problems import Problem
from shoal.index.server.serving import Binding
from tests.index.server.api import BINARY, SEA, Api, arrow
from tests.index.server.processes import servers


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer shoal_0123_45", "Bearer shoal_é_1", "Bearer " + "x" * 5000],
)
def test_without_a_valid_token_nothing_of_the_api_answers(api: Api, authorization: str | None) -> None:
    headers = [(b"authorization", authorization.encode("latin-1"))] if authorization is not None else []
    for method, path in (("GET", "/v1/index"), ("POST", "/v1/batches"), ("GET", "/v1/nothing"), ("PUT", "/v1/index")):
        response = api.client.request(method, path, headers=headers)
        assert response.status_code == 401 and response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_is_compared_in_constant_time_whether_the_account_exists_or_not(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def spy(given: Any, right: Any) -> bool:
        compared.append((len(given), len(right)))
        return compare(given, right)

    monkeypatch.setattr("shoal.index.server.accounts.hmac.compare_digest", spy)
    right = api.tokens["user"]
    for token in (right, right[:-1] + ("0" if right[-1] != "0" else "1"), "shoal_0000000000000000_00", "nonsense"):
        api.client.get("/v1/index", headers={"Authorization": f"Bearer {token}"})
    assert compared == [(32, 32)] * 4


def test_tokens_are_kept_as_hashes(api: Api, sqlite: str) -> None:
    content = b"".join(file.read_bytes() for file in Path(sqlite).parent.glob("shoal.db*"))
    for token in api.tokens.values():
        assert token.encode() not in content and token.rpartition("_")[2].encode() not in content


def test_ids_are_random_and_say_nothing_about_each_other(api: Api) -> None:
    ids = [api.keep() for _ in range(64)]
    bits = [f"{int(document, 16):0128b}" for document in ids]
    assert len(set(ids)) == 64 and all(re.fullmatch("[0-9a-f]{32}", document) for document in ids)
    for position in range(128):  # each bit is 1 in 10 to 54 of 64: further off once in 10 million
        assert 10 <= sum(row[position] == "1" for row in bits) <= 54


def test_an_id_that_was_guessed_is_like_one_that_cannot_be_seen(api: Api) -> None:
    stored = api.keep()
    guessed = api.ask("GET", f"/v1/documents/{'0' * 32}", "other")
    hidden = api.ask("GET", f"/v1/documents/{stored}", "other")
    assert guessed.status_code == hidden.status_code == 404 and guessed.text == hidden.text


def test_no_token_vector_query_ciphertext_or_id_is_in_a_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        name, ids = api.group(SEA)
        api.join(name, content=b"a secret ciphertext")
        stored = api.keep()
        wanted = [{"documents": [stored, ids[0]], "pool": {"3": 77, "nonsense991": 88}}]
        api.ask("POST", "/v1/groups", json={"groups": wanted})
        api.ask("GET", f"/v1/documents/{ids[0]}")
        api.ask("DELETE", f"/v1/documents/{stored}")
    lines = [json.dumps(record.fields) for record in caplog.records if record.name == LOGGER.name]
    assert len(lines) == 9
    said = [
        record.getMessage() for record in caplog.records if not record.name.startswith("httpx")
    ]  # that is the test's client
    logged = "\n".join(lines + said)
    for secret in (*api.tokens.values(), *ids, stored, name, "a secret ciphertext", "991", '"77"', '"88"', "nonsense"):
        assert secret not in logged
    assert {json.loads(line)["route"] for line in lines} >= {"/v1/documents/{document}", "/v1/groups", "/v1/batches"}


def test_a_fault_of_the_server_is_logged_by_its_place_alone(
    api: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("a secret value")

    monkeypatch.setattr("shoal.index.server.routes.make_groups", broken)
    with caplog.at_level(logging.DEBUG):
        wanted = [{"documents": [api.keep(), api.keep()], "pool": {"5": 1}}]
        response = api.ask("POST", "/v1/groups", json={"groups": wanted})
    assert response.status_code == 500 and "secret" not in response.text
    fields = [record.fields for record in caplog.records if record.name == LOGGER.name]
    assert fields[-1]["fault"].startswith("KeyError in test_security.py")
    assert "secret value" not in caplog.text + str(fields)


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite, Limits(document_bytes=1000)) as api:
        api.create()
        assert api.put(b"x" * 1001, None).status_code == 413
        assert api.put(b"x" * (2 << 20), None).status_code == 413
        parts = (b"x" * 65536 for _ in range(64))  # chunked, without a length
        assert api.ask("POST", "/v1/batches", content=parts, headers=BINARY).status_code == 413
        assert arrow(api.ask("GET", "/v1/records"))["document"] == []
        api.keep(b"x" * 1000)


def test_bodies_that_nothing_would_be_done_with_are_never_read(api: Api) -> None:
    async def ask(method: str, path: str) -> int:
        statuses = []

        async def receive() -> dict[str, Any]:
            raise AssertionError("the body was read")

        async def send(message: dict[str, Any]) -> None:
            statuses.append(message.get("status"))

        headers = [(b"authorization", f"Bearer {api.tokens['reader']}".encode()), (b"content-length", b"1000")]
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers, "state": {}}
        await api.client.app(scope, receive, send)  # type: ignore[attr-defined]
        return int(statuses[0])

    assert asyncio.run(ask("GET", "/v1/index")) == 200
    assert asyncio.run(ask("DELETE", f"/v1/documents/{api.keep()}")) in (403, 404)
    assert asyncio.run(ask("DELETE", "/v1/groups")) == 405
    for path in ("/v1/batches", "/v1/groups", "/v1/nothing"):
        assert asyncio.run(ask("POST", path)) == 403


def test_a_packed_body_is_kept_as_it_is_and_never_unpacked(api: Api) -> None:
    bomb = gzip.compress(bytes(10 << 20))
    document = api.keep(bomb)
    assert api.ask("GET", f"/v1/documents/{document}").content == bomb
    packed = {"Content-Encoding": "gzip"} | BINARY
    assert api.ask("POST", "/v1/batches", content=bomb, headers=packed).status_code == 422  # no line of JSON


def test_a_request_without_a_token_is_answered_before_its_body_is_read(sqlite: str, tmp_path: Path) -> None:
    with servers(1, sqlite, tmp_path) as [server]:
        host, port = server.url().removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(b"POST /v1/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            connection.settimeout(600)  # the machine may be busy
            assert connection.recv(100).startswith(b"HTTP/1.1 401")


def test_a_body_that_comes_in_too_slowly_is_refused() -> None:
    async def drip() -> dict[str, Any]:
        await asyncio.sleep(0.03)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(Problem) as refused:
        asyncio.run(read_body(drip, "1000", Limits(body_seconds=0.2), 1000))
    assert refused.value.status == 408


@pytest.mark.parametrize(
    "path",
    [
        "/v1/documents/../accounts",
        "/v1/documents/..%2f..%2faccounts",
        "/v1/documents/%2e%2e/accounts",
        "/v1//accounts",
        "//v1/accounts",
        "/v1/accounts/",
        "/V1/accounts",
        "/v1/documents/" + "0" * 32 + "%00",
        "/v1/representatives/pages/-1",
        "/v1/representatives/pages/1e3",
        "/v1/vocabulary/..%2f..%2fetc%2fpasswd",
        "/static/../../etc/passwd",
    ],
)
def test_path_tricks_lead_nowhere(api: Api, path: str) -> None:
    response = api.ask("GET", f"http://testserver{path}", "user")
    assert response.status_code in (403, 404, 422)
    assert "accounts" not in response.json()


def test_too_many_requests_of_an_account_are_refused_and_others_are_not(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite, Limits(rate=0.001, burst=3)) as api:
        statuses = [api.ask("GET", "/v1/representatives/pages/0").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        assert api.ask("GET", "/v1/groups").headers["Retry-After"] == "1"
        assert api.ask("GET", "/v1/representatives/pages/0", "other").status_code == 200


def test_documents_that_come_in_together_do_not_exceed_what_an_account_may_have(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite) as api:
        api.create()
        assert api.store is not None
        account = api.store.account_of(api.tokens["user"])  # as each of the requests sees it before it has the lock
        assert account is not None

        def put() -> None:
            api.store.write(
                account,
                None,
                lambda writing: {"ids": store_documents(writing, [(b"x", b"y")], [None], Limits(documents=2))},
            )

        put()
        put()
        with pytest.raises(Problem, match="the most allowed"):
            put()


def test_an_account_may_ask_again_when_its_bucket_has_filled_up() -> None:
    now = [0.0]
    rates = Rates(2.0, 1, lambda: now[0])
    assert [rates.take("a"), rates.take("a")] == [True, False]
    now[0] = 0.5  # 2 a second: one more after half a second
    assert rates.left("a") and rates.take("a")


def test_failed_log_ins_are_limited_by_address(sqlite: str) -> None:
    with Api.on(sqlite, Limits(failures=3)) as api:
        wrong = {"Authorization": "Bearer shoal_0000000000000000_00"}
        statuses = [api.client.get("/v1/index", headers=wrong).status_code for _ in range(4)]
        assert statuses == [401, 401, 401, 429]
        assert api.ask("GET", "/v1/groups").status_code == 429  # nobody gets in from there


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_appended(sqlite: str) -> None:
    with Api.on(sqlite, Limits(failures=1, behind_proxy=True)) as api:
        for made_up in ("1.1.1.1", "2.2.2.2"):
            answer = api.client.get("/v1/index", headers={"X-Forwarded-For": f"{made_up}, 9.9.9.9"})
        assert answer.status_code == 429
        assert (
            api.ask("GET", "/v1/representatives/pages/0", headers={"X-Forwarded-For": "9.9.9.9, 8.8.8.8"}).status_code
            == 200
        )


def test_addresses_of_strangers_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.index.server.gate.MOST_COUNTED", 100)
    now = [0.0]
    rates = Rates(1.0, 5, lambda: now[0])
    for number in range(1000):
        now[0] += 0.1
        rates.take(str(number))
    assert len(rates._counted) <= 100


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "shoal.example.org"])
def test_an_address_beyond_this_machine_needs_tls_or_a_proxy(host: str) -> None:
    with pytest.raises(InputError, match="behind_proxy"):
        Binding(host).check()
    Binding(host, behind_proxy=True).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.10"])
def test_this_machine_needs_none(host: str) -> None:
    Binding(host).check()


def test_files_that_are_no_certificate_are_refused_before_the_server_says_that_it_serves(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_text("junk")
    key.write_text("junk")
    with pytest.raises(InputError, match="not a certificate and its key"):
        Binding(tls_certificate=certificate, tls_key=key).check()


def test_a_body_that_is_no_json_is_refused_with_a_remedy(api: Api) -> None:
    answer = api.ask("POST", "/v1/groups", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422) and "/openapi.json" in answer.json()["detail"]


def test_tls_needs_certificate_and_key(tmp_path: Path) -> None:
    certificate = tmp_path / "cert.pem"
    certificate.touch()
    with pytest.raises(InputError, match="both"):
        Binding("0.0.0.0", tls_certificate=certificate).check()
    with pytest.raises(InputError, match="does not exist"):
        Binding("0.0.0.0", tls_certificate=certificate, tls_key=tmp_path / "none").check()


def test_files_of_the_server_are_its_owners_alone(api: Api, sqlite: str) -> None:
    api.keep()
    assert api.store is not None
    api.store.database.keep_reserve()
    files = list(Path(sqlite).parent.glob("shoal.db*"))
    assert len(files) == 4  # the database, its log, its shared memory, the room kept for deletions
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_users_make_no_groups_up(sqlite: str, tmp_path: Path) -> None:
    with Api.on(sqlite, Limits()) as api:
        api.create()
        ids = [api.keep(who="joining") for _ in range(3)]
        wanted = {"groups": [{"documents": ids, "pool": {"9": 1}}]}
        refused = api.ask("POST", "/v1/groups", "joining", json=wanted)
        assert refused.status_code == 403 and "operator" in refused.json()["detail"]
        name, _ = api.group(SEA, "operator")
        assert api.join(name, "joining").status_code == 201


def test_what_was_deleted_is_overwritten_on_the_disk(sqlite: str, tmp_path: Path) -> None:
    secret = b"age-encryption.org/v1 a ciphertext like no other " * 200
    with Api.on(sqlite) as api:
        api.create()
        document = api.keep(secret)
        api.keep(b"another")
        assert any(secret[:40] in file.read_bytes() for file in tmp_path.glob("shoal.db*"))
        assert api.ask("DELETE", f"/v1/documents/{document}").status_code == 204
    assert not any(secret[:40] in file.read_bytes() for file in tmp_path.glob("shoal.db*"))


def test_sqlite_overwrites_what_is_deleted_whatever_it_does_by_default(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shoal.db")) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        _prepare_sqlite(connection, None)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_a_made_up_method_is_no_label_of_the_metrics(api: Api) -> None:
    assert api.store is not None
    metrics = Metrics(api.store)
    with TestClient(create_app(api.store, Limits(), metrics)) as client:
        client.request("BREW", "/v1/index")
    page = generate_latest(metrics._registry).decode()
    assert "BREW" not in page and 'method="other"' in page


def test_what_needs_no_token_reads_no_body(api: Api) -> None:
    response = api.client.get("/health/live", headers={"Content-Length": "99999999999"})
    assert response.status_code == 200
