"""Protect: a file, a look at it, what is chosen, and the release."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.terms.language import languages
from shoal.web.aside import Aside
from shoal.web.commands import verify_command
from shoal.web.jobs import DONE
from shoal.web.protecting.choices import ROLES, Choices, are_numbers
from shoal.web.protecting.command import COUNTED, GAPS, METHODS, RELEASE, protect_command
from shoal.web.protecting.curve import estimate
from shoal.web.protecting.earlier import earlier_release
from shoal.web.protecting.hierarchy_files import hierarchy_files
from shoal.web.protecting.look import MOST_VALUES, Look, sheets_of, values_of
from shoal.web.protecting.reading import Reading, opened, reading_from, readings_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, TheAside, TheJobs, TheLooks, TheWorkspace
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/protect")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    """A place to drop a file; with a file, its page."""
    return RedirectResponse(f"/protect/{upload}", 303) if upload else page(request, "protect.html.jinja")


@router.get("/{upload}")
async def look(
    upload: str, request: Request, workspace: TheWorkspace, looks: TheLooks, jobs: TheJobs, aside: TheAside
) -> Response:
    """What the file holds, and what is suggested, or was chosen for an earlier job."""
    given, asked = workspace.upload(upload), request.query_params
    kept = jobs.get(asked["from"]).about.get("choices", {}) if asked.get("from") else {}
    fields = Fields({name: asked.getlist(name) for name in asked})
    reading = kept.get("reading") or reading_from(fields)
    try:
        found = await looks.at(given, fields.text("text"), reading)
    except InputError as problem:
        return await _unread(request, given, reading, aside, problem)
    chosen = Choices.from_data(kept, found) if kept else Choices.suggested(found)
    chosen = chosen.with_query(fields, found)
    return _shown(request, workspace, given, found, chosen)


@router.post("/{upload}")
async def protect(
    upload: str, request: Request, form: Form, workspace: TheWorkspace, looks: TheLooks, jobs: TheJobs, aside: TheAside
) -> Response:
    """Run it. What cannot be done is said on the page, with everything as it was chosen."""
    given = workspace.upload(upload)
    found = await looks.at(given, form.text("text"), reading_from(form))
    chosen = Choices.suggested(found)
    folder = workspace.new_job()
    try:
        chosen = Choices.from_fields(form, found)
        source = await run_in_threadpool(workspace.lend, given, folder)
        hierarchies = await hierarchy_files(chosen, found, given, workspace, folder, aside)
        earlier = await run_in_threadpool(earlier_release, chosen, workspace, folder)
        command = protect_command(chosen, found, source, hierarchies, folder / "work", earlier)
    except InputError as problem:
        workspace.remove(folder)
        return _shown(request, workspace, given, found, chosen, str(problem))
    uploads = [chosen.after, chosen.earlier_private] if earlier else []
    about = {"upload": given.id, "uploads": uploads, "choices": chosen.as_data()}
    job = jobs.start(folder, "protect", f"Release of {given.name}", command, about)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/{upload}/values/{place}")
async def values(
    upload: str, place: int, request: Request, workspace: TheWorkspace, looks: TheLooks, aside: TheAside
) -> dict[str, Any]:
    """The values of a column, to be put into groups."""
    given, asked = workspace.upload(upload), request.query_params
    found = await looks.at(given, reading=reading_from(Fields({name: asked.getlist(name) for name in asked})))
    if not 0 <= place < len(found.columns):
        raise LookupError(place)
    column = found.columns[place].name
    known = await aside.call(values_of, opened(given.path, found.reading), [column], MOST_VALUES)
    return {"column": column, "values": known[column]}


@router.post("/{upload}/curve")
async def curve(upload: str, form: Form, workspace: TheWorkspace, looks: TheLooks, aside: TheAside) -> dict[str, Any]:
    """Loss and risk against k, on a sample."""
    given = workspace.upload(upload)
    found = await looks.at(given, form.text("text"), reading_from(form))
    return await aside.call(estimate, opened(given.path, found.reading), found, Choices.from_fields(form, found))


@router.post("/verify/{job}")
async def verify(job: str, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Verify the release that a job made, and that it has the seal it was given."""
    made = jobs.get(job)
    if made.page != "protect" or made.state != DONE:
        raise LookupError(job)
    seal = made.result["certificate"]["seal"]
    folder = workspace.new_job()
    await run_in_threadpool(workspace.link, made.work / RELEASE, folder / "work")
    started = jobs.start(folder, "verify", made.title, verify_command(RELEASE, seal), {"of": job})
    return RedirectResponse(f"/jobs/{started.id}", 303)


async def _unread(request: Request, upload: Upload, reading: Reading, aside: Aside, problem: InputError) -> Response:
    """Why the file cannot be read, and how else it could be, if there is a choice."""
    sheets = await aside.call(sheets_of, upload.path)
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
        problem=str(problem),
    )


def _shown(
    request: Request, workspace: Workspace, upload: Upload, found: Look, chosen: Choices, problem: str = ""
) -> Response:
    earlier = {upload.id: upload for upload in workspace.all_uploads()}
    return page(
        request,
        "protect_file.html.jinja",
        status=422 if problem else 200,
        upload=upload,
        look=found,
        chosen=chosen,
        problem=problem,
        methods=METHODS[found.inspection.kind],
        gaps=GAPS,
        readings=readings_of(upload.path, found.sheets),
        counted=COUNTED,
        languages=languages(),
        after=earlier.get(chosen.after),
        earlier_private=earlier.get(chosen.earlier_private),
        roles=ROLES,
        are_numbers=are_numbers,
    )
