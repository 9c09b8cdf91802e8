"""Semantic microaggregation: kernels and estimator against their twin, and what it promises."""

from __future__ import annotations

import tracemalloc
import warnings
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from shoal import Hierarchy, InputError, SemanticMicroaggregation, VectorSpace
from shoal.methods import meanings
from shoal.methods.meanings import Collection
from shoal.methods.semantic import exchanged
from tests.reference.mdav import mdav as plain_mdav
from tests.reference.semantic import Meaning, by_weight
from tests.terms.hierarchies import hierarchies, hierarchy_of

WEIGHTS = st.sampled_from([0.125, 0.25, 0.375, 0.5, 0.625, 0.75])  # few, so that there are ties
ANIMALS = Hierarchy.from_pairs(
    [
        ("dog", "canine"),
        ("wolf", "canine"),
        ("cat", "feline"),
        ("lion", "feline"),
        ("canine", "mammal"),
        ("feline", "mammal"),
        ("mammal", "animal"),
        ("trout", "fish"),
        ("salmon", "fish"),
        ("fish", "animal"),
    ]
)
PETS = [
    {"dog": 0.8, "cat": 0.6},
    {"wolf": 0.8, "lion": 0.6},
    {"trout": 0.8, "dog": 0.6},
    {"salmon": 0.8, "wolf": 0.6},
    {"cat": 0.8, "dog": 0.6},
    {"trout": 1.0},
]


@st.composite
def worlds(draw, most_documents=6):
    """An ontology whose words have up to three senses, its twin, and documents in these words."""
    parents = draw(hierarchies())
    hierarchy = hierarchy_of(parents)
    concepts = sorted(parents)
    words = [f"w{number}" for number in range(draw(st.integers(1, 6)))]
    chosen = st.lists(st.sampled_from(concepts), min_size=1, max_size=3, unique=True)
    senses = {word: draw(chosen) for word in words}
    ontology = SimpleNamespace(
        taxonomy=hierarchy.taxonomy,
        senses=lambda word: tuple(hierarchy.concept(sense) for sense in senses.get(word, [])),
        lemma=hierarchy.lemma,
    )
    document = st.dictionaries(st.sampled_from(words), WEIGHTS, min_size=1, max_size=5)
    documents = draw(st.lists(document, min_size=2, max_size=most_documents))
    return ontology, Meaning(parents, senses), documents


def spelt(collection, document):
    """Terms and weights as the twin has them."""
    terms, weights = document
    names = collection.ontology.taxonomy.names

    def name(term):
        concept = collection.meanings.concept_of_term(term)
        return collection.words[term] if concept < 0 else (names[concept],)

    return [(name(term), weight) for term, weight in zip(terms.tolist(), weights.tolist(), strict=True)]


@given(worlds())
def test_distances_are_those_of_the_twin_whichever_way_they_are_computed(world):
    ontology, twin, documents = world
    collection = Collection.read(documents, ontology)
    plain = [by_weight(list(document.items())) for document in documents]
    expected = np.array([[twin.distance(a, b) for b in plain] for a in plain])
    meanings, read = collection.meanings, collection.documents
    rows = np.arange(len(read))
    assert meanings.all_distances(read, read).tolist() == expected.tolist()
    assert [meanings.distances_to_words(read[row], read, rows).tolist() for row in rows] == expected.tolist()
    for row in rows:
        paired = meanings.paired_distances(read, read, np.full(len(read), row))
        assert paired.tolist() == expected[row].tolist()


@given(worlds())
def test_a_distance_is_symmetric_and_at_most_the_weight_there_is(world):
    ontology, _, documents = world
    collection = Collection.read(documents, ontology)
    found = collection.meanings.all_distances(collection.documents, collection.documents)
    weight = np.array([sum(document.values()) for document in documents])
    fewest = np.minimum.outer(*2 * [np.array([len(document) for document in documents])])
    assert (found == found.T).all()
    assert (found >= 0).all()
    assert (found <= np.add.outer(weight, weight) / 2 / fewest + 1e-12).all()
    assert (np.diag(found) == 0).all()


@given(worlds())
def test_the_representative_is_the_one_the_twin_folds(world):
    ontology, twin, documents = world
    collection = Collection.read(documents, ontology)
    folded = collection.representatives(np.zeros(len(documents), dtype=np.int64))
    plain = [by_weight(list(document.items())) for document in documents]
    assert spelt(collection, folded[0]) == twin.representative(plain)
    backwards = collection.numbered(collection.spelt(folded)) if not collection.words_left_out else folded
    assert backwards.terms.tolist() == folded.terms.tolist()


