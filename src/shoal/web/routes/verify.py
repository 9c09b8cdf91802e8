"""Verify: a release as a zip or a folder, every promise with a tick or the reason."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.web.archives import unpack_release
from shoal.web.commands import verify_command
from shoal.web.rendering import page
from shoal.web.requests import Form, TheJobs, TheWorkspace
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/verify")


@router.get("")
async def choose(request: Request, workspace: TheWorkspace, upload: str = "") -> Response:
    """What the sample uploaded can be brought along."""
    return page(request, "verify.html.jinja", given=workspace.upload(upload) if upload else None)


@router.post("")
async def verify(form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Unpack what came, and count."""
    upload = workspace.upload(form.text("upload"))
    folder = workspace.new_job()
    try:
        release = await run_in_threadpool(_release, workspace, upload, folder)
    except Exception:
        workspace.remove(folder)
        workspace.remove(upload.folder)
        raise
    command = verify_command(release, form.text("expect"), form.whole("min_k", 2))
    job = jobs.start(folder, "verify", upload.name, command, {})
    workspace.remove(upload.folder)
    return RedirectResponse(f"/jobs/{job.id}", 303)


def _release(workspace: Workspace, upload: Upload, folder: Path) -> str:
    """Where the release is, seen from where the job works."""
    work = folder / "work"
    if upload.path.is_dir():
        return workspace.lend(upload, folder)
    return unpack_release(upload.path, work).relative_to(work).as_posix()
