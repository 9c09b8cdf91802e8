"""Explore: many protections of one table or collection, on a map of what each costs and risks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.assessment.exploration.folder import outcome_of
from shoal.errors import InputError
from shoal.web.exploring import as_points, measures_of, trial_plan, tried
from shoal.web.planning.jobs import plan_of_job, promised, start_release
from shoal.web.requests import Form, TheJob, TheJobs, TheWorker, TheWorkspace

router = APIRouter(prefix="/explore")


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
