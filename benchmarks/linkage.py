"""Distance-based linkage: exact, all ties counted, against brute force over all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import measure

ROWS, COLUMNS = 100_000, 10
SAMPLE = 5_000  # queries of the brute force, each with all rows; its time is proportional to their number
TIMES = 3


def run() -> dict[str, Any]:
    results = {"linkage": linkage(), "memory": {"peak GB": measure.peak_memory(whole_job)}}
    measure.show("100,000 × 10 against itself, masked", results["linkage"])
    measure.show("Memory", [results["memory"]])
    return results


def correlated() -> np.ndarray:
    """Ten attributes that hang together, some skewed, as in tables of people or firms."""
    random = np.random.default_rng(0)
    mixed = random.normal(size=(ROWS, 4)) @ random.normal(size=(4, COLUMNS)) + random.normal(size=(ROWS, COLUMNS))
    mixed[:, ::3] = np.exp(mixed[:, ::3] / 2)
    return mixed


def independent() -> np.ndarray:
    """Ten independent normals: nothing to prune by, the hardest that ten attributes can be."""
    return np.random.default_rng(0).normal(size=(ROWS, COLUMNS))


def linkage() -> list[dict[str, Any]]:
    from sklearn.neighbors import NearestNeighbors

    from shoal import Microaggregation, Noise, RankSwap
    from shoal.attacks.distance import DistanceLinkage

    maskings: dict[str, Any] = {
        "microaggregation, k=5": Microaggregation(5, refine=False),
        "noise, 10 %": Noise(10, random_state=0),
        "noise, 50 %": Noise(50, random_state=0),
        "rank swapping, 5 %": RankSwap(5, random_state=0),
        "rank swapping, 15 %": RankSwap(15, random_state=0),
    }
    DistanceLinkage().run(np.eye(40), np.eye(40))  # compiled before the clock starts
    rows = []
    for name, X in {"correlated": correlated(), "independent": independent()}.items():
        for masking, method in maskings.items():
            Y = method.fit_transform(X)
            Z, M = (X - X.mean(axis=0)) / X.std(axis=0), (Y - X.mean(axis=0)) / X.std(axis=0)
            brute = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(Z)
            ours, theirs = measure.side_by_side(
                TIMES,
                lambda X=X, Y=Y: DistanceLinkage().run(X, Y),
                lambda brute=brute, M=M: brute.kneighbors(M[:SAMPLE]),
            )
            theirs *= ROWS / SAMPLE
            found = DistanceLinkage().run(X, Y)
            rows.append(
                {
                    "table": name,
                    "masking": masking,
                    "seconds": ours,
                    "brute force": theirs,
                    "ratio": ours / theirs,
                    "linked %": 100 * found.rate,
                }
            )
    return rows


def whole_job() -> None:
    """What memory is measured of: a fresh process, the table, the masking and the linkage."""
    from shoal import Noise
    from shoal.attacks.distance import DistanceLinkage

    X = correlated()
    DistanceLinkage().run(X, Noise(10, random_state=0).fit_transform(X))
