"""Releases of documents by meaning: what they promise holds, and what was withheld does not show."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from shoal import (
    Corpus,
    Hierarchy,
    InputError,
    Microaggregation,
    SemanticMicroaggregation,
    VectorSpace,
    assess,
    load,
    protect,
    verify,
)
from shoal.release.figures import MOST_IN_MEANING
from tests.release.releases import certificate_of, files_of, quietly, rows_of, smallest_class

LETTERS = [
    ("p-1", "The dog Zebulon bit the child; a wound on the hand, fever.", "bite"),
    ("p-2", "A cat scratched the woman; the wound on her arm hurts.", "scratch"),
    ("p-3", "The horse kicked a man: broken leg, pain in the knee.", "kick"),
    ("p-4", "A wolf, or a dog, bit the boy in the leg. Fever.", "bite"),
    ("p-5", "The girl fell from a horse and has pain in arm and hand.", "fall"),
    ("p-6", "Fever and pain after the cat bit the woman in the hand.", "bite"),
    ("p-7", "Quickly, gladly, seldom.", "none"),
]
SPACE = VectorSpace(min_df=1, stem=False, terms_per_document=5)


def release(folder, letters=LETTERS, k=2, **options):
    ids, texts, labels = zip(*letters, strict=True)
    corpus = Corpus.from_texts(texts, ids=ids, labels=labels)
    options = {"label_column": "cause", "space": SPACE, "method": SemanticMicroaggregation()} | options
    return quietly(protect, corpus, k, folder, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return release(tmp_path_factory.mktemp("semantic") / "release")


def test_the_release_verifies_and_loads(made):
    assert verify(made.folder)
    rows = rows_of(made.folder / "vectors.parquet")
    assert len(rows) == 6
    assert smallest_class(rows, ["terms", "weights"]) >= 2
    loaded = load(made.folder)
    assert loaded.vectors.shape == (6, len(loaded.terms))
    assert np.allclose((loaded.vectors**2).sum(axis=1), 1)


def test_terms_are_words_and_concepts_above_them(made):
    terms = {term for row in rows_of(made.folder / "vectors.parquet") for term in row["terms"]}
    words = {word for _, text, _ in LETTERS for word in re.findall("[a-z]+", text.lower())}
    assert terms - words, "some words became concepts"
    assert "quickly" not in terms


def test_the_certificate_says_how(made):
    stated = certificate_of(made.folder)["stated"]
    assert stated["method"] == "semantic microaggregation (MDAV), refined"
    settings = {"k": 2, "ontology": "WordNet", "refine": True, "random_state": None}
    assert stated["parameters"]["microaggregation"] == settings
    assert stated["parameters"]["vector_space"]["terms_per_document"] == 5
    assert stated["withheld"] == [{"reason": "no term left after the vector space's steps", "count": 1}]


def test_what_was_withheld_is_on_the_private_side_only(made):
    with (made.private / "words_left_out.csv").open(encoding="utf-8") as file:
        left_out = {(row["step"], row["word"]) for row in csv.DictReader(file)}
    assert ("no noun in WordNet", "quickly") in left_out
    assert any(word == "zebulon" for _, word in left_out)
    public = b"".join(files_of(made.folder).values()).lower()
    for word in (b"quickly", b"gladly", b"zebulon", b"p-7"):
        assert word not in public


def test_the_report_speaks_of_concepts(made):
    report = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "Words and concepts that survived" in report
    assert "squared distance in meaning" in report
    assert "stems" not in report
    assert "cosine between" not in report
    readme = (made.folder / "README.md").read_text(encoding="utf-8")
    assert "concepts that stand for several words" in readme


def test_the_order_of_the_input_does_not_show(made, tmp_path):
    other = release(tmp_path / "release", LETTERS[::-1])
    assert files_of(other.folder) == files_of(made.folder)


def test_a_second_run_gives_the_same_bytes(made, tmp_path):
    assert files_of(release(tmp_path / "release").folder) == files_of(made.folder)


def test_groups_are_merged_until_their_labels_differ(tmp_path):
    merged = release(tmp_path / "release", k=2, l=3)
    assert verify(merged.folder)
    diversity = certificate_of(merged.folder)["promises"]["diversity"]
    assert diversity["l"] == 3
    assert diversity["columns"][0]["least"] >= 3


def test_many_documents_come_with_a_picture_of_their_distances(tmp_path):
    many = [(f"{name}-{number}", text, cause) for number in range(6) for name, text, cause in LETTERS[:6]]
    assert len(many) >= 30
    report = (release(tmp_path / "release", many, k=3).folder / "report.html").read_text(encoding="utf-8")
    assert "tree of concepts" in report
    assert len(many) < MOST_IN_MEANING


def test_another_ontology_than_wordnet(tmp_path):
    animals = Hierarchy.from_pairs([("hund", "tier"), ("katze", "tier"), ("tier", "ding"), ("haus", "ding")])
    texts = ["Hund und Haus", "Katze und Haus", "Hund", "Katze, Fisch"]
    space = VectorSpace(language="german", min_df=1, stem=False)
    made = quietly(protect, texts, 2, tmp_path / "out", space=space, method=SemanticMicroaggregation(ontology=animals))
    assert verify(made.folder)
    assert certificate_of(made.folder)["stated"]["parameters"]["microaggregation"]["ontology"] == "Hierarchy"
    assert "not in the ontology" in (made.private / "words_left_out.csv").read_text(encoding="utf-8")


def test_names_of_several_words_are_concepts_and_no_letter_is_withheld(tmp_path):
    hearts = [("heart attack", "heart disease"), ("angina pectoris", "heart disease"), ("heart disease", "disease")]
    lungs = [("chronic bronchitis", "lung disease"), ("lung disease", "disease")]
    diseases = Hierarchy.from_pairs([*hearts, *lungs])
    texts = ["Heart attacks.", "Angina pectoris", "a HEART-ATTACK", "heart attack"] * 2 + ["Chronic bronchitis"] * 4
    method = SemanticMicroaggregation(ontology=diseases)
    made = quietly(protect, texts, 4, tmp_path / "out", space=VectorSpace(min_df=1, stem=False), method=method)
    assert verify(made.folder)
    assert certificate_of(made.folder)["stated"]["withheld"] == []
    terms = {term for row in rows_of(made.folder / "vectors.parquet") for term in row["terms"]}
    assert terms <= set(diseases.taxonomy.names)
    left_out = (made.private / "words_left_out.csv").read_text(encoding="utf-8")
    assert "heart" not in left_out


def test_a_word_and_the_concept_that_it_means_are_one_term(tmp_path):
    animals = Hierarchy.from_pairs([("dog", "animal"), ("cat", "animal"), ("animal", "thing"), ("house", "thing")])
    texts = ["dog cat animal", "cat dog animal animal", "animal house", "house house animal"]
    space = VectorSpace(min_df=1, stem=False, weighting="tf")
    made = quietly(protect, texts, 2, tmp_path / "out", space=space, method=SemanticMicroaggregation(ontology=animals))
    assert verify(made.folder)
    assert sorted(load(made.folder).terms) == sorted(set(load(made.folder).terms))


def test_several_ontologies_are_one(tmp_path):
    diseases = Hierarchy.from_pairs([("heart attack", "disease"), ("angina pectoris", "disease")])
    texts = ["heart attack of a dog", "angina pectoris of a cat"]
    method = SemanticMicroaggregation(ontology=[diseases, "wordnet"])
    made = quietly(protect, texts, 2, tmp_path / "out", space=VectorSpace(min_df=1, stem=False), method=method)
    assert set(load(made.folder).terms) == {"carnivore", "disease"}


def test_documents_by_words_take_an_ontology_too_and_baskets_do_not(tmp_path):
    (tmp_path / "d.csv").write_text("child,parent\nheart attack,disease\nangina pectoris,disease\n")
    texts = ["a heart attack", "heart attacks", "angina pectoris", "Angina pectoris"]
    made = quietly(protect, texts, 2, tmp_path / "out", ontology=tmp_path / "d.csv", min_df=2)
    assert set(load(made.folder).terms) == {"angina pectoris", "heart attack"}
    assert certificate_of(made.folder)["stated"]["parameters"]["vector_space"]["ontology"] == "Hierarchy"
    with pytest.raises(InputError, match="joins words to terms, and these are baskets"):
        quietly(protect, Corpus.from_baskets([["a"], ["a"]]), 2, tmp_path / "no", ontology=tmp_path / "d.csv")


def test_by_default_words_are_whole_and_the_heaviest_fifty_of_a_document(tmp_path):
    texts = [text for _, text, _ in LETTERS] * 2
    made = quietly(protect, texts, 2, tmp_path / "out", method=SemanticMicroaggregation())
    parameters = certificate_of(made.folder)["stated"]["parameters"]["vector_space"]
    assert (parameters["stem"], parameters["terms_per_document"], parameters["min_df"]) == (False, 50, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": VectorSpace(min_df=1)}, "stems are no words"),
        ({"space": VectorSpace(min_df=1, stem=False, language="german")}, "WordNet is English, the language is german"),
        ({"method": Microaggregation()}, "Microaggregation cannot protect documents; use SphericalMicroaggregation or"),
        ({"k": 7}, "k=7 needs at least 7 documents with terms, got 6"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, options, message):
    with pytest.raises(InputError) as refused:
        release(tmp_path / "release", **options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "release").exists()


def test_a_release_with_an_ontology_is_assessed_with_it(tmp_path):
    (tmp_path / "d.csv").write_text("child,parent\nheart attack,disease\nangina pectoris,disease\nfever,disease\n")
    texts = ["a heart attack", "heart attacks, fever", "angina pectoris", "Angina pectoris, fever"] * 3
    quietly(protect, texts, 2, tmp_path / "out", ontology=tmp_path / "d.csv", min_df=2)
    with pytest.raises(InputError, match="protected with an ontology"):
        quietly(assess, Corpus.from_texts(texts), tmp_path / "out")
    judged = quietly(assess, Corpus.from_texts(texts), tmp_path / "out", ontology=tmp_path / "d.csv", aligned=True)
    assert judged.utility.original.terms_per_document == 1.5


def test_words_of_two_documents_stay_and_the_nearest_others_become_what_they_have_in_common(tmp_path):
    tree = [("asthma", "lung"), ("bronchitis", "lung"), ("angina", "heart"), ("flutter", "heart"), ("gout", "joint")]
    tree += [(chapter, "disease") for chapter in ("lung", "heart", "joint")]
    method = SemanticMicroaggregation(ontology=Hierarchy.from_pairs(tree))
    texts = ["angina, asthma", "flutter, bronchitis", "asthma, gout", "asthma, gout"]
    made = quietly(protect, texts, 4, tmp_path / "out", space=VectorSpace(min_df=1, stem=False), method=method)
    release = load(made.folder)
    # Asthma is in three documents and gout in two; of angina, flutter and bronchitis the last has no near partner left.
    assert dict(zip(release.terms, release.counts.toarray()[0].tolist(), strict=True)) == {
        "asthma": 3, "gout": 2, "heart": 2,
    }  # fmt: skip
