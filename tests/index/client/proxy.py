"""A proxy between client and server that keeps what the client sends, and can lose answers."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on, both ways."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target).hostname, urlsplit(target).port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._sent: list[list[bytes]] = []  # by the client, for each connection
        self.answers_left: int | None = None  # to uploads, until no more are passed on; None: all
        self.counted = b" 201 "  # the status of these answers
        self.instead = b""  # what the client gets for an answer that is not passed on
        self.holds_back = False  # whether such an answer only waits, with the connection open, until the proxy ends
        self.exhausted = threading.Event()  # an answer was not passed on
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def recorded(self) -> list[bytes]:
        """All that the client sent, for each connection."""
        return [b"".join(parts) for parts in self._sent]

    @property
    def requests(self) -> list[tuple[str, bytes]]:
        """Request line and body of each."""
        found = []
        for rest in self.recorded:
            while rest:
                head, _, rest = rest.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head.lower())
                size = int(length[1]) if length else 0
                found.append((head.split(b"\r\n")[0].decode(), rest[:size]))
                rest = rest[size:]
        return found

    def end(self) -> None:
        self._over.set()
        self._listening.close()

    def _accept(self) -> None:
        while not self._over.is_set():
            with suppress(OSError):
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self._target) as server:
            back = threading.Thread(target=self._pass_back, args=(server, client), daemon=True)
            back.start()
            self._sent.append(sent := [])
            while content := client.recv(1 << 16):
                sent.append(content)
                server.sendall(content)

    def _pass_back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while content := server.recv(1 << 16):
                if self.counted in content[:20] and self.answers_left is not None:
                    self.answers_left -= 1
                    if self.answers_left < 0:
                        self.exhausted.set()
                        if self.holds_back:
                            self._over.wait()
                        client.sendall(self.instead)
                        client.shutdown(socket.SHUT_RDWR)
                        return
                client.sendall(content)


@contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.end()
