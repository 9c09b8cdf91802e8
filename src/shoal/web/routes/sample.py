"""The sample: invented letters and patients as if somebody had uploaded them, so that every page can be tried."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from shoal.sample import letters, write_sample
from shoal.web.requests import TheIndex, TheWorker, TheWorkspace
from shoal.web.workspace import Upload, Workspace

router = APIRouter(prefix="/sample")
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


@router.post("/{what}")
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
