"""Learned linkage of everyone: a million records with a distance that is given, exact, all ties counted."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks import measure

RECORDS, ATTRIBUTES = int(os.environ.get("SHOAL_BENCH_RECORDS", "1000000")), 7
SAMPLE = 2_000  # queries of the brute force, each with all records; its time is proportional to their number
CHECKED = 20  # records compared with all others one by one, to see that the same are found
TRIED = 50_000  # by the distance with which boxes rule out least, still among all records
HARD = "OWA, smaller differences"
WEIGHTS = np.array([0.3, 0.1, 0.2, 0.05, 0.05, 0.2, 0.1])


def run() -> dict[str, Any]:
    results = {"linking": linking(), "memory": {"peak GB": measure.peak_memory(whole_job)}}
    measure.show(f"{RECORDS:,} × {ATTRIBUTES}, everyone linked", results["linking"])
    measure.show("Memory", [results["memory"]])
    return results


def correlated() -> np.ndarray:
    """Seven attributes that hang together, some skewed, as in tables of people or firms."""
    random = np.random.default_rng(0)
    mixed = random.normal(size=(RECORDS, 4)) @ random.normal(size=(4, ATTRIBUTES))
    mixed += random.normal(size=(RECORDS, ATTRIBUTES))
    mixed[:, ::3] = np.exp(mixed[:, ::3] / 2)
    return mixed


def sublinear() -> np.ndarray:
    """A fuzzy measure in which attributes repeat each other: the square root of the sum of weights."""
    from shoal.attacks.learned.distances import zeta

    single = np.zeros(2**ATTRIBUTES)
    single[1 << np.arange(ATTRIBUTES)] = WEIGHTS
    return np.sqrt(np.maximum(zeta(single), 0.0))


def smaller_differences() -> np.ndarray:
    """An OWA of the third to fifth largest difference: the hardest, since no attribute alone says that one is far."""
    from shoal.attacks.learned.distances import set_sizes

    return np.clip((set_sizes(ATTRIBUTES) - 2) / 3, 0.0, 1.0)


def decorrelating(values: np.ndarray) -> np.ndarray:
    """The turn after which Euclidean distance is Mahalanobis'."""
    return np.linalg.cholesky(np.linalg.inv(np.cov(values, rowvar=False)))


def linking() -> list[dict[str, Any]]:
    from shoal import Microaggregation, Noise, RankSwap
    from shoal.attacks.learned.linking import chances_of
    from shoal.attacks.learned.records import side_by_side

    maskings: dict[str, Any] = {
        "noise, 10 %": Noise(10, random_state=0),
        "rank swapping, 5 %": RankSwap(5, random_state=0),
        "microaggregation, k=5, 3+2+2": Microaggregation(5, refine=False, attribute_groups=[[0, 1, 2], [3, 4], [5, 6]]),
    }
    small = side_by_side(np.eye(40, ATTRIBUTES), np.eye(40, ATTRIBUTES))
    for distance in distances(small).values():  # compiled before the clock starts
        chances_of(small, distance)
    X = correlated()
    rows = []
    for masking, method in maskings.items():
        records = side_by_side(X, method.fit_transform(X))
        rows += [{"masking": masking, **row} for row in link_by_all(records)]
    return rows


def link_by_all(records: Any) -> list[dict[str, Any]]:
    """One masking: a line for each distance."""
    from shoal.attacks.learned.linking import chances_of

    brute = brute_force(records)
    tried = {HARD: np.random.default_rng(2).choice(len(records), min(TRIED, len(records)), replace=False)}
    rows = []
    for name, distance in distances(records).items():
        some = tried.get(name, np.arange(len(records)))
        found: list[np.ndarray] = []
        seconds = measure.best_of(
            1,
            lambda distance=distance, name=name, found=found: found.append(
                chances_of(records, distance, tried.get(name))
            ),
        )
        row = {
            "distance": name,
            "records tried": len(some),
            "seconds": seconds,
            "records per second": round(len(some) / seconds),
            "ratio to brute force": seconds / (brute * len(some)),
            "found %": 100 * float(found[0].mean()),
            "as all pairs": same(records, distance, some, found[0]),
        }
        rows.append(row)
    return rows


def distances(records: Any) -> dict[str, Any]:
    """The distances by which all are linked."""
    from shoal.attacks.learned.distances import LinearMap, Measure, Weights

    decorrelated = decorrelating(records.before) if len(records) > 1000 else np.eye(ATTRIBUTES)
    return {
        "weighted mean": Weights(WEIGHTS),
        "linear map (Mahalanobis)": LinearMap(decorrelated),
        "Choquet": Measure(sublinear()),
        HARD: Measure(smaller_differences()),
    }


def brute_force(records: Any) -> float:
    """Seconds that scikit-learn's takes for a record, by the weighted mean and without ties."""
    from sklearn.neighbors import NearestNeighbors

    scale = np.sqrt(WEIGHTS)
    model = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(records.after * scale)
    some = np.random.default_rng(0).choice(len(records), SAMPLE, replace=False)
    return measure.best_of(1, lambda: model.kneighbors(records.before[some] * scale)) / SAMPLE


def same(records: Any, distance: Any, some: np.ndarray, found: np.ndarray) -> bool:
    """Whether a few of the records tried, compared with all others, have the chances that were found."""
    from shoal.attacks.learned.linking import chances_by_all_pairs

    places = np.random.default_rng(1).choice(len(some), CHECKED, replace=False)
    return np.array_equal(chances_by_all_pairs(records, distance, some[places]), found[places])


def whole_job() -> None:
    """What memory is measured of: a fresh process, the table, the masking and the linkage."""
    from shoal import Noise
    from shoal.attacks.learned.distances import Measure, Weights
    from shoal.attacks.learned.linking import chances_of
    from shoal.attacks.learned.records import side_by_side

    X = correlated()
    records = side_by_side(X, Noise(10, random_state=0).fit_transform(X))
    chances_of(records, Weights(WEIGHTS))
    chances_of(records, Measure(sublinear()))
