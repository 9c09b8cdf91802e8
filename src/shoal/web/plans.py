"""The plan of an upload: proposed at first, kept as a file beside it, saved and opened by people."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.data.files import shown, unknown_column
from shoal.data.kinds.inspection import proposed_request
from shoal.data.private_files import private_file
from shoal.data.roles import Role
from shoal.errors import InputError
from shoal.request.plan import plan_text, read_plan
from shoal.request.request import OPTIONS, Request
from shoal.request.values import Column, Columns, File, Files
from shoal.web.look import READINGS, Look, PreviewCache, reading_from
from shoal.web.requests import Fields
from shoal.web.workspace import Upload, Workspace

_PATHS = {name: known for name, known in OPTIONS.items() if isinstance(known.about.value, File | Files)}
# What a plan may say of places outside the workbench, which its pages neither read nor write.
OUTSIDE = (
    "query",
    "client",
    *(name for name, known in _PATHS.items() if not (known.about.label or known.about.column)),
)


async def plan_of(upload: Upload, asked: Fields, previews: PreviewCache) -> tuple[Request, Look]:
    """The plan as it was left, or a proposal; `asked` may say that the file is to be read in another way."""
    kept = kept_plan(upload)
    reading = reading_from(asked)
    if kept is None or reading or asked.text("text"):
        look = await previews.at(upload, asked.text("text"), reading)
        plan = proposed_plan(upload.path, look, kept)
        keep_plan(upload, plan)
        return plan, look
    return kept, await look_at_plan(upload, kept, previews)


async def look_at_plan(upload: Upload, plan: Request, previews: PreviewCache) -> Look:
    """The file as its plan reads it."""
    reading = {name: value for name in READINGS if (value := getattr(plan.reading, name))}
    return await previews.at(upload, plan.columns.text_column or "", reading)


def kept_plan(upload: Upload) -> Request | None:
    """None where there is none, or none of use: files that it names may have been removed."""
    if not upload.plan.is_file():
        return None
    try:
        plan = read_plan(upload.plan, source=str(upload.path))
    except InputError:
        return None
    plan = plan.with_options(**dict.fromkeys(OUTSIDE))
    return with_files(plan, lambda file: file if Path(file).exists() else None)


def keep_plan(upload: Upload, plan: Request) -> None:
    """The whole file, or as it was."""
    aside = upload.plan.with_suffix(".part")
    with open(aside, "w", encoding="utf-8", newline="\n", opener=private_file) as file:
        file.write(plan_text(plan, upload.plan.parent, {}))
    os.replace(aside, upload.plan)


def saved_plan(plan: Request, upload: Upload) -> str:
    """The plan as somebody takes it elsewhere: files by their names, in the folder of the plan."""
    return plan_text(replace(with_files(plan, lambda file: Path(file).name), source=upload.name), Path(), {})


def opened_plan(path: Path, upload: Upload, look: Look, workspace: Workspace) -> tuple[Request, tuple[str, ...]]:
    """A plan that somebody brought, for this file, and the names of files that it needs and that are not here."""
    plan = read_plan(path, source=str(upload.path))
    for column in _columns_of(plan):
        if column not in look.column_names:
            raise unknown_column(column, look.column_names, shown(upload.name))
    plan = plan.with_options(**dict.fromkeys(OUTSIDE))
    here = {one.name: str(one.path) for one in reversed(workspace.all_uploads())}
    lost = {Path(file).name for file in files_of(plan)} - here.keys()
    return with_files(plan, lambda file: here.get(Path(file).name)), tuple(sorted(lost))


def proposed_plan(path: Path, look: Look, kept: Request | None = None) -> Request:
    """What suits the columns; k stays as it was chosen."""
    source: dict[str, Any] = {**look.reading, "k": kept.k if kept else None}
    if look.is_table and not any(column.role is Role.QUASI for column in look.columns):
        return Request.of(str(path), source)
    if not look.is_table:
        return Request.of(str(path), source | {"text_column": look.text or None})
    proposal, _ = proposed_request(look.inspection, Request.of(str(path), source))
    return proposal.with_options(kinds=None)  # they are recognised again


def _columns_of(plan: Request) -> list[str]:
    """Every column that a plan names."""
    found: list[str] = []
    for name, value in plan.given.items():
        about = OPTIONS[name].about
        if isinstance(about.value, Column):
            found.append(value)
        elif isinstance(about.value, Columns) or (about.column and isinstance(value, Mapping)):
            found.extend(value)
    return found


def files_of(plan: Request) -> list[str]:
    """The files that a plan names beside its source."""
    found: list[str] = []

    def note(file: str) -> str:
        found.append(file)
        return file

    with_files(plan, note)
    return found


def with_files(plan: Request, change: Callable[[str], str | None]) -> Request:
    """The plan with each of its files changed; None leaves it out. Words that are no files stay."""

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping):
            files = {column: changed(file) for column, file in value.items()}
            return {column: file for column, file in files.items() if file is not None} or None
        return value if str(value).lower() in Files.WORDS else change(str(value))

    given = {name: value for name, value in plan.given.items() if name in _PATHS and name not in OUTSIDE}
    return plan.with_options(**{name: changed(value) for name, value in given.items()})


Pairs = list[tuple[str, str]]
HEADER = ("child", "parent")


def hierarchy_pairs(column: str, values: Iterable[str], groups: Mapping[str, Iterable[str]]) -> Pairs:
    """Child and parent: each value below its group, each group and each value without one below the top."""
    listed = {str(name).strip(): [*members] for name, members in groups.items()}
    if "" in listed:
        raise InputError(f"a group of column {shown(column)} has no name; name it")
    known = set(values)
    group_of = {value: name for name, members in listed.items() for value in members if value in known}
    top = f"any {column}"
    while top in known or top in listed:
        top = f"({top})"
    pairs = [(value, group_of.get(value, top)) for value in sorted(known)]
    pairs += [(name, top) for name in sorted(listed) if name in group_of.values()]
    return [(child, parent) for child, parent in pairs if child != parent]


def write_groups(path: Path, pairs: Pairs) -> None:
    """The hierarchy as a file."""
    with open(path, "x", encoding="utf-8", newline="", opener=private_file) as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *pairs])


def read_groups(path: Path | None, values: Iterable[str]) -> dict[str, list[str]]:
    """The groups of a hierarchy that was made here; none of another one."""
    if path is None or not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [tuple(row) for row in csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
    if not rows or rows[0] != HEADER or any(len(row) != 2 for row in rows):
        return {}
    parents = {parent for _, parent in rows[1:]}
    tops = parents - {child for child, _ in rows[1:]}
    known = set(values)
    groups: dict[str, list[str]] = {}
    for child, parent in rows[1:]:
        if child in known and parent not in tops:
            groups.setdefault(parent, []).append(child)
    return groups
