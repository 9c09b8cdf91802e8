"""The desk: a page that does not reload, and the questions it asks."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from shoal.errors import InputError
from shoal.sanitizer.review.review import check_reviewer
from shoal.web.desk.desk import Choice, Desk
from shoal.web.desk.views import KIND_NAMES
from shoal.web.jobs import DONE
from shoal.web.rendering import page
from shoal.web.requests import Form, TheDesks, TheJob, TheJobs, read_body

router = APIRouter(prefix="/review")

REVIEWER = "shoal-reviewer"
YEAR = 365 * 86_400
LARGEST_REQUEST = 100_000  # bytes
HISTORY = 300  # entries that a page shows
LONGEST_REASON = 2_000  # characters


class Sent(BaseModel):
    """What the page sends when somebody decides; positions are counted as the browser counts them."""

    model_config = ConfigDict(strict=True)

    reviewer: str = ""
    document: str = ""
    item: str = ""
    action: str = ""
    kind: str = ""
    span: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    reason: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    adjudicates: bool = False
    everywhere: bool = False

    @property
    def browser_span(self) -> tuple[int, int] | None:
        return None if self.span is None else (self.span[0], self.span[1])


async def _sent(request: Request) -> Sent:
    try:
        sent = Sent.model_validate_json(await read_body(request, LARGEST_REQUEST))
    except ValidationError:
        raise InputError("the request cannot be read; reload the page") from None
    if len(sent.reason) > LONGEST_REASON:
        raise InputError(f"the reason has {len(sent.reason):,} characters, and {LONGEST_REASON:,} are kept; shorten it")
    return sent


async def _desk(job: TheJob, desks: TheDesks) -> Desk:
    return await run_in_threadpool(desks.of, job)


TheDesk = Annotated[Desk, Depends(_desk)]
TheSent = Annotated[Sent, Depends(_sent)]


class _Answer(Response):
    """JSON in ASCII: a text may hold half of a character, which no other encoding takes."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode("ascii")


@router.get("/{job}")
async def desk(job: TheJob, request: Request, jobs: TheJobs, desks: TheDesks) -> Response:
    """The desk, or what comes before: proposals, and the reviewer's name."""
    if job.page != "review" or job.state != DONE:
        return RedirectResponse(f"/jobs/{job.id}", 303)
    reviewer = unquote(request.cookies.get(REVIEWER, ""))
    if not reviewer or "rename" in request.query_params:
        return page(request, "reviewer.html.jinja", job=job, reviewer=reviewer)
    opened = await run_in_threadpool(desks.of, job)
    releases = [other for other in jobs if other.page == "redact" and other.about.get("review") == job.id]
    return page(
        request, "desk.html.jinja", job=job, desk=opened, reviewer=reviewer, kinds=KIND_NAMES, releases=releases
    )


@router.post("/{job}/reviewer")
async def name_reviewer(job: TheJob, form: Form) -> Response:
    """Who decides: asked once, and remembered by the browser."""
    reviewer = form.text("reviewer")
    check_reviewer(reviewer)
    answer = RedirectResponse(f"/review/{job.id}", 303)
    answer.set_cookie(REVIEWER, quote(reviewer), max_age=YEAR, httponly=True, samesite="strict")
    return answer


@router.get("/{job}/progress")
async def progress(desk: TheDesk, reviewer: str) -> Response:
    return _Answer(await run_in_threadpool(desk.progress, reviewer))


@router.get("/{job}/documents/{document}")
async def document(desk: TheDesk, document: str, reviewer: str) -> Response:
    return _Answer(await run_in_threadpool(desk.document, document, reviewer))


@router.get("/{job}/documents/{document}/news")
async def news(desk: TheDesk, document: str, reviewer: str, since: int) -> Response:
    return _Answer(await run_in_threadpool(desk.news, document, reviewer, since))


@router.get("/{job}/documents/{document}/after")
async def after(desk: TheDesk, document: str) -> Response:
    return _Answer(await run_in_threadpool(desk.after, document))


@router.get("/{job}/kinds/{kind}")
async def open_of_kind(desk: TheDesk, kind: str, reviewer: str) -> Response:
    return _Answer(await run_in_threadpool(desk.open_of_kind, kind, reviewer))


@router.get("/{job}/history")
async def history(desk: TheDesk, reviewer: str) -> Response:
    return _Answer(await run_in_threadpool(desk.history, reviewer, HISTORY))


@router.get("/{job}/decisions.jsonl")
async def decisions(desk: TheDesk) -> Response:
    """The log as it is, to be saved."""
    log = desk.work.log.path
    if not log.exists():
        raise InputError("nothing is decided yet, so there is nothing to save; decide something first")
    return FileResponse(log, filename="decisions.jsonl", media_type="application/x-ndjson")


@router.post("/{job}/decide")
async def decide(desk: TheDesk, sent: TheSent) -> Response:
    key = sent.document, sent.item
    chosen = Choice(key, sent.action, sent.browser_span, sent.reason, sent.adjudicates, sent.everywhere)
    return _Answer(await run_in_threadpool(desk.decide, sent.reviewer, chosen))


@router.post("/{job}/decide-kind")
async def decide_kind(desk: TheDesk, sent: TheSent) -> Response:
    asked = sent.document, sent.kind, sent.action, sent.reason
    return _Answer(await run_in_threadpool(desk.decide_kind, sent.reviewer, *asked))


@router.post("/{job}/add")
async def add(desk: TheDesk, sent: TheSent) -> Response:
    added = sent.document, sent.browser_span or (0, 0), sent.kind, sent.reason
    return _Answer(await run_in_threadpool(desk.add, sent.reviewer, *added))


@router.post("/{job}/undo")
async def undo(desk: TheDesk, sent: TheSent) -> Response:
    return _Answer(await run_in_threadpool(desk.undo, sent.reviewer, sent.document, sent.reason))


@router.post("/{job}/redo")
async def redo(desk: TheDesk, sent: TheSent) -> Response:
    return _Answer(await run_in_threadpool(desk.redo, sent.reviewer, sent.document))
