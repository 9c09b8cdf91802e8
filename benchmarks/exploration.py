"""Census, all 13 attributes: every masking that `explore` tries, ranked by score, and the map of risk against loss."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import data, measure


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    from shoal import explore

    values = data.casc("census")
    table = pa.table({f"V{column + 1}": values[:, column] for column in range(values.shape[1])})
    with tempfile.TemporaryDirectory() as folder:
        found = explore(table, Path(folder) / "census", k=3)
    front = {one.trial.name for one in found.front}
    rows = [
        {
            "masking": one.trial.name,
            "score": round((one.figures["IL"] + one.figures["DR"]) / 2, 2),
            "IL": round(one.figures["IL"], 2),
            "DR": round(one.figures["DR"], 2),
            "linked, best distance": round(
                max(one.figures["linked, Euclidean"], one.figures["linked, Mahalanobis"]), 2
            ),
            "linked, probabilistic": round(one.figures["linked, probabilistic"], 2),
            "interval disclosure": round(one.figures["interval disclosure"], 2),
            "fewest alike": one.smallest_group,
            "on the front": "yes" if one.trial.name in front else "",
        }
        for one in found.outcomes
    ]
    measure.show(f"Census, {len(rows)} maskings by score", rows)
    return {"census": rows}
