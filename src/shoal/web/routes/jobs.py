"""A job's page: how far it is, what it made, and the command that does the same."""

from __future__ import annotations

import os
import secrets
import zipfile
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response

from shoal.data.private_files import private_file
from shoal.web.commands import RELEASE
from shoal.web.gate import REPORT_POLICY
from shoal.web.jobs import DONE
from shoal.web.plan_jobs import bring_back, plan_of_job
from shoal.web.rendering import page
from shoal.web.requests import Form, TheJob, TheJobs, TheWorker, TheWorkspace
from shoal.web.result import sign_release, unwatched_columns
from shoal.web.workspace import inside

router = APIRouter(prefix="/jobs")


@router.get("/{job}")
async def show(job: TheJob, request: Request, jobs: TheJobs) -> Response:
    """Each page that starts jobs has a template of its own for what they made."""
    assessments = [other for other in jobs if other.about.get("protected") == job.id]
    unwatched = unwatched_columns(plan_of_job(job)) if job.page == "explore" else ()
    return page(request, f"{job.page}_job.html.jinja", job=job, assessments=assessments, unwatched=unwatched)


@router.get("/{job}/state")
async def state(job: TheJob) -> dict[str, object]:
    return job.as_data()


@router.post("/{job}/cancel")
async def cancel(job: str, jobs: TheJobs) -> Response:
    await jobs.cancel(job)
    return RedirectResponse(f"/jobs/{job}", 303)


@router.post("/{job}/again")
async def again(job: str, jobs: TheJobs) -> Response:
    jobs.start_again(job)
    return RedirectResponse(f"/jobs/{job}", 303)


@router.get("/{job}/change")
async def change(job: TheJob, workspace: TheWorkspace) -> Response:
    """The page of its file, with what was chosen for this job; the file is fetched from the job if it was closed."""
    plan = plan_of_job(job)
    if "upload" not in job.about or plan is None:
        raise LookupError(job.id)
    try:
        upload = workspace.upload(str(job.about["upload"]))
    except LookupError:
        upload = workspace.new_upload()
        await run_in_threadpool(workspace.link, Path(plan.source), upload.folder)
    await run_in_threadpool(bring_back, job, upload, workspace)
    return RedirectResponse(f"/{job.page}/{upload.id}", 303)


@router.post("/{job}/close")
async def close(job: str, jobs: TheJobs) -> Response:
    """Remove the job and all its files."""
    await jobs.close(job)
    return RedirectResponse("/", 303)


@router.post("/{job}/sign")
async def sign(job: TheJob, form: Form, worker: TheWorker) -> dict[str, str]:
    """The owner vouches for the release that a job made, with a key that is kept nowhere."""
    if job.page not in ("protect", "redact") or job.state != DONE:
        raise LookupError(job.id)
    await worker.call(sign_release, job.work / RELEASE, form.secret("key").encode(), form.secret("passphrase"))
    return {}


@router.get("/{job}/page/{name:path}")
async def report(job: TheJob, name: str) -> Response:
    """A page that the job wrote, such as release/report.html, to be shown in a frame."""
    path = inside(job.work, name)
    if path.suffix != ".html" or not path.is_file():
        raise LookupError(name)
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/{job}/file/{name:path}")
async def one_file(job: TheJob, name: str) -> Response:
    """A file that the job wrote, to be saved."""
    path = inside(job.work, name)
    if not path.is_file():
        raise LookupError(name)
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")


@router.get("/{job}/zip/{name}")
async def folder(job: TheJob, name: str) -> Response:
    """A folder that the job wrote, whole, to be saved."""
    path = inside(job.work, name)
    if not path.is_dir():
        raise LookupError(name)
    packed = await run_in_threadpool(_packed, path, job.folder / f"{name}.zip")
    return FileResponse(packed, filename=f"{name}.zip", media_type="application/zip")


def _packed(path: Path, target: Path) -> Path:
    """The files have one and the same time: when they were made is nobody's business.

    The zip appears whole: another tab may be saving an earlier one.
    """
    aside = target.with_name(f"{target.name}-{secrets.token_hex(4)}.part")
    with open(aside, "wb", opener=private_file) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in sorted(path.rglob("*")):
            if member.is_file():
                entry = zipfile.ZipInfo(f"{path.name}/{member.relative_to(path).as_posix()}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                with member.open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                    while chunk := source.read(1 << 20):
                        packed.write(chunk)
    os.replace(aside, target)
    return target
