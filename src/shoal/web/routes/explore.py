"""Explore: many protections of one table or collection, on a map of what each costs and risks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.assessment.exploration.folder import outcome_of
from shoal.errors import InputError
from shoal.web.exploring import OUT, as_points, as_trial_command, explore_command, tried
from shoal.web.protecting.choices import ROLES, Choices, K, are_numbers
from shoal.web.protecting.command import GAPS, source_words
from shoal.web.protecting.job_files import hierarchy_files
from shoal.web.protecting.look import Look
from shoal.web.protecting.reading import reading_from, readings_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, Query, TheJob, TheJobs, ThePreviews, TheUpload, TheWorkspace
from shoal.web.wording import message_of
from shoal.web.workspace import Upload

router = APIRouter(prefix="/explore")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    return RedirectResponse(f"/explore/{upload}", 303) if upload else page(request, "explore.html.jinja")


@router.get("/{upload}")
async def look(upload: TheUpload, asked: Query, request: Request, previews: ThePreviews, jobs: TheJobs) -> Response:
    """What the file holds, and which columns others may know, or what was chosen for an earlier job."""
    kept = jobs.get(asked.text("from")).about.get("choices", {}) if asked.text("from") else {}
    preview = await previews.at(upload, asked.text("text"), kept.get("reading") or reading_from(asked))
    chosen = Choices.from_data(kept, preview) if kept else Choices.suggested(preview)
    return _shown(request, upload, preview, chosen)


@router.post("/{upload}")
async def explore(
    upload: TheUpload, form: Form, request: Request, workspace: TheWorkspace, previews: ThePreviews, jobs: TheJobs
) -> Response:
    """Try them all."""
    preview = await previews.at(upload, form.text("text"), reading_from(form))
    chosen = Choices.suggested(preview)
    try:
        with workspace.new_job() as folder:
            chosen = Choices.from_fields(form, preview)
            limits = {"max_risk": _per_cent(form, "max_risk"), "max_loss": _per_cent(form, "max_loss")}
            limits |= {"min_k": form.whole("min_k", 2, "least crowd")}
            source = await run_in_threadpool(workspace.lend, upload, folder)
            hierarchies = await hierarchy_files(chosen, preview, upload, workspace, folder, request.app.state.worker)
            words, python = source_words(chosen, preview, hierarchies, folder / "work")
    except InputError as problem:
        return _shown(request, upload, preview, chosen, message_of(problem))
    about = {"upload": upload.id, "words": list(words), "python": python, "choices": chosen.as_data()}
    command = explore_command(source, words, python, preview.reading, limits)
    job = jobs.start(folder, "explore", f"Exploration of {upload.name}", command, about)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/outcomes/{job}")
async def outcomes(job: TheJob) -> dict[str, Any]:
    """What was tried so far."""
    best = (job.result or {}).get("recommended") if job.over else None
    recommended = None if best is None else outcome_of(best).trial.name
    return {"points": list(as_points(await run_in_threadpool(tried, job.work), recommended)), "over": job.over}


@router.post("/protect/{job}")
async def protect(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Make the release that one of the trials would be."""
    by_name = {outcome.trial.name: outcome for outcome in await run_in_threadpool(tried, job.work)}
    if form.text("trial") not in by_name:
        raise InputError("this protection has not been tried; choose one of the map")
    outcome, about, source = by_name[form.text("trial")], job.about, job.command.words[1]
    with workspace.new_job() as folder:
        for path in job.work.iterdir():
            if path.name != OUT:
                await run_in_threadpool(workspace.link, path, folder / "work")
    reading = about["choices"].get("reading", {})
    command = as_trial_command(source, about["words"], about["python"], reading, outcome)
    kept = {"upload": about["upload"], "choices": {**about["choices"], "k": outcome.trial.k or K}}
    started = jobs.start(folder, "protect", f"Release of {source}", command, kept)
    return RedirectResponse(f"/jobs/{started.id}", 303)


def _shown(request: Request, upload: Upload, preview: Look, chosen: Choices, problem: str = "") -> Response:
    return page(
        request,
        "explore_file.html.jinja",
        status=422 if problem else 200,
        upload=upload,
        look=preview,
        chosen=chosen,
        problem=problem,
        gaps=GAPS,
        readings=readings_of(upload.path, preview.sheets),
        roles=ROLES,
        are_numbers=are_numbers,
    )


def _per_cent(form: Fields, name: str) -> float | None:
    text = form.text(name)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 100:
        raise InputError(f"{name.replace('_', ' ')} {text[:20]} must be a number above 0 and at most 100, in per cent")
    return value
