"""Documents by meaning: how long a thousand take, a pair against the plain twin, and the loss beside the paper's."""

from __future__ import annotations

import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks import data, measure

# IL% in the paper for 50 scientific papers, k = 2, 3, 5, 10, by terms a document.
PUBLISHED = {50: (13.8, 34.8, 63.2, 84.8), 100: (11.7, 28.8, 52.4, 74.3)}
SETS = {"Movie Reviews": "movie_reviews.jsonl.gz", "diplomatic papers": "frus_docs.jsonl.gz"}
LONG = 600  # words that a text must have to have 100 terms
PLAIN_PAIRS = 2  # a pair takes the twin seconds
REMEMBERED_PAIRS = 40


def run() -> dict[str, Any]:
    warnings.simplefilter("ignore")
    results = {"speed": speed(), "loss": loss()}
    measure.show("1,000 documents of 50 terms, k=5", results["speed"])
    measure.show("50 documents: IL%", results["loss"])
    return results


def documents(file: str, how_many: int, terms: int, min_df: int, longer_than: int = 0) -> list[dict[str, float]]:
    """The heaviest nouns of the first so many texts, as {term: weight}."""
    from shoal import SemanticMicroaggregation, VectorSpace
    from shoal.data.inputs import open_source
    from shoal.release.documents.by_meaning import ByMeaning
    from shoal.release.documents.records import read_documents

    space = VectorSpace(stem=False, min_df=min_df, terms_per_document=terms)
    texts = [text for text in data.texts(file) if len(text.split()) > longer_than][:how_many]
    method = ByMeaning(space, SemanticMicroaggregation(), k=min_df)
    corpus, rows = read_documents(open_source(texts), method.space, method.known)
    return corpus.space.inverse_transform(rows.vectors())


def speed() -> list[dict[str, Any]]:
    from shoal import SemanticMicroaggregation

    texts = documents(SETS["Movie Reviews"], 1_000, 50, 5)
    SemanticMicroaggregation(k=5, refine=False).fit(texts[:20])  # compiles
    start, cpu = time.perf_counter(), time.process_time()
    SemanticMicroaggregation(k=5, refine=False).fit(texts)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    pair = seconds_a_pair(texts)
    plain, remembering = seconds_of_twins(texts)
    row = {"seconds, whole": seconds, "CPU seconds": cpu, "µs a pair": 1e6 * pair, "plain twin, µs": 1e6 * plain}
    row |= {"times faster": plain / pair, "bar": 200, "twin that remembers words, µs": 1e6 * remembering}
    return [row | {"times faster than that": remembering / pair}]


def seconds_a_pair(texts: list[dict[str, float]]) -> float:
    """Of 100 documents with all, the distances of their words included."""
    from shoal import WordNet
    from shoal.methods.meanings import Collection

    collection = Collection.read(texts, WordNet())
    rows = np.arange(len(collection.documents))

    def all_pairs() -> None:
        for row in range(100):
            collection.meanings.distances_to_words(collection.documents[row], collection.documents, rows)

    return measure.best_of(1, all_pairs) / (100 * len(rows))


def seconds_of_twins(texts: list[dict[str, float]]) -> tuple[float, float]:
    """The twin of tests/reference as it is, and one that knows the distances of words beforehand."""
    from tests.reference.semantic import Meaning, by_weight

    from shoal import WordNet

    wordnet = WordNet()
    taxonomy = wordnet.taxonomy
    names = taxonomy.names
    parents = {name: {names[above] for above in taxonomy.parents_of(number)} for number, name in enumerate(names)}
    senses = {term: [names[sense] for sense in wordnet.senses(term)] for text in texts for term in text}

    class Remembering(Meaning):
        term_distance = lru_cache(maxsize=None)(Meaning.term_distance)
        __hash__ = object.__hash__

    plain = [by_weight(list(text.items())) for text in texts]

    def pairs(twin: Meaning, how_many: int) -> None:
        for pair in range(how_many):
            twin.distance(plain[pair % 4], plain[4 + pair % 5])

    remembering = Remembering(parents, senses)
    pairs(remembering, 20)  # every combination of these documents
    return (
        measure.best_of(1, lambda: pairs(Meaning(parents, senses), PLAIN_PAIRS)) / PLAIN_PAIRS,
        measure.best_of(1, lambda: pairs(remembering, REMEMBERED_PAIRS)) / REMEMBERED_PAIRS,
    )


def loss() -> list[dict[str, Any]]:
    from shoal import SemanticMicroaggregation

    rows = []
    for terms, published in PUBLISHED.items():
        found = {name: documents(file, 50, terms, 2, LONG) for name, file in SETS.items()}
        for k, paper in zip((2, 3, 5, 10), published, strict=True):
            row: dict[str, Any] = {"terms": terms, "k": k, "paper": paper}
            for name, texts in found.items():
                row[name] = 100 * SemanticMicroaggregation(k=k, refine=False).fit(texts).information_loss_
            rows.append(row)
    return rows
