"""CSV as programs of many countries write it: delimiter, decimal sign, encoding and header are recognised and reported.

Nothing is left out unasked: titles above a header, or a second row of names below it, are an error that names the
option, and `inspect` follows it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.columns import CURRENCY, all_match, any_match, is_gap, is_text, plain_amounts, thousands_mark
from shoal.data.delimited import parse_table
from shoal.data.files import shown
from shoal.data.sources import TableFile
from shoal.errors import InputError, Note
from shoal.results.summary import Dialect

DELIMITERS = ",;\t|"
ROWS_LOOKED_AT = 50
LOOKED_AT = 1 << 18  # letters
MARKS = {
    codecs.BOM_UTF8: ("utf-8-sig", "utf-8-sig"),
    codecs.BOM_UTF16_LE: ("utf-16", "utf-16"),
    codecs.BOM_UTF16_BE: ("utf-16", "utf-16"),
}
# Letters of Windows-1252 that Latin-1 has not and other code pages have elsewhere: euro, dots, quotes, dashes.
USUAL = frozenset(b"\x80\x85\x91\x92\x93\x94\x96\x97")
UNUSUAL = re.compile(rb"[A-Za-z][\x93\x94][A-Za-z]")  # a quote within a word is an ö of code page 850
WITH_COMMA = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d{1,3})?\s*$"
WITH_POINT = r"^\s*[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?\s*$"
MARK_AND_COMMA = r"\d[^\d,]\d{3},\d"
NO_COMMA, NO_POINT = r"^[^,]*$", r"^[^.]*$"
GROUPED = r"^\s*[+-]?\d{1,3}[.,]\d{3}\s*$"
AS_IT_STANDS = r"^-?(0|[1-9]\d{0,14})(,\d+)?$"  # what a number is in a column that is released unchanged
HEADER_ROWS = 60  # rows in which a header is looked for
MOST_WORDS = 5  # among numbers: for missing values
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
    for place, row in enumerate(rows[: HEADER_ROWS // 2]):
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
    reader = csv.reader(io.StringIO(text[:LOOKED_AT]), delimiter=sign)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(begins)
            begins = reader.line_num + 1
            if len(rows) == HEADER_ROWS:
                break
    except csv.Error:
        pass
    return rows, lines


def _likely_delimiter(text: str) -> str:
    """The sign that most of the first lines have equally often, whatever stands above them."""
    lines = [line for line in text[: 1 << 16].split("\n")[:HEADER_ROWS] if line.strip()]
    best, sign = (0, 0), ","
    for one in DELIMITERS:
        counts = Counter(line.count(one) for line in lines)
        number, common = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))
        if number and (common, number) > best:
            best, sign = (common, number), one
    return sign


def parse_in_dialect(
    content: bytes, kind: str, name: str, verbatim: Iterable[str], given: TableFile | None
) -> tuple[pa.Table, Dialect | None]:
    """The table, and its dialect if it is not the usual one; a warning reports what was recognised, not given."""
    given = given or TableFile(name)
    text, encoding = _decoded(content, given.encoding, name)
    whole = text_below(text, name, given.delimiter, given.skip_rows, given.header_rows)
    delimiter = given.delimiter or ("\t" if kind == "tsv" else _delimiter(whole, name))
    utf8 = content if encoding == "utf-8" and whole is text else whole.encode("utf-8", "surrogateescape")
    data = parse_table(utf8, kind, name, verbatim, delimiter)
    decimal = given.decimal or _decimal(data, delimiter, name)
    thousands: list[str] = []
    pointed = [field.name for field in data.schema if pa.types.is_floating(field.type)]
    if decimal == "," and pointed:  # points between thousands: 1.234
        texts = parse_table(utf8, kind, name, {*verbatim, *pointed}, delimiter)
        thousands = [column for column in pointed if _divides_thousands(texts[column], given, name)]
        data = parse_table(utf8, kind, name, {*verbatim, *thousands}, delimiter)
        if others := [column for column in pointed if column not in thousands]:
            warnings.warn(
                Note(
                    f"{name}: the decimal sign is a comma, but a point in {', '.join(map(shown, others))}, which is "
                    "read so; to have such a column as it stands: {option}",
                    f"kinds {shown(others[0])}=code",
                ),
                stacklevel=4,
            )
    dialect = Dialect(delimiter, decimal, encoding)
    usual = Dialect("\t" if kind == "tsv" else ",")
    recognised = [
        (given.delimiter, dialect.delimiter != usual.delimiter),
        (given.decimal, decimal != "."),
        (given.encoding, encoding not in ("utf-8", "utf-8-sig")),
    ]
    if any(option is None and unusual for option, unusual in recognised):
        warnings.warn(
            Note(
                f"{name} is read as {dialect.in_words}; if that is wrong, give {{option}}, {{option}} or {{option}}",
                ("delimiter", "decimal", "encoding"),
            ),
            stacklevel=4,
        )
    return _with_amounts(data, set(verbatim), decimal, name, thousands), None if dialect == usual else dialect


def _divides_thousands(column: pa.ChunkedArray, given: TableFile, name: str) -> bool:
    """Whether the points of a column divide thousands where the decimal sign is a comma; 2.521 may be either."""
    cells = _given_texts(column)
    if not all_match(cells, GROUPED) or _are_amounts(cells, ","):
        return _are_amounts(cells, ",")
    if given.decimal is None:
        raise InputError(
            f"{name} has decimal commas, and a column of numbers such as 2.521, whose point may be a decimal sign or "
            "divide thousands; if it divides thousands: {option}; otherwise write that column with commas",
            "decimal comma",
        )
    return True


def is_usual(head: bytes, kind: str, name: str) -> bool:
    """Whether the beginning of a file is UTF-8 without a mark, and has commas, or tabs in a TSV."""
    if head.startswith(tuple(MARKS)):
        return False
    try:
        text = head[: head.rfind(b"\n") + 1].decode()
        text_below(text, name, None, None, None)
    except (UnicodeDecodeError, InputError):
        return False
    return kind == "tsv" or _delimiter(text, name) == ","


def _decoded(content: bytes, given: str | None, name: str) -> tuple[str, str]:
    """The text and its encoding: as given, by its mark, UTF-8, or the one that Windows uses in the West."""
    if given is not None:
        try:
            return content.decode(given), given
        except UnicodeError:
            raise InputError(f"{name} is not text in {given}; give another {{option}}", "encoding") from None
    for mark, (encoding, called) in MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "strict" if encoding == "utf-16" else "surrogateescape"), called
    try:
        return content.decode(), "utf-8"
    except UnicodeDecodeError:
        pass
    high = frozenset(content) - frozenset(range(0x80)) - frozenset(range(0xA0, 0xFF))
    if b"\0" in content or not high <= USUAL or UNUSUAL.search(content) or _is_nearly_utf8(content):
        # `parse_table` reports where the first wrong byte is.
        return content.decode("utf-8", "surrogateescape"), "utf-8"
    return content.decode("windows-1252"), "windows-1252"


def _is_nearly_utf8(content: bytes) -> bool:
    """Text that has letters in UTF-8 and a wrong byte somewhere is broken UTF-8, not another encoding."""
    return bool(re.search(rb"[\xc3-\xdf][\x80-\xbf](?![\x80-\xbf])", content))


def _delimiter(text: str, name: str) -> str:
    """The sign that divides the first rows alike; a comma where nothing is divided."""
    first = next((line for line in io.StringIO(text[:LOOKED_AT]) if line.strip()), "")
    bare = re.sub(r'"[^"]*"', "", first)
    there = [sign for sign in DELIMITERS if sign in bare]
    if len(there) <= 1:
        return there[0] if there else ","
    even = [sign for sign in there if _divides_evenly(text, sign)]
    if len(even) == 1:
        return even[0]
    if not even:
        return "," if "," in there else max(there, key=bare.count)
    raise InputError(
        f"{name} has {' and '.join(_named(sign) for sign in even)} in its header, and either may divide the cells; "
        "say which: {option}",
        "delimiter",
    )


def _named(sign: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}[sign]


def _divides_evenly(text: str, sign: str) -> bool:
    rows = csv.reader(io.StringIO(text[:LOOKED_AT]), delimiter=sign)
    widths = []
    try:
        for row in rows:
            if row:
                widths.append(len(row))
            if len(widths) > ROWS_LOOKED_AT:
                break
    except csv.Error:
        return False
    whole = widths[:-1] if len(text) > LOOKED_AT and len(widths) <= ROWS_LOOKED_AT else widths  # the last may be cut
    return len(set(whole)) == 1


def _decimal(data: pa.Table, delimiter: str, name: str) -> str:
    """A comma where columns have numbers with one and none with a point.

    Where no number has either, semicolons stand between cells because the comma is the decimal sign: means of whole
    numbers would be taken for dates (20.7) by the program that wrote such a file.
    """
    texts = {column: _given_numbers(data[column]) for column in data.column_names if is_text(data[column].type)}
    commas = [column for column, cells in texts.items() if _have_decimal_comma(cells)]
    certain = not all(all_match(texts[column], GROUPED) for column in commas)  # 137,17 divides no thousands
    floats = [field.name for field in data.schema if pa.types.is_floating(field.type)]
    points = any(not (certain and delimiter == ";" and _may_be_thousands(data[column])) for column in floats)
    both = [cells for cells in texts.values() if any_match(cells, MARK_AND_COMMA) and _are_amounts(cells, ",")]
    if delimiter == "," or both:  # 1.234,56 shows which is which
        return "," if both and not (points and delimiter == ",") else "."
    points |= any(all_match(cells, WITH_POINT) and not all_match(cells, NO_POINT) for cells in texts.values())
    points |= any(any_match(cells, r"\d[^\d.]\d{3}\.\d") and _are_amounts(cells, ".") for cells in texts.values())
    if not commas:
        return "," if delimiter == ";" and not points else "."
    if not certain:
        raise InputError(
            f"{name} has numbers with a comma, which may be a decimal sign or divide thousands; "
            "say which sign is the decimal one: {option} or {option}",
            ("decimal comma", "decimal point"),
        )
    return ","


def _may_be_thousands(column: pa.ChunkedArray) -> bool:
    """Whether numbers with a point have three digits behind it, as 2.521 where the point divides thousands."""
    thousands = pc.multiply(pc.drop_null(column), 1000.0)
    whole = pc.less(pc.abs(pc.subtract(thousands, pc.round(thousands))), 1e-6)
    third_digit = pc.greater(pc.abs(pc.subtract(thousands, pc.multiply(pc.round(pc.divide(thousands, 10)), 10))), 0.5)
    return bool(pc.all(whole).as_py()) and (pc.mean(pc.cast(third_digit, pa.int8())).as_py() or 0.0) > 0.5


def _with_amounts(data: pa.Table, verbatim: set[str], decimal: str, name: str, thousands: Sequence[str]) -> pa.Table:
    """Columns of text in which every cell is a number with a decimal comma, or an amount such as $1,234.50, as numbers.

    Where a few words stand among them, they are texts still, for the words may stand for missing values. Columns that
    are released as they are stay as they are.
    """
    amounts = []
    for number, column in enumerate(data.column_names):
        if not is_text(data[column].type):
            continue
        cells = _given_texts(data[column]) if column in verbatim else _given_numbers(data[column])
        commas = decimal == "," and (
            all_match(cells, AS_IT_STANDS) if column in verbatim else _have_decimal_comma(cells)
        )
        if commas or column in thousands or (column not in verbatim and _are_amounts(cells, decimal)):
            numbers = plain_amounts(data[column], decimal, thousands_mark(cells, decimal) or "")
            if len(cells) < len(_given_texts(data[column])):
                numbers = pc.if_else(pc.match_substring_regex(data[column], r"\d"), numbers, data[column])
            else:
                whole = not any_match(cells, re.escape(decimal) + r"\d|[eE]")
                numbers = numbers.cast(pa.int64() if whole else pa.float64())
            data = data.set_column(number, column, numbers)
            amounts += [] if commas else [column]
    if amounts:
        warnings.warn(
            Note(
                f"{name}: {', '.join(map(shown, amounts))}: amounts with marks between thousands or signs of money are "
                "read as plain numbers; to have them as they stand: {option}",
                f"kinds {shown(amounts[0])}=code",
            ),
            stacklevel=5,
        )
    return data


def _are_amounts(cells: Any, decimal: str) -> bool:
    """Whether texts are amounts beyond doubt: with signs of money, or with marks between thousands that are no decimal
    sign; numbers of people (12.345.678) have all the same length."""
    mark = thousands_mark(cells, decimal)
    if mark is None or any_match(cells, CURRENCY):
        return mark is not None
    lengths = pc.min_max(pc.utf8_length(cells)).as_py()
    clear = rf"{re.escape(mark)}\d{{3}}{re.escape(decimal)}\d|({re.escape(mark)}\d{{3}}){{2}}"
    sure = mark not in ("", ",") or (mark == "," and any_match(cells, clear))
    return sure and (lengths["min"] < lengths["max"] or any_match(cells, re.escape(decimal)))


def _have_decimal_comma(cells: Any) -> bool:
    return all_match(cells, WITH_COMMA) and not all_match(cells, NO_COMMA)


def _given_numbers(column: pa.ChunkedArray) -> Any:
    """The different cells; without words such as "k.A." where these are few and the others hold digits."""
    cells = _given_texts(column)
    digits = cells.filter(pc.match_substring_regex(cells, r"\d"))
    return digits if len(cells) - len(digits) <= MOST_WORDS and len(digits) > FEWEST_BELOW else cells


def _given_texts(column: pa.ChunkedArray) -> Any:
    cells = pc.unique(column)
    return cells.filter(pc.invert(is_gap(cells)))
