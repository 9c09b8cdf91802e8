"""Time and memory of sketches: beside scikit-learn, against the number of records, and against what they hold."""

from __future__ import annotations

import gzip
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from benchmarks import baskets, data, measure

METHODS = ("delta", "k-variance", "crowd", "crowd, refined")
THOUSANDS = (200, 400, 600, 800, 1_000)
SIZES = (10, 15, 20, 25, 30)  # mean items of a basket
TIMES = 9
QUERIES = 5_000  # of the brute force, each with all rows; its time is proportional to their number


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {
        "peers": [measure.once("sketch_speed", job.__name__, job) for job in (projection, neighbours)],
        "records": [
            {"records": 1_000 * count} | timed(method, f"C20.I6.D{count}K")
            for method in METHODS[:3]
            for count in THOUSANDS
        ],
        "nonzeros": [
            {"items of a basket": size} | timed(method, f"C{size}.I6.D200K") for method in METHODS[:3] for size in SIZES
        ],
        "million": [million(method, timed) for method in METHODS],
        "jobs": [million(method, timed_job) for method in METHODS[:3]],
    }
    measure.show("Beside scikit-learn, T10I4D100K", results["peers"])
    measure.show("Seconds against records", results["records"])
    measure.show("Seconds against the items of a basket, 200,000 records", results["nonzeros"])
    measure.show("A million baskets of 20", results["million"])
    measure.show("A million baskets of 20, from file to release", results["jobs"])
    return results


def transactions() -> Any:
    """T10I4D100K as rows of counts, and the names of its items."""
    from shoal.data.baskets import count_baskets

    with gzip.open(data.path("basket_T10I4D100K.dat.gz"), "rt", encoding="ascii") as lines:
        return count_baskets([line.split() for line in lines])


def projection() -> dict[str, Any]:
    """64 components of every basket: both transform what they were fitted to before."""
    from sklearn.random_projection import SparseRandomProjection

    from shoal.methods.sketches import DeltaSketch, SketchKey

    X, items = transactions()
    # A delta that every basket of two items or more meets with all components.
    ours = DeltaSketch(1e-9, max_components=64, terms=items, key=SketchKey.from_seed(0)).fit(X)
    theirs = SparseRandomProjection(64, random_state=0).fit(X)
    return beside("64 components", lambda: ours.transform(X), lambda: theirs.transform(X))


def neighbours() -> dict[str, Any]:
    """The 5 nearest of every basket."""
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import normalize

    from shoal.methods.sketches.k_variance import nearest_rows

    unit = normalize(transactions()[0])
    nearest_rows(unit[:1_000], 5)  # compiled before the clock starts
    brute = NearestNeighbors(n_neighbors=6, algorithm="brute").fit(unit)
    scale = unit.shape[0] / QUERIES
    return beside("5 nearest", lambda: nearest_rows(unit, 5), lambda: brute.kneighbors(unit[:QUERIES]), scale, 3)


def beside(name: str, ours: Any, theirs: Any, scale: float = 1.0, times: int = TIMES) -> dict[str, Any]:
    """Median seconds of both, run in turn, and those of all cores together."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(times)]
    wall, other = (sorted(pair[side][0] for pair in pairs)[times // 2] for side in (0, 1))
    cpu, other_cpu = (sorted(pair[side][1] for pair in pairs)[times // 2] for side in (0, 1))
    return {
        "job": name,
        "seconds": wall,
        "scikit-learn": other * scale,
        "ratio": wall / (other * scale),
        "CPU seconds": cpu,
        "scikit-learn, CPU": other_cpu * scale,
        "ratio, CPU": cpu / (other_cpu * scale),
    }


def seconds(job: Any) -> tuple[float, float]:
    """By the clock, and of all cores together."""
    start, cpu = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - start, time.process_time() - cpu


def timed(method: str, name: str) -> dict[str, Any]:
    """A run in a process of its own."""
    return measure.once("sketch_speed", f"{method} {name}", partial(run_apart, method, name))


def run_apart(method: str, name: str) -> dict[str, Any]:
    found, peak = measure.apart(Job(method, name))
    return {"method": method, **found, "peak GB": peak}


@dataclass(frozen=True)
class Job:
    """Sketch baskets that are made first, with compiled kernels; delta takes a moment and is run three times."""

    method: str
    name: str

    def __call__(self) -> dict[str, Any]:
        warnings.simplefilter("ignore")
        from sklearn.base import clone

        from shoal import SphericalMicroaggregation
        from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, SketchKey

        X, _ = baskets.named(self.name)
        key = SketchKey.from_seed(0)
        model: Any = {
            "delta": DeltaSketch(0.3, key=key),
            "k-variance": KVarianceSketch(5, key=key),
            "crowd": CrowdSketch(5, method=SphericalMicroaggregation(refine=False), key=key),
            "crowd, refined": CrowdSketch(5, method=SphericalMicroaggregation(), key=key),
        }[self.method]
        in_blocks = [name for name in model.get_params() if name.endswith("blocks")]
        clone(model).set_params(**dict.fromkeys(in_blocks, 1_000)).fit(X[:2_000])  # loads the compiled kernels
        runs = [seconds(lambda: model.fit(X)) for _ in range(3 if self.method == "delta" else 1)]
        return {"seconds": min(run[0] for run in runs), "CPU seconds": min(run[1] for run in runs)}


@dataclass(frozen=True)
class WholeJob:
    """Protect a file of baskets that was written before: release, certificate, report, and the attacks on it."""

    method: str
    path: str

    def __call__(self) -> dict[str, Any]:
        warnings.simplefilter("ignore")
        from shoal import SphericalMicroaggregation, protect
        from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch

        method: Any = {
            "delta": DeltaSketch(0.3),
            "k-variance": KVarianceSketch(5),
            "crowd": CrowdSketch(5, method=SphericalMicroaggregation(refine=False)),
        }[self.method]
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu = seconds(lambda: protect(self.path, 5, f"{folder}/release", method=method))
        return {"seconds": wall, "CPU seconds": cpu}


def timed_job(method: str, name: str) -> dict[str, Any]:
    return measure.once("sketch_speed", f"protect {method} {name}", partial(job_apart, method, name))


def job_apart(method: str, name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}.dat"
        measure.apart(partial(write_baskets, name, path))  # in a process of its own: its memory is not the job's
        found, peak = measure.apart(WholeJob(method, path))
    return {"method": method, **found, "peak GB": peak}


def write_baskets(name: str, path: str) -> None:
    X, _ = baskets.named(name)
    with open(path, "w", encoding="ascii") as file:
        for start, end in pairwise(X.indptr.tolist()):
            file.write(" ".join(map(str, X.indices[start:end].tolist())) + "\n")


def million(method: str, run_on: Callable[[str, str], dict[str, Any]]) -> dict[str, Any]:
    """A million baskets beside 200,000."""
    small, large = run_on(method, "C20.I6.D200K"), run_on(method, "C20.I6.D1000K")
    return {
        "method": method,
        "200,000: seconds": small["seconds"],
        "1,000,000: seconds": large["seconds"],
        "times": large["seconds"] / small["seconds"],
        "times, CPU": large["CPU seconds"] / small["CPU seconds"],
        "peak GB": large["peak GB"],
    }
