"""Small honest releases of every kind that there is: documents and tables, in one piece and in parts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from shoal import CategoricalMicroaggregation, Microaggregation, Roles, SphericalMicroaggregation, VectorSpace, protect
from tests.release.releases import LETTERS, ROLES, TABLE_MDAV, quietly, release_letters

PEOPLE = pd.DataFrame(
    {
        "age": [31, 33, 58, 61, 29, 64, 35, 57, 32, 60, 30, 59],
        "pay": [2100.5, 2500, 4100, 4000.25, 1900, 4400, 2600, 3900, 2200, 4300, 2000, 4200],
        "town": [
            "Wick",
            "Rye, East",
            "Deal",
            'the "Bay"',
            "Rye",
            "Wick",
            "Deal",
            "Rye",
            "Wick",
            "Köln",
            "two\nlines",
            "Bay",
        ],
        "illness": ["flu", "gout", "asthma", "flu", "gout", "asthma", "flu", "gout", "asthma", "flu", "gout", "asthma"],
    }
)
TABLE_ROLES = Roles(quasi=ROLES.quasi, confidential=ROLES.confidential, insensitive=ROLES.insensitive)


def make_honest(folder: Path) -> dict[str, Path]:
    """A release of each kind, by its name."""
    made = {
        "documents": release_letters(folder / "documents", l=2).folder,
        "documents without labels": release_letters(folder / "bare", label_column=None).folder,
        "documents in parts": _documents_in_parts(folder / "document parts"),
        "table.parquet": _table(folder / "parquet", PEOPLE),
        "table in parts": _table_in_parts(folder / "table parts"),
        "table of labels": _labels(folder / "labels"),
    }
    for suffix, between in (("csv", ","), ("tsv", "\t"), ("csv.gz", ",")):
        source = folder / f"people.{suffix}"
        PEOPLE.to_csv(source, sep=between, index=False)
        made[f"table.{suffix}"] = _table(folder / suffix, source)
    return made


def _table(folder: Path, source: object) -> Path:
    folder.mkdir()
    made: Path = quietly(protect, source, 3, folder / "release", roles=TABLE_ROLES, method=TABLE_MDAV, l=2).folder
    return made


def _labels(folder: Path) -> Path:
    """Protected texts, one of them missing in a whole group."""
    folder.mkdir()
    towns = pa.array(["Wick", "Deal", None, "Rye"] * 4)
    table = pa.table({"town": towns, "sex": pa.array(["f", "f", "m", "m"] * 4), "visits": pa.array(range(16))})
    roles = Roles(quasi=("town", "sex"), confidential=("visits",))
    method = CategoricalMicroaggregation(refine=False)
    made: Path = quietly(protect, table, 2, folder / "release", roles=roles, method=method).folder
    return made


def _table_in_parts(folder: Path) -> Path:
    folder.mkdir()
    table = pa.Table.from_pandas(pd.concat([PEOPLE] * 2), preserve_index=False).cast(
        pa.schema([("age", pa.float64()), ("pay", pa.float64()), ("town", pa.string()), ("illness", pa.string())])
    )
    for number in range(2):
        pq.write_table(table.slice(12 * number, 12), folder / f"people-{number}.parquet")
    method = Microaggregation(refine=False, blocks=12)
    source = f"{folder}/people-*.parquet"
    made: Path = quietly(protect, source, 3, folder / "release", roles=TABLE_ROLES, method=method, l=2).folder
    return made


def _documents_in_parts(folder: Path) -> Path:
    folder.mkdir()
    rows = [{"id": f"{number}", "text": text, "part": part} for number, (_, text, part) in enumerate(LETTERS * 2)]
    for number in range(2):
        pq.write_table(pa.Table.from_pylist(rows[8 * number : 8 * number + 8]), folder / f"letters-{number}.parquet")
    method = SphericalMicroaggregation(refine=False, blocks=8)
    space = VectorSpace(min_df=2)
    source = f"{folder}/letters-*.parquet"
    made: Path = quietly(protect, source, 2, folder / "release", label_column="part", space=space, method=method).folder
    return made
