"""Where the benchmark data is, and how each set is read."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

ROWS = int(os.environ["SHOAL_BENCH_ROWS"]) if "SHOAL_BENCH_ROWS" in os.environ else None  # of each set; None: all
FOLDER = Path(os.environ.get("SHOAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def path(name: str) -> Path:
    """The file, or a plain word that it is not there."""
    found = FOLDER / name
    if not found.is_file():
        raise SystemExit(f"{name} is not in the data folder; set SHOAL_DATA to the folder that has it")
    return found


def texts(name: str, only: str | None = None) -> list[str]:
    """The texts of a JSONL file, or those whose field `only` is true."""
    return [story["text"] for story in records(name, only)]


def records(name: str, only: str | None = None) -> list[dict[str, Any]]:
    """The records of a JSONL file, or those whose field `only` is true."""
    with gzip.open(path(name), "rt", encoding="utf-8") as lines:
        stories = [story for story in map(json.loads, lines) if only is None or story[only]]
    return stories if ROWS is None else stories[:: max(1, len(stories) // ROWS)][:ROWS]


def casc(name: str) -> np.ndarray:
    """A CASC table as the literature uses it: of EIA, UTILITYID and the ten revenue and sales columns."""
    with gzip.open(path(f"casc_{name}.csv.gz"), "rt", encoding="utf-8") as lines:
        rows = list(islice(csv.reader(lines), 1, ROWS and ROWS + 1))
    if name == "eia":
        rows = [[row[0], *row[5:15]] for row in rows]
    return np.array(rows, dtype=np.float64)


def adult(columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Some columns of UCI Adult's training set, as text, without the records that miss any value."""
    with gzip.open(path("adult_train.csv.gz"), "rt", encoding="utf-8") as lines:
        rows = list(islice((row for row in csv.DictReader(lines) if "?" not in row.values()), ROWS))
    return [tuple(row[column] for column in columns) for row in rows]
