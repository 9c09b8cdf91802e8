"""Distances in WordNet 3.0 and in a small hierarchy of sports, as published."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import Hierarchy, WordNet
from shoal.terms.taxonomy import distances, subsumers


@pytest.fixture(scope="module")
def wordnet():
    return WordNet()


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("computer.1", "butterfly.1", 0.6190),
        ("computer.1", "butterfly.2", 0.9048),
        ("calculator.1", "butterfly.1", 0.4286),
        ("calculator.1", "butterfly.2", 0.8889),
    ],
)
def test_the_distance_of_two_senses_is_the_published_one(wordnet, one, other, distance):
    found = distances(wordnet.taxonomy, [wordnet.concept(one)], [wordnet.concept(other)]).item()
    assert found == pytest.approx(distance, abs=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("butterfly", "beetle", 0.130),
        ("butterfly", "cat", 0.455),
        ("butterfly", "approach", 0.238),
        ("butterfly", "computer", 0.429),
        ("dog", "cat", 0.143),
        ("dog", "approach", 0.375),
        ("dog", "computer", 0.222),
        ("performance", "approach", 0.25),
        ("performance", "computer", 0.60),
        ("pen", "computer", 0.333),
    ],
)
def test_the_distance_of_two_words_is_that_of_their_nearest_senses(wordnet, one, other, distance):
    found = distances(wordnet.taxonomy, wordnet.senses(one), wordnet.senses(other)).min()
    assert found == pytest.approx(distance, abs=5e-4)


@pytest.mark.parametrize(
    ("one", "other", "hypernym"),
    [
        ("laptop", "computer", "computer"),
        ("keyboard", "hardware", "instrumentality"),
        ("software", "screen", "abstraction"),
        ("horse", "lion", "placental"),
        ("dog", "cat", "carnivore"),
        ("dog", "tiger", "carnivore"),
        ("cat", "tiger", "big cat"),
        ("butterfly", "beetle", "insect"),
        ("performance", "approach", "action"),
        ("pen", "computer", "instrumentality"),
    ],
)
def test_the_nearest_senses_of_two_words_meet_where_published(wordnet, one, other, hypernym):
    a, b = wordnet.senses(one), wordnet.senses(other)
    nearest = np.argmin(distances(wordnet.taxonomy, a, b))
    assert wordnet.lemma(subsumers(wordnet.taxonomy, a, b).flat[nearest]) == hypernym


@pytest.fixture(scope="module")
def sports():
    return Hierarchy.from_pairs(
        [
            ("contact_sport", "sport"),
            ("boxing", "contact_sport"),
            ("football", "contact_sport"),
            ("soccer", "football"),
            ("rugby", "football"),
            ("water_sport", "sport"),
            ("swimming", "water_sport"),
            ("surfing", "water_sport"),
        ]
    )


COUNTS = {"boxing": 1, "soccer": 2, "rugby": 2, "contact_sport": 1, "swimming": 1, "surfing": 3}


@pytest.mark.parametrize(("concept", "cost"), [("contact_sport", 3.93), ("sport", 5.23)])
def test_the_weighted_distances_of_sports_are_the_published_ones(sports, concept, cost):
    values = [sports.concept(value) for value in COUNTS]
    found = distances(sports.taxonomy, [sports.concept(concept)], values)[0] @ list(COUNTS.values())
    assert found == pytest.approx(cost, abs=5e-3)
