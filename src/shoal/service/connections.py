"""Connections: one that sends no request keeps nobody out.

uvicorn waits for ever for the rest of a header, and counts those that wait among the connections it allows.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection"]

HEADER_SECONDS = 10.0


class Connection(H11Protocol):
    """Closed if a header is not complete in time, or if it is idle the longest and there is no room for another."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None
    _idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, and wait for a header."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._deadline = self.loop.call_later(self.header_seconds, self._close)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            idle = [other for other in self.connections if isinstance(other, Connection) and other.is_idle]
            oldest = min(idle, key=lambda other: other._idle_since)  # this one is idle too
            self.connections.discard(oldest)
            oldest._close()

    def data_received(self, data: bytes) -> None:
        """A header has as long from its first byte to its last, however many come in between."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._no_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._close)

    def on_response_complete(self) -> None:
        """Idle again."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._no_deadline()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Is no request being answered?"""
        cycle: Any = self.cycle
        return cycle is None or bool(cycle.response_complete)

    def _close(self) -> None:
        self._deadline = None
        self.transport.abort()

    def _no_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
