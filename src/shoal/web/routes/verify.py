"""Verify: a release as a zip or a folder, every promise with a tick or the reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.archives import lend_unpacked, unpack_release
from shoal.web.commands import verify_command
from shoal.web.rendering import page
from shoal.web.requests import Form, TheJobs, TheWorkspace
from shoal.web.wording import message_of
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/verify")
PARTS = {"upload": "received", "signer": "signer", "after": "earlier"}  # what can be dropped, and its folder in the job


@router.get("")
async def choose(request: Request, workspace: TheWorkspace, upload: str = "") -> Response:
    """What was uploaded elsewhere can be brought along."""
    return _shown(request, {"upload": workspace.upload(upload)} if upload else {})


@router.post("")
async def verify(request: Request, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Unpack what came, and count."""
    uploads = {part: workspace.upload(form.text(part)) for part in PARTS if part == "upload" or form.text(part)}
    expect = form.text("expect")
    try:
        min_k = form.whole("min_k", 2, "least crowd")
    except InputError as problem:
        return _shown(request, uploads, expect, form.text("min_k"), message_of(problem))
    try:
        with workspace.new_job() as folder:
            title = uploads["upload"].name
            paths = {
                part: await run_in_threadpool(_lent, workspace, upload, folder, part)
                for part, upload in uploads.items()
            }
    finally:
        for upload in uploads.values():
            workspace.remove(upload.folder)
    command = verify_command(paths.pop("upload"), expect, min_k, **paths)
    job = jobs.start(folder, "verify", title, command, {})
    return RedirectResponse(f"/jobs/{job.id}", 303)


def _shown(
    request: Request, uploads: Mapping[str, Upload], expect: str = "", min_k: str = "", problem: str = ""
) -> Response:
    given = {part: uploads.get(part) for part in PARTS}
    status = 422 if problem else 200
    return page(request, "verify.html.jinja", status=status, given=given, expect=expect, min_k=min_k, problem=problem)


def _lent(workspace: Workspace, upload: Upload, folder: Path, part: str) -> str:
    """The path of a file or folder, seen from where the job works."""
    if part == "signer":
        return workspace.lend_apart(upload.path, folder, part)
    return lend_unpacked(workspace, upload.path, folder, PARTS[part], unpack_release)
