"""Hierarchies of labels, as files that `--ontology COLUMN=FILE` takes: from groups, or of plain categories."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError

Pairs = list[tuple[str, str]]


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
