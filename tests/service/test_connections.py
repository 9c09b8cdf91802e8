"""Sockets that send half of a header, or nothing: they are closed, and keep nobody out."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn

from shoal.service.connections import Connection

HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"


async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """200, after a while if the path says so."""
    await asyncio.sleep(1.0 if scope["path"] == "/slow" else 0.0)
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
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return connection.recv(1000)


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
        time.sleep(0.3)
        for _ in range(10):
            stack.enter_context(socket.create_connection(address)).sendall(HALF)
        asking.join()
        assert slow[0].startswith(b"HTTP/1.1 200")


def test_a_header_that_is_not_complete_in_time_is_not_waited_for_however_it_trickles_in() -> None:
    with serving(at_once=10, header_seconds=0.4) as address, socket.create_connection(address, timeout=10) as slow:
        started = time.monotonic()
        slow.sendall(HALF + b"\r\n")
        assert slow.recv(1000).startswith(b"HTTP/1.1 200")
        slow.settimeout(0.1)
        closed = False
        while not closed and time.monotonic() - started < 5:  # the second request of the connection, byte by byte
            try:
                slow.sendall(b"G" if time.monotonic() - started < 0.15 else b"E")
                closed = slow.recv(1000) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
        assert closed and time.monotonic() - started < 2
