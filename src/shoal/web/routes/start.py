"""The start page: every job, the sample to try it with, and what was done so far."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from shoal.web.rendering import THEMES, page
from shoal.web.requests import Form, TheJobs, TheWorkspace
from shoal.web.workspace import Upload

router = APIRouter()
YEAR = 365 * 86_400
TEXTS = (".docx", ".htm", ".html", ".md", ".pdf")  # documents that only Review reads


# What of the sample each page can be tried with.
SAMPLES = {
    "protect": (("table", "Try a table"), ("documents", "Try letters")),
    "verify": (("verify", "Try a release"),),
    "assess": (("assess", "Try a table and its release"),),
    "explore": (("explore", "Try a table"),),
    "review": (("review", "Try a few letters"),),
    "index": (("index", "Try letters"),),
}


@router.get("/")
async def start(request: Request, jobs: TheJobs, workspace: TheWorkspace) -> Response:
    uploads = [(upload, *_use_of(upload)) for upload in workspace.all_uploads()]
    return page(request, "start.html.jinja", jobs=list(jobs), uploads=uploads, samples=SAMPLES)


def _use_of(upload: Upload) -> tuple[str, str]:
    """The page that a file is for, by its name, and what is done there."""
    path = upload.path
    if path.suffix.lower() == ".zip" or (path / "certificate.json").is_file():
        return f"/verify?upload={upload.id}", "Verify"
    if path.suffix.lower() in TEXTS:
        return f"/review?upload={upload.id}", "Review"
    return f"/protect/{upload.id}", "Protect"


@router.post("/theme")
async def choose_theme(request: Request, form: Form) -> Response:
    """Light, dark, or as the system has it."""
    chosen = form.text("theme")
    answer = RedirectResponse(_own_path(request), 303)
    if chosen in THEMES:
        answer.set_cookie("shoal-theme", chosen, max_age=YEAR, httponly=True, samesite="strict")
    return answer


def _own_path(request: Request) -> str:
    """The page that the form was on."""
    referrer = request.headers.get("referer", "")
    own = str(request.base_url)
    return "/" + referrer.removeprefix(own).lstrip("/") if referrer.startswith(own) else "/"
