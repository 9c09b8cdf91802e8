"""Terms of several words: the longest name, whatever its endings and hyphens, and nothing that only looks like one."""

from __future__ import annotations

import copy

import pytest

from shoal import Hierarchy, InputError, VectorSpace, WordNet
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.phrases import Phrases, phrases_of

DISEASES = [
    ("heart attack", "heart disease"),
    ("angina pectoris", "heart disease"),
    ("heart disease", "disease"),
    ("type 1 diabetes", "diabetes"),
    ("type 2 diabetes", "diabetes"),
    ("diabetes", "disease"),
    ("fracture", "disease"),
]


def terms_of(text, names=None, language="english"):
    found = Phrases(names or [(name, name) for pair in DISEASES for name in pair], language)
    return [term for word in found.split(text) if (term := found.term(word))]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A heart attack.", ["heart attack"]),
        ("HEART ATTACKS", ["heart attack"]),
        ("heart-attack, heart\nattack", ["heart attack", "heart attack"]),
        ("His heart. Attack of fever.", []),
        ("heart disease attack", ["heart disease"]),
        ("type 2 diabetes, not Type-1 diabetes", ["type 2 diabetes", "type 1 diabetes"]),
        ("type 3 diabetes", ["diabetes"]),
        ("fractures; a fractured arm", ["fracture", "fracture"]),
    ],
)
def test_a_name_is_found_in_any_form_and_only_where_its_words_follow_each_other(text, terms):
    assert terms_of(text) == terms


def test_the_longest_name_wins():
    names = [("lung", "lung"), ("lung cancer", "lung cancer"), ("non small cell lung cancer", "NSCLC")]
    assert terms_of("Non-small-cell lung cancer, lung cancers, the lung", names) == ["NSCLC", "lung cancer", "lung"]


def test_of_names_with_the_same_stems_the_one_spelt_so_is_meant():
    names = [("organ", "organ"), ("organic", "organic")]
    assert terms_of("organs, organic, organ", names) == ["organ", "organic", "organ"]


def test_stop_words_alone_are_no_name():
    assert terms_of("All are well: who is it?", [("ALL", "leukaemia"), ("who is", "organisation")]) == []


def test_letters_of_other_scripts_and_their_marks_stay_together():
    found = Phrases([("हृदय रोग", "हृदय रोग")], "hindi")
    assert found.split("उसे हृदय रोग है") == ["उसे", "हृदय रोग", "है"]


def test_without_a_name_words_are_those_that_are_counted_otherwise():
    text = "Naïve café, ½ B12 x² don't_stop e-mail हिन्दी"
    with_names = VectorSpace(min_df=1, wordnet=False, min_letters=1, drop_stop_words=False, stem=False)
    plain = with_names.count([text]).tally.seen
    named = copy.copy(with_names).set_params(ontology=Hierarchy.from_pairs([("a b c", "d e f")]))
    assert named.count([text]).tally.seen == plain


def test_wordnet_has_nouns_of_several_words_but_no_function_words():
    found = phrases_of(WordNet(), "english")
    words = found.split("The general practitioners have been at home; an intensive-care unit.")
    assert [found.term(word) for word in words if found.term(word)] == ["general practitioner", "intensive care unit"]


def test_a_space_counts_names_as_terms_and_synonyms_as_one(tmp_path):
    (tmp_path / "d.obo").write_text(
        "format-version: 1.2\n\n[Term]\nid: D:1\nname: disease\n\n"
        '[Term]\nid: D:2\nname: myocardial infarction\nsynonym: "heart attack" EXACT []\nis_a: D:1\n'
    )
    texts = ["A heart attack, and fever.", "Myocardial infarctions.", "The arm."]
    space = VectorSpace(min_df=1, ontology=tmp_path / "d.obo").fit(texts)
    assert space.terms_.tolist() == ["arm", "fever", "myocardial infarction"]
    assert space.document_frequency_.tolist() == [1, 1, 2]


def test_names_of_an_ontology_stay_though_wordnet_or_the_least_length_would_drop_them():
    codes = Hierarchy.from_pairs([("mi", "xq disease"), ("xq disease", "disease")])
    space = VectorSpace(min_df=1, ontology=codes).fit(["MI", "xq disease", "ab"])
    assert space.terms_.tolist() == ["mi", "xq disease"]


def test_of_several_ontologies_the_first_that_has_a_name_gives_its_meaning():
    diseases = Hierarchy.from_pairs(DISEASES)
    both = ontologies_of([diseases, "wordnet"])
    assert both.senses("fracture") == (diseases.concept("fracture"),)
    assert [both.label(sense) for sense in both.senses("dog")][:1] == ["dog"]
    assert both.label(both.taxonomy.root) == "entity"
    assert both.taxonomy.parents_of(both.concept("disease")).tolist() == [both.taxonomy.root]
    other = both.senses("disease")[0], both.ontologies[1].senses("disease")[0] + len(diseases.taxonomy)
    assert [both.concept(both.label(concept)) for concept in other] == list(other)
    assert both.suggest("dog", 1) == [both.senses("dog")[0]]
    assert both.gloss(both.concept("fracture")) == "a kind of disease"
    assert both.is_clear("fracture")
    assert copy.deepcopy(both) is both
    with pytest.raises(InputError, match="0 ontologies"):
        ontologies_of([])


def test_hierarchies_without_wordnet_are_joined_below_a_new_root():
    both = ontologies_of([Hierarchy.from_pairs([("a", "x"), ("b", "x")]), Hierarchy.from_pairs([("a", "entity")])])
    assert both.taxonomy.names == ("a", "b", "x", "a (2)", "entity", "entity (all)")
    assert both.label(both.taxonomy.root) == "entity (all)"
    assert both.label(both.concept("a (2)")) == "a (2)"
    assert both.lemma(both.taxonomy.root) == "entity (all)"
    assert both.gloss(both.taxonomy.root) == "the root"
    assert dict(both.spellings())["entity"] == "entity"


def test_a_name_that_ends_in_sis_is_found_by_its_plural():
    found = Phrases([("deep vein thrombosis", "deep vein thrombosis"), ("dose", "dose")], "english")
    assert [found.term(words) for words in found.split("Deep-vein thromboses, two doses")] == [
        "deep vein thrombosis", None, "dose",
    ]  # fmt: skip
