"""The desk: a page that does not reload, and the questions it asks."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response

from shoal.errors import InputError
from shoal.sanitizer.review.review import check_reviewer
from shoal.web.desk.desk import Choice, Desk
from shoal.web.desk.views import KIND_NAMES
from shoal.web.jobs import DONE
from shoal.web.rendering import page
from shoal.web.requests import Form, TheDesks, TheJobs

router = APIRouter(prefix="/review")

REVIEWER = "shoal-reviewer"
YEAR = 365 * 86_400
LARGEST_REQUEST = 100_000  # bytes
HISTORY = 300  # entries that a page shows
LONGEST_REASON = 2_000  # characters


def _desk(job: str, jobs: TheJobs, desks: TheDesks) -> Desk:
    return desks.of(jobs.get(job))


async def _content(request: Request) -> dict[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_REQUEST:
            raise InputError(f"the request has more than {LARGEST_REQUEST:,} bytes; send less")
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError("the request cannot be read; load the page again")
    return content


TheDesk = Annotated[Desk, Depends(_desk)]
Content = Annotated[dict[str, Any], Depends(_content)]


class _Answer(Response):
    """JSON in ASCII: a text may hold half of a character, which no other encoding takes."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode("ascii")


@router.get("/{job}")
async def desk(job: str, request: Request, jobs: TheJobs, desks: TheDesks) -> Response:
    """The desk, or what comes before: proposals, and the reviewer's name."""
    review = jobs.get(job)
    if review.page != "review" or review.state != DONE:
        return RedirectResponse(f"/jobs/{job}", 303)
    reviewer = unquote(request.cookies.get(REVIEWER, ""))
    if not reviewer or "rename" in request.query_params:
        return page(request, "reviewer.html.jinja", job=review, reviewer=reviewer)
    opened = await run_in_threadpool(desks.of, review)
    releases = [other for other in jobs if other.page == "redact" and other.about.get("review") == job]
    return page(
        request, "desk.html.jinja", job=review, desk=opened, reviewer=reviewer, kinds=KIND_NAMES, releases=releases
    )


@router.post("/{job}/reviewer")
async def name_reviewer(job: str, form: Form, jobs: TheJobs) -> Response:
    """Who decides: asked once, and remembered by the browser."""
    jobs.get(job)
    reviewer = form.text("reviewer")
    check_reviewer(reviewer)
    answer = RedirectResponse(f"/review/{job}", 303)
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
async def decide(desk: TheDesk, content: Content) -> Response:
    chosen = Choice(
        (_text(content, "document"), _text(content, "item")),
        _text(content, "action"),
        _span(content),
        _reason(content),
        adjudicates=bool(content.get("adjudicates")),
        everywhere=bool(content.get("everywhere")),
    )
    return _Answer(await run_in_threadpool(desk.decide, _text(content, "reviewer"), chosen))


@router.post("/{job}/add")
async def add(desk: TheDesk, content: Content) -> Response:
    span = _span(content) or (0, 0)
    who, where = _text(content, "reviewer"), _text(content, "document")
    return _Answer(await run_in_threadpool(desk.add, who, where, span, _text(content, "kind"), _reason(content)))


@router.post("/{job}/undo")
async def undo(desk: TheDesk, content: Content) -> Response:
    who, where = _text(content, "reviewer"), _text(content, "document")
    return _Answer(await run_in_threadpool(desk.undo, who, where, _reason(content)))


@router.post("/{job}/redo")
async def redo(desk: TheDesk, content: Content) -> Response:
    return _Answer(await run_in_threadpool(desk.redo, _text(content, "reviewer"), _text(content, "document")))


def _text(content: dict[str, Any], name: str) -> str:
    given = content.get(name, "")
    if not isinstance(given, str):
        raise InputError(f"{name} must be a text; load the page again")
    return given


def _reason(content: dict[str, Any]) -> str:
    reason = _text(content, "reason").strip()
    if len(reason) > LONGEST_REASON:
        raise InputError(f"the reason has {len(reason):,} characters, and {LONGEST_REASON:,} are kept; shorten it")
    return reason


def _span(content: dict[str, Any]) -> tuple[int, int] | None:
    span = content.get("span")
    if span is None:
        return None
    if not isinstance(span, list) or len(span) != 2 or not all(type(place) is int for place in span):
        raise InputError("a span has a start and an end, in characters; select the text again")
    return span[0], span[1]
