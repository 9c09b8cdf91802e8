"""Protect: a file, a look at it, what is chosen, and the release."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.terms.language import languages
from shoal.web.commands import verify_command
from shoal.web.jobs import DONE
from shoal.web.protecting.choices import ROLES, Choices, are_numbers
from shoal.web.protecting.command import COUNTED, GAPS, METHODS, RELEASE, protect_command
from shoal.web.protecting.curve import estimate
from shoal.web.protecting.job_files import earlier_release, hierarchy_files
from shoal.web.protecting.look import MOST_VALUES, Look, sheets_of, values_of
from shoal.web.protecting.reading import Reading, opened, reading_from, readings_of
from shoal.web.rendering import page
from shoal.web.requests import Form, Query, TheJob, TheJobs, ThePreviews, TheUpload, TheWorker, TheWorkspace
from shoal.web.wording import message_of
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/protect")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    """A place to drop a file; with a file, its page."""
    return RedirectResponse(f"/protect/{upload}", 303) if upload else page(request, "protect.html.jinja")


@router.get("/{upload}")
async def look(
    upload: TheUpload, asked: Query, request: Request, workspace: TheWorkspace, previews: ThePreviews, jobs: TheJobs
) -> Response:
    """What the file holds, and what is suggested, or was chosen for an earlier job."""
    kept = jobs.get(asked.text("from")).about.get("choices", {}) if asked.text("from") else {}
    reading = kept.get("reading") or reading_from(asked)
    try:
        preview = await previews.at(upload, asked.text("text"), reading)
    except InputError as problem:
        return await _unread(request, upload, reading, problem)
    chosen = Choices.from_data(kept, preview) if kept else Choices.suggested(preview)
    return _shown(request, workspace, upload, preview, chosen.with_query(asked, preview))


@router.post("/{upload}")
async def protect(
    upload: TheUpload, form: Form, request: Request, workspace: TheWorkspace, previews: ThePreviews, jobs: TheJobs
) -> Response:
    """Run it. What cannot be done is said on the page, with everything as it was chosen."""
    preview = await previews.at(upload, form.text("text"), reading_from(form))
    chosen = Choices.suggested(preview)
    try:
        with workspace.new_job() as folder:
            chosen = Choices.from_fields(form, preview)
            source = await run_in_threadpool(workspace.lend, upload, folder)
            hierarchies = await hierarchy_files(chosen, preview, upload, workspace, folder, request.app.state.worker)
            earlier = await run_in_threadpool(earlier_release, chosen, workspace, folder)
            command = protect_command(chosen, preview, source, hierarchies, folder / "work", earlier)
    except InputError as problem:
        return _shown(request, workspace, upload, preview, chosen, message_of(problem))
    uploads = [chosen.after, chosen.earlier_private] if earlier else []
    about = {"upload": upload.id, "uploads": uploads, "choices": chosen.as_data()}
    job = jobs.start(folder, "protect", f"Release of {upload.name}", command, about)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/{upload}/values/{column}")
async def values(
    upload: TheUpload, column: int, asked: Query, previews: ThePreviews, worker: TheWorker
) -> dict[str, Any]:
    """The values of a column, to be put into groups."""
    preview = await previews.at(upload, reading=reading_from(asked))
    if not 0 <= column < len(preview.columns):
        raise LookupError(column)
    name = preview.columns[column].name
    known = await worker.call(values_of, opened(upload.path, preview.reading), [name], MOST_VALUES)
    return {"column": name, "values": known[name]}


@router.post("/{upload}/curve")
async def curve(upload: TheUpload, form: Form, previews: ThePreviews, worker: TheWorker) -> dict[str, Any]:
    """Loss and risk against k, on a sample."""
    preview = await previews.at(upload, form.text("text"), reading_from(form))
    source = opened(upload.path, preview.reading)
    return await worker.call(estimate, source, preview, Choices.from_fields(form, preview))


@router.post("/verify/{job}")
async def verify(job: TheJob, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Verify the release that a job made, and that it has the seal it was given."""
    if job.page != "protect" or job.state != DONE:
        raise LookupError(job.id)
    seal = job.result["certificate"]["seal"]
    with workspace.new_job() as folder:
        await run_in_threadpool(workspace.link, job.work / RELEASE, folder / "work")
    started = jobs.start(folder, "verify", job.title, verify_command(RELEASE, seal), {"of": job.id})
    return RedirectResponse(f"/jobs/{started.id}", 303)


async def _unread(request: Request, upload: Upload, reading: Reading, problem: InputError) -> Response:
    """Why the file cannot be read, and how else it could be, if there is a choice."""
    sheets = await request.app.state.worker.call(sheets_of, upload.path)
    readings = readings_of(upload.path, sheets)
    if not readings:
        raise problem
    return page(
        request,
        "protect_unread.html.jinja",
        status=422,
        upload=upload,
        readings=readings,
        reading=reading,
        problem=message_of(problem),
    )


def _shown(
    request: Request, workspace: Workspace, upload: Upload, preview: Look, chosen: Choices, problem: str = ""
) -> Response:
    earlier = {upload.id: upload for upload in workspace.all_uploads()}
    return page(
        request,
        "protect_file.html.jinja",
        status=422 if problem else 200,
        upload=upload,
        look=preview,
        chosen=chosen,
        problem=problem,
        methods=METHODS[preview.inspection.kind],
        gaps=GAPS,
        readings=readings_of(upload.path, preview.sheets),
        counted=COUNTED,
        languages=languages(),
        after=earlier.get(chosen.after),
        earlier_private=earlier.get(chosen.earlier_private),
        roles=ROLES,
        are_numbers=are_numbers,
    )
