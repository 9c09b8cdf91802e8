"""Hierarchies as CSV: per row a child and its parent, or a value and its levels of generalisation (as in ARX).

A first row with names such as child and parent, or above a last column that is otherwise one value, is a header.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from shoal.errors import InputError
from shoal.io.files import PathLike, decode, read_bytes, reading, shown

__all__ = ["Concepts", "read_hierarchy_csv"]

_CHILD = {"child", "value", "concept", "narrower", "term", "name"}
_PARENT = {"parent", "broader", "is_a", "isa", "generalisation", "generalization"}

Row = tuple[int, list[str]]  # its number in the file, and its cells


@dataclass(frozen=True)
class Concepts:
    """(child, parent) links by name; names that need no link; other names of concepts; definitions."""

    links: list[tuple[str, str]]
    alone: frozenset[str] = frozenset()
    synonyms: dict[str, str] = field(default_factory=dict)
    glosses: dict[str, str] = field(default_factory=dict)


def read_hierarchy_csv(path: PathLike) -> Concepts:
    """The links of a CSV file, each once."""
    name = shown(path)
    with reading(path):
        text = decode(read_bytes(path))
    if "\0" in text:
        raise InputError(f"{name} is binary, not text; export it as CSV")
    rows = _rows(text, name)
    if not rows:
        raise InputError(f"{name} is empty; give rows of child and parent, or of a value and its levels")
    header = [cell.casefold() for cell in rows[0][1]]
    child = [column for column, cell in enumerate(header) if cell in _CHILD]
    parent = [column for column, cell in enumerate(header) if cell in _PARENT]
    if len(child) == len(parent) == 1:
        return _from_pairs(rows[1:], child[0], parent[0], len(header), name)
    tops = {cells[-1] for _, cells in rows[1:]}
    if len(tops) == 1:
        has_header = rows[0][1][-1] not in tops
        if has_header:
            _check_header(rows, name)
        return _from_levels(rows[has_header:], name)
    if max(len(cells) for _, cells in rows) > 2:
        return _from_levels(rows, name)
    _check_header(rows, name)
    return _from_pairs(rows[1:], 0, 1, 2, name)


def _rows(text: str, name: str) -> list[Row]:
    """Rows with their numbers, without spaces round cells, empty cells at the end, and blank rows.

    The delimiter is the one that gives all rows the same width, at least two; else the one that splits most rows.
    """
    best: list[Row] = []
    most = -1
    problem: InputError | None = None
    for delimiter in ";\t,":
        try:
            rows = list(_split(text, delimiter, name))
        except InputError as misfit:  # quotes fit only where the delimiter does
            problem = misfit
            continue
        if rows and len({len(cells) for _, cells in rows}) == 1 and len(rows[0][1]) > 1:
            best, most = rows, len(rows)
            break
        split = sum(len(cells) > 1 for _, cells in rows)
        if split > most or (split == most and delimiter == ","):
            best, most = rows, split
    if most < 0 and problem is not None:
        raise problem
    stripped = []
    for number, cells in best:
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            stripped.append((number, cells))
    return stripped


def _split(text: str, delimiter: str, name: str) -> Iterable[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            message = f"{name}: the quotes in line {reader.line_num} do not fit; double a quote inside a quoted name"
            raise InputError(message) from None
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield reader.line_num, cells


def _check_header(rows: list[Row], name: str) -> None:
    """A first row whose names come again below is a row: it must not be lost as a header."""
    below = {cell for _, cells in rows[1:] for cell in cells}
    again = [cell for cell in rows[0][1] if cell in below]
    if again or len(rows) == 1:
        what = f"{again[0]!r} comes again below" if again else "there are no rows below"
        raise InputError(f"{name}: the first line should be a header, and {what}; put a header of other names above it")


def _from_pairs(rows: list[Row], child_column: int, parent_column: int, width: int, name: str) -> Concepts:
    """Links from two columns. A row without a parent, or with the child as its own, names the root."""
    links: dict[tuple[str, str], None] = {}
    alone: dict[str, int] = {}  # and the line that says so
    for number, cells in rows:
        if len(cells) > width:
            raise InputError(
                f"{name}: line {number} has {len(cells)} cells where {width} are expected; quote a name with a comma"
            )
        padded = cells + [""] * (width - len(cells))
        child = padded[child_column]
        parent = padded[parent_column] or child
        if not child:
            raise InputError(f"{name}: line {number} has a parent and no child; name the child or remove the line")
        if child == parent:
            alone[child] = number
        else:
            links[child, parent] = None
    children = {child for child, _ in links}
    for root, number in alone.items():
        if root in children:
            raise InputError(
                f"{name}: line {number} gives {root!r} no parent but itself, and another line does; remove one"
            )
    return Concepts(list(links), frozenset(alone))


def _from_levels(rows: list[Row], name: str) -> Concepts:
    """Links from each level to the next."""
    links: dict[tuple[str, str], None] = {}
    alone: set[str] = set()
    for number, cells in rows:
        if not all(cells):
            raise InputError(f"{name}: line {number} has an empty level between two others; name it")
        # A value that stays the same on the next level is one concept.
        links.update(dict.fromkeys(pair for pair in pairwise(cells) if pair[0] != pair[1]))
        alone.add(cells[-1])
    return Concepts(list(links), frozenset(alone))
