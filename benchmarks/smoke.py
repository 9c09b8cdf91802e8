"""The benchmarks of the papers in a small form: they run. Their figures mean nothing here and are not kept.

python -m benchmarks.smoke [NAME ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ENVIRONMENT = {"SHOAL_BENCH_ROWS": "150", "SHOAL_BENCH_DOCUMENTS": "400", "SHOAL_BENCH_SECONDS": "0.2"}
# What makes a benchmark small, beside fewer rows: other constants, and parts that are run in place of all.
SMALL: dict[str, dict[str, Any]] = {
    "refinement": {"TABLES": {"tarragona": (14.48, 20.16, 30.12)}, "DOCUMENTS": {}},
    "semantic": {"PUBLISHED": {50: (13.8, 34.8, 63.2, 84.8)}, "LONG": 0},
    "utility": {"K": range(2, 4), "SEARCH": 0.1},
    "linkage": {"ROWS": 2_000, "SAMPLE": 200, "TIMES": 1},
    "learned_paper": {
        "DRAWS": 1, "SECONDS": 0.3, "RECORDS": 60, "FILES": {"M4-28": ((2, 2), (2, 8))}, "SIZES": (3,), "SWAPS": (1,),
        "NOISES": (6,), "HEURISTIC": ("M4-28",), "PROTECTIONS": ("RS-5", "Mic3-9"), "KNOWN": 50, "SPLITS": 1,
    },
    "learned": {"RECORDS": 60, "LIMIT": 0.3, "FILES": {"M4-28": ((2, 2), (2, 8))}},
    "index": {"START": 50, "EVERY": 50},
    "categorical": {"KS": (2,), "ORDERS": 1, "TIED": (4,), "TIMED": (2,)},
    "sketches": {
        "COLLECTIONS": ("R8",), "PARAMETERS": {"k-variance": (2,), "delta": (0.2,), "crowd": (2,)},
        "ITEMS": {1_000: "R8"}, "DELTAS": (0.2,), "KEYS": range(1), "COMPONENTS": (64,), "MONTE_CARLO": 100,
    },
}  # fmt: skip
PARTS: dict[str, tuple[str, ...]] = {
    "documents": ("r8",),  # not the passages, in processes of their own
    "refinement": ("casc",),
    "semantic": ("loss",),
    "linkage": ("linkage",),
}
# The others start servers, browsers or models, or take minutes; mypy sees whether what they call is there.
QUICK = (
    "tables", "refinement", "documents", "documents_paper", "semantic", "utility", "categorical", "linkage",
    "learned", "learned_paper", "sketches", "index",
)  # fmt: skip


def main(names: Sequence[str]) -> int:
    """Run them one after another; the number of those that failed."""
    os.environ.update(ENVIRONMENT)  # read when the modules are loaded, by child processes as well
    from benchmarks import measure

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        measure.RESULTS = Path(folder)
        for name in names or QUICK:
            begun = time.perf_counter()
            said = _run(name)
            failed += said.startswith("failed")
            print(f"{name}: {said}, {time.perf_counter() - begun:.1f} s", flush=True)
    return failed


def _run(name: str) -> str:
    try:
        module = import_module(f"benchmarks.{name}")
        for constant, value in SMALL.get(name, {}).items():
            getattr(module, constant)  # there must be one
            setattr(module, constant, value)
        for part in PARTS.get(name, ("run",)):
            getattr(module, part)()
    except (SystemExit, ModuleNotFoundError) as missing:  # data or a library that is not here
        return f"left out ({missing})"
    except Exception as problem:
        return f"failed ({type(problem).__name__}: {problem})"
    return "runs"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
