"""The evaluation of Aggarwal and Yu (2007) redone: what classifiers and clusters keep of records that are sketched.

Reuters R8 in place of Text17, which is not public; baskets of two classes as in the paper. Training and test records
are protected separately, two to one, with one key. Records withheld get a class or cluster at random, by frequency.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import baskets, data, measure

COLLECTIONS = ("R8", "C20.I4.D200K", "C20.I6.D200K")
PARAMETERS = {"k-variance": (2, 5, 10, 20), "delta": (0.2, 0.3, 0.4, 1.0), "crowd": (2, 5, 10, 20)}
ITEMS = {1_000: "C20.I6.D200K", 1_500: "C20.I6.D200K.G1500", 2_000: "C20.I6.D200K.G2000"}
DELTAS = (0.2, 0.3, 0.4)
TESTED = 2_000  # test records that are classified, drawn from those protected
NEIGHBOURS = 5
CLUSTERS = 10
KEYS = range(5)
COMPONENTS = (64, 128, 256, 512, 1024)
MONTE_CARLO = 100_000


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {
        "evaluation": [row for name in COLLECTIONS for row in evaluated(name, list(cells()))],
        "items": [row for count, name in ITEMS.items() for row in by_items(count, name)],
        "crowd": measure.once("sketches", "crowd", crowd)["rows"],
        "variance": measure.once("sketches", "variance", variances)["rows"],
    }
    measure.show("Classes and clusters of sketches", results["evaluation"])
    measure.show("Against the number of items", results["items"])
    measure.show("Reuters R8: crowd sketches of groups of 5", results["crowd"])
    measure.show("Variance over 100,000 keys", results["variance"])
    return results


def cells() -> Iterator[tuple[str, float]]:
    return ((how, parameter) for how, parameters in PARAMETERS.items() for parameter in parameters)


@dataclass(frozen=True)
class Records:
    """Rows of counts in random order and their classes; the last third is for testing."""

    X: sp.csr_matrix
    classes: Any

    @property
    def parts(self) -> tuple[slice, slice]:
        border = 2 * self.X.shape[0] // 3
        return slice(0, border), slice(border, None)


@cache
def collection(name: str) -> Records:
    if name != "R8":
        return Records(*baskets.named(name))
    from shoal import VectorSpace

    stories = data.records("reuters_r52.jsonl.gz", "r8")
    space = VectorSpace(min_df=2)
    counted = space.count([story["text"] for story in stories])
    X = space.settle([counted.tally]).count_rows(counted).astype(np.float64)
    order = np.random.default_rng(0).permutation(np.flatnonzero(np.diff(X.indptr)))
    return Records(X[order], np.array([stories[row]["label"] for row in order]))


def evaluated(name: str, protections: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Classes and clusters of the original, by chance, and of each protected version."""
    original = measure.once("sketches", f"{name} original", partial(of_original, name))
    rows = [original, measure.once("sketches", f"{name} chance", partial(by_chance, name))]
    for how, parameter in protections:
        rows.append(measure.once("sketches", f"{name} {how} {parameter:g}", partial(of_sketches, name, how, parameter)))
    return [
        row
        | {
            "accuracy / original": row["accuracy"] / original["accuracy"],
            "similarity / original": row["similarity"] / original["similarity"],
        }
        for row in rows
    ]


def by_items(count: int, name: str) -> list[dict[str, Any]]:
    """Delta and crowds on baskets of more and more items."""
    protections = [*(("delta", delta) for delta in DELTAS), ("crowd", 5)]
    return [{"items": count} | row for row in evaluated(name, protections)[2:]]


def of_original(name: str) -> dict[str, Any]:
    from sklearn.neighbors import KNeighborsClassifier

    from shoal.utility.clustering import partitions
    from shoal.utility.spaces import unit_rows

    found = collection(name)
    train, test = (found.X[part] for part in found.parts)
    classes, tested = found.classes[found.parts[0]], found.classes[found.parts[1]]
    model = KNeighborsClassifier(NEIGHBOURS, algorithm="brute", metric="cosine").fit(train, classes)
    clusters = partitions(unit_rows(found.X, "original"), [CLUSTERS])[CLUSTERS]
    accuracy = float(np.mean(model.predict(test[:TESTED]) == tested[:TESTED]))
    return row(name, "original", 0, 0, 0, accuracy, similarity(found.X, clusters))


