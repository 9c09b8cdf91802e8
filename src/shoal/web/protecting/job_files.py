"""Files that a release needs beside its table, where the job works: hierarchies of labels, and an earlier release."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from fastapi.concurrency import run_in_threadpool

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.web.archives import lend_unpacked, unpack, unpack_release
from shoal.web.protecting.choices import BY_FILE, BY_GROUPS, Choices
from shoal.web.protecting.look import Look, values_of
from shoal.web.protecting.reading import opened
from shoal.web.worker_process import WorkerProcess
from shoal.web.workspace import Upload, Workspace

Pairs = list[tuple[str, str]]
EARLIER = {"after": ("earlier", unpack_release), "earlier_private": ("earlier-private", unpack)}


async def hierarchy_files(
    chosen: Choices, found: Look, given: Upload, workspace: Workspace, folder: Path, worker: WorkerProcess
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
        await worker.call(values_of, opened(given.path, found.reading), [column for _, column in written])
        if written
        else {}
    )
    for place, column in written:
        pairs = hierarchy_pairs(column, known[column], chosen.groups_of(place))
        files[column] = write_hierarchy(folder / "work", place, pairs)
    return files


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


def write_hierarchy(folder: Path, place: int, pairs: Pairs) -> str:
    """The name of the file."""
    name = f"hierarchy-{place + 1}.csv"
    with open(folder / name, "x", encoding="utf-8", newline="", opener=private_file) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("child", "parent"), *pairs])
    return name


def earlier_release(chosen: Choices, workspace: Workspace, folder: Path) -> dict[str, str]:
    """Where both are, by the name of the option; nothing if the release follows none."""
    given = {"after": chosen.after, "earlier_private": chosen.earlier_private}
    if not any(given.values()):
        return {}
    if not all(given.values()):
        raise InputError("a release that follows another needs that release and its private part; choose both")
    if not chosen.identity:
        raise InputError("matching records across releases needs an id; choose the column that names the records")
    return {
        option: lend_unpacked(workspace, workspace.upload(upload).path, folder, *EARLIER[option])
        for option, upload in given.items()
    }
