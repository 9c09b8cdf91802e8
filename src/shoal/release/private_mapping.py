"""Which original became which released row, on the private side of a release: one file, or one for each part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.data.files import counted, shown
from shoal.errors import InputError
from shoal.release.folders import MAPPING, MAPPING_FOLDER, private_beside
from shoal.verification.release_files import parts_of


@dataclass(frozen=True)
class PrivateMapping:
    """The original of each released row by its name, in the order of the release."""

    names: pa.ChunkedArray
    in_parts: bool  # names are those of parts: a file and a row or an id of it
    place: str  # as messages show it


def rows_of_parts(release: Path, kind: str) -> list[int]:
    """How many rows each part of a release has; none when it has no parts."""
    try:
        return [pq.read_metadata(release / part).num_rows for part in parts_of(release, kind)]
    except (pa.ArrowException, OSError):
        raise InputError(f"{shown(release)} has parts that cannot be read; try: shoal verify") from None


def private_folder(release: Any, given: str | os.PathLike[str] | None) -> Path:
    """Where the private side of a release is: where somebody says, or beside it."""
    return Path(given) if given is not None else private_beside(Path(release))


def read_mapping(folder: Path, sizes: Sequence[int]) -> PrivateMapping:
    """The mapping in a private folder, or in a file, of a release whose parts have so many rows."""
    in_parts = (folder / MAPPING_FOLDER).is_dir()
    if in_parts:
        place = folder / MAPPING_FOLDER
        files = sorted(place.glob("part-*.parquet"), key=lambda file: (len(file.name), file.name))
    else:
        place = folder / MAPPING if folder.is_dir() else folder
        files = [place]
        if not place.is_file():
            raise InputError(
                f"{shown(place)} is not there, and the rows of a release are in an order of their own; "
                "give the private folder with {option}, or for tables a column that both have with {option}",
                ("private", "key"),
            )
    tables = [_read(file) for file in files]
    found = [table.num_rows for table in tables]
    if found != list(sizes):
        cut = ["" if len(found) == len(sizes) == 1 else f" in {counted(len(one), 'part')}" for one in (found, sizes)]
        raise InputError(
            f"{shown(place)} maps {counted(sum(found), 'row')}{cut[0]}, the release has {sum(sizes)}{cut[1]}; "
            "give its own mapping"
        )
    return PrivateMapping(pa.concat_tables(tables)["id"], in_parts, shown(place))


def _read(file: Path) -> pa.Table:
    """The rows of one file, sorted by where they went."""
    try:
        found = pq.read_table(file, columns=["id", "released_row"]).sort_by("released_row")
        row = found["released_row"].to_numpy()
        found = found.set_column(0, "id", found["id"].cast(pa.large_string()))
        sound = not found["id"].null_count and np.array_equal(row, np.arange(1, len(row) + 1))
    except (pa.ArrowException, OSError, KeyError, ValueError):
        sound = False
    if not sound:
        raise InputError(
            f"{shown(file)} is not the mapping of a release; give its private folder with {{option}}", "private"
        )
    return found
