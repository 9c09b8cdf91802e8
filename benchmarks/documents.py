"""Documents: vectorising against scikit-learn, spherical MDAV against all pairs in scipy, memory of the whole."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data, measure

PROTOTYPE = {3: 0.2245, 5: 0.3045, 10: 0.3937}  # IL on R8 (specification 02); no paper prints them


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {"compile": compile_time(), "r8": r8(), "passages": passages(), "memory": whole_memory()}
    measure.show("Compiling the kernels (once, then cached)", [results["compile"]])
    measure.show("R8: plain spherical MDAV against scipy's X @ X.T", results["r8"])
    measure.show("100,000 passages: against scikit-learn's TfidfVectorizer", results["passages"])
    measure.show("100,000 passages: protect and verify, peak memory of the whole", [results["memory"]])
    return results


def r8() -> list[dict[str, Any]]:
    from shoal import SphericalMicroaggregation, VectorSpace

    X = VectorSpace(min_df=2).fit_transform(data.texts("reuters_r52.jsonl.gz", only="r8"))
    X = X[np.diff(X.indptr) > 0]
    SphericalMicroaggregation(3, refine=False).fit(X[:200])  # loads the compiled kernels
    rows = []
    for k, prototype in PROTOTYPE.items():
        model = SphericalMicroaggregation(k, refine=False)
        seconds, scipy_seconds = measure.side_by_side(5, lambda model=model: model.fit(X), lambda: X @ X.T)
        rows.append(
            {
                "k": k,
                "rows x terms": "{} x {}".format(*X.shape),
                "seconds": seconds,
                "X @ X.T": scipy_seconds,
                "ratio": seconds / scipy_seconds,
                "IL": model.information_loss_,
                "IL, prototype": prototype,
            }
        )
    return rows


def passages() -> list[dict[str, Any]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from shoal import SphericalMicroaggregation, VectorSpace

    texts = data.texts("frus_passages_100k.jsonl.gz")
    VectorSpace(min_df=1).fit_transform(texts[:50])
    SphericalMicroaggregation(3, refine=False).fit(VectorSpace().fit_transform(texts[:200]))
    peer = measure.best_of(2, lambda: TfidfVectorizer().fit_transform(texts))
    vectorising = measure.best_of(2, lambda: VectorSpace(min_df=5).fit_transform(texts))
    X = VectorSpace(min_df=5).fit_transform(texts)
    grouping = measure.best_of(1, lambda: SphericalMicroaggregation(5, refine=False).fit(X))
    return [
        {"job": "TfidfVectorizer", "seconds": peer, "ratio": 1.0},
        {"job": "VectorSpace(min_df=5)", "seconds": vectorising, "ratio": vectorising / peer},
        {"job": "spherical MDAV, k=5", "seconds": grouping, "ratio": grouping / peer},
    ]


def whole_memory() -> dict[str, Any]:
    start = time.perf_counter()
    peak = measure.peak_memory(protect_and_verify)
    return {"peak GB": peak, "seconds": time.perf_counter() - start}


def protect_and_verify() -> None:
    from shoal import SphericalMicroaggregation, protect, verify

    with tempfile.TemporaryDirectory() as folder:
        method = SphericalMicroaggregation(refine=False)
        made = protect(data.path("frus_passages_100k.jsonl.gz"), 5, Path(folder) / "release", method=method)
        assert verify(made.folder)


def compile_time() -> dict[str, float]:
    """A tiny job in a fresh process, with an empty cache of compiled kernels and then with a full one."""
    job = "import shoal; shoal.SphericalMicroaggregation(2, refine=False).fit(shoal.VectorSpace(min_df=1)"
    job += ".fit_transform(['fish swim', 'birds fly', 'fish eat', 'birds sing']))"
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        first, second = (
            measure.best_of(1, lambda: subprocess.run([sys.executable, "-c", job], check=True, env=environment))
            for _ in range(2)
        )
    return {"first run": first, "cached": second}
