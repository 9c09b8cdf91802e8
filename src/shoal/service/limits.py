"""Limits: how large, how many, how fast, and how slowly a body may come in."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from shoal.service.problems import Problem

__all__ = ["Buffer", "Limits", "Rates", "read_body"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

JSON_AROUND = 1 << 20  # bytes around a document in base64


@dataclass(frozen=True)
class Limits:
    """What the operator allows. Rates are per account and server process."""

    document_bytes: int = 16 << 20
    documents: int = 1_000_000  # per account
    rate: float = 200.0  # requests per second
    burst: int = 1_000  # requests at once after a pause
    terms: int = 100_000  # of a document, a pool or a query
    body_seconds: float = 30.0  # for a body to come in, and more for larger ones:
    body_rate: float = 16_384.0  # bytes per second, at the least
    buffered_bytes: int = 256 << 20  # of all bodies that are coming in or wait for their turn; a quarter per account
    groups_by: str = "user"  # least role that may make groups by their sums, which nobody can check
    longest_wait: float = 7 * 86_400.0  # seconds until a document that is held back joins the nearest group

    @property
    def body_bytes(self) -> int:
        """A document as base64 in JSON."""
        return self.document_bytes * 4 // 3 + JSON_AROUND


class Rates:
    """A bucket of tokens per account, by a clock that never jumps."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock, self._lock = limits, clock, Lock()
        self._left: dict[str, tuple[float, float]] = {}  # tokens, and when they were counted

    def take(self, account: str) -> None:
        """One request; too many are refused."""
        with self._lock:
            now = self._clock()
            left, counted = self._left.get(account, (float(self._limits.burst), now))
            left = min(self._limits.burst, left + (now - counted) * self._limits.rate)
            self._left[account] = (left - 1 if left >= 1 else left), now
        if left < 1:
            raise Problem(429, f"more than {self._limits.rate:g} requests a second; wait a second, and send fewer")


class Buffer:
    """The bodies in memory, of all requests together; used by the one thread that receives them."""

    def __init__(self, limits: Limits) -> None:
        self._limit = max(limits.buffered_bytes, limits.body_bytes)
        self._limit_of_account = max(limits.buffered_bytes // 4, limits.body_bytes)
        self._held: Counter[str] = Counter()  # by account

    @contextmanager
    def share(self, account: str) -> Iterator[Callable[[int], None]]:
        """A function that takes bytes for one request, all of which are given back at the end."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            mine += size
            self._held[account] += size
            if self._held[account] > self._limit_of_account:
                raise Problem(429, f"more than {self._limit_of_account} bytes under way; send fewer documents at once")
            if self._held.total() > self._limit:
                raise Problem(503, "the server is busy with other documents; send it again in a few seconds")

        try:
            yield take
        finally:
            self._held -= Counter({account: mine})


async def read_body(
    receive: Receive, declared: str | None, limits: Limits, take: Callable[[int], None] = lambda size: None
) -> bytes:
    """The whole body. What is too large or too slow is refused as soon as that is certain.

    `take` hears of its bytes as they come.
    """
    too_large = Problem(413, f"the body is larger than {limits.body_bytes} bytes; send a smaller document")
    if declared is not None and declared.isdecimal() and int(declared) > limits.body_bytes:
        raise too_large
    parts: list[bytes] = []
    size, since, more = 0, time.monotonic(), True
    while more:
        left = since + limits.body_seconds + size / limits.body_rate - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(left, 0))
        except TimeoutError:
            raise Problem(408, "the body came in too slowly; send it faster, or in a smaller document") from None
        if message["type"] == "http.disconnect":
            raise Problem(400, "the connection was closed before the body had come in; send it again")
        parts.append(message.get("body", b""))
        take(len(parts[-1]))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > limits.body_bytes:
            raise too_large
    return b"".join(parts)