def by_chance(name: str) -> dict[str, Any]:
    """Classes and clusters drawn by frequency: what is left when nothing is."""
    found = collection(name)
    _, counts = np.unique(found.classes, return_counts=True)
    clusters = np.random.default_rng(0).integers(CLUSTERS, size=found.X.shape[0])
    share = counts / counts.sum()
    return row(name, "chance", 0, 0, 0, float(share @ share), similarity(found.X, clusters))


def of_sketches(name: str, how: str, parameter: float) -> dict[str, Any]:
    found = collection(name)
    train, test = (sketched(found.X[part], name, how, parameter) for part in found.parts)
    classes, tested = (found.classes[part] for part in found.parts)
    accuracy = np.mean(predicted(train, classes, test[:TESTED]) == tested[:TESTED])
    everything = sketched(found.X, name, how, parameter)
    return row(
        name,
        how,
        parameter,
        float(np.median(everything.lengths)),
        float(100 * everything.withheld.mean()),
        float(accuracy),
        similarity(found.X, clustered(everything)),
    )


def row(
    name: str, how: str, parameter: float, components: float, withheld: float, accuracy: float, likeness: float
) -> dict[str, Any]:
    return {
        "records": name,
        "protection": how,
        "k or delta": parameter or "",
        "components": components or "",
        "withheld %": withheld,
        "accuracy": accuracy,
        "similarity": likeness,
    }


def sketched(X: sp.csr_matrix, name: str, how: str, parameter: float, seed: int = 0) -> Any:
    """Sketches of the rows. Crowds of baskets are grouped without the search for better groups, which takes minutes."""
    from shoal import SphericalMicroaggregation
    from shoal.methods.sketches import CrowdSketch, DeltaSketch, KVarianceSketch, SketchKey

    key = SketchKey.from_seed(seed)
    if how == "delta":
        return DeltaSketch(parameter, key=key).fit_transform(X)
    if how == "k-variance":
        return KVarianceSketch(int(parameter), key=key).fit_transform(X)
    groups = SphericalMicroaggregation(refine=name == "R8", random_state=0)
    components = 512 if name == "R8" else 128
    return CrowdSketch(int(parameter), components=components, method=groups, key=key).fit_transform(X)


def predicted(train: Any, classes: Any, test: Any) -> Any:
    """Classes by the nearest sketches."""
    from shoal.methods.sketches import SketchNeighborsClassifier

    names, counts = np.unique(classes, return_counts=True)
    labels = np.random.default_rng(0).choice(names, size=len(test), p=counts / counts.sum())
    known, tried = ~train.withheld, ~test.withheld
    if known.sum() >= NEIGHBOURS and tried.any():
        model = SketchNeighborsClassifier(NEIGHBOURS).fit(train[known], classes[known])
        labels[tried] = model.predict(test[tried])
    return labels


def clustered(sketches: Any) -> Any:
    """Clusters by spherical k-means."""
    from shoal.methods.sketches import SketchKMeans

    known = ~sketches.withheld
    labels = SketchKMeans(CLUSTERS, n_init=2, max_iter=20, random_state=0).fit(sketches[known]).labels_
    clusters = np.random.default_rng(0).choice(labels, size=len(sketches))  # at random, by the sizes of the clusters
    clusters[known] = labels
    return clusters


def similarity(X: sp.csr_matrix, clusters: Any) -> float:
    """Mean cosine of the original rows to the centroids of their clusters."""
    from sklearn.preprocessing import normalize

    unit = normalize(X)
    shape = (int(clusters.max()) + 1, X.shape[0])
    sums = sp.csr_matrix((np.ones(X.shape[0]), (clusters, np.arange(X.shape[0]))), shape=shape) @ unit
    return float(np.sqrt(sums.multiply(sums).sum(axis=1)).sum() / X.shape[0])  # <x, s> summed over a cluster is |s|²


