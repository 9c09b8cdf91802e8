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


def published(corpus: Any, k: int) -> tuple[Any, Any, Any, Any]:
    """The steps of a release of the corpus, its records and its publication, and exact means grouped for themselves."""
    from shoal import SphericalMicroaggregation, VectorSpace
    from shoal.data.inputs import open_source
    from shoal.release.documents.by_words import ByWords
    from shoal.release.documents.steps import DocumentSteps

    steps = DocumentSteps(ByWords(VectorSpace(min_df=k), SphericalMicroaggregation(), k))
    records = steps.read(open_source(corpus))
    groups = steps.group(records)
    publication = steps.publish(steps.represent(groups, records), groups, records)
    return steps, records, publication, SphericalMicroaggregation(k=k).fit(records.rows.vectors())


def compared(name: str, k: int) -> dict[str, Any]:
    from benchmarks.exact_means import recovered

    start = time.perf_counter()
    steps, records, publication, means = published(COLLECTIONS[name](), k)
    loss = publication.facts.loss
    exactly, nearly = steps.attack(publication, records)
    space = records.method.space
    counts = records.rows.counts(space.idf_)
    exactly_before, nearly_before = recovered(
        means.representatives_, counts, means.groups_, k, space.n_documents_, TRIED
    )
    return {
        "documents": name,
        "k": k,
        "SSE, exact means": means.sse_,
        "SSE, published": loss.sse,
        "SSE above means %": 100 * (loss.sse / means.sse_ - 1),
        "IL, exact means": means.information_loss_,
        "IL, published": loss.information_loss,
        "means: recovered exactly %": 100 * exactly_before,
        "means: recovered nearly %": 100 * nearly_before,
        "published: recovered exactly %": 100 * exactly.rate,
        "published: recovered nearly %": 100 * nearly.rate,
        "recovered nearly from the row itself %": 100 * nearly.baseline,
        "seconds": time.perf_counter() - start,
    }


def classifiers() -> dict[str, Any]:
    """Accuracy on R8, k=5: learnt from what is protected, tested on originals that it was not made of."""
    from shoal import Corpus
    from shoal.utility.classification import pair_classification
    from shoal.utility.spaces import space_pair

    stories = data.records("reuters_r52.jsonl.gz", "r8")
    corpus = Corpus.from_texts([story["text"] for story in stories], labels=[story["label"] for story in stories])
    _, records, publication, means = published(corpus, 5)
    documents, everyone = publication.pooled, np.arange(len(records.rows))
    X, released = records.method.sample(documents, everyone, publication.weights, publication.totals.vocabulary)
    labels = records.rows.labels.tolist()
    rows = []
    for form, protected in (("exact means", means.representatives_[means.groups_]), ("published", released)):
        scores = pair_classification(space_pair(X, protected), labels)
        accuracy = {(score.classifier, score.train, score.test): score.accuracy for score in scores}
        for classifier in CLASSIFIERS:
            rows.append(
                {
                    "form": form,
                    "classifier": classifier,
                    "originals only": accuracy[classifier, "original", "original"],
                    "protected → original": accuracy[classifier, "protected", "original"],
                    "protected only": accuracy[classifier, "protected", "protected"],
                }
            )
    return {"rows": rows}
