"""The plan of a file: the page that Protect, Explore and Audit share, changed as somebody chooses, saved and opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi import Request as WebRequest
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.errors import InputError
from shoal.request.judging_options import OWN
from shoal.request.option import Option, options_of
from shoal.request.request import OPTIONS, Request
from shoal.web.commands import PLAN, protect_command
from shoal.web.form import ROLES, PlanForm, edited, field_of
from shoal.web.judging import estimate
from shoal.web.look import MOST_VALUES, Look, PreviewCache, opened, reading_from, readings_of, sheets_of, values_of
from shoal.web.plans import hierarchy_pairs, keep_plan, opened_plan, plan_of, read_groups, saved_plan, write_groups
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, ThePreviews, TheUpload, TheWorker, TheWorkspace
from shoal.web.wording import FOLDS, message_of
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/plan")
PAGES = ("protect", "explore", "audit")
NOTHING = Fields({})


def own_table(command: str) -> dict[str, Option]:
    """The options of a command that are no part of a plan."""
    return {name: known for name, known in options_of(OWN[command]).items() if name not in OPTIONS}


async def plan_page(request: WebRequest, kind: str, upload: Upload, asked: Fields) -> Response:
    """The plan of a file as it was left, or a proposal; a file that cannot be read offers how else it could be."""
    previews: PreviewCache = request.app.state.previews
    try:
        plan, look = await plan_of(upload, asked, previews)
    except InputError as problem:
        sheets = await request.app.state.worker.call(sheets_of, upload.path)
        readings = readings_of(upload.path, sheets)
        if not readings:
            raise
        values: dict[str, Any] = {"upload": upload, "readings": readings, "reading": reading_from(asked), "kind": kind}
        return page(request, "plan_unread.html.jinja", status=422, problem=message_of(problem), **values)
    return shown_plan(request, kind, upload, plan, look, note=asked.text("note"))


async def changed_plan(
    upload: Upload, form: Fields, workspace: Workspace, previews: PreviewCache
) -> tuple[Request, Look]:
    """The plan of a file with what a form says; it is kept."""
    plan, look = await plan_of(upload, Fields({}), previews)
    text = form.text("text_column")
    if not look.is_table and text and text != plan.columns.text_column:
        look = await previews.at(upload, text)

    def file_of(chosen: str) -> Path:
        return workspace.upload(chosen).path

    plan = edited(plan, form, look, file_of)
    keep_plan(upload, plan)
    return plan, look


def shown_plan(
    request: WebRequest,
    kind: str,
    upload: Upload,
    plan: Request,
    look: Look,
    *,
    own: Mapping[str, Any] | None = None,
    problem: str = "",
    note: str = "",
) -> Response:
    """The page `kind`; `own` are options that are no part of the plan, `problem` is what cannot be done."""
    table = own_table(kind) if kind in OWN else {}
    values = {name: known.default for name, known in table.items()} | dict(own or {})
    fields = (field_of(known, values[name], look) for name, known in table.items())
    return page(
        request,
        f"{kind}_file.html.jinja",
        status=422 if problem else 200,
        upload=upload,
        look=look,
        form=PlanForm(plan, look),
        own_fields=[field for field in fields if field is not None],
        roles=ROLES,
        folds=FOLDS,
        readings=readings_of(upload.path, look.sheets),
        command=protect_command(replace(plan, source=upload.name)),
        kind=kind,
        problem=problem,
        note=note,
    )


@router.post("/{upload}")
async def change(upload: TheUpload, form: Form, workspace: TheWorkspace, previews: ThePreviews) -> dict[str, str]:
    """Keep what was chosen; the command and the Python that it stands for."""
    plan, _ = await changed_plan(upload, form, workspace, previews)
    command = protect_command(replace(plan, source=upload.name))
    return {"line": command.line, "python": command.python}


@router.get("/{upload}/column/{place}")
async def column(upload: TheUpload, place: int, request: WebRequest, previews: ThePreviews) -> Response:
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
