"""A file, a look at it, what is chosen, and the job: Protect, Audit and Explore; and what follows a release."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.assessment.exploration.folder import outcome_of
from shoal.errors import InputError
from shoal.web.commands import RELEASE, verify_command
from shoal.web.form import own_options
from shoal.web.jobs import DONE
from shoal.web.judging import as_points, measures_of, trial_plan, tried
from shoal.web.plan_jobs import bring_back, check_plan, plan_of_job, promised, start_judging, start_release
from shoal.web.plans import keep_plan, kept_plan, plan_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, Query, TheJob, TheJobs, ThePreviews, TheUpload, TheWorker, TheWorkspace
from shoal.web.result import mended, unwatched_columns
from shoal.web.routes.plan import PAGES, changed_plan, own_table, plan_page, shown_plan
from shoal.web.wording import message_of

router = APIRouter()


@router.post("/protect/verify/{job}")
async def verify(job: TheJob, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Verify the release that a job made, and that it has the seal it was given."""
    if job.page != "protect" or job.state != DONE:
        raise LookupError(job.id)
    seal = job.result["certificate"]["seal"]
    with workspace.new_job() as folder:
        await run_in_threadpool(workspace.link, job.work / RELEASE, folder / "work")
    started = jobs.start(folder, "verify", job.title, verify_command(RELEASE, seal), {"of": job.id})
    return RedirectResponse(f"/jobs/{started.id}", 303)


@router.post("/protect/mend/{job}")
async def mend(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Make the release anew with what was open; the plan of the file says so from now on."""
    plan = plan_of_job(job)
    if plan is None or job.page != "protect":
        raise LookupError(job.id)
    started = await start_release(
        mended(plan, form.text("option"), form.text("value")), workspace, jobs, str(job.about["upload"])
    )
    with suppress(LookupError):  # its file may have been closed
        await run_in_threadpool(bring_back, started, workspace.upload(str(job.about["upload"])), workspace)
    return RedirectResponse(f"/jobs/{started.id}", 303)


@router.get("/explore/outcomes/{job}")
async def show_outcomes(job: TheJob) -> dict[str, Any]:
    """What was tried so far."""
    outcomes, plan = await run_in_threadpool(tried, job.work), plan_of_job(job)
    best = (job.result or {}).get("recommended") if job.over and not unwatched_columns(plan) else None
    recommended = None if best is None else outcome_of(best).trial.name
    measures = measures_of(outcomes)
    return {
        "points": list(as_points(outcomes, recommended)),
        "over": job.over,
        "loss": measures.loss_in_words,
        "risk": measures.risk_in_words,
        "promised": "" if plan is None or not plan.promises else promised(plan),
    }


@router.post("/explore/mend/{job}")
async def ask_for_values(job: TheJob, workspace: TheWorkspace) -> Response:
    """Ask for two values of each confidential column in every group: the plan says so, to be explored again."""
    upload = workspace.upload(str(job.about.get("upload", "")))
    await run_in_threadpool(bring_back, job, upload, workspace)
    plan = kept_plan(upload)
    if plan is None or job.page != "explore":
        raise LookupError(job.id)
    keep_plan(upload, mended(plan, "l", "2"))
    return RedirectResponse(f"/explore/{upload.id}", 303)


@router.post("/explore/protect/{job}")
async def protect_as_tried(
    job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs, worker: TheWorker
) -> Response:
    """Make the release that one of the trials would be."""
    by_name = {outcome.trial.name: outcome for outcome in await run_in_threadpool(tried, job.work)}
    plan = plan_of_job(job)
    if form.text("trial") not in by_name or plan is None:
        raise InputError("this protection has not been tried; choose one on the map")
    kind = str((job.result or {}).get("kind", "numbers"))
    made = await worker.call(trial_plan, plan, by_name[form.text("trial")].trial, kind)
    started = await start_release(made, workspace, jobs, str(job.about["upload"]))
    return RedirectResponse(f"/jobs/{started.id}", 303)


@router.get("/{kind}")
async def choose(kind: str, request: Request, upload: str = "") -> Response:
    """A place to drop a file; with a file, its page."""
    _check(kind)
    return RedirectResponse(f"/{kind}/{upload}", 303) if upload else page(request, f"{kind}.html.jinja")


@router.get("/{kind}/{upload}")
async def look(kind: str, upload: TheUpload, asked: Query, request: Request) -> Response:
    """What the file holds, and its plan."""
    _check(kind)
    return await plan_page(request, kind, upload, asked)


@router.post("/{kind}/{upload}")
async def run(
    kind: str,
    upload: TheUpload,
    form: Form,
    request: Request,
    workspace: TheWorkspace,
    previews: ThePreviews,
    jobs: TheJobs,
) -> Response:
    """Run it. What cannot be done is said on the page, with everything as it was chosen."""
    _check(kind)
    plan, preview = await plan_of(upload, Fields({}), previews)
    own: dict[str, Any] = {}
    try:
        plan, preview = await changed_plan(upload, form, workspace, previews)
        if kind == "audit" and not preview.is_table:
            raise InputError("an audit counts the records of a table, and these are documents; choose a table")
        check_plan(plan, preview)
        if kind == "protect":
            job = await start_release(plan, workspace, jobs, upload.id)
        else:
            own = own_options(own_table(kind), form)
            job = await start_judging(kind, plan, own, workspace, jobs, upload)
    except InputError as problem:
        return shown_plan(request, kind, upload, plan, preview, own=own, problem=message_of(problem))
    return RedirectResponse(f"/jobs/{job.id}", 303)


def _check(kind: str) -> None:
    if kind not in PAGES:
        raise LookupError(kind)
