"""Counting a release of sketches: k by equal sketches, l by their labels. Shares nothing with the methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.results.claims import Claim, Statement
from shoal.verification.forms.parquet import check_room, layout_of
from shoal.verification.forms.rewritten import Rewriting
from shoal.verification.promises import (
    check_rows,
    columns_as_promised,
    crowd_claims,
    nothing_rides_along,
    rows_as_promised,
)
from shoal.verification.row_files import parts_of
from shoal.verification.sketch_rows import SKETCH, SketchRows

__all__ = ["SKETCH_FILES", "sketch_claims", "sketch_statements"]

SKETCHES = "sketches.parquet"
SKETCH_FILES = (SKETCHES,)
MOST_ROWS = 20_000  # of a row group
MOST_NUMBERS = 4_000_000
CROWD = "crowd sketches"


def sketch_claims(release: Path, promises: dict[str, Any], format: str) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    if promises["anonymity"]["shared_columns"] != [[SKETCH]]:
        yield Claim("k-anonymity", False, "the promise does not speak of the sketches", SKETCHES)
        return
    if [column["type"] for column in promises["columns"]] != ["list of numbers", *("text" for _ in confidential)]:
        yield Claim("schema", False, "the types that are promised are not those of sketches", SKETCHES)
        return
    yield _form(promises)
    parts = parts_of(release, "sketches")
    if parts and (release / SKETCHES).exists():
        yield Claim("files", False, "the rows are there twice, in parts and in one file", SKETCHES)
        return
    names = parts or [SKETCHES]
    at_once = max(min(MOST_ROWS, MOST_NUMBERS // promises["lengths"]["longest"]), 1)
    layouts = {name: layout_of(release / name, name, at_once) for name in names}
    n_rows = sum(layout.rows for layout in layouts.values())
    check_rows(n_rows, promises, names[0])
    schema = pa.schema([(SKETCH, pa.list_(pa.float64()))] + [(name, pa.string()) for name in confidential])
    files = {name: pq.ParquetFile(release / name, read_dictionary=confidential) for name in names}
    for name, file in files.items():
        yield columns_as_promised(schema.names, file.schema_arrow.names, promises, name)
        if not _is_plain(pq.ParquetFile(release / name), confidential):
            yield Claim("schema", False, "types differ from those of a release, or something rides along", name)
            return
    yield rows_as_promised(n_rows, promises, names[0])

    rows = SketchRows(confidential)
    for name, file in files.items():
        rows.next_part()
        rewriting = Rewriting(release / name, name, layouts[name], schema)
        for number, group in enumerate(layouts[name].row_groups):
            check_room(sum(chunk.room for chunk in group.chunks), name)
            rewriting.add(rows.count(file.read_row_group(number), schema, name))
        yield rewriting.claim()
    yield from crowd_claims([rows.groups], rows.groups, rows.values, rows.in_order, promises, SKETCHES)
    yield _lengths(rows, promises["lengths"])


def sketch_statements(content: dict[str, Any]) -> tuple[Statement, ...]:
    """What is said of single records, which nobody can count without the originals."""
    form, parameters = content["promises"]["form"], content["stated"]["parameters"].get("sketch")
    given = parameters if isinstance(parameters, dict) else {}
    if form == "delta sketches":
        detail = f"the variance of every attribute's estimate is at least {_shown(given.get('delta'), 'delta')}"
        return (Statement("delta", detail, SKETCHES),)
    if form == "k-variance sketches":
        of = f"the {_shown(given.get('k'), 'k')} nearest neighbours of each record"
        return (Statement("k-variance", f"products with {of} are estimated too coarsely to tell them apart", SKETCHES),)
    return ()


def _shown(value: Any, name: str) -> str:
    return f"{value:g}" if type(value) in (int, float) else name


def _form(promises: dict[str, Any]) -> Claim:
    """Crowd sketches promise a crowd, and are of one length; others promise none."""
    form, lengths = promises["form"], promises["lengths"]
    crowd = promises["anonymity"]["k"] is not None
    if (form == CROWD) != crowd:
        return Claim("form", False, f"{form} cannot promise {'a' if crowd else 'no'} crowd", SKETCHES)
    if crowd and lengths["shortest"] != lengths["longest"]:
        return Claim("form", False, f"{form} of different lengths tell groups apart", SKETCHES)
    return Claim("form", True, form, SKETCHES)


def _lengths(rows: SketchRows, promised: dict[str, int]) -> Claim:
    of = f"{rows.shortest:,}" if rows.shortest == rows.longest else f"{rows.shortest:,} to {rows.longest:,}"
    found = f"sketches have {of} numbers"
    same = (rows.shortest, rows.longest) == (promised["shortest"], promised["longest"])
    return Claim("lengths", same, f"{found}, as promised" if same else f"{found}, which is not as promised", SKETCHES)


def _is_plain(file: pq.ParquetFile, confidential: list[str]) -> bool:
    """A list of doubles, labels of text."""
    found = [(field.name, str(field.type)) for field in file.schema_arrow]
    labels = [(name, "string") for name in confidential]
    # "item": how older versions of Arrow read them
    allowed = [[(SKETCH, f"list<{element}: double>"), *labels] for element in ("element", "item")]
    return found in allowed and nothing_rides_along(file)
