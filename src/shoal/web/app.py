"""The application: pages, the gate around them, and the jobs beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from shoal.errors import ShoalError
from shoal.web.desk.desk import Desks
from shoal.web.gate import Gate
from shoal.web.index_session import IndexSession
from shoal.web.jobs import Jobs
from shoal.web.protecting.look import PreviewCache
from shoal.web.rendering import page
from shoal.web.routes import (
    assess,
    desk,
    index,
    jobs,
    plan,
    protect,
    review,
    sample,
    start,
    verify,
)
from shoal.web.wording import for_people, message_of
from shoal.web.worker_process import WorkerProcess
from shoal.web.workspace import Workspace

# The addresses of the last one begin with any name.
ROUTES = (start, jobs, sample, plan, verify, assess, review, desk, index, protect)
STATIC = Path(__file__).parent / "static"
HEAD_START = 1.0  # seconds for the browser to show the start page before the process beside it takes a core


def create_app(workspace: Workspace, token: str, port: int) -> FastAPI:
    """The workbench on a private folder."""

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        app.state.workspace, app.state.jobs, app.state.worker = workspace, Jobs(workspace), WorkerProcess()
        app.state.previews, app.state.index = PreviewCache(app.state.worker), IndexSession(workspace)
        app.state.desks = Desks()
        asyncio.get_running_loop().call_later(HEAD_START, app.state.worker.begin)
        yield
        app.state.worker.stop()
        await app.state.index.disconnect()
        await app.state.jobs.stop()

    app = FastAPI(openapi_url=None, lifespan=running)
    app.mount("/static", StaticFiles(directory=STATIC))
    for routes in ROUTES:
        app.include_router(routes.router)
    app.add_exception_handler(ShoalError, _mistake)
    app.add_exception_handler(LookupError, _not_there)
    app.add_exception_handler(HTTPException, _not_there)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Gate, token=token, port=port)
    return app


def _mistake(request: Request, error: Any) -> Response:
    """What a person gave cannot be used: the one line that says why and what to do."""
    return _problem(request, 422, "This cannot be done", for_people(message_of(error)))


def _not_there(request: Request, error: Any) -> Response:
    status = getattr(error, "status_code", 404)
    if status == 404:
        return _problem(request, 404, "There is nothing here", "It was closed, or the address is wrong.")
    return _problem(request, status, "This cannot be done", "The workbench has no such action.")


def _fault(request: Request, error: Any) -> Response:
    """A traceback may quote the data."""
    line = f"{type(error).__name__}: this is a fault in Shoal, not in what you gave it; please report it."
    return _problem(request, 500, "Something went wrong", line)


def _problem(request: Request, status: int, title: str, detail: str) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return page(request, "problem.html.jinja", status=status, title=title, detail=detail)
    return JSONResponse({"detail": detail}, status)
