"""The vector space model: each step, its order, its weights, and what it refuses."""

from __future__ import annotations

import math
import unicodedata
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, VectorSpace
from shoal.terms import counting
from tests.reference.words import tf_idf, words_of

TEXTS = ["The heron eats fish.", "Small fishes swim in shoals.", "A heron stands still."]
NOTHING = {"drop_stop_words": False, "wordnet": False, "min_letters": 1, "stem": False, "min_df": 1}


def space(**steps):
    """A space whose steps are all off but those given."""
    return VectorSpace(**(NOTHING | steps))


def terms(texts, **steps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return space(weighting="tf", **steps).fit(texts).terms_.tolist()


# Each step on its own


def test_with_every_step_off_every_word_is_a_term():
    assert terms(["A cat, a CAT's 2 toys!"]) == ["a", "cat", "s", "toys"]


def test_stop_words_go():
    assert terms(["the heron and the fish"], drop_stop_words=True) == ["fish", "heron"]


def test_names_and_jargon_are_not_in_wordnet_and_go():
    assert terms(["doctor Nakamurakis prescribed xyzzol to children"], wordnet=True) == [
        "children",
        "doctor",
        "prescribed",
    ]


def test_short_words_go():
    assert terms(["an ox ate the hay"], min_letters=3) == ["ate", "hay", "the"]
    assert terms(["an ox ate the hay"], min_letters=2) == ["an", "ate", "hay", "ox", "the"]


def test_words_become_porter_stems():
    assert terms(["relational fishes fishing fished"], stem=True) == ["fish", "relat"]


def test_rare_terms_go():
    texts = ["heron fish", "heron boat", "heron fish"]
    assert terms(texts, min_df=2) == ["fish", "heron"]
    assert terms(texts, min_df=3) == ["heron"]


def test_only_the_heaviest_terms_stay_and_ties_go_by_name():
    texts = ["zebra zebra ape", "zebra bee", "ape bee cow"]
    assert terms(texts, max_terms=1) == ["zebra"]
    assert terms(texts, max_terms=2) == ["ape", "zebra"]
    assert terms(texts, max_terms=99) == ["ape", "bee", "cow", "zebra"]


# Their order


def test_stop_words_are_dropped_before_stemming():
    """'being' is a stop word; stemmed first it would be 'be' and still go, but 'beings' must not."""
    assert terms(["being beings"], drop_stop_words=True, stem=True) == ["be"]


def test_wordnet_is_asked_before_stemming():
    """The stem 'hous' is in no dictionary; the word 'houses' is."""
    assert terms(["houses"], wordnet=True, stem=True) == ["hous"]


def test_short_words_are_told_by_the_word_not_by_its_stem():
    assert terms(["ties"], min_letters=4, stem=True) == ["ti"]


def test_document_frequency_is_that_of_stems():
    assert terms(["fishes", "fishing", "boat"], stem=True, min_df=2) == ["fish"]


def test_what_each_step_left_out_is_accounted_for_to_the_last_word():
    texts = ["the heron qqqzx ox eats eats", "the heron eats toads", "the heron rests"]
    model = VectorSpace(min_df=2, min_letters=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(texts)
    assert model.words_left_out_ == {
        "stop words": {"the": 3},
        "not in WordNet": {"qqqzx": 1},
        "too short": {"ox": 1},
        "too rare": {"toads": 1, "rests": 1},
        "everywhere": {"heron": 3},
    }
    assert model.terms_.tolist() == ["eat"]
    assert model.words_read_ == 13  # the 3 of "eat" and the 10 above


# Weights


def test_weights_by_hand():
    """Two of three documents have fish: ln(3/2); heron alone: ln 3, twice in its document."""
    X = space().fit_transform(["heron heron fish", "fish", "boat"]).toarray()
    heron, fish = 2 * math.log(3), math.log(1.5)
    length = math.hypot(heron, fish)
    assert pytest.approx(np.array([[0, fish / length, heron / length], [0, 1, 0], [1, 0, 0]])) == X


def test_raw_counts_at_unit_length():
    X = space(weighting="tf").fit_transform(["a a a b b b b"])
    assert X.toarray().tolist() == [[0.6, 0.8]]


@given(st.lists(st.lists(st.sampled_from(["ape", "bee", "cow", "dog", "eel"]), max_size=8), min_size=1, max_size=8))
def test_rows_are_those_of_the_formula(documents):
    model = space()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = model.fit_transform([" ".join(words) for words in documents])
    names, rows = tf_idf(documents)
    assert model.terms_.tolist() == names
    expected = np.array([[row.get(term, 0.0) for term in names] for row in rows]).reshape(len(rows), len(names))
    assert np.abs(X.toarray() - expected).max(initial=0.0) < 1e-12


def test_a_term_in_every_document_weighs_nothing_and_is_no_column():
    model = space().fit(["fish heron", "fish boat"])
    assert model.terms_.tolist() == ["boat", "heron"]


def test_documents_without_a_term_are_empty_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = VectorSpace(min_df=1).fit_transform(["heron", "", "the of and", "fish"])
    assert np.diff(X.indptr).tolist() == [1, 0, 0, 1]


def test_every_other_row_has_unit_length_and_sorted_columns():
    X = space().fit_transform(TEXTS)
    assert X.has_sorted_indices
    assert np.linalg.norm(X.toarray(), axis=1) == pytest.approx(1.0)


# Letters


def test_composed_and_decomposed_letters_are_the_same():
    texts = ["Café Ångström naïve", "İstanbul Ελλάδα"]
    nfc, nfd = ([unicodedata.normalize(form, text) for text in texts] for form in ("NFC", "NFD"))
    assert nfc != nfd
    assert terms(nfc) == terms(nfd)
    assert "café" in terms(nfd)


def test_greek_and_cyrillic_letters_make_words_and_lose_their_case():
    assert terms(["ΑΘΉΝΑ Москва 東京"]) == ["αθήνα", "москва", "東京"]


def test_vowel_signs_belong_to_their_word():
    assert terms(["हिन्दी भाषा"]) == ["भाषा", "हिन्दी"]


def test_digits_and_underscores_split_words():
    assert terms(["covid19patient a_b x²y"]) == ["a", "b", "covid", "patient", "x", "y"]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_text_is_cut_where_letters_end(texts):
    assert terms(texts) == sorted({word for text in texts for word in words_of(text)})


@given(st.text(max_size=30))
def test_words_do_not_depend_on_how_letters_are_composed(text):
    assert terms([unicodedata.normalize("NFC", text)]) == terms([unicodedata.normalize("NFD", text)])


# Languages


def test_german_has_its_own_stop_words_and_stems():
    texts = ["Die Häuser und die Fische", "Das Haus und der Fisch am Boot"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = VectorSpace(language="german", min_df=1, weighting="tf").fit(texts)
    assert model.terms_.tolist() == ["boot", "fisch", "haus"]


@pytest.mark.filterwarnings("ignore:.*are they all alike")
def test_german_read_as_english_is_noticed():
    german = ["Der Patient klagte über starke Schmerzen im linken Knie und konnte kaum schlafen."] * 3
    with pytest.warns(UserWarning, match=r"not in WordNet; is the language right\?"):
        VectorSpace(min_df=1).fit(german)


def test_german_read_as_german_is_fine():
    german = [
        "Der Patient klagte über starke Schmerzen im linken Knie.",
        "Die Untersuchung zeigte einen Erguss.",
        "Eine Operation wurde empfohlen.",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VectorSpace(language="german", min_df=1).fit(german)


def test_an_unknown_language_is_refused_with_what_was_probably_meant():
    with pytest.raises(InputError, match=r"language='germn' is not known; did you mean german\?"):
        VectorSpace(language="germn").fit(TEXTS)


def test_a_language_like_no_other_is_refused_with_the_list():
    with pytest.raises(InputError, match=r"one of: arabic, .*english.*turkish"):
        VectorSpace(language="zzz").fit(TEXTS)


def test_wordnet_is_for_english_only():
    with pytest.raises(InputError, match="wordnet=True is for English only, language='german'"):
        VectorSpace(language="german", wordnet=True).fit(TEXTS)


# New texts, streams, chunks, order


def test_new_texts_get_the_fitted_terms_and_weights():
    model = space()
    X = model.fit_transform(TEXTS)
    again = model.transform([*reversed(TEXTS), "an unknown word", "heron"])
    assert (again[:3].toarray()[::-1] == X.toarray()).all()
    assert again[3].nnz == 0
    assert model.terms_[again[4].indices].tolist() == ["heron"]
    assert again.shape == (5, len(model.terms_))


def test_transform_of_no_text_has_no_rows():
    assert space().fit(TEXTS).transform([]).shape == (0, 12)


def test_a_generator_is_read_once():
    X = space().fit_transform(text for text in TEXTS)
    assert (X.toarray() == space().fit_transform(TEXTS).toarray()).all()


@pytest.mark.parametrize("chunk", [1, 7, 40])
def test_the_size_of_a_chunk_does_not_matter(monkeypatch, chunk):
    texts = [*TEXTS, "", "Fish, fish and more fish", "one"] * 3
    whole = VectorSpace(min_df=2)
    X = whole.fit_transform(texts)
    monkeypatch.setattr(counting, "CHUNK", chunk)
    parts = VectorSpace(min_df=2)
    Y = parts.fit_transform(texts)
    assert whole.terms_.tolist() == parts.terms_.tolist()
    assert whole.words_left_out_ == parts.words_left_out_
    assert X.toarray().tobytes() == Y.toarray().tobytes()
    assert parts.transform(texts).toarray().tobytes() == Y.toarray().tobytes()


@given(st.permutations([*TEXTS, "Herons and boats", "boats boats fish", "the still small fish"]))
def test_the_order_of_documents_only_orders_the_rows(texts):
    known = {text: row.tobytes() for text, row in zip(sorted(texts), rows(sorted(texts)), strict=True)}
    assert [row.tobytes() for row in rows(texts)] == [known[text] for text in texts]


def rows(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return VectorSpace(min_df=2, max_terms=4).fit_transform(texts).toarray()


# What is refused


@pytest.mark.parametrize(
    ("parameter", "value", "bound"),
    [
        ("min_df", 0, "must be a whole number of at least 1"),
        ("min_df", 0.5, "must be a whole number of at least 1"),
        ("min_df", True, "must be a whole number of at least 1"),
        ("min_letters", 0, "must be a whole number of at least 1"),
        ("max_terms", 0, "must be a whole number of at least 1"),
        ("max_terms", "many", "must be a whole number of at least 1"),
        ("weighting", "bm25", "use 'tf-idf' or 'tf'"),
    ],
)
def test_bad_parameters_are_refused_with_value_and_bound(parameter, value, bound):
    with pytest.raises(InputError) as caught:
        VectorSpace(**{parameter: value}).fit(TEXTS)
    assert f"{parameter}={value!r}" in str(caught.value)
    assert bound in str(caught.value)


@pytest.mark.parametrize("call", ["fit", "fit_transform", "transform"])
def test_one_string_is_refused(call):
    model = space().fit(TEXTS)
    with pytest.raises(InputError, match="got one string; pass a list of texts"):
        getattr(model, call)("one text")


def test_what_is_not_text_is_refused_by_its_number():
    with pytest.raises(InputError, match="document 2 is NoneType, not text"):
        space().fit(["a", None])
    with pytest.raises(InputError, match="document 1 is bytes, not text"):
        space().fit([b"a"])
    with pytest.raises(InputError, match="got int"):
        space().fit(7)


def test_no_documents_are_refused():
    with pytest.raises(InputError, match="0 documents"):
        space().fit([])


def test_feature_names_are_the_terms():
    model = space().fit(TEXTS)
    assert model.get_feature_names_out().tolist() == model.terms_.tolist()


# The heaviest terms of each document


def test_of_every_document_only_the_heaviest_terms_stay():
    texts = ["cat cat cat dog dog fox", "dog fox fox", "cat"]
    fitted = space(weighting="tf", terms_per_document=1)
    rows = fitted.inverse_transform(fitted.fit_transform(texts))
    assert rows == [{"cat": 1.0}, {"fox": 1.0}, {"cat": 1.0}]
    assert fitted.words_left_out_["beyond a document's heaviest terms"] == {"dog": 3, "fox": 1}


def test_of_equally_heavy_terms_the_first_by_name_stay():
    rows = space(weighting="tf", terms_per_document=2).fit_transform(["fox dog cat", "fox"])
    assert np.diff(rows.indptr).tolist() == [2, 1]
    assert rows.toarray()[0] == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), 0])


def test_rows_can_be_had_as_dicts():
    fitted = space(weighting="tf")
    assert fitted.inverse_transform(fitted.fit_transform(["cat", "dog", ""])) == [{"cat": 1.0}, {"dog": 1.0}, {}]


# Baskets


BASKETS = [["tea", "Milk", "tea"], {"Milk": 2, "rice": 0}, ["the", "tea"]]


def test_items_are_terms_as_they_are():
    space = VectorSpace(items=True, min_df=1, weighting="tf")
    X = space.fit_transform(BASKETS)
    assert space.terms_.tolist() == ["Milk", "tea", "the"]
    assert np.allclose(X.toarray() ** 2, [[0.2, 0.8, 0], [1, 0, 0], [0, 0.5, 0.5]])
    assert space.words_read_ == 7


def test_rare_items_are_left_out_and_accounted_for():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = VectorSpace(items=True, min_df=2).fit(BASKETS)
    assert space.terms_.tolist() == ["Milk", "tea"]
    assert space.words_left_out_ == {"too rare": {"the": 1}}


def test_new_baskets_become_rows_of_the_fitted_space():
    space = VectorSpace(items=True, min_df=1, weighting="tf").fit(BASKETS)
    assert space.transform([{"the": 5, "salt": 1}]).toarray().tolist() == [[0.0, 0.0, 1.0]]


def test_the_heaviest_items_of_a_basket_can_be_kept():
    space = VectorSpace(items=True, min_df=1, weighting="tf", terms_per_document=1)
    assert space.fit_transform(BASKETS).toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    assert space.count_rows(space.count(BASKETS)).toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 1, 0]]


