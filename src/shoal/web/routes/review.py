"""Review: documents come in, proposals are made, the desk where people decide, and in the end the release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from shoal.data.private_files import config_folder
from shoal.errors import InputError
from shoal.results.sanitizing import DEFAULT_THRESHOLD
from shoal.sanitizer.policies.policy import BUILT_IN
from shoal.sanitizer.policies.words import UNITS
from shoal.sanitizer.redact import FORMS
from shoal.sanitizer.release.pseudonyms import SCOPES, STYLES
from shoal.sanitizer.review.review import check_reviewer
from shoal.web.commands import (
    COLUMNS,
    PRIVATE,
    RELEASE,
    WORK,
    redact_command,
    sanitize_command,
    verify_sanitized_command,
)
from shoal.web.desk import Choice, Desk
from shoal.web.desk_views import KIND_NAMES
from shoal.web.jobs import DONE, Job
from shoal.web.rendering import page
from shoal.web.requests import Fields, Form, TheDesks, TheJob, TheJobs, TheWorkspace, read_body

router = APIRouter(prefix="/review")

POLICY_NAMES = {
    "eo13526": "State secrets (Executive Order 13526)",
    "health": "Health",
    "gdpr": "Personal data (GDPR)",
    "company": "Company secrets",
    "none": "None: names, places and dates only",
}
POLICIES = {name: POLICY_NAMES.get(name, name) for name in (*BUILT_IN, "none")}
MOST_NEEDED = "gdpr"
LOCKED_KEY = b"age-encryption.org/v1"  # how a key file begins that a passphrase locks


@router.get("")
async def choose(
    request: Request, workspace: TheWorkspace, jobs: TheJobs, upload: str = "", policy: str = MOST_NEEDED
) -> Response:
    """What was uploaded elsewhere can be brought along."""
    given = workspace.upload(upload) if upload else None
    earlier = [job for job in jobs if job.page == "review"]
    return page(
        request,
        "review.html.jinja",
        given=given,
        policies=POLICIES,
        policy=policy,
        threshold=DEFAULT_THRESHOLD,
        earlier=earlier,
    )


@router.post("")
async def propose(form: Form, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Find what should be masked."""
    upload = workspace.upload(form.text("upload"))
    chosen = _sanitizing(form)
    with workspace.new_job() as folder:
        source = await run_in_threadpool(workspace.lend, upload, folder)
        if source == WORK:
            raise InputError(f"a file or folder named {WORK} cannot be used here; rename it")
    job = jobs.start(folder, "review", upload.name, sanitize_command(source, chosen), {})
    workspace.remove(upload.folder)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.get("/{job}/release")
async def before_release(job: TheJob, request: Request, jobs: TheJobs, desks: TheDesks) -> Response:
    """What is still open, and what the release is to be."""
    desk = desks.of(job)
    documents = (await run_in_threadpool(desk.progress, ""))["documents"]
    key = config_folder() / "sanitizer.key"
    return page(
        request,
        "review_release.html.jinja",
        job=job,
        open=sum(document["open"] for document in documents),
        disputed=sum(document["disputed"] for document in documents),
        locked=desk.work.locked,
        pdf=desk.has_pdf,
        key=key,
        key_is_there=key.exists(),
        made=[other for other in jobs if other.about.get("review") == job.id and other.page == "redact"],
    )


@router.post("/{job}/release")
async def release(job: TheJob, form: Form, workspace: TheWorkspace, jobs: TheJobs, desks: TheDesks) -> Response:
    """A job of its own, so that the release stays when the review is closed."""
    chosen = _redacting(form)
    await run_in_threadpool(_check_ready, desks.of(job), chosen["accept_rest"])
    command = redact_command(chosen, tuple(form.text("recipients").split()))
    with workspace.new_job() as folder:
        _lend(folder, job, WORK)
    made = jobs.start(folder, "redact", f"Release of {job.title}", command, {"review": job.id})
    return RedirectResponse(f"/jobs/{made.id}", 303)


@router.post("/{job}/verify")
async def verify(job: TheJob, workspace: TheWorkspace, jobs: TheJobs) -> Response:
    """Count every promise, and look for every masked string with the vault."""
    if job.page != "redact" or job.state != DONE:
        raise LookupError(job.id)
    with workspace.new_job() as folder:
        for name in (RELEASE, PRIVATE):
            _lend(folder, job, name)
    started = jobs.start(folder, "verify", job.title, verify_sanitized_command(), {"release": job.id})
    return RedirectResponse(f"/jobs/{started.id}", 303)


def _lend(folder: Path, owner: Job, name: str) -> None:
    """Another job's folder, under its name where this job works; it is not copied, for a review has one log."""
    (folder / "work" / name).symlink_to(Path("..") / ".." / owner.id / "work" / name)


def _sanitizing(form: Fields) -> dict[str, Any]:
    reviewers = form.whole("reviewers", 1) or 1
    if reviewers > 2:
        raise InputError(f"reviewers={reviewers}: one or two must agree; give 1 or 2")
    allowed = {"policy": tuple(POLICIES), "style": STYLES, "scope": SCOPES, "unit": UNITS}
    return {
        **{name: _one_of(form, name, names) for name, names in allowed.items()},
        "reviewers": reviewers,
        "threshold": _probability(form, "threshold"),
        **{name: form.text(name) for name in COLUMNS},
    }


def _redacting(form: Fields) -> dict[str, Any]:
    rest = _probability(form, "accept_rest") if form.text("rest") else None
    if form.text("rest") and rest is None:
        raise InputError("the probability from which the rest is masked is missing; give a number from 0 to 1")
    chosen = {"form": _one_of(form, "form", FORMS), "bars": _one_of(form, "bars", ("words", "lines"))}
    return {**chosen, "accept_rest": rest, "keep_pictures": bool(form.text("keep_pictures"))}


def _one_of(form: Fields, name: str, allowed: tuple[str, ...]) -> str:
    """The first one, if nothing was chosen."""
    given = form.text(name) or allowed[0]
    if given not in allowed:
        raise InputError(f"{name}={given[:20]!r} is unknown; choose one of {', '.join(allowed)}")
    return given


def _probability(form: Fields, name: str) -> float | None:
    given = form.text(name)
    try:
        number = float(given or 0)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InputError(f"{name}={given[:20]!r} is a probability; give a number from 0 to 1")
    return number if given else None


def _check_ready(desk: Desk, accept_rest: float | None) -> None:
    """Refuse what would fail. A job has nobody to ask for a passphrase."""
    documents = desk.progress("")["documents"]
    waiting = sum(document["open"] + document["disputed"] for document in documents)
    if waiting and accept_rest is None:
        raise InputError(f"{waiting} items are undecided; decide them at the desk, or let a rule decide the rest")
    key = config_folder() / "sanitizer.key"
    if key.is_file() and key.read_bytes().startswith(LOCKED_KEY):
        raise InputError(f"{key} is locked with a passphrase; make this release in a shell, where you can type it")


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
