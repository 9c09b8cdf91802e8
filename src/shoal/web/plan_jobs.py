"""A plan as a job: its files where the job works, and the plan brought back from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from fastapi.concurrency import run_in_threadpool

from shoal.errors import InputError
from shoal.request.method_options import MASKING, RECORD_SKETCHES
from shoal.request.plan import plan_text, read_plan
from shoal.request.request import Request
from shoal.web.commands import PLAN, audit_command, explore_command, protect_command
from shoal.web.form import KINDS
from shoal.web.jobs import Job, Jobs
from shoal.web.look import Look
from shoal.web.plans import OUTSIDE, files_of, keep_plan, with_files
from shoal.web.workspace import Upload, Workspace, lend_unpacked, unpack, unpack_release

EARLIER = {"after": ("earlier", unpack_release), "earlier_private": ("earlier-private", unpack)}


def lent(plan: Request, workspace: Workspace, folder: Path) -> Request:
    """The plan with its files as the job sees them, from where it works; it is written there, too."""
    earlier = {path: name for name in EARLIER if (path := getattr(plan.publication, name)) is not None}
    if earlier and len(earlier) < len(EARLIER):
        raise InputError("a release that follows another needs that release and its private part; choose both")
    if earlier and not plan.columns.id_column:
        raise InputError("matching records across releases needs an id; choose the column that names the records")
    numbers = count(1)

    def put(file: str) -> str:
        if file in earlier:
            return lend_unpacked(workspace, Path(file), folder, *EARLIER[earlier[file]])
        return workspace.lend_apart(Path(file), folder, f"column-{next(numbers)}")

    source = workspace.link(Path(plan.source), folder / "work")
    ready = replace(with_files(plan, put), source=source)
    (folder / "work" / PLAN).write_text(plan_text(ready, Path(), {}), encoding="utf-8", newline="\n")
    return ready


def check_plan(plan: Request, look: Look) -> None:
    """Refuse what cannot be done before anything runs."""
    plan.check_for(KINDS[look.inspection.kind])
    if look.is_table and not plan.columns.quasi:
        raise InputError("no column is protected; choose Protect for at least one that others may know of a person")
    if plan.method.method in MASKING and plan.method.percent is None:
        raise InputError("this method needs a strength; enter it in per cent, such as 5")


async def start_release(
    plan: Request, workspace: Workspace, jobs: Jobs, upload: str, then: Callable[[Job], None] | None = None
) -> Job:
    """Make the release of a plan, whose files may be uploads or those of another job."""
    with workspace.new_job() as folder:
        ready = await run_in_threadpool(lent, plan, workspace, folder)
        command = protect_command(ready)
    title = ", ".join(filter(None, (f"Release of {ready.source}", named_by(plan))))
    return jobs.start(folder, "protect", title, command, about_plan(plan, upload), then=then)


async def start_judging(
    kind: str, plan: Request, own: Mapping[str, Any], workspace: Workspace, jobs: Jobs, upload: Upload
) -> Job:
    """Audit or explore a file by its plan; `own` are options that are no part of it."""
    with workspace.new_job() as folder:
        ready = await run_in_threadpool(lent, plan, workspace, folder)
        command = explore_command(own) if kind == "explore" else audit_command(ready, own)
    title = f"{'Exploration' if kind == 'explore' else 'Audit'} of {upload.name}"
    return jobs.start(folder, kind, title, command, about_plan(plan, upload.id))


def about_plan(plan: Request, upload: str) -> dict[str, Any]:
    """What a job remembers of its files: they go with the last job that has them."""
    return {"upload": upload, "uploads": [Path(file).parent.name for file in files_of(plan)]}


def plan_of_job(job: Job) -> Request | None:
    """The plan that a job carried out, with its files where the job worked."""
    path = job.work / PLAN
    return read_plan(path).with_options(**dict.fromkeys(OUTSIDE)) if path.is_file() else None


def bring_back(job: Job, upload: Upload, workspace: Workspace) -> None:
    """The plan of a job becomes that of its file; hierarchies that were removed since are fetched from the job."""
    plan = plan_of_job(job)
    if plan is None:
        return
    here = {one.name: str(one.path) for one in reversed(workspace.all_uploads())}

    def fetched(file: str) -> str:
        name = Path(file).name
        if name not in here:
            kept = workspace.new_upload()
            here[name] = str(kept.folder / workspace.link(Path(file), kept.folder))
        return here[name]

    keep_plan(upload, replace(with_files(plan, fetched), source=str(upload.path)))


def named_by(plan: Request) -> str:
    """What distinguishes a release from others of the same file: k, l, the method and so on."""
    k = [] if plan.method.method in (*MASKING, *RECORD_SKETCHES) else [f"k = {plan.k}"]
    how = [_short(name, plan.given[name]) for name in ("method", "percent") if name in plan.given]
    coarse = [f"{column} coarsened" for column in plan.columns.coarsen or ()]
    return ", ".join(filter(None, [*k, promised(plan), *how, *coarse]))


def promised(plan: Request) -> str:
    """What a plan promises beside k."""
    names = ("l", "t", "beta", "person", "household", "k_column")
    return ", ".join(_short(name, plan.given[name]) for name in names if name in plan.given)


def _short(name: str, value: Any) -> str:
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
