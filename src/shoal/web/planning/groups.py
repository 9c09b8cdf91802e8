"""Groups of a column's values, as somebody made them on a page, and the hierarchy that they are."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError

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
