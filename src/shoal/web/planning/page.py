"""The page of a plan, which Protect, Explore and Audit share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import Request as WebRequest
from fastapi.responses import Response

from shoal.errors import InputError
from shoal.request.judging_options import OWN
from shoal.request.option import Option, options_of
from shoal.request.request import OPTIONS, Request
from shoal.web.planning.form import ROLES, PlanForm, edited, field_of
from shoal.web.planning.jobs import protect_command
from shoal.web.planning.plans import keep_plan, plan_of
from shoal.web.planning.words import FOLDS
from shoal.web.protecting.look import Look, PreviewCache, sheets_of
from shoal.web.protecting.reading import reading_from, readings_of
from shoal.web.rendering import page
from shoal.web.requests import Fields
from shoal.web.wording import message_of
from shoal.web.workspace import Upload, Workspace

PAGES = ("protect", "explore", "audit")


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
