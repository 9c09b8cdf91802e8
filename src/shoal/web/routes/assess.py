"""Verify and Assess: a release that somebody sent, counted; an original and its protected version, measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.commands import RELEASE, assess_command, board_command, verify_command
from shoal.web.jobs import DONE, Job, Jobs
from shoal.web.judging import Comparing, of_plan, side_by_side
from shoal.web.plan_jobs import plan_of_job, start_release
from shoal.web.plans import kept_plan
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, Query, TheJob, TheJobs, TheWorker, TheWorkspace
from shoal.web.wording import message_of
from shoal.web.workspace import Upload, Workspace, lend_unpacked, unpack, unpack_release

router = APIRouter()
RECEIVED = {"upload": "received", "signer": "signer", "after": "earlier"}  # dropped on Verify: its folder in the job
PARTS = ("original", "protected", "private")
PRIVATE = f"{RELEASE}-private"


@router.get("/verify")
async def choose_release(request: Request, workspace: TheWorkspace, upload: str = "") -> Response:
    """What was uploaded elsewhere can be brought along."""
    return _verify_page(request, {"upload": workspace.upload(upload)} if upload else {})


@router.post("/verify")
async def verify(request: Request, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Unpack what came, and count."""
    uploads = {part: workspace.upload(form.text(part)) for part in RECEIVED if part == "upload" or form.text(part)}
    expect = form.text("expect")
    try:
        min_k = form.whole("min_k", 2, "least crowd")
    except InputError as problem:
        return _verify_page(request, uploads, expect, form.text("min_k"), message_of(problem))
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


def _verify_page(
    request: Request, uploads: Mapping[str, Upload], expect: str = "", min_k: str = "", problem: str = ""
) -> Response:
    given = {part: uploads.get(part) for part in RECEIVED}
    status = 422 if problem else 200
    return page(request, "verify.html.jinja", status=status, given=given, expect=expect, min_k=min_k, problem=problem)


def _lent(workspace: Workspace, upload: Upload, folder: Path, part: str) -> str:
    """The path of a file or folder, seen from where the job works."""
    if part == "signer":
        return workspace.lend_apart(upload.path, folder, part)
    return lend_unpacked(workspace, upload.path, folder, RECEIVED[part], unpack_release)


@router.get("/assess")
async def choose_pair(
    request: Request, workspace: TheWorkspace, original: str = "", protected: str = "", private: str = ""
) -> Response:
    """Two files to drop; with both, the page that puts them side by side."""
    if original and protected:
        return RedirectResponse(f"/assess/pair?original={original}&protected={protected}&private={private}", 303)
    given = workspace.upload(original) if original else None
    return page(request, "assess.html.jinja", given=given)


@router.post("/assess")
async def take(form: Form, workspace: TheWorkspace) -> Response:
    """Both are here. A release may come as a zip."""
    parts = []
    for part in PARTS:
        if not form.text(part):
            continue
        upload = workspace.upload(form.text(part))
        if part != "original" and upload.path.suffix.lower() == ".zip":
            await run_in_threadpool(_unpack, workspace, upload, part)
        parts.append(f"{part}={upload.id}")
    return RedirectResponse(f"/assess/pair?{'&'.join(parts)}", 303)


@router.get("/assess/pair")
async def pair(request: Request, asked: Query, workspace: TheWorkspace, worker: TheWorker) -> Response:
    """How the rows are put side by side, or what is missing for that."""
    uploads = _uploads(asked, workspace)
    paths = {part: upload.path for part, upload in uploads.items()}
    comparing = _comparing(asked)
    seen = await worker.call(side_by_side, paths["original"], paths["protected"], paths.get("private"), comparing)
    return page(request, "assess_pair.html.jinja", uploads=uploads, comparing=comparing, seen=seen)


@router.post("/assess/pair")
async def run(form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Attack and measure."""
    uploads, comparing = _uploads(form, workspace), _comparing(form)
    with workspace.new_job() as folder:
        names = {
            part: await run_in_threadpool(workspace.lend_apart, upload.path, folder, part)
            for part, upload in uploads.items()
        }
    given = {"private": names.get("private"), **of_plan(kept_plan(uploads["original"])), **comparing.options}
    command = assess_command(names["original"], names["protected"], given)
    title = f"{uploads['original'].name} and its protected version"
    return _to(jobs.start(folder, "assess", title, command, {"uploads": [upload.id for upload in uploads.values()]}))


@router.post("/assess/release/{job}")
async def release(job: TheJob, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Assess the release that a job made."""
    return _to(_assess_release(job, workspace, jobs))


@router.post("/assess/board/{job}")
async def board(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """The page for the disclosure board about the release that a job made: the owner's version, or the public one."""
    return _to(_assess_release(job, workspace, jobs, "public board" if form.text("version") == "public" else "board"))


@router.post("/assess/coarsen/{job}")
async def coarsen(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Make the release anew with a column coarsened once more, and measure again."""
    column, least = form.text("column"), form.whole("least", 2)
    made = jobs.get(str(job.about.get("protected", "")))
    if least is None or not column:
        raise InputError("no column is named to be coarsened; choose one on the leak card")
    plan = plan_of_job(made)
    if plan is None:
        raise InputError("this release cannot be made again here; protect its file once more")
    plan = plan.with_options(coarsen={**(plan.columns.coarsen or {}), column: least})

    def measure(done: Job) -> None:
        _assess_release(done, workspace, jobs)

    return _to(await start_release(plan, workspace, jobs, str(made.about["upload"]), then=measure))


def _assess_release(made: Job, workspace: Workspace, jobs: Jobs, what: str = "assess") -> Job:
    """The release that a job made, beside its own input."""
    plan = plan_of_job(made)
    if made.state != DONE or made.page != "protect" or plan is None:
        raise InputError("this job made no release of a file; protect one first")
    parts = {"original": Path(plan.source), "protected": made.work / RELEASE, "private": made.work / PRIVATE}
    if what == "public board":
        del parts["original"], parts["private"]
    with workspace.new_job() as folder:
        names = {part: workspace.lend_apart(path, folder, part) for part, path in parts.items()}
    if what == "assess":
        command = assess_command(names["original"], names["protected"], {"private": names["private"], **of_plan(plan)})
        title = made.title.replace("Release of", "Assessment of", 1)
        return jobs.start(folder, "assess", title, command, {"protected": made.id})
    known = {name: names[name] for name in ("original", "private") if name in names}
    command = board_command(names["protected"], known | (of_plan(plan, "board") if known else {}))
    version = "board’s page" if known else "public board’s page"
    return jobs.start(folder, "board", f"{made.title}: {version}", command, {"protected": made.id})


def _unpack(workspace: Workspace, upload: Upload, part: str) -> None:
    """Replace an archive by the folder it holds."""
    staging = workspace.new_upload().folder
    try:
        unpacked = (unpack_release if part == "protected" else unpack)(upload.path, staging)
        upload.path.unlink()
        unpacked.rename(upload.folder / part)
    finally:
        workspace.remove(staging)


def _uploads(given: Fields, workspace: Workspace) -> dict[str, Upload]:
    uploads = {part: workspace.upload(given.text(part)) for part in PARTS if given.text(part)}
    if not {"original", "protected"} <= uploads.keys():
        raise InputError("an original and its protected version are needed; choose both")
    return uploads


def _comparing(given: Fields) -> Comparing:
    return Comparing(
        given.text("key"), given.text("aligned") == "yes", given.text("target"), given.whole("differencing", 1)
    )


def _to(job: Job) -> Response:
    return RedirectResponse(f"/jobs/{job.id}", 303)
