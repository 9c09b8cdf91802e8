"""Files of a release of a table: rows whose count is promised, and a copy in the format that the table came in."""

from __future__ import annotations

import gzip
import io
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.data.columns import MISSING
from shoal.data.roles import Roles
from shoal.release.tables.copies import copied, writer_of
from shoal.release.tables.rows import TableLayout
from shoal.results.summary import Code, ColumnDictionary, Dialect, TextColumn

# Codes such as 007 are no numbers, and numbers of more digits than a double has are no doubles.
SPELT_AS = {
    "int64": r"^-?(0|[1-9][0-9]{0,17})$",
    "double": r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$",
}

ROWS_AT_ONCE = 1 << 17  # rows of a row group: that many are in memory when a release is verified

WRITTEN_AS = {"sas7bdat": "xpt"}  # which nobody but SAS writes
FOR_PEOPLE = {
    "csv": "the same rows, written as the input was",
    "tsv": "the same rows, written as the input was",
    "sav": "the same rows for SPSS",
    "dta": "the same rows for Stata",
    "xpt": "the same rows for SAS; its format has no labels of values, so they are in place of their codes",
    "xlsx": "the same rows as a spreadsheet",
    "feather": "the same rows as a Feather file",
}


def described(
    layout: TableLayout, in_text: tuple[TextColumn, ...], gaps: Mapping[str, int]
) -> tuple[dict[str, Any], ...]:
    """Name, role and type of each released column, in a text file the type it can be read as; and its gaps, if any."""
    roles, types = layout.roles, {field.name: str(field.type) for field in layout.schema}
    types |= {name: str(form.type) for name, form in zip(layout.numbers, layout.forms, strict=True)}
    types |= dict.fromkeys(layout.labels, "string") | {column.name: column.type for column in in_text}
    role_of = dict.fromkeys(roles.quasi, "quasi") | dict.fromkeys(roles.confidential, "confidential")
    role_of |= dict.fromkeys(roles.weight, "weight")
    names = layout.released
    if layout.unit is not None:
        names, role_of[layout.unit], types[layout.unit] = (*names, layout.unit), "unit", "int64"
    return tuple(
        {"name": name, "role": role_of.get(name, "insensitive"), "type": types[name]}
        | ({"gaps": gaps[name]} if gaps.get(name) else {})
        for name in names
    )


def text_columns(released: pa.Table, roles: Roles) -> tuple[TextColumn, ...]:
    """How each column of a text file is to be read; text that is released unchanged may be numbers."""
    unchanged = (*roles.confidential, *roles.insensitive)
    return tuple(
        _as_numbers(name, released[name])
        if name in unchanged
        else TextColumn(name, str(released[name].type), ("",) if released[name].null_count else ())
        for name in released.column_names
    )


def _as_numbers(name: str, column: pa.ChunkedArray) -> TextColumn:
    cells = pc.unique(column)
    missing = pc.is_in(cells, pa.array(MISSING, cells.type))
    given = cells.filter(pc.invert(missing))
    for kind, spelling in SPELT_AS.items():
        if len(given) and pc.all(pc.match_substring_regex(given, spelling)).as_py():
            return TextColumn(name, kind, tuple(sorted(cells.filter(missing).to_pylist())))
    return TextColumn(name, "string")


def file_name(format: str, dialect: Dialect | None = None) -> str:
    """The file of a release in one piece whose rows are counted: like the input, or Parquet."""
    plain = dialect is None and format in ("csv", "tsv", "csv.gz", "tsv.gz")
    return f"table.{format}" if plain else "table.parquet"


def canonical(data: pa.Table) -> pa.Table:
    """The rows with one NaN and one zero: the bits of others would carry what no reader sees."""
    for number, field in enumerate(data.schema):
        if pa.types.is_float64(field.type) or pa.types.is_float32(field.type):
            column = data.column(number).combine_chunks()
            values = column.fill_null(0).to_numpy(zero_copy_only=False)
            plain = np.where(np.isnan(values), values.dtype.type(np.nan), values + 0.0)
            if plain.tobytes() != values.tobytes():
                mask = np.asarray(column.is_null())
                data = data.set_column(number, field, pa.array(plain, field.type, mask=mask, from_pandas=False))
    return data


def write_table(data: pa.Table, path: Path) -> None:
    """Write the rows in the format that the path's name says."""
    if path.suffix == ".parquet":
        rows = canonical(data).combine_chunks()
        pq.write_table(rows, path, compression="zstd", row_group_size=ROWS_AT_ONCE)
        return
    delimiter = "\t" if ".tsv" in path.name else ","
    text = io.BytesIO()
    pyarrow.csv.write_csv(data, text, pyarrow.csv.WriteOptions(delimiter=delimiter))
    content = text.getvalue()
    # A gzip header carries a time and a name: the time is left out, and there is no name.
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


