"""The gate: every request passes it before its body is read, and leaves a line in the log.

It answers requests without a valid token, and refuses bodies that are too many, too large or too slow.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.index.server.accounts import Account
from shoal.index.server.monitoring import LOGGER, Metrics, fault_of
from shoal.index.server.problems import Problem, problem_of
from shoal.index.server.store import Store

API = "/v1"
# Requests that may wait for the writer's lock in a thread, and those that may read at once: each takes its memory.
WRITERS, READERS = 4, 4
PIECE = 64 << 10  # bytes of an answer that are sent at once
AROUND = 1 << 20  # bytes of a batch besides documents and their records
# Bytes, by the last part of the path. All other bodies hold documents, or the vocabulary of a new index.
SMALL_BODIES = {"groups": 2 << 20, "group": 4 << 10}
FAULT = "this is a fault of the server, not of your request; the operator finds it in the log"
MOST_COUNTED = 10_000  # accounts and addresses
METHODS = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


@dataclass(frozen=True)
class Limits:
    """What the operator allows. Rates are per account and server process."""

    document_bytes: int = 16 << 20
    documents: int = 1_000_000  # per account
    rate: float = 200.0  # requests per second
    burst: int = 1_000  # requests at once after a pause
    body_seconds: float = 30.0  # to receive a body, plus the time that a large one takes at body_rate
    body_rate: float = 16_384.0  # bytes per second
    buffered_bytes: int = 64 << 20  # of all bodies under way, and of all answers; a quarter per account
    account_bytes: int = 100 << 30  # of ciphertexts and records per account
    failures: int = 20  # log-ins that may fail at once from an address; one more every second
    behind_proxy: bool = False  # addresses are those that the proxy names

    @property
    def body_bytes(self) -> int:
        """A document with its record, many small ones, or a vocabulary."""
        return self.document_bytes * 4 // 3 + AROUND

    def body_bytes_of(self, path: str) -> int:
        """The largest body of a route."""
        return min(SMALL_BODIES.get(path.rpartition("/")[2], self.body_bytes), self.body_bytes)


class Gate:
    """The middleware around the application."""

    def __init__(self, app: ASGIApp, store: Store, limits: Limits, metrics: Metrics) -> None:
        self._app, self._store, self._limits, self._metrics = app, store, limits, metrics
        self._rates, self._failures = Rates(limits.rate, limits.burst), Rates(1.0, limits.failures)
        self._bodies, self._answers = Buffer(limits), Buffer(limits)
        self._writers, self._readers = asyncio.Semaphore(WRITERS), asyncio.Semaphore(READERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, self._limits)
        started = time.perf_counter()
        log: dict[str, Any] = {}
        try:
            await self._pass(scope, receive, answer, log)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                log["fault"] = fault_of(error)
            if not answer.status:
                await answer_to(problem or Problem(500, FAULT))(scope, receive, answer.send)
        seconds = time.perf_counter() - started
        route = getattr(scope.get("route"), "path", "no route")
        method = scope["method"] if scope["method"] in METHODS else "other"  # metrics keep every label for ever
        self._metrics.answered(method, route, answer.status, seconds)
        fields = {"method": method, "route": route, "status": answer.status, "ms": round(1000 * seconds, 1)}
        LOGGER.info("", extra={"fields": fields | log | scope["state"].get("log", {})})

    async def _pass(self, scope: Scope, receive: Receive, answer: _Answer, log: dict[str, Any]) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        scope.setdefault("state", {})["log"] = {}
        if not scope["path"].startswith(API):
            await self._app(scope, _replayed(b"", receive), answer.send)
            return
        address = self._address(scope, headers)
        if not self._failures.left(address):
            raise Problem(429, "too many log-ins from this address have failed; wait a minute, and check the token")
        account = await run_in_threadpool(self._account, headers.get(b"authorization", ""))
        if account is None:
            self._failures.take(address)
            raise Problem(401, "a valid token is needed: send the header Authorization: Bearer shoal_…")
        log["account"] = account.id
        if not self._rates.take(account.id):
            raise Problem(429, f"more than {self._limits.rate:g} requests per second; wait a second, and send fewer")
        has_body = scope["method"] == "POST"  # the bodies of all others are never read
        if has_body and not account.may("user"):
            raise Problem(
                403, f"your role is {account.role}, which may only read and search; ask an operator for another"
            )
        turns = self._writers if scope["method"] in ("POST", "DELETE") else self._readers
        with self._bodies.share(account.id) as take, self._answers.share(account.id) as take_answer:
            body = bytearray()
            if has_body:
                most = self._limits.body_bytes_of(scope["path"])
                body = await read_body(receive, headers.get(b"content-length"), self._limits, most, take)
            scope["state"] |= {"account": account, "body": body}
            await turns.acquire()
            with ExitStack() as turn:  # until the answer is ready: whoever reads it slowly keeps nobody waiting
                turn.callback(turns.release)
                answer.on_ready = partial(_begin_answer, turn, take_answer)
                try:
                    await self._app(scope, _replayed(b"", receive), answer.send)  # routes take the body from the state
                finally:
                    scope["state"]["body"] = b""  # others may hold the scope for longer

    def _account(self, authorization: str) -> Account | None:
        kind, _, token = authorization.partition(" ")
        return self._store.account_of(token.strip()) if kind.lower() == "bearer" and token.isascii() else None

    def _address(self, scope: Scope, headers: dict[bytes, str]) -> str:
        """The caller's address. A proxy appends the one that it sees; those before it anybody may have written."""
        if self._limits.behind_proxy:
            return headers.get(b"x-forwarded-for", "").rpartition(",")[2].strip()
        client = scope.get("client")
        return str(client[0]) if client else ""


