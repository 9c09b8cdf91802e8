"""Serving: from an address and a database to a server that runs until it is stopped.

uvicorn waits for ever for the rest of a header, and counts connections that wait among those it allows. Here a
connection that sends no request keeps nobody out.
"""

from __future__ import annotations

import asyncio
import ctypes
import ipaddress
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from shoal.errors import InputError
from shoal.index.server.app import create_app
from shoal.index.server.gate import Limits
from shoal.index.server.monitoring import Metrics, log_as_json
from shoal.index.server.store import Store

HEADER_SECONDS = 10.0
KEEP_ALIVE = 30  # seconds
SHUTDOWN = 20  # seconds for requests that are being answered
BACKLOG = 1_024
M_MMAP_THRESHOLD, LARGE_BLOCK = -3, 1 << 17  # of malloc.h; bytes
MAX_CONNECTIONS = 500  # for another, the one that is idle the longest is closed


class Connection(H11Protocol):
    """A connection that is closed if a header is late, or if it is idle the longest and another needs its place."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None
    _idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for this connection, and wait for a header."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._deadline = self.loop.call_later(self.header_seconds, self._close)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            idle = [other for other in self.connections if isinstance(other, Connection) and other.is_idle]
            oldest = min(idle, key=lambda other: other._idle_since)  # this one is idle too
            self.connections.discard(oldest)
            oldest._close()

    def data_received(self, data: bytes) -> None:
        """Give a header its time from the first byte to the last, however slowly they come."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._drop_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._close)

    def on_response_complete(self) -> None:
        """Note since when the connection is idle."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the deadline."""
        self._drop_deadline()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)

    def _close(self) -> None:
        self._deadline = None
        self.transport.abort()

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


@dataclass(frozen=True)
class Binding:
    """Where the server listens. Beyond this machine it needs TLS, its own or that of a proxy."""

    host: str = "127.0.0.1"
    port: int = 8750
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    metrics: str | None = None  # host:port

    def check(self) -> None:
        """Refuse addresses where tokens would be sent unencrypted."""
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InputError(
                "TLS needs both a certificate and its key; give {option} and {option}", ("tls_cert", "tls_key")
            )
        for file in (self.tls_certificate, self.tls_key):
            if file is not None and not file.is_file():
                raise InputError(f"{file} does not exist; give a file in PEM format")
        if self.tls_certificate is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.tls_certificate, self.tls_key)
            except (OSError, ValueError):
                raise InputError(
                    f"{self.tls_certificate} and {self.tls_key} are not a certificate and its key in PEM format, or "
                    "do not belong together; give both as your authority made them"
                ) from None
        if not (_is_loopback(self.host) or self.tls_certificate or self.behind_proxy):
            raise InputError(
                f"{self.host} can be reached from other machines, and tokens would be sent unencrypted; give "
                "{option} and {option}, or {option} if a proxy in front of it speaks TLS",
                ("tls_cert", "tls_key", "behind_proxy"),
            )


def serve(store: Store, binding: Binding, limits: Limits, announce: Callable[[str], object]) -> None:
    """Answer requests until SIGTERM or Ctrl-C. The address is announced as soon as it takes connections."""
    binding.check()
    _return_large_blocks()
    listening = _listening(binding)
    metrics = Metrics(store)
    metrics_port = metrics.serve(binding.metrics) if binding.metrics else 0
    log_as_json()
    config = uvicorn.Config(
        create_app(store, limits, metrics),
        http=Connection,
        ws="none",
        ssl_certfile=binding.tls_certificate,
        ssl_keyfile=binding.tls_key,
        access_log=False,  # it would log the ids of documents
        log_config=None,
        server_header=False,
        proxy_headers=False,  # the gate reads the one address that a proxy vouches for
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=SHUTDOWN,
    )
    scheme, port = "https" if binding.tls_certificate else "http", listening.getsockname()[1]
    if metrics_port:
        announce(f"metrics on port {metrics_port}")
    announce(f"serving on {scheme}://{_in_url(binding.host)}:{port}")
    uvicorn.Server(config).run(sockets=[listening])


def _return_large_blocks() -> None:
    """Have glibc give large blocks back as they are freed: it would learn to keep bodies, and fragment around them."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def _listening(binding: Binding) -> socket.socket:
    family = socket.AF_INET6 if ":" in binding.host else socket.AF_INET
    # asyncio sends small answers at once only on a socket that is declared TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((binding.host, binding.port))
        listening.listen(BACKLOG)
        return listening
    except (OSError, OverflowError) as problem:
        why = getattr(problem, "strerror", None) or "there is no such port"
        raise InputError(f"{binding.host}:{binding.port} cannot be used: {why}; choose another address") from None


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
