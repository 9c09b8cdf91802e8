"""Refinement: what the search gains over MDAV by default and in a minute, and how far from the best it can be."""

from __future__ import annotations

import os
import time
import warnings
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks import data, measure

# IL% that a minute on two cores must reach (k = 3, 5, 10), and how far below MDAV's the SSE of Reuters R8 must be.
TABLES = {"tarragona": (14.48, 20.16, 30.12), "census": (4.71, 7.33, 11.38), "eia": (0.350, 0.730, 1.940)}
DOCUMENTS: dict[str, tuple[str, str | None, tuple[float | None, ...]]] = {
    "Reuters R8": ("reuters_r52.jsonl.gz", "r8", (9.0, 11.0, 13.0)),
    "Movie Reviews": ("movie_reviews.jsonl.gz", None, (None, None, None)),
}
MINUTE = float(os.environ.get("SHOAL_BENCH_SECONDS", "60"))


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {"casc": casc(), "documents": documents()}
    measure.show("CASC tables: IL%", results["casc"])
    measure.show("Documents: SSE below plain MDAV's, %", results["documents"])
    return results


def casc() -> list[dict[str, Any]]:
    cells = [(name, k, bar) for name, bars in TABLES.items() for k, bar in zip((3, 5, 10), bars, strict=True)]
    return [measure.once("refinement", f"{name} {k}", partial(table, name, k, bar)) for name, k, bar in cells]


def table(name: str, k: int, bar: float) -> dict[str, Any]:
    from shoal import Microaggregation

    plain, brief, long, seconds = runs(Microaggregation, data.casc(name), k)
    row = {"table": name, "k": k, "MDAV": 100 * plain.information_loss_}
    row |= {"default": 100 * brief.information_loss_, f"{MINUTE:g} s": 100 * long.information_loss_, "bar": bar}
    return row | {"at most % above the best": 100 * long.optimality_gap_, "CPU seconds": seconds}


def documents() -> list[dict[str, Any]]:
    rows = []
    for name, (_, _, bars) in DOCUMENTS.items():
        for k, bar in zip((3, 5, 10), bars, strict=True):
            rows.append(measure.once("refinement", f"{name} {k}", partial(collection, name, k, bar)))
    return rows


def collection(name: str, k: int, bar: float | None) -> dict[str, Any]:
    from shoal import SphericalMicroaggregation

    plain, brief, long, seconds = runs(SphericalMicroaggregation, vectors(name), k)
    row = {"documents": name, "k": k, "MDAV's SSE": plain.sse_}
    row |= {"default": 100 * (1 - brief.sse_ / plain.sse_), f"{MINUTE:g} s": 100 * (1 - long.sse_ / plain.sse_)}
    return row | {"bar": "" if bar is None else bar, "CPU seconds": seconds}


@cache
def vectors(name: str) -> Any:
    from shoal import VectorSpace

    file, only, _ = DOCUMENTS[name]
    X = VectorSpace(min_df=2).fit_transform(data.texts(file, only))
    return X[np.diff(X.indptr) > 0]


def runs(method: Any, X: Any, k: int) -> tuple[Any, Any, Any, float]:
    """Plain MDAV, the default budget, a minute, and the CPU seconds of the last (two cores: up to twice the minute)."""
    plain = method(k=k, refine=False).fit(X)
    brief = method(k=k, random_state=0).fit(X)
    start = time.process_time()
    long = method(k=k, random_state=0, time_budget=MINUTE).fit(X)
    return plain, brief, long, time.process_time() - start
