"""Explore: many protections of one table or collection, on a map of what each costs and risks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.assessment.exploration.folder import outcome_of
from shoal.errors import InputError
from shoal.web.exploring import as_points, measures_of, trial_plan, tried
from shoal.web.planning.form import own_options
from shoal.web.planning.jobs import about_plan, check_plan, explore_command, lent, plan_of_job, promised, start_release
from shoal.web.planning.page import changed_plan, own_table, plan_page, shown_plan
from shoal.web.planning.plans import plan_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, Query, TheJob, TheJobs, ThePreviews, TheUpload, TheWorker, TheWorkspace
from shoal.web.wording import message_of

router = APIRouter(prefix="/explore")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    return RedirectResponse(f"/explore/{upload}", 303) if upload else page(request, "explore.html.jinja")


@router.get("/{upload}")
async def look(upload: TheUpload, asked: Query, request: Request) -> Response:
    """What the file holds, and its plan, of which explorations vary the method and k."""
    return await plan_page(request, "explore", upload, asked)


@router.post("/{upload}")
async def explore(
    upload: TheUpload, form: Form, request: Request, workspace: TheWorkspace, previews: ThePreviews, jobs: TheJobs
) -> Response:
    """Try them all."""
    plan, preview = await plan_of(upload, Fields({}), previews)
    limits: dict[str, Any] = {}
    try:
        plan, preview = await changed_plan(upload, form, workspace, previews)
        check_plan(plan, preview)
        limits = own_options(own_table("explore"), form)
        with workspace.new_job() as folder:
            await run_in_threadpool(lent, plan, workspace, folder)
    except InputError as problem:
        return shown_plan(request, "explore", upload, plan, preview, own=limits, problem=message_of(problem))
    about = about_plan(plan, upload.id)
    job = jobs.start(folder, "explore", f"Exploration of {upload.name}", explore_command(limits), about)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/outcomes/{job}")
async def show_outcomes(job: TheJob) -> dict[str, Any]:
    """What was tried so far."""
    best = (job.result or {}).get("recommended") if job.over else None
    recommended = None if best is None else outcome_of(best).trial.name
    outcomes, plan = await run_in_threadpool(tried, job.work), plan_of_job(job)
    measures = measures_of(outcomes)
    return {
        "points": list(as_points(outcomes, recommended)),
        "over": job.over,
        "loss": measures.loss_in_words,
        "risk": measures.risk_in_words,
        "promised": "" if plan is None or not plan.promises else promised(plan),
    }


@router.post("/protect/{job}")
async def protect(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs, worker: TheWorker) -> Response:
    """Make the release that one of the trials would be."""
    by_name = {outcome.trial.name: outcome for outcome in await run_in_threadpool(tried, job.work)}
    plan = plan_of_job(job)
    if form.text("trial") not in by_name or plan is None:
        raise InputError("this protection has not been tried; choose one of the map")
    kind = str((job.result or {}).get("kind", "numbers"))
    made = await worker.call(trial_plan, plan, by_name[form.text("trial")].trial, kind)
    started = await start_release(made, workspace, jobs, str(job.about["upload"]))
    return RedirectResponse(f"/jobs/{started.id}", 303)
