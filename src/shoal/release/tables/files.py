"""Files of a release of a table, in the format that the table came in."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.io import Roles
from shoal.io.delimited import MISSING
from shoal.results.dictionary import Dialect
from shoal.results.summary import TextColumn

__all__ = ["described", "file_name", "text_columns", "write_table"]

# Codes such as 007 are no numbers, and numbers of more digits than a double has are no doubles.
SPELT_AS = {
    "int64": r"^-?(0|[1-9][0-9]{0,17})$",
    "double": r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$",
}

ROWS_AT_ONCE = 1 << 17  # rows of a row group: that many are in memory when a release is verified


def described(
    schema: pa.Schema, roles: Roles, in_text: tuple[TextColumn, ...] = (), gaps: Mapping[str, int] | None = None
) -> tuple[dict[str, Any], ...]:
    """Name, role and type of each released column, in a text file the type it can be read as; and its gaps, if any."""
    types = {field.name: str(field.type) for field in schema} | {column.name: column.type for column in in_text}
    return tuple(
        {"name": name, "role": _role_of(name, roles), "type": types[name]}
        | ({"gaps": gaps[name]} if gaps and gaps.get(name) else {})
        for name in schema.names
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


def _role_of(name: str, roles: Roles) -> str:
    if name in roles.quasi:
        return "quasi"
    return "confidential" if name in roles.confidential else "insensitive"


def file_name(format: str, dialect: Dialect | None = None) -> str:
    """The file of a release in one piece whose rows are counted: like the input, or Parquet."""
    plain = dialect is None and format in ("csv", "tsv", "csv.gz", "tsv.gz")
    return f"table.{format}" if plain else "table.parquet"


def write_table(data: pa.Table, path: Path) -> None:
    """Write the rows in the format that the path's name says."""
    if path.suffix == ".parquet":
        pq.write_table(data.combine_chunks(), path, compression="zstd", row_group_size=ROWS_AT_ONCE)
        return
    delimiter = "\t" if ".tsv" in path.name else ","
    text = io.BytesIO()
    pyarrow.csv.write_csv(data, text, pyarrow.csv.WriteOptions(delimiter=delimiter))
    content = text.getvalue()
    # A gzip header carries a time and a name: the time is left out, and there is no name.
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
