"""Uploads: files come as they are, in a stream, so that their size does not matter."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.requests import TheWorkspace

router = APIRouter()


@router.post("/uploads")
async def new_upload(workspace: TheWorkspace) -> dict[str, str]:
    return {"id": workspace.new_upload().id}


@router.put("/uploads/{upload}/{name:path}")
async def receive(upload: str, name: str, request: Request, workspace: TheWorkspace) -> dict[str, str]:
    """One file of an upload; a folder's files come with their paths."""
    size = request.headers.get("content-length", "")
    with workspace.upload(upload).receiving(name, int(size) if size.isdigit() else None) as file:
        try:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        except OSError:
            raise InputError("the file cannot be written; make room on the disk") from None
    return {"id": upload}


@router.delete("/uploads/{upload}")
async def close(upload: str, workspace: TheWorkspace) -> dict[str, str]:
    await run_in_threadpool(workspace.remove, workspace.upload(upload).folder)
    return {}


@router.post("/uploads/{upload}/remove")
async def remove(upload: str, workspace: TheWorkspace) -> Response:
    """The same from a page without a script."""
    await close(upload, workspace)
    return RedirectResponse("/", 303)
