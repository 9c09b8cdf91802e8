"""The gate: every request passes it, before anything of its body is read, and leaves a line in the log.

Who is asking, do they ask too often, is the body too large or too slow: what is wrong is answered here.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.service.accounts import Account
from shoal.service.limits import Buffer, Limits, Rates, read_body
from shoal.service.logs import LOGGER, fault_of
from shoal.service.metrics import Metrics
from shoal.service.problems import Problem, problem_of
from shoal.service.storage.store import Store

__all__ = ["Gate", "answer_to"]

API = "/v1"
SEARCH = f"{API}/search"
# Requests that may wait for the writer's lock in a thread. There are 40 threads: the others are for who only reads.
WRITERS = 20
FAULT = "this is a fault of the server, not of your request; the operator finds it in the log"
METHODS = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Gate:
    """Around the application."""

    def __init__(self, app: ASGIApp, store: Store, limits: Limits, metrics: Metrics) -> None:
        self._app, self._store, self._limits, self._metrics = app, store, limits, metrics
        self._rates, self._buffer = Rates(limits), Buffer(limits)
        self._writers = asyncio.Semaphore(WRITERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _Answer(send)
        started = time.perf_counter()
        log: dict[str, Any] = {}
        try:
            await self._pass(scope, receive, seen, log)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                log["fault"] = fault_of(error)
            if not seen.status:
                await answer_to(problem or Problem(500, FAULT))(scope, receive, seen.send)
        seconds = time.perf_counter() - started
        route = getattr(scope.get("route"), "path", "no route")
        method = scope["method"] if scope["method"] in METHODS else "other"  # a made-up one would be a label for ever
        self._metrics.answered(method, route, seen.status, seconds)
        fields = {"method": method, "route": route, "status": seen.status, "ms": round(1000 * seconds, 1)}
        LOGGER.info("", extra={"fields": fields | log | scope["state"].get("log", {})})

    async def _pass(self, scope: Scope, receive: Receive, seen: _Answer, log: dict[str, Any]) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        scope.setdefault("state", {})["log"] = {}
        if not scope["path"].startswith(API):
            await self._app(scope, _replayed(b"", receive), seen.send)
            return
        account = await run_in_threadpool(self._who, headers.get(b"authorization", ""))
        log["account"] = account.id
        self._rates.take(account.id)
        posts = scope["method"] == "POST"  # the bodies of all others are never read
        if posts and scope["path"] != SEARCH and not account.may("user"):
            raise Problem(
                403, f"your role is {account.role}, which may only read and search; ask an operator for another"
            )
        with self._buffer.share(account.id) as take:
            body = await read_body(receive, headers.get(b"content-length"), self._limits, take) if posts else b""
            scope["state"] |= {"account": account, "body": body}
            async with self._writers if _writes(scope) else nullcontext():
                await self._app(scope, _replayed(body, receive), seen.send)

    def _who(self, authorization: str) -> Account:
        kind, _, token = authorization.partition(" ")
        account = self._store.who(token.strip()) if kind.lower() == "bearer" and token.isascii() else None
        if account is None:
            raise Problem(401, "a valid token is needed: send the header Authorization: Bearer shoal_…")
        return account


class _Answer:
    """Which status went out. Answers are not to be kept by caches unless they say so."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in there)]
        await self._send(message)


def answer_to(problem: Problem) -> JSONResponse:
    """One line of JSON, and what the status asks for."""
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}, 503: {"Retry-After": "2"}}
    return JSONResponse({"detail": str(problem)}, problem.status, headers.get(problem.status))


def _writes(scope: Scope) -> bool:
    return scope["method"] in ("POST", "DELETE") and scope["path"] != SEARCH


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
