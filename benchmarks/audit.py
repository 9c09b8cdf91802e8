"""Audit of one table: what models say of unique people beside the truth, and what a million rows cost."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from benchmarks import data, measure

KEYS = (
    ("age", "sex", "race", "marital-status", "education"),
    ("age", "sex", "education", "occupation", "native-country"),
    ("age", "education", "hours-per-week"),
    ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"),
    ("age", "sex", "race"),
    ("sex", "race", "education", "native-country"),
    ("age", "relationship", "marital-status", "sex", "income"),
    ("education", "occupation", "workclass", "native-country"),
    ("age", "sex", "race", "education", "hours-per-week", "native-country"),
)
FRACTIONS = (0.01, 0.05, 0.1)
DRAWS = 20
ROWS, VALUES = 1_000_000, (74, 2, 16, 42, 7, 15, 90, 2_000)
MOST_CELLS = 100_000  # of the table that all two-way effects are fitted to

Ints = NDArray[np.int64]


def run() -> dict[str, Any]:
    known = [row for columns in KEYS for row in beside_truth(columns)]
    measure.show(f"Adult, mean over {DRAWS} samples: estimated less true unique people, % of the true ones", known)
    cost = [a_million_rows()]
    measure.show("A million rows and 8 columns: audit with page and figures", cost)
    return {"population": known, "million": cost}


def beside_truth(columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """The mean error of every model, and the mean size of the chosen one's."""
    from shoal.assessment.audit.key_columns import KeyColumns
    from shoal.assessment.audit.population import population_uniques

    text = zip(*data.adult(columns), strict=True)
    codes = tuple(np.unique(column, return_inverse=True)[1].astype(np.int64) + 1 for column in text)
    everybody = KeyColumns(columns, codes).frequencies()
    truth = int(np.count_nonzero(everybody == 1))
    found = []
    for fraction in FRACTIONS:
        errors: dict[str, list[float]] = {}
        for seed in range(DRAWS):
            rows = np.random.default_rng(seed).choice(len(everybody), int(fraction * len(everybody)), replace=False)
            keys = KeyColumns(columns, tuple(column[rows] for column in codes))
            frequencies = keys.frequencies()
            estimated = population_uniques(keys, keys.keys().count, frequencies, len(everybody))
            for one in estimated.estimates:
                if one.uniques is not None:
                    errors.setdefault(one.model, []).append(100 * (one.uniques / truth - 1))
            two_way = all_two_way(keys.codes, frequencies, fraction)
            if two_way is not None:
                errors.setdefault("all two-way effects", []).append(100 * (two_way / truth - 1))
        row: dict[str, Any] = {"columns": ", ".join(columns), "sampled %": 100 * fraction, "true": truth}
        models = [*(one.model for one in estimated.estimates), "all two-way effects"]
        row |= {model: round(float(np.mean(errors[model])), 1) if model in errors else "" for model in models}
        found.append(row | {"chosen, mean size": round(float(np.mean(np.abs(errors[estimated.chosen]))), 1)})
    return found


def all_two_way(codes: tuple[Ints, ...], frequencies: NDArray[np.float64], fraction: float) -> float | None:
    """The log-linear model with every two-way effect, by iterative proportional fitting; None for large tables."""
    cells = [np.unique(column, return_inverse=True)[1] for column in codes]
    shape = [int(column.max()) + 1 for column in cells]
    if np.prod([float(side) for side in shape]) > MOST_CELLS:
        return None
    table = np.zeros(shape)
    np.add.at(table, tuple(cells), 1.0)
    fitted = np.full(shape, table.mean())
    for _ in range(20):
        for pair in combinations(range(len(shape)), 2):
            others = tuple(axis for axis in range(len(shape)) if axis not in pair)
            wanted, had = (one.sum(axis=others, keepdims=True) for one in (table, fitted))
            fitted *= np.divide(wanted, had, out=np.zeros_like(had), where=had > 0)
    uniques = fitted[tuple(cells)][frequencies == 1]
    return float(np.exp(-(1 - fraction) / fraction * uniques).sum() / fraction)


def a_million_rows() -> dict[str, Any]:
    """The whole command, as a user starts it."""
    draw = np.random.default_rng(0)
    columns = {f"q{number}": (draw.random(ROWS) ** 2 * values).astype(int) for number, values in enumerate(VALUES)}
    columns |= {"ill": draw.integers(0, 30, ROWS), "w": np.round(draw.uniform(20, 200, ROWS), 1)}
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.csv.write_csv(pa.table(columns), Path(folder) / "people.csv")
        quasi = ",".join(name for name in columns if name.startswith("q"))
        asked = ("--quasi", quasi, "--confidential", "ill", "--weight", "w", "-o", "audit")
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "shoal", "audit", "people.csv", *asked], cwd=folder, check=True, capture_output=True
        )
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"rows": ROWS, "columns": len(VALUES), "seconds": seconds, "CPU s": cpu, "GB": after.ru_maxrss / 1e6}