def crowd() -> dict[str, Any]:
    """Groups of 5 of R8: the classifier on their vectors and on their sketches, with several keys."""
    from sklearn.neighbors import KNeighborsClassifier

    from shoal import SphericalMicroaggregation
    from shoal.methods.sketches import CrowdSketch, SketchKey
    from shoal.methods.sketches.sketches import sketch_rows

    found = collection("R8")
    parts = [found.X[part] for part in found.parts]
    classes, tested = (found.classes[part] for part in found.parts)
    means = [SphericalMicroaggregation(5, random_state=0).fit_transform(X) for X in parts]
    pools = [pools_of(X, CrowdSketch(5, components=1, random_state=0).fit(X).groups_) for X in parts]
    by_cosine = KNeighborsClassifier(NEIGHBOURS, algorithm="brute", metric="cosine")
    on_means, on_pools = (float(by_cosine.fit(one, classes).score(two, tested)) for one, two in (means, pools))
    terms = [str(column) for column in range(found.X.shape[1])]
    rows = []
    for components in COMPONENTS:
        accuracies = []
        for seed in KEYS:
            key = SketchKey.from_seed(seed)
            train, test = (sketch_rows(X, terms, key, np.full(X.shape[0], components)) for X in pools)
            accuracies.append(float(np.mean(predicted(train, classes, test) == tested)))
        mean = float(np.mean(accuracies))
        rows.append(
            {
                "components": components,
                "k-anonymous vectors": on_means,
                "pools of the groups": on_pools,
                "crowd sketches": mean,
                "lowest of 5 keys": min(accuracies),
                "points below the vectors": 100 * (on_means - mean),
                "points below the pools": 100 * (on_pools - mean),
            }
        )
    return {"rows": rows}


def pools_of(X: sp.csr_matrix, groups: Any) -> sp.csr_matrix:
    """What a crowd sketch of 5 is the sketch of, for each row: its group's sums without rare items, of length 1."""
    from sklearn.preprocessing import normalize

    from shoal.methods.sketches.crowd import pooled

    common = np.bincount(X.indices, minlength=X.shape[1]) >= 5
    return normalize(pooled(sp.csr_matrix(X @ sp.diags_array(common.astype(np.float64))), groups))[groups]


def variances() -> dict[str, Any]:
    """Two records of five terms under many keys: the variance of every estimate, and what the formulas say."""
    from shoal.methods.sketches import SketchKey

    x, y = np.array([3.0, 1.0, 0.0, 2.0, 1.0]), np.array([2.0, 2.0, 1.0, 0.0, 1.0])
    signs = np.stack([SketchKey.from_seed(seed).signs(["a", "b", "c", "d", "e"], 3) for seed in range(MONTE_CARLO)])
    s, t = (np.einsum("ktc,t->kc", signs, record) for record in (x, y))
    gap = x - y
    length, other, product = x @ x, y @ y, x @ y
    estimates = {
        "attribute": (np.mean(s * signs[:, 0], axis=1), x[0], length - x[0] ** 2, ""),
        "dot product": (
            np.mean(s * t, axis=1),
            product,
            length * other + product**2 - 2 * np.sum(x**2 * y**2),
            (length * other - product**2) / 3,
        ),
        "squared length": (np.mean(s**2, axis=1), length, 2 * (length**2 - np.sum(x**4)), ""),
        "squared distance": (
            np.mean((s - t) ** 2, axis=1),
            gap @ gap,
            2 * ((gap @ gap) ** 2 - np.sum(gap**4)),
            "",
        ),
    }
    rows = []
    for name, (values, mean, variance, printed) in estimates.items():
        squares = (values - mean) ** 2
        rows.append(
            {
                "estimate": name,
                "truth": float(mean),
                "mean": float(values.mean()),
                "off by standard errors": float((values.mean() - mean) / np.sqrt(variance / 3 / MONTE_CARLO)),
                "exact variance": float(variance / 3),
                "variance": float(squares.mean()),
                "its standard errors": float((squares.mean() - variance / 3) / (squares.std() / np.sqrt(MONTE_CARLO))),
                "variance in the paper": printed,
            }
        )
    return {"rows": rows}