@given(worlds(most_documents=14), st.integers(2, 3))
@settings(max_examples=25)
def test_groups_loss_and_nearest_representatives_are_those_of_the_twin(world, k):
    ontology, twin, documents = world
    k = min(k, len(documents))
    model = SemanticMicroaggregation(k, ontology=ontology, refine=False).fit(documents)
    plain = [by_weight(list(document.items())) for document in documents]
    groups = plain_mdav(plain, k, twin.distance, twin.representative)
    assert model.groups_.tolist() == groups
    assert np.bincount(model.groups_).min() >= k
    representatives = [
        twin.representative([one for one, group in zip(plain, groups, strict=True) if group == number])
        for number in range(max(groups) + 1)
    ]
    centre = twin.representative(plain)
    sse = sum(twin.distance(representatives[group], one) ** 2 for one, group in zip(plain, groups, strict=True))
    ssa = sum(twin.distance(centre, representatives[group]) ** 2 for group in groups)
    assert model.sse_ == pytest.approx(sse)
    assert model.loss_.ssa == pytest.approx(ssa)
    nearest = [
        min(range(len(representatives)), key=lambda group: (twin.distance(representatives[group], one), group))
        for one in plain
    ]
    assert model.transform(documents) == [model.representatives_[group] for group in nearest]


@given(worlds(most_documents=14), st.integers(2, 3))
@settings(max_examples=25)
def test_refined_groups_have_the_same_sizes_and_no_more_error(world, k):
    ontology, _, documents = world
    k = min(k, len(documents))
    plain, refined = (
        SemanticMicroaggregation(k, ontology=ontology, refine=refine).fit(documents) for refine in (False, True)
    )
    assert sorted(np.bincount(refined.groups_)) == sorted(np.bincount(plain.groups_))
    assert refined.sse_ <= plain.sse_ + 1e-9


def test_refinement_brings_like_documents_together():
    collection = Collection.read([{"dog": 1.0}, {"trout": 1.0}, {"dog": 0.9}, {"trout": 0.9}], ANIMALS)
    groups = exchanged(collection.meanings, collection.documents, np.array([0, 0, 1, 1]))
    assert groups.tolist() == [0, 1, 0, 1]


def test_a_document_gets_what_its_group_has_in_common():
    model = SemanticMicroaggregation(k=2, ontology=ANIMALS)
    protected = model.fit_transform(PETS[:2])
    assert protected == [{"canine": 0.8, "feline": pytest.approx(0.6)}] * 2
    assert model.k_anonymous_
    assert model.groups_.tolist() == [0, 0]


def test_what_both_have_stays_and_who_is_left_over_stays_with_half_its_weight():
    model = SemanticMicroaggregation(k=2, ontology=ANIMALS).fit([{"dog": 0.5, "trout": 0.5}, {"dog": 0.75}])
    assert model.representatives_ == [{"dog": 0.625, "trout": 0.25}]


def test_concepts_that_come_several_times_are_shown_once_with_all_their_weight():
    documents = [{"dog": 0.5, "wolf": 0.5}, {"cat": 0.5, "lion": 0.5}]
    assert SemanticMicroaggregation(k=2, ontology=ANIMALS).fit(documents).representatives_ == [{"mammal": 1.0}]


def test_concepts_of_one_lemma_are_told_apart_by_their_names():
    wordnet_like = SimpleNamespace(
        taxonomy=ANIMALS.taxonomy, senses=ANIMALS.senses, lemma=lambda concept: "thing", concept=ANIMALS.concept
    )
    shown = SemanticMicroaggregation(k=2, ontology=wordnet_like).fit(PETS[:2]).representatives_
    assert shown == [{"canine": 0.8, "feline": pytest.approx(0.6)}]


def test_words_that_the_ontology_does_not_have_are_left_out_and_counted():
    documents = [{"dog": 1.0, "zork": 2.0}, {"wolf": 1.0, "zork": 1.0}, {"zork": 1.0, "quux": 0.0}]
    model = SemanticMicroaggregation(k=2, ontology=ANIMALS)
    with pytest.warns(UserWarning, match="1 documents have no term that the ontology knows"):
        protected = model.fit_transform(documents)
    assert model.words_left_out_ == {"zork": 3}
    assert model.groups_.tolist() == [0, 0, -1]
    assert protected == [{"canine": 1.0}, {"canine": 1.0}, {}]


@pytest.mark.filterwarnings("ignore:.*documents have no term")
@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ({"dog": 1.0}, "got dict; pass a list of documents"),
        ("dog", "got str; pass a list"),
        (7, "got int; pass a list"),
        (["dog", "cat"], "document 1 is str; pass every document as {term: weight}"),
        ([{"dog": 1.0}, {3: 1.0}], "document 2 has the term 3; a term must be text"),
        ([{"dog": -1.0}], "document 1 has a weight of -1.0; it must be a number from 0"),
        ([{"dog": float("nan")}], "document 1 has a weight of nan"),
        ([{"dog": "much"}], "document 1 has a weight of 'much'"),
        ([], "k=2 needs at least 2 rows, got 0"),
        ([{"zork": 1.0}] * 5, "k=2 needs at least 2 rows, got 0"),
    ],
)
def test_what_are_no_documents_is_refused_in_one_line(documents, message):
    with pytest.raises(InputError) as refused:
        SemanticMicroaggregation(k=2, ontology=ANIMALS).fit(documents)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_transform_takes_words_that_were_not_there_before():
    model = SemanticMicroaggregation(k=3, ontology=ANIMALS).fit(PETS[:2] + PETS[4:5] + PETS[2:4] + PETS[5:])
    assert model.transform([{"salmon": 1.0}]) == model.transform([{"trout": 1.0}])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.transform([{"zork": 1.0}]) == [{}]
        assert model.transform([]) == []


