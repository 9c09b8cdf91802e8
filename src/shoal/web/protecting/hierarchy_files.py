"""The hierarchies that were chosen on a page, as files where the job works."""

from __future__ import annotations

from pathlib import Path

from fastapi.concurrency import run_in_threadpool

from shoal.data.files import shown
from shoal.errors import InputError
from shoal.web.aside import Aside
from shoal.web.protecting.choices import BY_FILE, BY_GROUPS, Choices
from shoal.web.protecting.hierarchies import hierarchy_pairs, write_hierarchy
from shoal.web.protecting.look import Look, values_of
from shoal.web.protecting.reading import opened
from shoal.web.workspace import Upload, Workspace


async def hierarchy_files(
    chosen: Choices, found: Look, given: Upload, workspace: Workspace, folder: Path, aside: Aside
) -> dict[str, str]:
    """The file of each column whose labels are compared by one."""
    files: dict[str, str] = {}
    written = []
    for place, inspected in chosen.compared(found, BY_GROUPS, BY_FILE):
        column = inspected.name
        if chosen.labels.get(place) == BY_GROUPS:
            written.append((place, column))
        elif not chosen.files.get(place):
            raise InputError(f"column {shown(column)} is to be compared by a hierarchy; choose its file")
        else:
            file = workspace.upload(chosen.files[place]).path
            files[column] = await run_in_threadpool(workspace.lend_apart, file, folder, f"column-{place + 1}")
    known = (
        await aside.call(values_of, opened(given.path, found.reading), [column for _, column in written])
        if written
        else {}
    )
    for place, column in written:
        pairs = hierarchy_pairs(column, known[column], chosen.groups_of(place))
        files[column] = write_hierarchy(folder / "work", place, pairs)
    return files
