"""The plan of a file: changed by its pages as somebody chooses, saved and opened as a file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.web.exploring import estimate
from shoal.web.planning.form import PlanForm
from shoal.web.planning.groups import hierarchy_pairs, read_groups, write_groups
from shoal.web.planning.jobs import PLAN, protect_command
from shoal.web.planning.page import PAGES, changed_plan
from shoal.web.planning.plans import keep_plan, opened_plan, plan_of, saved_plan
from shoal.web.protecting.look import MOST_VALUES, values_of
from shoal.web.protecting.reading import opened
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, ThePreviews, TheUpload, TheWorker, TheWorkspace

router = APIRouter(prefix="/plan")
NOTHING = Fields({})


@router.post("/{upload}")
async def change(upload: TheUpload, form: Form, workspace: TheWorkspace, previews: ThePreviews) -> dict[str, str]:
    """Keep what was chosen; the command and the Python that it stands for."""
    plan, _ = await changed_plan(upload, form, workspace, previews)
    command = protect_command(replace(plan, source=upload.name))
    return {"line": command.line, "python": command.python}


@router.get("/{upload}/column/{place}")
async def column(upload: TheUpload, place: int, request: Request, previews: ThePreviews) -> Response:
    """What can be said of one column: a piece of the form."""
    plan, look = await plan_of(upload, NOTHING, previews)
    if not 0 <= place < len(look.columns):
        raise LookupError(place)
    form = PlanForm(plan, look)
    return page(request, "plan_column.html.jinja", fields=form.column_fields(place), said=form.said_of(place))


@router.get("/{upload}/groups/{place}")
async def groups(upload: TheUpload, place: int, previews: ThePreviews, worker: TheWorker) -> dict[str, Any]:
    """The values of a column, to be put into groups, and the groups that they are in."""
    plan, look = await plan_of(upload, NOTHING, previews)
    name, values = await _values(upload, place, previews, worker)
    file = next((one.file for one in PlanForm(plan, look).column_fields(place) if one.kind == "hierarchy"), None)
    return {"column": name, "values": values, "groups": read_groups(file, values)}


@router.post("/{upload}/groups/{place}")
async def save_groups(
    upload: TheUpload, place: int, form: Form, workspace: TheWorkspace, previews: ThePreviews, worker: TheWorker
) -> dict[str, str]:
    """The groups become the hierarchy of the column."""
    name, values = await _values(upload, place, previews, worker)
    try:
        made = {str(group): [str(one) for one in members] for group, members in json.loads(form.text("groups")).items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError("the groups of a column cannot be read; open its editor and save them again") from None
    pairs = hierarchy_pairs(name, values, made)
    kept = workspace.new_upload()
    await run_in_threadpool(write_groups, kept.folder / f"groups-{place + 1}.csv", pairs)
    field = f"ontology-{place}"
    await changed_plan(upload, Fields({field: [""], f"upload-{field}": [kept.id]}), workspace, previews)
    return {}


@router.post("/{upload}/curve")
async def curve(
    upload: TheUpload, form: Form, workspace: TheWorkspace, previews: ThePreviews, worker: TheWorker
) -> dict[str, Any]:
    """Loss and risk against k, on a sample."""
    plan, look = await changed_plan(upload, form, workspace, previews)
    return await worker.call(estimate, plan, look.inspection.rows)


@router.get("/{upload}/plan.toml")
async def save(upload: TheUpload, previews: ThePreviews) -> Response:
    """The plan, to be kept and opened elsewhere."""
    plan, _ = await plan_of(upload, NOTHING, previews)
    named = {"Content-Disposition": f'attachment; filename="{PLAN}"'}
    return Response(saved_plan(plan, upload), media_type="application/toml", headers=named)


@router.post("/{upload}/open")
async def open_plan(upload: TheUpload, form: Form, workspace: TheWorkspace, previews: ThePreviews) -> Response:
    """Take a plan that somebody brought; what it needs and is not here is said."""
    _, look = await plan_of(upload, NOTHING, previews)
    brought = workspace.upload(form.text("plan"))
    try:
        plan, lost = await run_in_threadpool(opened_plan, brought.path, upload, look, workspace)
    finally:
        workspace.remove(brought.folder)
    keep_plan(upload, plan)
    note = f"?note={','.join(lost)}" if lost else ""
    leads_to = form.text("page") if form.text("page") in PAGES else PAGES[0]
    return RedirectResponse(f"/{leads_to}/{upload.id}{note}", 303)


async def _values(upload: TheUpload, place: int, previews: ThePreviews, worker: TheWorker) -> tuple[str, list[str]]:
    _, look = await plan_of(upload, NOTHING, previews)
    if not 0 <= place < len(look.columns):
        raise LookupError(place)
    name = look.columns[place].name
    known = await worker.call(values_of, opened(upload.path, look.reading), [name], MOST_VALUES)
    return name, known[name]