@dataclass(frozen=True)
class Copy:
    """A copy of the rows, and what the certificate says of it."""

    name: str
    content: bytes
    about: dict[str, Any]

    @property
    def in_words(self) -> str:
        return FOR_PEOPLE[self.name.partition(".")[2]]

    def write(self, path: Path) -> None:
        path.write_bytes(self.content)


def copy_of(
    released: pa.Table, format: str, dictionary: Mapping[str, ColumnDictionary], dialect: Dialect | None
) -> Copy | None:
    """The copy that the format of the input asks for, if any."""
    kind = WRITTEN_AS.get(format, format).removesuffix(".gz")
    if kind not in FOR_PEOPLE or (kind in ("csv", "tsv") and dialect is None):
        return None
    name = f"table.{kind}"
    in_codes = kind in ("sav", "dta")
    if format != kind and format == "sas7bdat":
        warnings.warn("only SAS itself writes .sas7bdat; the release has table.xpt, which SAS reads", stacklevel=2)
    columns = {
        column: _published(released[column], about, in_codes)
        for column, about in dictionary.items()
        if column in released.column_names
    }
    columns = {column: about for column, about in columns.items() if about != ColumnDictionary()}
    about = {
        "file": name,
        "writer": writer_of(name),
        "dialect": None if dialect is None else vars(dialect),
        "columns": [_as_data(column, one) for column, one in columns.items()],
    }
    return Copy(name, copied(released, name, columns, dialect), about)


def _published(column: pa.ChunkedArray, about: ColumnDictionary, in_codes: bool) -> ColumnDictionary:
    """The dictionary of values that are in the release. One of a value that is not may tell who was left out."""
    if not in_codes or not (pa.types.is_string(column.type) or not about.category):
        return ColumnDictionary(label=about.label)
    present = [cell for cell in column.unique().to_pylist() if cell is not None]
    if about.category:
        values = _codes(sorted(map(str, present)), {label: code for code, label in about.values}, about.letters)
        codes = [code for code, _ in values]
    else:
        codes = [_number(cell) for cell in present] if about.letters else present
        values = tuple((code, label) for code, label in about.values if code in codes)
    missing = tuple(_closed(span, held) for span in about.missing if (held := _held(span, codes)))
    return ColumnDictionary(about.label, values, missing, about.letters, about.category, about.measure)


def _held(span: tuple[Code, Code], codes: Iterable[Any]) -> list[Code]:
    """The codes that lie in a span."""
    return [code for code in codes if _within(code, *span)]


def _closed(span: tuple[Code, Code], held: list[Code]) -> tuple[Code, Code]:
    """A span that ends: in place of LOWEST and HIGHEST of SPSS, which are no numbers, the codes that it holds."""
    if -math.inf in span or math.inf in span:
        numbers = [float(code) for code in held]
        return max(float(span[0]), min(numbers)), min(float(span[1]), max(numbers))
    return span


def _codes(labels: list[str], known: Mapping[str, Code], letters: bool) -> tuple[tuple[Code, str], ...]:
    """The code of each label; labels that the method made, such as a more general one, get new codes."""
    as_text = not letters and any(isinstance(code, str) for code in known.values())
    numbers = [code for code in known.values() if not isinstance(code, str)]
    free = int(max(numbers, default=0)) + 1
    found: list[tuple[Code, str]] = []
    for label in labels:
        if label not in known:
            known = {**known, label: label[:8] if as_text else float(free)}
            free += 1
        found.append((known[label], label))
    return tuple(sorted(found, key=lambda pair: (isinstance(pair[0], str), pair[0])))


def _number(cell: str) -> Code:
    return cell[1:] if cell.startswith(".") else float(cell)


def _within(code: Any, first: Code, last: Code) -> bool:
    if isinstance(code, str) or isinstance(first, str):
        return code in (first, last)
    return isinstance(code, int | float) and float(first) <= code <= float(last)


def _as_data(column: str, about: ColumnDictionary) -> dict[str, Any]:
    return {
        "name": column,
        "label": about.label,
        "category": about.category,
        "letters": about.letters,
        "measure": about.measure,
        "values": [{"code": code, "label": label} for code, label in about.values],
        "missing": [{"first": first, "last": last} for first, last in about.missing],
    }
