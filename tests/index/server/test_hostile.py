"""Fifty hostile requests at once: each is answered, /health/live answers meanwhile, and memory stays bounded."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from shoal.index.server.accounts import make_account
from shoal.index.server.database import Database
from tests.index.server.api import BINARY, Api
from tests.index.server.processes import servers

AT_ONCE = 50
MOST = 800 << 20  # bytes of memory
LARGE = 15 << 20  # bytes of a document


def test_fifty_hostile_requests_at_once_leave_the_server_alive_and_small(
    sqlite: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    database = Database(sqlite)
    database.create_tables()
    with database.writing() as connection:
        tokens = [make_account(connection, f"user {number}", "user")[1] for number in range(5)]
        _, operator = make_account(connection, "operator", "operator")
    database.close()
    terms = ",".join(f'"{term}":1' for term in range(95_000))
    sums = f'{{"groups":[{",".join(f"""{{"documents":[],"pool":{{{terms}}}}}""" for _ in range(2))}]}}'.encode()
    bodies = [
        ("/v1/groups", sums),  # just below the limit, and not valid
        ("/v1/groups", b'{"groups":' + b"[" * 2_000_000),
        ("/v1/batches", b'{"documents":[' + b'{"bytes":1},' * 1_500_000),  # no end of the line
        ("/v1/batches", json.dumps({"documents": [{"bytes": LARGE}]}).encode() + b"\n" + bytes(LARGE)),
        ("/v1/index", b'{"k":2,"vocabulary":{"terms":["' + b'a","' * 4_000_000 + b'"]}}'),
    ]
    with servers(1, sqlite, tmp_path) as [server], httpx.Client(base_url=server.url(), timeout=600) as client:
        api = Api(client, {"operator": operator, "user": tokens[0]})
        api.create()
        large = api.keep(bytes(LARGE))
        slow = [_asked_and_not_read(server.url(), tokens[0], f"/v1/documents/{large}") for _ in range(AT_ONCE)]
        with ThreadPoolExecutor(AT_ONCE) as attackers:

            def attack(number: int) -> int:
                path, body = bodies[number % len(bodies)]
                headers = BINARY | {"Authorization": f"Bearer {tokens[number // len(bodies) % len(tokens)]}"}
                return client.post(path, content=body, headers=headers).status_code

            attacks = [attackers.submit(attack, number) for number in range(AT_ONCE)]
            alive = []
            while not all(attack.done() for attack in attacks):
                start = time.perf_counter()
                assert client.get("/health/live").status_code == 200
                alive.append(time.perf_counter() - start)
            statuses = {attack.result() for attack in attacks}
        for connection_of_slow in slow:
            connection_of_slow.close()
        status = Path(f"/proc/{server.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10  # type: ignore[index]
        for name, value in {"peak MB": peak / 1e6, "slowest /health/live, ms": 1e3 * max(alive, default=0)}.items():
            record_property(name, round(value))
        assert api.ask("GET", "/health/ready").status_code == 200
    assert statuses <= {201, 403, 408, 413, 422, 429, 503}, statuses
    assert alive
    assert peak < MOST


def _asked_and_not_read(url: str, token: str, path: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    return connection
