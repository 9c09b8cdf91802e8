"""The workbench: pages, the gate around them, the jobs beside them, and the server in front of them."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from shoal.data.files import shown
from shoal.data.private_files import private_file, state_folder
from shoal.errors import InputError, ShoalError
from shoal.web.desk import Desks
from shoal.web.gate import Gate
from shoal.web.index_session import IndexSession
from shoal.web.jobs import Jobs
from shoal.web.look import PreviewCache
from shoal.web.rendering import page
from shoal.web.routes import assess, index, jobs, plan, protect, review, start
from shoal.web.wording import for_people, message_of
from shoal.web.worker_process import WorkerProcess
from shoal.web.workspace import Workspace

# The addresses of the last one begin with any name.
ROUTES = (start, jobs, plan, assess, review, index, protect)
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


HOST = "127.0.0.1"
SHUTDOWN = 5  # seconds for requests that are being answered


def workbench(
    folder: Path | None = None, port: int = 0, *, browser: bool = True, announce: Callable[[str], object]
) -> None:
    """Serve the workbench until Ctrl-C, on any free port for 0; `announce` gets the address, which lets one browser in.

    Uploads and jobs are kept in `folder`, by default in the platform's folder for what programs remember.
    """
    private_folder = folder or state_folder() / "workbench"
    try:
        workspace = Workspace(private_folder)
    except OSError as problem:
        raise InputError(
            f"{shown(private_folder)} cannot be used: {problem.strerror}; choose another --folder"
        ) from None
    listening = _listening(port)
    port, token = listening.getsockname()[1], secrets.token_urlsafe(32)
    address = f"http://{HOST}:{port}/?token={token}"
    config = uvicorn.Config(
        create_app(workspace, token, port),
        ws="none",
        access_log=False,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN,
    )
    announce(address)
    if browser:
        webbrowser.open(_door(workspace, address).as_uri())
    uvicorn.Server(config).run(sockets=[listening])


def _door(workspace: Workspace, address: str) -> Path:
    """A file that leads to the address: in a browser's command line, everybody on this machine could read the token."""
    door = workspace.folder / "open.html"
    with open(door, "w", encoding="utf-8", opener=private_file) as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}">')
    return door


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
        return listening
    except (OSError, OverflowError) as problem:
        why = getattr(problem, "strerror", None) or "there is no such port"
        raise InputError(f"port {port} cannot be used: {why}; choose another --port, or 0 for any") from None
