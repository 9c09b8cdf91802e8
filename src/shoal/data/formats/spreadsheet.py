"""Spreadsheets (.xlsx) by calamine: one sheet, a header, a type for every column. Of formulas the values are read."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from shoal.data.columns import typed_cells
from shoal.data.files import check_names, counted, shown
from shoal.data.formats.dialects import HEADER_ROWS, check_header, joined_header
from shoal.errors import InputError, MissingExtra, Note

LARGEST = 2_000_000_000  # bytes that a workbook may take, unpacked
OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # how locked workbooks and .xls begin
RATIO = 200  # and how many times its packed size; text in XML packs to a tenth or so


def read_spreadsheet(
    path: str, sheet: str | None, skip_rows: int | None = None, header_rows: int | None = None
) -> pa.Table:
    """The sheet that is named, or the only one."""
    name = shown(path)
    with _opened(path, name) as book:
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            raise InputError(f"{name} has no sheet {shown(sheet)}, only: {_listed(names)}; name one of them")
        if sheet is None and len(names) != 1:
            raise InputError(f"{name} has {len(names)} sheets ({_listed(names)}); name one with {{option}}", "sheet")
        page = book.get_sheet_by_name(sheet or names[0])
        numbered = _filled_rows(page.to_python(skip_empty_area=False))
        numbered = [(line, row) for line, row in numbered if line > (skip_rows or 0)]
        rows, lines = [row for _, row in numbered], [line for line, _ in numbered]
        check_header(rows[:HEADER_ROWS], lines, name, (skip_rows, header_rows))
        rows = rows[: len(rows) - _notes_below(rows, lines, name)]
        below = lines[header_rows or 1] if len(lines) > (header_rows or 1) else 0
        _check_merged([area for area in page.merged_cell_ranges or [] if area[0][0] + 1 >= below], name)
    return _table(rows, name, header_rows or 1)


def _notes_below(rows: list[list[Any]], lines: list[int], name: str) -> int:
    """The number of rows that hold one cell each below an empty row at the end: remarks on the table, left out."""
    end = len(rows)
    while end > 1 and len(rows[0]) > 2 and sum(cell not in ("", None) for cell in rows[end - 1]) == 1:
        end -= 1
    if end == len(rows) or lines[end] - lines[end - 1] < 2:
        return 0
    remarks = counted(len(rows) - end, "remark")
    warnings.warn(Note(f"{name}: {remarks} left out, from row {lines[end]} below an empty one"), stacklevel=3)
    return len(rows) - end


def _filled_rows(rows: list[list[Any]]) -> list[tuple[int, list[Any]]]:
    """The rows that hold anything, with their numbers, without empty columns at either side."""
    filled = [(line, row) for line, row in enumerate(rows, 1) if any(cell not in ("", None) for cell in row)]
    used = [place for _, row in filled for place, cell in enumerate(row) if cell not in ("", None)]
    return [(line, row[min(used) : max(used) + 1]) for line, row in filled]


def sheet_names(path: str) -> list[str]:
    """The sheets of a workbook, in their order."""
    with _opened(path, shown(path)) as book:
        return list(book.sheet_names)


@contextmanager
def _opened(path: str, name: str) -> Iterator[Any]:
    """The workbook; complaints of its reader become one line."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtra("formats", "reading .xlsx") from None
    _check_room(path, name)
    try:
        yield CalamineWorkbook.from_path(path)
    except (CalamineError, OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{name} cannot be read as a spreadsheet; save it again as .xlsx") from None


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:10]) + (", …" if len(names) > 10 else "")


def _check_merged(areas: list[Any], name: str) -> None:
    """Merged cells have one value between them, which would be a value and gaps."""
    if areas:
        row = min(first for (first, _), _ in areas) + 1
        raise InputError(
            f"{name}: the sheet has {counted(len(areas), 'area')} of merged cells (first in row {row}), of which only "
            "one cell has a value; unmerge them and fill every cell"
        )


def _check_room(path: str, name: str) -> None:
    """Refuse what would unpack to far more than it is, before it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        with open(path, "rb") as file:
            is_old = file.read(len(OLE)) == OLE
        why = "is locked with a password, or of an Excel before 2007" if is_old else "cannot be read as a spreadsheet"
        raise InputError(f"{name} {why}; save it again as .xlsx{' without one' * is_old}") from None
    packed, unpacked = (sum(getattr(member, size) for member in members) for size in ("compress_size", "file_size"))
    if unpacked > LARGEST or unpacked > RATIO * packed + 10_000_000:
        raise InputError(f"{name} would unpack to {unpacked:,} bytes, which no table needs; save it as CSV or Parquet")


def _table(rows: list[list[Any]], name: str, header_rows: int) -> pa.Table:
    if not rows:
        raise InputError(f"{name}: the sheet is empty; give one with a header and rows")
    header = joined_header([[_spelt(cell) for cell in row] for row in rows[:header_rows]])
    check_names(header, name)
    columns = zip(*rows[header_rows:], strict=True) if len(rows) > header_rows else [()] * len(header)
    return pa.table([_typed(list(column)) for column in columns], names=header)


def _typed(cells: list[Any]) -> pa.Array:
    """One type for all cells, text if they differ."""
    cells = [None if cell == "" else cell for cell in cells]
    typed = typed_cells(cells)
    if typed is None:
        return pa.array([None if cell is None else _spelt(cell) for cell in cells], pa.string())
    return typed


def _spelt(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)
