"""What is published of a group of documents: what pools cost beside exact means, and what is recovered of either."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data, measure

K = (3, 5, 10)
TRIED = 100  # groups that are taken apart
CLASSIFIERS = ("5 nearest neighbours", "naive Bayes")


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    cells = [(name, k) for name in COLLECTIONS for k in K]
    rows = [measure.once("publishing", f"{name} {k}", partial(compared, name, k)) for name, k in cells]
    results = {
        "cost": [{name: row[name] for name in row if "recovered" not in name} for row in rows],
        "attacked": [{name: row[name] for name in row if "SSE" not in name and "IL" not in name} for row in rows],
    }
    measure.show("Pools against exact means", rows)
    return results | {"classifiers": measure.once("publishing", "classifiers", classifiers)["rows"]}


def letters() -> list[str]:
    from shoal.sample import letters

    return [letter.text for letter in letters()]


COLLECTIONS: dict[str, Callable[[], list[str]]] = {
    "demo letters": letters,
    "FRUS papers": partial(data.texts, "frus_docs.jsonl.gz"),
    "Reuters R8": partial(data.texts, "reuters_r52.jsonl.gz", only="r8"),
}


def grouped(texts: list[str], k: int) -> tuple[Any, Any, Any, Any]:
    """What protects the texts, their counts, the groups of pools, and those of exact means; each refined for itself."""
    from shoal import SphericalMicroaggregation, VectorSpace
    from shoal.methods.pools import unit_rows
    from shoal.release.documents.methods import ByWords

    way = ByWords(VectorSpace(min_df=k), SphericalMicroaggregation())
    counts = way.rows(texts)
    counts = counts[np.flatnonzero(np.diff(counts.indptr))]
    labels = np.array([""] * counts.shape[0], dtype=object)
    means = SphericalMicroaggregation(k=k).fit(unit_rows(counts, way.space.idf_)[0])
    return way, counts, way.group(counts, k, labels, None), means


def compared(name: str, k: int) -> dict[str, Any]:
    from shoal.release.unmixing import taken_apart

    start = time.perf_counter()
    way, counts, groups, means = grouped(COLLECTIONS[name](), k)
    published = way.publish(counts, groups)
    loss = way.loss(counts, groups, published)
    terms = way.space.terms_
    exactly, nearly = taken_apart(published.counts, terms, counts, terms, groups, k, tried=TRIED)
    rows = means.representatives_
    exactly_before, nearly_before = taken_apart(
        rows, terms, counts, terms, means.groups_, k, pooled=False, n_documents=way.space.n_documents_, tried=TRIED
    )
    return {
        "documents": name,
        "k": k,
        "SSE, exact means": means.sse_,
        "SSE, published": loss.sse,
        "SSE above means %": 100 * (loss.sse / means.sse_ - 1),
        "IL, exact means": means.information_loss_,
        "IL, published": loss.information_loss,
        "means: recovered exactly %": 100 * exactly_before.rate,
        "means: recovered nearly %": 100 * nearly_before.rate,
        "published: recovered exactly %": 100 * exactly.rate,
        "published: recovered nearly %": 100 * nearly.rate,
        "recovered nearly from the row itself %": 100 * nearly.baseline,
        "seconds": time.perf_counter() - start,
    }


def classifiers() -> dict[str, Any]:
    """Accuracy on R8, k=5: learnt from what is protected, tested on originals that it was not made of."""
    from shoal.methods.pools import unit_rows
    from shoal.utility.classification import pair_classification
    from shoal.utility.spaces import space_pair

    stories = data.records("reuters_r52.jsonl.gz", "r8")
    way, counts, groups, means = grouped([story["text"] for story in stories], 5)
    has_terms = np.flatnonzero(np.diff(way.rows([story["text"] for story in stories]).indptr))
    labels = [stories[row]["label"] for row in has_terms]
    X = unit_rows(counts, way.space.idf_)[0]
    rows = []
    for form, protected in (
        ("exact means", means.representatives_[means.groups_]),
        ("published", way.publish(counts, groups).weights[groups]),
    ):
        scores = pair_classification(space_pair(X, protected), labels)
        found = {(one.classifier, one.train, one.test): one.accuracy for one in scores}
        for classifier in CLASSIFIERS:
            rows.append(
                {
                    "form": form,
                    "classifier": classifier,
                    "originals only": found[classifier, "original", "original"],
                    "protected → original": found[classifier, "protected", "original"],
                    "protected only": found[classifier, "protected", "protected"],
                }
            )
    return {"rows": rows}
