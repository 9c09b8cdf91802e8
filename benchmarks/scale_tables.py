"""How the work of protecting a mixed table grows with its rows, and a wide table's with its columns, in CPU seconds.

Rows are drawn from Adult with replacement; age moves by up to 2 years, hours by up to 1, the weight is rounded to
thousands and moves by up to 3, so that few are copies. Wide tables are correlated normal numbers.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import data, measure, pictures
from shoal import protect

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"

NUMBERS = ("age", "hours-per-week", "fnlwgt")
LABELS = ("education", "occupation", "native-country", "marital-status", "workclass")
K, L = 10, 2


def run(small: bool = False) -> dict[str, Any]:
    """Rows of mixed tables, then columns of numbers."""
    rows = [mixed(n_rows) for n_rows in ((2_000, 4_000) if small else (10_000, 100_000, 1_000_000, 2_000_000))]
    measure.show(f"Adult re-sampled, 8 quasi-identifiers, k={K}, l={L}", rows)
    wide = [numbers(n_columns) for n_columns in ((10, 20) if small else (50, 500))]
    measure.show("2,000 rows of numbers, k=5", wide)
    return {"rows": rows, "wide": wide}


def draw() -> None:
    """The picture of docs/scale.md, from the first table of that page."""
    table = PAGE.read_text(encoding="utf-8").split("| rows |")[1].split("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    rows = [
        {"rows": int(n.replace(",", "")), "CPU seconds": float(seconds), "memory": float(memory.removesuffix(" GB"))}
        for n, seconds, memory in lines
    ]
    pictures.draw("scale-tables", pictures.time_and_memory(rows))


def resampled(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Adult with so many rows."""
    columns = (*NUMBERS, *LABELS, "income")
    people = pd.DataFrame(data.adult(columns), columns=list(columns)).astype(dict.fromkeys(NUMBERS, "int64"))
    random = np.random.default_rng(seed)
    people = people.iloc[random.integers(len(people), size=n_rows)].reset_index(drop=True)
    people["age"] += random.integers(-2, 3, n_rows)
    people["hours-per-week"] += random.integers(-1, 2, n_rows)
    people["fnlwgt"] = people["fnlwgt"] // 1000 + random.integers(-3, 4, n_rows)
    return people


def mixed(n_rows: int) -> dict[str, Any]:
    """CPU seconds, memory and loss of a default release."""
    options: dict[str, Any] = {"quasi": [*NUMBERS, *LABELS], "categorical": list(LABELS), "confidential": ["income"]}
    return {"rows": n_rows} | _measured(resampled(n_rows), K, options | {"l": L})


def numbers(n_columns: int, n_rows: int = 2_000) -> dict[str, Any]:
    """The same for numbers that hang together."""
    random = np.random.default_rng(0)
    table = random.normal(size=(n_rows, 5)) @ random.normal(size=(5, n_columns))
    table += random.normal(size=table.shape)
    names = [f"c{column}" for column in range(n_columns)]
    return {"columns": n_columns} | _measured(pd.DataFrame(table, columns=names), 5, {"quasi": names})


def _measured(table: pd.DataFrame, k: int, options: dict[str, Any]) -> dict[str, Any]:
    before = _cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        made = protect(table, k, Path(folder) / "release", **options)
    return {
        "CPU seconds": _cpu_seconds() - before,
        "GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "loss, %": 100.0 * (made.measured_loss or 0.0),
    }


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    draw()
