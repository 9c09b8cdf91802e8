"""Headers that do not stand alone in the first row: titles and groups above them, a second row of names below.

Nothing is left out unasked: what is suspected is an error that names the option, and `inspect` follows it.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

from shoal.errors import InputError

LOOKED_AT = 60  # rows
DELIMITERS = ",;\t|"
FEWEST_BELOW = 5  # rows that show what a column holds


def check_header(
    rows: Sequence[Sequence[Any]], lines: Sequence[int], name: str, given: tuple[int | None, int | None]
) -> None:
    """Refuse a header that seems to begin further down, or to take two rows; `lines` are the numbers of the rows."""
    skip, header_rows = given
    if skip is None and (first := _first_full_row(rows)) > 0:
        raise InputError(
            f"{name} seems to have its header in line {lines[first]}, below others; leave those out: {{option}}",
            f"skip_rows {lines[first] - 1}",
        )
    if header_rows is None and len(rows) > FEWEST_BELOW and _names_again(rows[1], rows[2:]):
        raise InputError(f"{name} seems to have a second row of names below its header: {{option}}", "header_rows 2")


def _first_full_row(rows: Sequence[Sequence[Any]]) -> int:
    """The first row that is as wide as most, where fewer cells are filled above it."""
    filled = [sum(not _is_empty(cell) for cell in row) for row in rows]
    width = max((len(row) for row in rows), default=0)
    if width < 2:
        return 0
    for place, row in enumerate(rows[: LOOKED_AT // 2]):
        if filled[place] >= 0.9 * width and len(row) == width:
            names = [str(cell).strip() for cell in row if not _is_empty(cell)]
            texts = len(set(names)) == len(names) and not any(map(_is_number, names))
            return place if texts and place + 1 < len(rows) else 0
        if 2 * filled[place] > width:
            return 0
    return 0


def _names_again(second: Sequence[Any], below: Sequence[Sequence[Any]]) -> bool:
    """Whether the second row has words where all rows below have numbers, in two columns or more."""
    columns = 0
    for place, cell in enumerate(second):
        cells = [row[place] for row in below if place < len(row) and not _is_empty(row[place])]
        if len(cells) < FEWEST_BELOW or not all(map(_is_number, cells)):
            continue
        if _is_number(cell) or len(str(cell).strip()) < 4:  # a gap, or a sign for one
            return False
        columns += 1
    return columns > 1


def _is_empty(cell: Any) -> bool:
    return cell is None or str(cell).strip() == ""


def _is_number(cell: Any) -> bool:
    try:
        float(str(cell).replace(",", "."))
    except ValueError:
        return False
    return True


def joined_header(rows: Sequence[Sequence[Any]]) -> list[str]:
    """The names of a header of several rows; a name above a group of columns stands for those that follow it."""
    names = [""] * max(map(len, rows))
    for level, row in enumerate(rows):
        above = ""
        for place in range(len(names)):
            cell = "" if place >= len(row) or _is_empty(row[place]) else str(row[place]).strip()
            above = cell or (above if level < len(rows) - 1 else "")
            names[place] = f"{names[place]} {above}".strip() if above != names[place] else names[place]
    return names


def text_below(text: str, name: str, delimiter: str | None, skip: int | None, header_rows: int | None) -> str:
    """A text file with one row of names at its top."""
    if skip:
        lines = text.split("\n")
        if len(lines) <= skip:
            raise InputError(f"{name} has no more than {len(lines):,} lines; skip fewer", "skip_rows")
        text = "\n".join(lines[skip:])
    elif skip is None or header_rows is None:
        rows, lines_of = _first_rows(text, delimiter)
        check_header(rows, lines_of, name, (skip, header_rows))
    if header_rows is None or header_rows == 1:
        return text
    rows, lines_of = _first_rows(text, delimiter)
    if len(rows) <= header_rows:
        raise InputError(f"{name} has {len(rows):,} rows; its header takes fewer", "header_rows")
    sign = delimiter or _likely_delimiter(text)
    written = io.StringIO()
    csv.writer(written, delimiter=sign, lineterminator="\n").writerow(joined_header(rows[:header_rows]))
    return written.getvalue() + "\n".join(text.split("\n")[lines_of[header_rows] - 1 :])


def _first_rows(text: str, delimiter: str | None) -> tuple[list[list[str]], list[int]]:
    """The first rows that are not blank, and the line in which each begins."""
    sign = delimiter or _likely_delimiter(text)
    rows, lines, begins = [], [], 1
    reader = csv.reader(io.StringIO(text[: 1 << 18]), delimiter=sign)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(begins)
            begins = reader.line_num + 1
            if len(rows) == LOOKED_AT:
                break
    except csv.Error:
        pass
    return rows, lines


def _likely_delimiter(text: str) -> str:
    """The sign that most of the first lines have equally often, whatever stands above them."""
    lines = [line for line in text[: 1 << 16].split("\n")[:LOOKED_AT] if line.strip()]
    best, sign = (0, 0), ","
    for one in DELIMITERS:
        counts = Counter(line.count(one) for line in lines)
        number, common = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
        if number and (common, number) > best:
            best, sign = (common, number), one
    return sign
