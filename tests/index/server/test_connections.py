"""Sockets that send half of a header, or nothing: they are closed, and keep nobody out."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import uvicorn

from shoal.index.server.serving import Connection

PATIENCE = 60.0  # seconds; the machine may be busy
HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"


asked, may_answer = threading.Event(), threading.Event()  # of the slow path


async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """200, on the slow path when it may."""
    if scope["path"] == "/slow":
        asked.set()
        while not may_answer.is_set():
            await asyncio.sleep(0.01)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def serving(at_once: int, header_seconds: float) -> Iterator[tuple[str, int]]:
    """A server with room for few connections."""
    protocol = type("Impatient", (Connection,), {"header_seconds": header_seconds})
    config = uvicorn.Config(
        answer, http=protocol, ws="none", lifespan="off", limit_concurrency=at_once, log_config=None
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def ask(address: tuple[str, int], path: str = "/") -> bytes:
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return connection.recv(1000)


def ended(connection: socket.socket) -> bool:
    """Whether the other end closed the connection, without sending anything."""
    with suppress(ConnectionError):
        return connection.recv(1000) == b""
    return True


def test_many_half_sent_headers_keep_nobody_out() -> None:
    with serving(at_once=10, header_seconds=60) as address, ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(socket.create_connection(address)).sendall(HALF)
        assert ask(address).startswith(b"HTTP/1.1 200")


def test_a_request_that_is_being_answered_is_not_closed_for_others() -> None:
    with serving(at_once=4, header_seconds=60) as address, ExitStack() as stack:
        slow: list[bytes] = []
        asking = threading.Thread(target=lambda: slow.append(ask(address, "/slow")))
        asking.start()
        assert asked.wait(PATIENCE)
        waiting = [stack.enter_context(socket.create_connection(address, PATIENCE)) for _ in range(10)]
        for connection in waiting:
            with suppress(ConnectionError):  # closed already
                connection.sendall(HALF)
        assert ended(waiting[0])  # there is no room, and of those that wait the oldest goes
        may_answer.set()
        asking.join()
        assert slow[0].startswith(b"HTTP/1.1 200")


def test_a_header_that_is_not_complete_in_time_is_not_waited_for_however_it_trickles_in() -> None:
    with serving(at_once=10, header_seconds=0.4) as address, socket.create_connection(address, PATIENCE) as slow:
        slow.sendall(HALF + b"\r\n")
        answer = slow.recv(1000)
        while not answer.endswith(b"ok"):
            answer += slow.recv(1000)
        slow.settimeout(0.1)
        for byte in b"GET /" + b"x" * 300:  # the second request of the connection: 30 seconds, byte by byte
            with suppress(TimeoutError, ConnectionError):
                slow.sendall(bytes([byte]))
            with suppress(TimeoutError):
                assert ended(slow)
                return
    raise AssertionError("it waits for each byte anew")
