"""Explore: many protections of one table or collection, on a map of what each costs and risks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.exploring import OUT, as_points, as_trial_command, explore_command, tried
from shoal.web.protecting.choices import ROLES, Choices, K, are_numbers
from shoal.web.protecting.command import GAPS, source_words
from shoal.web.protecting.hierarchy_files import hierarchy_files
from shoal.web.protecting.look import Look
from shoal.web.protecting.reading import reading_from, readings_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, TheAside, TheJobs, TheLooks, TheWorkspace
from shoal.web.workspace import Upload

router = APIRouter(prefix="/explore")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    return RedirectResponse(f"/explore/{upload}", 303) if upload else page(request, "explore.html.jinja")


@router.get("/{upload}")
async def look(upload: str, request: Request, workspace: TheWorkspace, looks: TheLooks, jobs: TheJobs) -> Response:
    """What the file holds, and which columns others may know, or what was chosen for an earlier job."""
    given, asked = workspace.upload(upload), request.query_params
    kept = jobs.get(asked["from"]).about.get("choices", {}) if asked.get("from") else {}
    fields = Fields({name: asked.getlist(name) for name in asked})
    found = await looks.at(given, fields.text("text"), kept.get("reading") or reading_from(fields))
    chosen = Choices.from_data(kept, found) if kept else Choices.suggested(found)
    return _shown(request, given, found, chosen)


@router.post("/{upload}")
async def explore(
    upload: str, request: Request, form: Form, workspace: TheWorkspace, looks: TheLooks, jobs: TheJobs, aside: TheAside
) -> Response:
    """Try them all."""
    given = workspace.upload(upload)
    found = await looks.at(given, form.text("text"), reading_from(form))
    chosen, folder = Choices.suggested(found), workspace.new_job()
    try:
        chosen = Choices.from_fields(form, found)
        limits = {"max_risk": _per_cent(form, "max_risk"), "max_loss": _per_cent(form, "max_loss")}
        limits |= {"min_k": form.whole("min_k", 2, "least crowd")}
        source = await run_in_threadpool(workspace.lend, given, folder)
        hierarchies = await hierarchy_files(chosen, found, given, workspace, folder, aside)
        words, python = source_words(chosen, found, hierarchies, folder / "work")
    except InputError as problem:
        workspace.remove(folder)
        return _shown(request, given, found, chosen, str(problem))
    about = {"upload": given.id, "words": list(words), "python": python, "choices": chosen.as_data()}
    command = explore_command(source, words, python, found.reading, limits)
    job = jobs.start(folder, "explore", f"Exploration of {given.name}", command, about)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/outcomes/{job}")
async def outcomes(job: str, jobs: TheJobs) -> dict[str, Any]:
    """What was tried so far."""
    found = jobs.get(job)
    best = (found.result or {}).get("recommended") if found.over else None
    recommended = None if best is None else _named(best)
    return {"points": list(as_points(await run_in_threadpool(tried, found.work), recommended)), "over": found.over}


@router.post("/protect/{job}")
async def protect(job: str, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Make the release that one of the trials would be."""
    explored = jobs.get(job)
    by_name = {one.trial.name: one for one in await run_in_threadpool(tried, explored.work)}
    if form.text("trial") not in by_name:
        raise InputError("this protection has not been tried; choose one of the map")
    folder, source = workspace.new_job(), explored.command.words[1]
    for path in explored.work.iterdir():
        if path.name != OUT:
            await run_in_threadpool(workspace.link, path, folder / "work")
    about = explored.about
    outcome = by_name[form.text("trial")]
    reading = about["choices"].get("reading", {})
    command = as_trial_command(source, about["words"], about["python"], reading, outcome)
    chosen = {**about["choices"], "k": outcome.trial.k or K}
    kept = {"upload": about["upload"], "choices": chosen}
    started = jobs.start(folder, "protect", f"Release of {source}", command, kept)
    return RedirectResponse(f"/jobs/{started.id}", 303)


def _shown(request: Request, upload: Upload, found: Look, chosen: Choices, problem: str = "") -> Response:
    return page(
        request,
        "explore_file.html.jinja",
        status=422 if problem else 200,
        upload=upload,
        look=found,
        chosen=chosen,
        problem=problem,
        gaps=GAPS,
        readings=readings_of(upload.path, found.sheets),
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


def _named(recommended: dict[str, Any]) -> str:
    from shoal.assessment.exploration.folder import outcome_of

    return outcome_of(recommended).trial.name
