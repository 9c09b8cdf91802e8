"""Files of a release of a table, in the format that the table came in."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.io import Roles

__all__ = ["described", "file_name", "write_table"]

ROWS_AT_ONCE = 1 << 17  # rows of a row group: that many are in memory when a release is verified


def described(schema: pa.Schema, roles: Roles) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    return tuple({"name": field.name, "role": _role_of(field.name, roles), "type": str(field.type)} for field in schema)


def _role_of(name: str, roles: Roles) -> str:
    if name in roles.quasi:
        return "quasi"
    return "confidential" if name in roles.confidential else "insensitive"


def file_name(format: str) -> str:
    """The file of a release in one piece."""
    return "table.parquet" if format == "memory" else f"table.{format}"


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
