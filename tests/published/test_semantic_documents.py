"""The figures of semantic microaggregation of documents, recomputed on WordNet 3.0."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import SemanticMicroaggregation, WordNet
from shoal.methods.meanings import Collection
from shoal.terms.taxonomy import distances

SENSES = {
    ("computer.1", "butterfly.1"): 0.6190,
    ("computer.1", "butterfly.2"): 0.9048,
    ("calculator.1", "butterfly.1"): 0.4286,
    ("calculator.1", "butterfly.2"): 0.8889,
}
WORDS = {
    ("butterfly", "beetle"): 0.130,
    ("butterfly", "cat"): 0.455,
    ("butterfly", "approach"): 0.238,
    ("butterfly", "computer"): 0.429,
    ("dog", "cat"): 0.143,
    ("dog", "approach"): 0.375,
    ("dog", "computer"): 0.222,
    ("performance", "approach"): 0.25,
    ("performance", "computer"): 0.60,
    ("pen", "computer"): 0.333,
}
V1 = {"butterfly": 0.4, "performance": 0.2, "pen": 0.1, "dog": 0.3}
V2 = {"computer": 0.1, "cat": 0.2, "approach": 0.2, "beetle": 0.5}
REPRESENTATIVES = [
    (
        {"keyboard": 0.3, "laptop": 0.4, "software": 0.3},
        {"hardware": 0.3, "screen": 0.3, "computer": 0.4},
        {"abstraction": 0.3, "computer": 0.4, "instrumentality": 0.3},
    ),
    (
        {"horse": 0.7, "dog": 0.2, "cat": 0.1},
        {"lion": 0.5, "monkey": 0.3, "tiger": 0.2},
        {"big cat": 0.3, "carnivore": 0.2, "placental": 0.5},
    ),
    (V1, V2, {"insect": 0.45, "carnivore": 0.25, "action": 0.2, "instrumentality": 0.1}),
]


@pytest.fixture(scope="module")
def wordnet():
    return WordNet()


def between(wordnet, one, other):
    """The distance of two documents."""
    collection = Collection.read([one, other], wordnet)
    return collection.meanings.all_distances(collection.documents, collection.documents)[0, 1]


@pytest.mark.parametrize(("one", "other"), SENSES)
def test_distances_of_senses(wordnet, one, other):
    found = distances(wordnet.taxonomy, [wordnet.concept(one)], [wordnet.concept(other)])[0, 0]
    assert round(found, 4) == SENSES[one, other]


@pytest.mark.parametrize(("one", "other"), WORDS)
def test_distances_of_words(wordnet, one, other):
    """Documents of one word of weight 1 are as far apart as their words."""
    assert round(between(wordnet, {one: 1.0}, {other: 1.0}), 3) == WORDS[one, other]


def test_the_distance_of_two_documents(wordnet):
    assert round(between(wordnet, V1, V2), 4) == 0.0444


@pytest.mark.parametrize(("one", "other", "expected"), REPRESENTATIVES)
def test_representatives_of_two_documents(one, other, expected):
    for documents in ([one, other], [other, one]):
        model = SemanticMicroaggregation(k=2).fit(documents)
        assert model.representatives_ == [{term: pytest.approx(weight) for term, weight in expected.items()}]
        assert np.bincount(model.groups_).tolist() == [2]
