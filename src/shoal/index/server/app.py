"""The application: routes, the gate around them, and the task that places overdue documents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

import shoal
from shoal.index.server.accounts import Account
from shoal.index.server.documents import place_overdue
from shoal.index.server.gate import Gate, Limits, answer_to
from shoal.index.server.monitoring import LOGGER, Metrics, fault_of
from shoal.index.server.problems import Problem
from shoal.index.server.routes.dependencies import SCHEMAS
from shoal.index.server.routes.documents import DOCUMENTS
from shoal.index.server.routes.index import GROUPS, INDEX, REPRESENTATIVES, SEARCH
from shoal.index.server.routes.operator import ACCOUNTS, HEALTH
from shoal.index.server.routes.records import RECORDS
from shoal.index.server.schemas import AccountWanted, GroupsWanted, IndexWanted, Joining, SearchWanted, ThinDocument
from shoal.index.server.store import Answer, Store

EVERY = 60.0  # seconds between two looks for overdue documents
BODIES = (AccountWanted, GroupsWanted, IndexWanted, Joining, SearchWanted, ThinDocument)
SERVER = Account(id="server", name="server", role="operator", active=True, documents=0)
ABOUT = """
Documents that only their users can read, in a vector space in which every document hides in a crowd of at least k.

The server keeps ciphertexts. With the usual client it sees neither vectors nor queries; the two calls in which it does
say so: `POST /v1/documents/thin` and `POST /v1/search`. Errors are one line: `{"detail": "…"}`. Every POST and DELETE
may carry an `Idempotency-Key`: the same request with the same key is carried out once, and answered again.
"""


def create_app(store: Store, limits: Limits) -> FastAPI:
    """The server's application on a migrated database."""
    metrics = Metrics()

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        placing = asyncio.create_task(_place_overdue_regularly(store, limits))
        yield
        placing.cancel()

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
    for router in (HEALTH, INDEX, REPRESENTATIVES, GROUPS, DOCUMENTS, RECORDS, SEARCH, ACCOUNTS):
        app.include_router(router)
    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Gate, store=store, limits=limits, metrics=metrics)
    return app


def _described(app: FastAPI, described: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The description of the interface, with the bodies that routes parse themselves."""
    schema = described()
    bodies = [(model, "validation") for model in BODIES]
    schemas = models_json_schema(bodies, ref_template=SCHEMAS + "{model}")[1]["$defs"]  # type: ignore[arg-type]
    schema["components"]["schemas"] |= schemas
    return schema


async def _place_overdue_regularly(store: Store, limits: Limits) -> None:
    """Load the index, and from time to time place documents that have waited too long."""
    while True:
        try:
            await run_in_threadpool(_place_overdue, store, limits)
        except Exception as error:  # the database does not answer: the next round may reach it
            LOGGER.warning("", extra={"fields": {"message": "overdue documents not placed", "fault": fault_of(error)}})
        await asyncio.sleep(EVERY)


def _place_overdue(store: Store, limits: Limits) -> None:
    store.database.keep_reserve()
    try:
        with store.read() as read:
            if not read.index.waiting:
                return
    except Problem:  # no index yet
        return
    since = time.time() - limits.longest_wait
    store.write(SERVER, None, lambda write: Answer(200, {"placed": place_overdue(write, since)}))


def _not_valid(_: Request, error: Any) -> JSONResponse:
    """Where a request is not valid and why, without the value: it may be a vector."""
    first = error.errors()[0]
    known = first["loc"][:1] if first["type"] == "extra_forbidden" else first["loc"][:2]
    location = ".".join(part for part in known if isinstance(part, str))
    return answer_to(Problem(422, f"{location}: {first['msg']}; see /openapi.json"))


def _refused(request: Request, error: Any) -> JSONResponse:
    if error.status_code == 400:  # the framework's own message names no remedy
        return answer_to(Problem(400, "the body is not JSON in UTF-8; see /openapi.json for an example"))
    if error.status_code != 405:
        return answer_to(Problem(error.status_code, str(error.detail)))
    documented = request.app.openapi()["paths"].get(request.scope["route"].path, {})
    allowed = ", ".join(sorted(map(str.upper, documented)))
    answer = answer_to(Problem(405, f"{request.method} is not supported here; use {allowed}"))
    answer.headers["Allow"] = allowed
    return answer
