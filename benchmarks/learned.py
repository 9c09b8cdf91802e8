"""Learned linkage: the most that can be found, proved or with its bound."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data, measure

SEED, RECORDS = 0, 400  # which records of Census are drawn
LIMIT = 30.0  # seconds for a proof
# Groups of attributes and their k, as the paper has them.
FILES = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
}
LEARNED = ("weighted-mean", "owa", "choquet", "bilinear")


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    jobs = [(f"{file} {name}", partial(proved, file, name)) for file in FILES for name in LEARNED]
    results = {"files": [measure.once("learned", key, job) for key, job in jobs]}
    measure.show("Proofs", results["files"])
    return results


def file_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Records of Census drawn with the seed, and their groups of attributes by plain MDAV."""
    from shoal import Microaggregation

    census = data.casc("census")
    X = census[np.sort(np.random.default_rng(SEED).choice(len(census), RECORDS, replace=False))]
    parts, place = [], 0
    for width, k in FILES[name]:
        parts.append(Microaggregation(k, refine=False).fit_transform(X[:, place : place + width]))
        place += width
    return X[:, :place], np.column_stack(parts)


def proved(file: str, distance: str) -> dict[str, Any]:
    from shoal.attacks.proof.linkage import LearnedLinkage

    began = time.process_time()
    found = LearnedLinkage(distance, seconds=LIMIT).run(*file_of(file))

    return {
        "file": file,
        "distance": distance,
        "found %": 100 * found.found,
        "at most %": 100 * found.bound,
        "proved": "yes" if found.proved else "",
        "CPU seconds": time.process_time() - began,
        "rounds": found.rounds,
    }
