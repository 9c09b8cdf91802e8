"""Counting a release of documents: k by equal rows, l by their labels. Shares nothing with the methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.results.claims import Claim
from shoal.verification.document_rows import TERMS, DocumentRows
from shoal.verification.forms.npz import Matrix
from shoal.verification.forms.parquet import Layout, check_room, layout_of
from shoal.verification.forms.refused import Refused
from shoal.verification.forms.rewritten import Rewriting
from shoal.verification.promises import (
    check_rows,
    columns_as_promised,
    crowd_claims,
    nothing_rides_along,
    rows_as_promised,
)
from shoal.verification.row_files import parts_of

__all__ = ["DOCUMENT_FILES", "document_claims"]

VECTORS, MATRIX = "vectors.parquet", "vectors.npz"
DOCUMENT_FILES = (VECTORS, MATRIX, TERMS)
ROWS_AT_ONCE = 20_000  # rows of a row group
LARGEST_TERMS = 128_000_000  # bytes
COLUMNS = {  # name, type as certificates have it, type of the list in Parquet
    "terms": ("list of text", pa.string()),
    "counts": ("list of whole numbers", pa.int64()),
    "weights": ("list of numbers", pa.float64()),
}
UNMIXES = (
    "the weights are exact means of unit rows, which can be taken apart into the documents of a group; "
    "protect the documents again, with this version of Shoal"
)
OLD = "shoal-certificate/1"  # the last format that knew no form


def document_claims(release: Path, promises: dict[str, Any], format: str) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    form = promises.get("form")
    if form is None and format != OLD:
        yield Claim("form", False, "it is not said what is published of a group", VECTORS)
        return
    lists = [name for name in COLUMNS if form is not None or name != "counts"]
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    if promises["anonymity"]["shared_columns"] != [lists]:
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", VECTORS)
        return
    if [column["type"] for column in promises["columns"]] != [
        *(COLUMNS[name][0] for name in lists),
        *("text" for _ in confidential),
    ]:
        yield Claim("schema", False, "the types that are promised are not those of documents", VECTORS)
        return
    parts = parts_of(release, "documents")
    if parts and any((release / name).exists() for name in (VECTORS, MATRIX)):
        yield Claim("files", False, "the rows are there twice, in parts and in one file", VECTORS)
        return
    names = parts or [VECTORS]
    layouts = {name: layout_of(release / name, name, ROWS_AT_ONCE) for name in names}
    check_rows(sum(layout.rows for layout in layouts.values()), promises, names[0])
    files = {name: _opened(release / name, layout) for name, layout in layouts.items()}
    schema = pa.schema(
        [(name, pa.list_(COLUMNS[name][1])) for name in lists] + [(name, pa.string()) for name in confidential]
    )
    for name, file in files.items():
        yield columns_as_promised(schema.names, file.schema_arrow.names, promises, name)
        if not _is_plain(release / name, lists, confidential):
            yield Claim("schema", False, "types differ from those of a release, or something rides along", name)
            return
    terms = _terms(release / TERMS, _room_of_texts(layouts))
    yield rows_as_promised(sum(layout.rows for layout in layouts.values()), promises, names[0])

    rows = DocumentRows(terms, lists, confidential, None if parts else Matrix(release / MATRIX, MATRIX))
    for name, file in files.items():
        rows.next_part()
        rewriting = Rewriting(release / name, name, layouts[name], schema)
        for number, group in enumerate(layouts[name].row_groups):
            check_room(sum(chunk.room for chunk in group.chunks), name)
            rewriting.add(rows.count(file.read_row_group(number), schema, name))
        yield rewriting.claim()
    yield from crowd_claims([rows.groups], rows.groups, rows.values, rows.in_order, promises, VECTORS)
    unit = "every row has length 1" if rows.unit else "some row has not length 1"
    yield Claim("unit length", rows.unit, unit, VECTORS)
    yield Claim("form", False, UNMIXES, VECTORS) if form is None else rows.pools.claim(form, VECTORS)
    if not rows.every_term_used():
        yield Claim("schema", False, "a term is listed that no row has", TERMS)
    if not parts:
        same = rows.same_as_matrix and rows.ends_with_matrix()
        detail = f"holds the same rows as {VECTORS}" if same else f"does not hold the same rows as {VECTORS}"
        yield Claim("same data", same, detail, MATRIX)


def _opened(path: Path, layout: Layout) -> pq.ParquetFile:
    return pq.ParquetFile(path, read_dictionary=layout.texts)  # a text that is repeated then takes no room


def _is_plain(path: Path, lists: list[str], confidential: list[str]) -> bool:
    """Lists of text and of numbers, labels of text. Decimals, say, have digits that no double counts."""
    file = pq.ParquetFile(path)
    found = [(field.name, str(field.type)) for field in file.schema_arrow]
    labels = [(name, "string") for name in confidential]
    allowed = [  # "item": how older versions of Arrow read them
        [(name, f"list<{element}: {COLUMNS[name][1]}>") for name in lists] + labels for element in ("element", "item")
    ]
    return found in allowed and nothing_rides_along(file)


def _room_of_texts(layouts: dict[str, Layout]) -> int:
    """What the texts of all pages take: no list of terms that rows have is longer."""
    groups = [group for layout in layouts.values() for group in layout.row_groups]
    return sum(page.unpacked for group in groups for page in group.chunks[0].pages)


def _terms(path: Path, most: int) -> pa.Array:
    """The terms, one per line, each line ended, in order and distinct."""
    size = path.stat().st_size
    if size > min(most, LARGEST_TERMS):
        raise Refused("size", f"has {size:,} bytes, more than the terms that rows can have", TERMS)
    raw = path.read_bytes()
    ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n")).astype(np.int32)
    if not raw.endswith(b"\n") or np.any(np.diff(ends, prepend=np.int32(-1)) < 2):
        raise Refused("schema", "is not one term per line, each line ended", TERMS)
    starts = np.concatenate((np.zeros(1, dtype=np.int32), ends[:-1] + 1))
    # Lines with their ends: Arrow's texts lie one after the other.
    offsets = np.append(starts, np.int32(size))
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(raw))
    lines.validate(full=True)
    terms = pc.utf8_slice_codeunits(lines, 0, -1)
    if not pc.all(pc.less(terms[:-1], terms[1:])).as_py() and len(terms) > 1:
        raise Refused("schema", "terms are not distinct and in order", TERMS)
    return terms
