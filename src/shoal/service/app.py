"""The application: routes, the gate around them, and what runs beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

import shoal
from shoal.service.accounts import Account
from shoal.service.documents import admit_overdue
from shoal.service.gate import Gate, answer_to
from shoal.service.limits import Limits
from shoal.service.logs import LOGGER, fault_of
from shoal.service.metrics import Metrics
from shoal.service.problems import Problem
from shoal.service.routes import accounts, documents, groups, health, index, representatives, search
from shoal.service.storage.idempotency import Answer
from shoal.service.storage.store import Store

__all__ = ["create_app"]

EVERY = 60.0  # seconds between two looks at what has waited too long
SERVER = Account(id="server", name="server", role="operator", active=True, documents=0)
ABOUT = """
Documents that only their users can read, in a vector space in which every document hides in a crowd of at least k.

The server keeps ciphertexts. With the usual client it sees neither vectors nor queries; the two calls in which it does
say so: `POST /v1/documents/thin` and `POST /v1/search`. Errors are one line: `{"detail": "…"}`. Every POST and DELETE
may carry an `Idempotency-Key`: the same request with the same key is done once, and answered again.
"""


def create_app(store: Store, limits: Limits) -> FastAPI:
    """The server's application on a database that was migrated."""
    metrics = Metrics()

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        tending = asyncio.create_task(_tend(store, limits))
        yield
        tending.cancel()

    app = FastAPI(
        title="Shoal",
        version=shoal.__version__,
        description=ABOUT,
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=running,
    )
    app.state.store, app.state.limits, app.state.metrics = store, limits, metrics
    for routes in (health, index, representatives, groups, documents, search, accounts):
        app.include_router(routes.router)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Gate, store=store, limits=limits, metrics=metrics)
    return app


async def _tend(store: Store, limits: Limits) -> None:
    """Load the index, and from time to time end the wait of documents."""
    while True:
        try:
            await run_in_threadpool(_end_waits, store, limits)
        except Exception as error:  # the database is away: the next round may find it
            LOGGER.warning("", extra={"fields": {"message": "waits not looked at", "fault": fault_of(error)}})
        await asyncio.sleep(EVERY)


def _end_waits(store: Store, limits: Limits) -> None:
    try:
        with store.read() as reading:
            if not reading.index.waiting:
                return
    except Problem:  # no index yet
        return
    since = time.time() - limits.longest_wait
    store.write(SERVER, None, lambda writing: Answer(200, {"admitted": admit_overdue(writing, since)}))


def _not_valid(_: Request, error: Any) -> JSONResponse:
    """Where and why, never what: the value may be a vector."""
    first = error.errors()[0]
    known = first["loc"][:1] if first["type"] == "extra_forbidden" else first["loc"][:2]
    place = ".".join(part for part in known if isinstance(part, str))
    return answer_to(Problem(422, f"{place}: {first['msg']}; see /openapi.json"))


def _refused(request: Request, error: Any) -> JSONResponse:
    if error.status_code == 400:  # the framework's own words name no remedy
        return answer_to(Problem(400, "the body is no JSON in UTF-8; see /openapi.json for an example"))
    if error.status_code != 405:
        return answer_to(Problem(error.status_code, str(error.detail)))
    documented = request.app.openapi()["paths"].get(request.scope["route"].path, {})
    allowed = ", ".join(sorted(map(str.upper, documented)))
    answer = answer_to(Problem(405, f"{request.method} is not supported here; use {allowed}"))
    answer.headers["Allow"] = allowed
    return answer
