"""An earlier release of a table, with its private side: who was published by which row."""

from __future__ import annotations

import csv
import os
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
from shoal.release.folders import CERTIFICATE, GONE, MAPPING, SEAL, private_beside
from shoal.release.load import kind_of_release, load
from shoal.verification.release_files import parts_of
from shoal.verification.tables import TABLE_FILES
from shoal.verification.verify import verify


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
            f"{shown(place)} does not say who is who: the earlier release was made without {{option}}; "
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
