"""A table as owners have it: dates, codes, an order, gaps and people with several rows, protected by one command."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import data, measure

EDUCATION = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
ASKED = (
    *("-k", "10", "--l", "2", "--t", "0.3", "--person", "person", "--missing", "group"),
    *("--quasi", "age,birth,postcode,education,occupation,country,hours", "--confidential", "income"),
    *("--kind", "postcode=code", "--categorical", "occupation,country", "--order", f"education={'<'.join(EDUCATION)}"),
)


def people() -> pd.DataFrame:
    """Adult, with what it lacks made up; each tenth person has a second row."""
    adult = pd.read_csv(data.path("adult_train.csv.gz"))
    adult = adult[~(adult == "?").any(axis=1)].reset_index(drop=True)
    draw = np.random.default_rng(0)
    born = pd.Timestamp("1994-12-31") - pd.to_timedelta(adult["age"] * 365.25 + draw.integers(0, 365, len(adult)), "D")
    hours = adult["hours-per-week"].astype("Int64").mask(draw.random(len(adult)) < 0.05)
    table = pd.DataFrame(
        {
            "person": [f"P{number:05d}" for number in range(len(adult))],
            "age": adult["age"],
            "birth": born.dt.strftime("%Y-%m-%d"),
            "postcode": [f"{number:05d}" for number in draw.integers(1_000, 1_060, len(adult))],
            "education": adult["education"],
            "occupation": adult["occupation"],
            "country": adult["native-country"],
            "hours": hours,
            "income": adult["income"],
        }
    )
    return pd.concat([table, table[::10].assign(hours=40)], ignore_index=True)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        table = people()
        table.to_csv(Path(folder) / "people.csv", index=False)
        shoal = [sys.executable, "-m", "shoal"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        made = _said([*shoal, "protect", "people.csv", "-o", "release", *ASKED, "--json"], folder)
        seconds = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        verified = _said([*shoal, "verify", "release", "--json"], folder)
    promises, stated = made["certificate"]["promises"], made["certificate"]["stated"]
    row = {
        "rows": len(table),
        "seconds": seconds,
        "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "GB": after.ru_maxrss / 1e6,
        "smallest group": promises["anonymity"]["smallest_group"],
        "IL %": 100 * stated["information_loss"] if stated["information_loss"] is not None else "a range",
        "verified": "yes" if verified["holds"] else "NO",
    }
    measure.show("A table as owners have it", [row])
    return {"rows": [row]}


def _said(command: list[str], folder: str) -> Any:
    return json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)
