"""Serving: from an address, a database and a key file to a server that runs until it is told to stop."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from shoal.errors import InputError
from shoal.service.app import create_app
from shoal.service.connections import Connection
from shoal.service.limits import Limits
from shoal.service.logs import log_as_json
from shoal.service.storage.database import Database
from shoal.service.storage.sealing import OperatorKey
from shoal.service.storage.store import Store

__all__ = ["Binding", "open_store", "serve"]

KEEP_ALIVE = 30  # seconds
SHUTDOWN = 20  # seconds for requests that are being answered
BACKLOG = 1_024
AT_ONCE = 500  # connections; for another, the one that is idle the longest is closed


@dataclass(frozen=True)
class Binding:
    """Where the server listens. Beyond this machine it needs TLS, or the word that a proxy provides it."""

    host: str = "127.0.0.1"
    port: int = 8750
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False

    def check(self) -> None:
        """Refuse to send tokens in the clear."""
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InputError("TLS needs both a certificate and its key; give --tls-cert and --tls-key")
        for file in (self.tls_certificate, self.tls_key):
            if file is not None and not file.is_file():
                raise InputError(f"{file} is not there; give a file in PEM format")
        if self.tls_certificate is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.tls_certificate, self.tls_key)
            except (OSError, ValueError):
                raise InputError(
                    f"{self.tls_certificate} and {self.tls_key} are no certificate and its key in PEM format, or do "
                    "not belong together; give both as your authority made them"
                ) from None
        if not (_is_this_machine(self.host) or self.tls_certificate or self.behind_proxy):
            raise InputError(
                f"{self.host} can be reached from other machines, and tokens would pass in the clear; give --tls-cert "
                "and --tls-key, or --behind-proxy if a proxy in front of it speaks TLS"
            )


def open_store(database: Database, key_file: Path | None) -> Store:
    """The store of a migrated database. An SQLite file has its key file beside it unless another is named."""
    if key_file is None and database.file is None:
        raise InputError("PostgreSQL has no folder for the server's key; name a key file with --key-file")
    store = Store(database, OperatorKey.read_or_make(key_file or Path(f"{database.file}.key")))
    store.check_key()
    return store


def serve(store: Store, binding: Binding, limits: Limits, announce: Callable[[str], object]) -> None:
    """Answer requests until SIGTERM or Ctrl-C. The address is announced as soon as it takes connections."""
    binding.check()
    listening = _listening(binding)
    log_as_json()
    config = uvicorn.Config(
        create_app(store, limits),
        http=Connection,
        ws="none",
        ssl_certfile=binding.tls_certificate,
        ssl_keyfile=binding.tls_key,
        access_log=False,  # it would log the ids of documents
        log_config=None,
        server_header=False,
        proxy_headers=False,  # nobody's address is looked at
        limit_concurrency=AT_ONCE,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=SHUTDOWN,
    )
    scheme, port = "https" if binding.tls_certificate else "http", listening.getsockname()[1]
    announce(f"serving on {scheme}://{_in_url(binding.host)}:{port}")
    uvicorn.Server(config).run(sockets=[listening])


def _listening(binding: Binding) -> socket.socket:
    family = socket.AF_INET6 if ":" in binding.host else socket.AF_INET
    # asyncio sends small answers at once only if the socket says that it is TCP.
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


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