def test_counts_up_to_a_thousand_million_are_exact():
    space = VectorSpace(items=True, min_df=1, weighting="tf")
    counted = space.count([{"a": 10**9, "b": 1}, {"a": 10**9}])
    assert space.settle([counted.tally]).count_rows(counted).toarray().tolist() == [[10**9, 1], [10**9, 0]]
    assert counted.tally.occurrences["a"] == 2 * 10**9


@pytest.mark.parametrize(
    ("baskets", "says"),
    [
        (["tea milk"], "basket 1: neither a list of items"),
        ([["tea"], {"tea": 0.5}], "basket 2: a count is not a whole number; give counts"),
        ([["tea"], {"tea": -1}], "basket 2: a count is not a number from 0 to 1,000,000,000"),
        ("tea", "got one string; pass a list of baskets"),
        ({"tea": 1}, "got dict; pass a list of baskets"),
    ],
)
def test_what_is_no_basket_is_refused_in_one_line(baskets, says):
    with pytest.raises(InputError, match=says) as error:
        VectorSpace(items=True).fit(baskets)
    assert "\n" not in str(error.value)


@given(st.lists(st.lists(st.sampled_from("abcde")), min_size=1, max_size=12))
def test_baskets_are_weighed_as_texts_of_the_same_words(baskets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_items, of_words = VectorSpace(items=True, min_df=2), space(min_df=2)
        X, expected = of_items.fit_transform(baskets), of_words.fit_transform([" ".join(one) for one in baskets])
    assert of_items.terms_.tolist() == of_words.terms_.tolist()
    assert np.array_equal(X.toarray(), expected.toarray())
    assert of_items.words_left_out_ == of_words.words_left_out_
