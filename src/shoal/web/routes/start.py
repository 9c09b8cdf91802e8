"""The start page: every job, the sample to try it with, what was done so far; and uploads, which come in a stream."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.data.files import kind_of
from shoal.data.sources import format_of
from shoal.errors import InputError
from shoal.sample import letters, write_sample
from shoal.web.rendering import THEMES, page
from shoal.web.requests import Form, TheIndex, TheJobs, TheWorker, TheWorkspace
from shoal.web.workspace import Upload, Workspace

router = APIRouter()
YEAR = 365 * 86_400
TEXTS = (".docx", ".htm", ".html", ".md", ".pdf")  # documents that only Review reads
# What of the sample each page can be tried with.
SAMPLES = {
    "protect": (("table", "Try a table"), ("documents", "Try letters")),
    "audit": (("audit", "Try a table"),),
    "verify": (("verify", "Try a release"),),
    "assess": (("assess", "Try a table and its release"),),
    "explore": (("explore", "Try a table"),),
    "review": (("review", "Try a few letters"),),
    "index": (("index", "Try letters"),),
}


@router.get("/")
async def start(request: Request, jobs: TheJobs, workspace: TheWorkspace) -> Response:
    uploads = [(upload, page_for(upload)) for upload in workspace.all_uploads()]
    read = [(upload, *leads_to) for upload, leads_to in uploads if leads_to is not None]
    unread = len(uploads) - len(read)
    return page(request, "start.html.jinja", jobs=list(jobs), uploads=read, unread=unread, samples=SAMPLES)


@router.post("/uploads/unread/remove")
async def remove_unread(workspace: TheWorkspace) -> Response:
    """Files that no page reads, such as images; a hierarchy that a plan names stays."""
    plans = [upload.plan.read_text(encoding="utf-8") for upload in workspace.all_uploads() if upload.plan.is_file()]
    for upload in workspace.all_uploads():
        if page_for(upload) is None and not any(upload.id in plan for plan in plans):
            workspace.remove(upload.folder)
    return RedirectResponse("/", 303)


@router.post("/uploads")
async def new_upload(workspace: TheWorkspace) -> dict[str, str]:
    return {"id": workspace.new_upload().id}


@router.put("/uploads/{upload}/{name:path}")
async def receive(upload: str, name: str, request: Request, workspace: TheWorkspace) -> dict[str, str]:
    """One file of an upload; a folder's files come with their paths."""
    size = request.headers.get("content-length", "")
    with workspace.upload(upload).receiving(name, int(size) if size.isdigit() else None) as file:
        try:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        except OSError:
            raise InputError("the file cannot be written; make room on the disk") from None
    return {"id": upload}


@router.delete("/uploads/{upload}")
async def close(upload: str, workspace: TheWorkspace) -> dict[str, str]:
    await run_in_threadpool(workspace.remove, workspace.upload(upload).folder)
    return {}


@router.post("/uploads/{upload}/remove")
async def remove(upload: str, workspace: TheWorkspace) -> Response:
    """The same from a page without a script."""
    await close(upload, workspace)
    return RedirectResponse("/", 303)


def page_for(upload: Upload) -> tuple[str, str] | None:
    """The address and name of the page that reads a file, by its name and whether it has rows; None if none does."""
    path = upload.path
    if path.suffix.lower() in (".csv", ".tsv"):
        with path.open("rb") as file:
            if b"\n" not in file.read(FIRST_BYTES).strip():
                return None
    if path.suffix.lower() == ".zip" or (path / "certificate.json").is_file():
        return f"/verify?upload={upload.id}", "Verify"
    if path.suffix.lower() in TEXTS:
        return f"/review?upload={upload.id}", "Review"
    if path.is_dir() or kind_of(path) or format_of(path):
        return f"/protect/{upload.id}", "Protect"
    return None


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


FIRST_BYTES = 1_000_000  # that hold a header and a row
FEW = 12  # letters to review
K = 5
# A file of the sample, and the page that it is for.
FILES = {
    "table": ("subjects.csv", "protect"),
    "documents": ("letters.jsonl", "protect"),
    "audit": ("subjects.csv", "audit"),
    "explore": ("subjects.csv", "explore"),
    "index": ("letters.jsonl", "index"),
}


@router.post("/sample/{what}")
async def try_it(what: str, workspace: TheWorkspace, worker: TheWorker, index: TheIndex) -> Response:
    """Upload what the page needs, and lead there."""
    if what == "index" and not index.connected:
        await index.try_here()
    if what in FILES:
        name, leads_to = FILES[what]
        upload = await run_in_threadpool(_file, workspace, name)
        return _to(f"/{leads_to}?upload={upload.id}")
    if what == "review":
        upload = await run_in_threadpool(_letters, workspace)
        return _to(f"/review?upload={upload.id}&policy=health")
    if what in ("verify", "assess"):
        original = await run_in_threadpool(_file, workspace, "subjects.csv")
        release, private = workspace.new_upload(), workspace.new_upload()
        await worker.call(_protect, original.path, release.folder / "release", private.folder / "private")
        if what == "assess":
            return _to(f"/assess?original={original.id}&protected={release.id}&private={private.id}")
        workspace.remove(private.folder)
        workspace.remove(original.folder)
        return _to(f"/verify?upload={release.id}")
    raise LookupError(what)


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)


def _file(workspace: Workspace, name: str) -> Upload:
    """One file of the sample."""
    made, upload = workspace.new_upload(), workspace.new_upload()
    write_sample(made.folder)
    (made.folder / name).rename(upload.folder / name)
    workspace.remove(made.folder)
    return upload


def _letters(workspace: Workspace) -> Upload:
    """A folder of a few letters."""
    upload = workspace.new_upload()
    folder = upload.folder / "letters"
    folder.mkdir()
    for letter in letters()[:FEW]:
        (folder / f"{letter.id}.txt").write_text(letter.text, encoding="utf-8")
    return upload


def _protect(table: Path, out: Path, private: Path) -> None:
    """A release of the sample's table, made quickly; aside, where what it needs is loaded."""
    from shoal.data.roles import Roles
    from shoal.methods.numeric import Microaggregation
    from shoal.release.protect import protect

    roles = Roles(quasi=("age", "height_cm", "weight_kg", "income"), confidential=("diagnosis",))
    protect(table, K, out, roles=roles, method=Microaggregation(refine=False), l=2, private=private, attack=False)