class Rates:
    """A bucket per account or address that fills at a rate, up to a burst, by a clock that never jumps."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._counted: dict[str, tuple[float, float]] = {}  # what is left, and when it was counted

    def left(self, name: str) -> bool:
        """Whether there is anything left to take."""
        return self._filled(name) >= 1

    def take(self, name: str) -> bool:
        """Take one; False if there is none left."""
        left = self._filled(name)
        if len(self._counted) >= MOST_COUNTED:  # strangers' addresses must not fill the memory
            self._counted = {each: count for each, count in self._counted.items() if self._filled(each) < self._burst}
        self._counted[name] = left - (left >= 1), self._clock()
        return left >= 1

    def _filled(self, name: str) -> float:
        left, counted = self._counted.get(name, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - counted) * self._rate)


class Buffer:
    """Bodies or answers in memory; used by the one thread that receives and sends them."""

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
                raise Problem(429, f"more than {self._limit_of_account} bytes under way; send less at once")
            if self._held.total() > self._limit:
                raise Problem(503, "the server is busy with other requests; send it again in a few seconds")

        try:
            yield take
        finally:
            self._held -= Counter({account: mine})


async def read_body(
    receive: Receive, declared: str | None, limits: Limits, most: int, take: Callable[[int], None] = lambda size: None
) -> bytearray:
    """The whole body; one that is too large or too slow is refused as soon as that is certain.

    `take` is called with the number of bytes as they come in.
    """
    too_large = Problem(413, f"the body is larger than {most} bytes; send less at once")
    if declared is not None and declared.isdecimal() and int(declared) > most:
        raise too_large
    body = bytearray()  # parts that are joined at the end would be in memory twice
    since, more = time.monotonic(), True
    while more:
        left = since + limits.body_seconds + len(body) / limits.body_rate - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(left, 0))
        except TimeoutError:
            raise Problem(408, "the body came in too slowly; send it faster, or in a smaller document") from None
        if message["type"] == "http.disconnect":
            raise Problem(400, "the connection was closed before the body had come in; send it again")
        part = message.get("body", b"")
        take(len(part))
        body += part
        more = message.get("more_body", False)
        if len(body) > most:
            raise too_large
    return body


def answer_to(problem: Problem) -> JSONResponse:
    """One line of JSON, and the headers that the status asks for."""
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}, 503: {"Retry-After": "2"}}
    return JSONResponse({"detail": str(problem)}, problem.status, headers.get(problem.status))


def _begin_answer(turn: ExitStack, take: Callable[[int], None], size: int) -> None:
    turn.close()
    take(size)


class _Answer:
    """Sends an answer in pieces, to callers who take it fast enough, and notes its status.

    Nothing is sent before the answer has its place in memory. Caches must not keep it unless it says so.
    """

    def __init__(self, send: Send, limits: Limits) -> None:
        self._send, self._limits = send, limits
        self._start: Message | None = None
        self.status = 0
        self.on_ready: Callable[[int], object] = lambda size: None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in present)]
            self._start = message
            return
        body = memoryview(message.get("body", b""))
        if self._start is not None:
            start, self._start = self._start, None
            try:
                self.on_ready(len(body))
            except Problem as problem:  # raised, it would keep the whole answer in memory with its traceback
                refused = answer_to(problem)
                start = {**start, "status": refused.status_code, "headers": refused.raw_headers}
                message, body = {"type": message["type"]}, memoryview(refused.body)
            self.status = start["status"]
            await self._send(start)
        since = time.monotonic()
        for first in range(0, max(len(body), 1), PIECE):
            left = since + self._limits.body_seconds + first / self._limits.body_rate - time.monotonic()
            more = message.get("more_body", False) or first + PIECE < len(body)
            piece = {"type": message["type"], "body": bytes(body[first : first + PIECE]), "more_body": more}
            await asyncio.wait_for(self._send(piece), max(left, 0))


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
