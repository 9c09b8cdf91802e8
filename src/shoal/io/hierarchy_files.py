"""Hierarchies in files: child and parent, or a column a level, as CSV."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from shoal.errors import InputError
from shoal.io.delimited import stream_rows
from shoal.io.files import PathLike, broken_unicode, open_text, reading, shown

__all__ = ["Concepts", "read_hierarchy", "read_hierarchy_csv"]

# What the columns of a child,parent file may be called; the first names of a level file are taken as they come.
_CHILD = {"child", "value", "concept", "narrower", "term", "name"}
_PARENT = {"parent", "broader", "is_a", "isa", "generalisation", "generalization"}
_TOP = "*"  # what ARX calls the root


@dataclass(frozen=True)
class Concepts:
    """(child, parent) links by name; names without a link, other names of concepts, and definitions."""

    links: list[tuple[str, str]]
    alone: frozenset[str] = frozenset()
    synonyms: dict[str, str] = field(default_factory=dict)
    glosses: dict[str, str] = field(default_factory=dict)


def read_hierarchy(path: PathLike) -> Concepts:
    """The concepts of a file of a kind that its suffix tells."""
    suffix = Path(path).suffix.lower()
    if suffix in (".csv", ".tsv", ".txt"):
        return read_hierarchy_csv(path)
    raise InputError(f"{shown(path)} is of no known kind of hierarchy; give .csv, .obo, .owl, .rdf or .ttl")


def read_hierarchy_csv(path: PathLike) -> Concepts:
    """Rows of child and parent below a header, or of a value and its levels."""
    name = shown(path)
    rows: list[list[str]] = []
    with reading(path), open_text(path, newline="") as stream:
        header, others = stream_rows(stream, "tsv" if Path(path).suffix.lower() == ".tsv" else "csv", name)
        rows.append([cell.strip() for cell in header])
        for row in others:
            if row is None:
                raise InputError(f"{name}: the quotes in row {others.number} do not fit; double a quote inside one")
            if any(broken_unicode(cell) for cell in row):
                raise InputError(f"{name}: row {others.number} is not UTF-8 text; save the file as UTF-8")
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
    first = [cell.casefold() for cell in rows[0]]
    if len(first) == 2 and first[0] in _CHILD and first[1] in _PARENT:
        return _from_pairs(rows[1:], name)
    return _from_levels(rows, name)


def _from_pairs(rows: list[list[str]], name: str) -> Concepts:
    return Concepts(list(dict.fromkeys((row[0], row[1]) for row in rows)))


def _from_levels(rows: list[list[str]], name: str) -> Concepts:
    return Concepts(list(dict.fromkeys(pair for row in rows for pair in pairwise(row) if pair[0] != pair[1])))
