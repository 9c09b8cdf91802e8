"""The application: routes, the gate around them, and the task that tidies up."""

from __future__ import annotations

import asyncio
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
from shoal.index.server.callers import PROBLEMS, SCHEMAS
from shoal.index.server.gate import Gate, Limits, answer_to
from shoal.index.server.monitoring import LOGGER, Metrics, fault_of
from shoal.index.server.problems import Problem
from shoal.index.server.routes import ROUTES
from shoal.index.server.schemas import GroupsWanted, IndexWanted, Joining
from shoal.index.server.store import Store

EVERY = 60.0  # seconds
BODIES = (GroupsWanted, IndexWanted, Joining)
ABOUT = """
Documents that only their users can read, in a vector space in which every document hides in a crowd of at least k.

The server keeps ciphertexts and the published sums of groups; it sees no document's vector and no query. Errors are one
line: `{"detail": "…"}`. Every POST and DELETE may carry an `Idempotency-Key`: the same request with the same key is
carried out once, and answered again, for 30 days.
"""


def create_app(store: Store, limits: Limits, metrics: Metrics | None = None) -> FastAPI:
    """The server's application on a migrated database."""

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy_regularly(store))
        yield
        tidying.cancel()

    app = FastAPI(
        title="Shoal",
        version=shoal.__version__,
        description=ABOUT,
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=running,
    )
    app.state.store, app.state.limits = store, limits
    app.include_router(ROUTES, responses=PROBLEMS)
    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Gate, store=store, limits=limits, metrics=metrics or Metrics(store))
    return app


def _described(app: FastAPI, described: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The description of the interface, with the bodies that routes parse themselves."""
    schema = described()
    bodies = [(model, "validation") for model in BODIES]
    schemas = models_json_schema(bodies, ref_template=SCHEMAS + "{model}")[1]["$defs"]  # type: ignore[arg-type]
    schema["components"]["schemas"] |= schemas
    return schema


async def _tidy_regularly(store: Store) -> None:
    """Load pools, and from time to time forget old answers."""
    while True:
        try:
            await run_in_threadpool(store.tidy)
        except Exception as error:  # the database does not answer: the next round may reach it
            LOGGER.warning("", extra={"fields": {"message": "not tidied up", "fault": fault_of(error)}})
        await asyncio.sleep(EVERY)


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
