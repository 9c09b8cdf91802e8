"""Paper 000's tables and figures of vector spaces, on Reuters R8 and the movie reviews: MDAV, not refined."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.utility import COLLECTIONS, collection

KS = (2, 3, 10, 20)
SAMPLE = 2_000  # documents whose distances are counted


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    cells = [(name, k) for name in COLLECTIONS for k in (1, *KS)]
    rows = [measure.once("documents_paper", f"{name} {k}", partial(described, name, k)) for name, k in cells]
    labels = [measure.once("documents_paper", f"{name} labels", partial(beside_labels, name)) for name in COLLECTIONS]
    measure.show("Spaces before and after", rows)
    classes = [
        measure.once("documents_paper", f"{name} {k} classes", partial(most_recognised, name, k))
        for name in COLLECTIONS
        for k in KS
    ]
    measure.show("Clusters beside labels", labels)
    measure.show("Classes of protected test documents", classes)
    return {"spaces": rows, "labels": labels, "classes": classes}


def described(name: str, k: int) -> dict[str, Any]:
    """Words, weights and distances at k (1: the original), and what is lost: by cosine, and by Euclidean distance."""
    from shoal import SphericalMicroaggregation
    from shoal.methods.spherical import spherical_representatives

    X = collection(name).X
    row: dict[str, Any] = {"documents": COLLECTIONS[name], "k": k, "N": X.shape[0], "d": X.shape[1]}
    Y = X
    if k > 1:
        model = SphericalMicroaggregation(k, refine=False).fit(X)
        Y = spherical_representatives(X, model.groups_)[model.groups_]
        row |= {"IL": model.information_loss_, "IL, Euclidean": euclidean_loss(X, model.groups_)}
    drawn = np.sort(np.random.default_rng(0).choice(X.shape[0], min(SAMPLE, X.shape[0]), replace=False))
    sample = Y[drawn]
    apart = 1 - (sample @ sample.T).toarray()[np.triu_indices(len(drawn), 1)]
    one = apart > 1 - 1e-9
    row |= {"words": Y.nnz / Y.shape[0], "mean weight": float(Y.sum() / Y.nnz)}
    return row | {"from 0.9 to 1 %": 100 * float(((apart >= 0.9) & ~one).mean()), "1 %": 100 * float(one.mean())}


def euclidean_loss(X: Any, groups: np.ndarray) -> float:
    """SSE / SST of arithmetic means of the same groups: on unit rows both distances order pairs alike (Eq. 9)."""
    import scipy.sparse as sp

    sizes = np.bincount(groups)
    sums = sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups))))) @ X
    within = X.shape[0] - float((np.asarray(sums.multiply(sums).sum(axis=1)).ravel() / sizes).sum())
    whole = np.asarray(X.sum(axis=0)).ravel()
    return within / (X.shape[0] - float(whole @ whole) / X.shape[0])


def beside_labels(name: str) -> dict[str, Any]:
    """Figure 11: spherical k-means with as many clusters as there are labels, compared with these."""
    from sklearn.metrics import adjusted_rand_score

    from shoal.utility.clustering import partitions
    from shoal.utility.spaces import unit_rows

    found = collection(name)
    n_labels = len(set(found.labels))
    clusters = partitions(unit_rows(found.X, "original"), (n_labels,))[n_labels]
    agreement = float(adjusted_rand_score(found.labels, clusters))
    return {"documents": COLLECTIONS[name], "clusters": n_labels, "ARI": agreement}


def most_recognised(name: str, k: int) -> dict[str, Any]:
    """Test documents that a classifier can recognise at most: those of a group are equal and get one class."""
    from shoal import SphericalMicroaggregation

    found = collection(name)
    tested = np.flatnonzero(found.tested)
    classes = np.unique([found.labels[row] for row in tested], return_inverse=True)[1]
    groups = SphericalMicroaggregation(k, refine=False).fit(found.X[tested]).groups_
    members = np.zeros((groups.max() + 1, classes.max() + 1))
    np.add.at(members, (groups, classes), 1)
    most = float(members.max(axis=1).sum() / len(tested))
    return {"documents": COLLECTIONS[name], "k": k, "accuracy %": 100 * most, "Jaccard %": 100 * most / (2 - most)}
