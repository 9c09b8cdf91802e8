"""Serving: from a private folder to pages in the owner's browser, on this machine alone."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path

import uvicorn

from shoal.data.files import shown
from shoal.data.private_files import private_file, state_folder
from shoal.errors import InputError
from shoal.web.app import create_app
from shoal.web.workspace import Workspace

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