def test_fitting_again_gives_the_same_for_any_number_of_threads():
    model = SemanticMicroaggregation(k=2, ontology=ANIMALS)
    before = clone(model).fit(PETS)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        after = clone(model).fit(PETS)
    finally:
        numba.set_num_threads(threads)
    assert before.representatives_ == after.representatives_
    assert before.loss_ == after.loss_


def test_rows_of_a_vector_space_become_documents():
    space = VectorSpace(stem=False, min_df=1)
    X = space.fit_transform(["The dog chased the cat.", "A wolf met a lion."])
    documents = space.inverse_transform(X)
    assert sorted(documents[0]) == ["cat", "chased", "dog"]
    model = SemanticMicroaggregation(k=2, ontology=ANIMALS).fit(documents)
    assert set(model.representatives_[0]) == {"canine", "feline"}


def pooled(texts, owners, hierarchy):
    """What is published of one group, as {term: count}."""
    collection = Collection.read([dict.fromkeys(text, 1.0) for text in texts], hierarchy)
    number_of = {word: number for number, word in enumerate(collection.words)}
    entries = [(number_of[word], count, owner) for text, owner in zip(texts, owners, strict=True)
               for word, count in text.items()]  # fmt: skip
    terms, counts = collection.meanings.pool(*np.array(entries).T)
    named = [term if isinstance(term, str) else hierarchy.lemma(term) for term in collection.terms(terms)]
    return sorted(zip(named, counts.tolist(), strict=True))


def test_a_word_in_two_documents_of_one_owner_is_not_shared():
    texts = [{"dog": 1}, {"dog": 2}, {"wolf": 1}, {"trout": 4}]
    assert pooled(texts, [0, 0, 1, 2], ANIMALS) == [("canine", 4)]  # trout has no partner left
    assert pooled(texts, [0, 3, 1, 2], ANIMALS) == [("animal", 5), ("dog", 3)]


def test_words_of_one_owner_alone_are_never_paired():
    assert pooled([{"dog": 1, "wolf": 1}, {"cat": 1}], [0, 1], ANIMALS) == [("mammal", 2)]


@settings(max_examples=50, deadline=None)
@given(worlds())
def test_pairs_of_unshared_words_are_the_nearest_first(world):
    ontology, _, documents = world
    collection = Collection.read(documents, ontology)
    held = collection.documents
    owner = np.repeat(np.arange(len(held)), np.diff(held.ends))
    alone = [term for term in np.unique(held.terms) if np.sum(held.terms == term) == 1]
    whose = {term: owner[held.terms == term][0] for term in alone}
    apart = collection.meanings._rows(np.array(alone, int), np.array(alone, int)) if alone else None
    near = [(apart[i, j], i, j) for j in range(len(alone)) for i in range(j) if whose[alone[i]] != whose[alone[j]]]
    free, expected = set(range(len(alone))), 0
    for _, i, j in sorted(near):
        if {i, j} <= free:
            free -= {i, j}
            expected += 2**i + 2**j
    counts = np.array([2 ** alone.index(term) if term in alone else 0 for term in held.terms], dtype=np.int64)
    _, total = collection.meanings.pool(held.terms, counts, owner)
    assert total.sum() == expected


def test_a_large_group_is_paired_in_batches(monkeypatch):
    words = [f"w{number:03}" for number in range(100)]
    chapters = Hierarchy.from_pairs([*((word, f"c{number % 20}") for number, word in enumerate(words)),
                                     *((f"c{number}", "all") for number in range(20))])  # fmt: skip
    texts, owners = [{word: 1} for word in words], [*range(50)] * 2
    assert sum(count for _, count in pooled(texts, owners, chapters)) == 100
    monkeypatch.setattr(meanings, "COMPARED", 30)
    assert sum(count for _, count in pooled(texts, owners, chapters)) == 100
    # All but one word of one owner: his are left over from batch to batch, and one finds a partner.
    assert pooled(texts, [0] * 99 + [1], chapters) == [("c19", 2)]


def test_the_memory_of_a_large_group_is_that_of_a_table_of_distances():
    words = [f"w{number:04}" for number in range(3_000)]
    wide = Hierarchy.from_pairs([*((word, f"c{number % 300}") for number, word in enumerate(words)),
                                 *((f"c{number}", "all") for number in range(300))])  # fmt: skip
    tracemalloc.start()
    pooled([{word: 1} for word in words], range(3_000), wide)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6  # 36 MB are the table
