"""The private side of a release: which original became which released row, in one file or one for each part; and an
earlier release of a table with it, so that the next can follow.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data.files import counted, shown
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.release.folders import CERTIFICATE, GONE, MAPPING, MAPPING_FOLDER, SEAL, private_beside
from shoal.release.load import kind_of_release, load
from shoal.verification.release_files import parts_of
from shoal.verification.tables import TABLE_FILES
from shoal.verification.verify import verify


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


@dataclass(frozen=True)
class Earlier:
    """What was published, row by row, and of whom."""

    seal: str
    certificate: dict[str, Any]
    rows: pa.Table  # as the input is read: columns that are released as they are, and labels, as they stand
    records: NDArray[Any]  # the id of each row's record
    gone: frozenset[str]  # ids that may not come back
    format: str

    @property
    def k(self) -> int | None:
        """The crowd that was promised; None where none was."""
        promised = self.certificate["promises"]["anonymity"]
        return int(promised["k"]) if promised["whole_rows"] and promised["k"] else None

    def columns(self, *roles: str) -> tuple[str, ...]:
        """The columns of these roles."""
        return tuple(one["name"] for one in self.certificate["promises"]["columns"] if one["role"] in roles)


def read_earlier(release: str | os.PathLike[str], private: str | os.PathLike[str] | None) -> Earlier:
    """Read and verify an earlier release of a table in one piece, made with an id column."""
    folder = Path(release)
    if not (folder / CERTIFICATE).is_file():
        raise InputError(f"{shown(folder)} is not a release: it has no {CERTIFICATE}; give the folder of one")
    checked = verify(folder)
    if not checked:
        broken = checked.broken[0]
        raise InputError(
            f"{shown(folder)} does not hold its promises ({broken.promise}: {broken.detail}); see shoal verify"
        )
    kind = kind_of_release(folder)
    if kind == "documents":
        raise InputError(
            f"{shown(folder)} is a release of documents; documents that come and go are kept by the index: "
            "shoal index create --from"
        )
    if kind != "table":
        raise InputError(f"{shown(folder)} is a release of {kind}, and this is a table; give the release of a table")
    if parts_of(folder, "table"):
        raise InputError(f"{shown(folder)} is in parts; a release can follow one in one piece only")
    certificate = load(folder, check=False).certificate
    file = next(name for name in TABLE_FILES if (folder / name).is_file())
    columns = certificate["promises"]["columns"]
    as_it_stands = [one["name"] for one in columns if one["role"] != "quasi" or one["type"] == "string"]
    table = read_table(folder / file, as_it_stands)
    beside = private_beside(folder) if private is None else Path(private)
    records = _records(beside, table.data.num_rows, certificate["seal"])
    gone = _gone(beside) if "after" in certificate["stated"]["parameters"] else frozenset[str]()
    return Earlier(certificate["seal"], certificate, table.data, records, gone, table.format)


def _records(private: Path, n_rows: int, seal: str) -> NDArray[Any]:
    """The id of each released row's record, from the private side of this very release."""
    place = private / MAPPING
    if not place.is_file():
        raise InputError(
            f"{shown(place)} is not there; give the private folder of the earlier release: {{option}}",
            "earlier_private",
        )
    try:
        table = pq.read_table(place).sort_by("released_row")
        order = table["released_row"].to_numpy()
        made_with = (private / SEAL).read_text(encoding="ascii").strip() if (private / SEAL).is_file() else None
    except (pa.ArrowException, OSError, KeyError, ValueError):
        raise InputError(f"{shown(place)} is not the mapping of a release; give its private folder") from None
    if "record" not in table.column_names or made_with is None:
        raise InputError(
            f"{shown(place)} does not identify the records: the earlier release was made without {{option}}; "
            "make it anew with one",
            "id_column",
        )
    if not np.array_equal(order, np.arange(1, n_rows + 1)) or made_with != seal:
        raise InputError(
            f"{shown(place)} maps {counted(len(order), 'row')} of another release; give the private folder of this one"
        )
    return np.array([str(record) for record in table["record"].to_pylist()], dtype=object)


def _gone(private: Path) -> frozenset[str]:
    """Who may not come back; every release that followed another says so, were it nobody."""
    place = private / GONE
    try:
        with place.open(encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file)
        if header == ["record"]:
            return frozenset(record for (record,) in lines)
    except (OSError, ValueError, csv.Error):
        pass
    raise InputError(f"{shown(place)} is not there, or cannot be read; give the private folder as it was written")
