"""Audit: how risky a table is as it stands, before anything is done with it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.planning.form import own_options
from shoal.web.planning.jobs import about_plan, audit_command, check_plan, lent
from shoal.web.planning.page import changed_plan, own_table, plan_page, shown_plan
from shoal.web.planning.plans import plan_of
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, Query, TheJobs, ThePreviews, TheUpload, TheWorkspace
from shoal.web.wording import message_of

router = APIRouter(prefix="/audit")


@router.get("")
async def choose(request: Request, upload: str = "") -> Response:
    return RedirectResponse(f"/audit/{upload}", 303) if upload else page(request, "audit.html.jinja")


@router.get("/{upload}")
async def look(upload: TheUpload, asked: Query, request: Request, previews: ThePreviews) -> Response:
    """What the file holds, and its plan: an audit counts with its columns."""
    return await plan_page(request, "audit", upload, asked)


@router.post("/{upload}")
async def audit(
    upload: TheUpload, form: Form, request: Request, workspace: TheWorkspace, previews: ThePreviews, jobs: TheJobs
) -> Response:
    """Count."""
    plan, preview = await plan_of(upload, Fields({}), previews)
    own: dict[str, Any] = {}
    try:
        plan, preview = await changed_plan(upload, form, workspace, previews)
        if not preview.is_table:
            raise InputError("an audit counts the records of a table, and these are documents; choose a table")
        check_plan(plan, preview)
        own = own_options(own_table("audit"), form)
        with workspace.new_job() as folder:
            ready = await run_in_threadpool(lent, plan, workspace, folder)
            command = audit_command(ready, own, folder / "work")
    except InputError as problem:
        return shown_plan(request, "audit", upload, plan, preview, own=own, problem=message_of(problem))
    job = jobs.start(folder, "audit", f"Audit of {upload.name}", command, about_plan(plan, upload.id))
    return RedirectResponse(f"/jobs/{job.id}", 303)
