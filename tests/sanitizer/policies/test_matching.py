"""Terms are found in the forms in which people write them, with small misspellings, and not in others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.sanitizer.policies.matching import Misspellings, Term, TermFinder, edits_between

TERMS = tuple(
    Term(text, "weapon", "a")
    for text in (
        *("missile", "nerve gas", "weapon system", "counterintelligence", "antiaircraft gun", "armour", "SAM", "Pu"),
        *("knife", "negotiation", "diplomat", "informant", "hospital", "demarche", "guided missile", "Mata Hari"),
        *("man-of-war", "cupid's bow"),
    )
)
FINDER = TermFinder(TERMS)


def found(text: str) -> list[tuple[str, str]]:
    return [(text[hit.start : hit.end], hit.term) for hit in FINDER.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two MISSILES.", [("MISSILES", "missile")]),
        ("The knives", [("knives", "knife")]),
        ("They negotiated.", [("negotiated", "negotiation")]),
        ("diplomatic means", [("diplomatic", "diplomat")]),
        ("weapons systems", [("weapons systems", "weapon system")]),
        ("nerve-gases", [("nerve-gases", "nerve gas")]),
        ("nerve\n  gas", [("nerve\n  gas", "nerve gas")]),
        ("nervegas", [("nervegas", "nerve gas")]),
        ("counter-intelligence", [("counter-intelligence", "counterintelligence")]),
        ("counter intelligence", [("counter intelligence", "counterintelligence")]),
        ("counterintelli-\ngence", [("counterintelli-\ngence", "counterintelligence")]),
        ("counterintelli\u00adgence", [("counterintelli\u00adgence", "counterintelligence")]),
        ("counter\u200bintelligence", [("counter\u200bintelligence", "counterintelligence")]),  # without width
        ("ｍｉｓｓｉｌｅ", [("ｍｉｓｓｉｌｅ", "missile")]),
        ("anti-aircraft guns", [("anti-aircraft guns", "antiaircraft gun")]),
        ("a man of war", [("man of war", "man-of-war")]),
        ("the missile's range", [("missile", "missile")]),
        ("a démarche", [("démarche", "demarche")]),
        ("a de\u0301marche", [("de\u0301marche", "demarche")]),
        ("cupid’s bow", [("cupid’s bow", "cupid's bow")]),
        ("guided missile", [("guided missile", "guided missile")]),  # and no missile
        ("SAMs", [("SAMs", "SAM")]),
        ("S.A.M. sites", [("S.A.M", "SAM")]),
    ],
)
def test_a_term_is_found_by_stem_plural_and_hyphen(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("misspelt", ["misile", "misssile", "missle", "missiel", "mussile", "Misslie", "misiles"])
def test_a_small_misspelling_is_found(misspelt: str) -> None:
    assert found(f"a {misspelt} was seen") == [(misspelt, "missile")]


def test_a_long_word_may_have_two_errors() -> None:
    assert found("conterinteligence") == [("conterinteligence", "counterintelligence")]


@pytest.mark.parametrize(
    "text",
    [
        "a missive",  # a word of its own
        "information was informal",  # of the same stem as informant
        "hospitality",
        "arm our people",  # no armour
        "Sam said",  # no SAM
        "he put it",  # no Pu
        "mata hari",
        "nerve. Gas",  # two sentences
        "weapon, system",
        "the end\n\nnerve\n\ngas",
        "I'll",
        "",
    ],
)
def test_what_only_looks_like_a_term_is_not_found(text: str) -> None:
    assert found(text) == []


def test_words_to_ignore_are_no_hits_however_like_a_term_they_are() -> None:
    arms = (Term("arms", "weapon", "a"),)
    assert [hit.start for hit in TermFinder(arms).find("arms and an arm")] == [0, 12]
    assert [hit.start for hit in TermFinder(arms, ("arm",)).find("arms and an arm")] == [0]


def test_a_hit_says_which_concept_and_topic_it_is_of() -> None:
    (hit,) = TermFinder([Term("submarine", "ship", "navy")]).find("the submarines")
    assert (hit.start, hit.end, hit.term, hit.concept, hit.topic) == (4, 14, "submarine", "ship", "navy")


@given(st.lists(st.sampled_from(["nerve", "gas", "-", " ", "\n", "counter", "intelligence", "é", "🐟", ". ", "SAM"])))
def test_hits_are_in_the_order_of_the_text_and_do_not_overlap(parts: list[str]) -> None:
    text = "".join(parts)
    hits = FINDER.find(text)
    places = [place for hit in hits for place in (hit.start, hit.end)]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert all(text[hit.start : hit.end].strip() == text[hit.start : hit.end] for hit in hits)


@pytest.mark.parametrize(
    "text",
    ["missile" * 100_000, "nerve" + " " * 300_000 + ",gas", "nerve -" * 100_000, "é" * 300_000],
    ids=["one word", "a wide gap", "many gaps", "accents"],
)
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    """Looking from each letter to the end of the text again would take minutes."""
    FINDER.find(text)


def test_thousands_of_terms_are_found_in_a_long_text() -> None:
    """Looking for each term by itself would take hours."""
    letters = "bcdfghklmnprstvz"
    words = [f"{a}a{b}e{c}o{d}" for a in letters for b in letters for c in letters for d in "nrst"]  # 16,384 of them
    finder = TermFinder(Term(word, word, "a") for word in words[::5])
    text = " ".join(words[place * 7 % len(words)] for place in range(25_000))  # 200 kB
    hits = finder.find(text)
    assert {hit.term for hit in hits} == set(words[::5])


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [
        ("missile", "missile", 0),
        ("missile", "misile", 1),
        ("missile", "misisle", 1),  # neighbours swapped
        ("missile", "mussile", 1),
        ("missile", "missive", 1),
        ("missile", "misles", 3),
        ("", "abc", 3),
    ],
)
def test_edits_are_counted(first: str, second: str, edits: int) -> None:
    assert edits_between(first, second) == edits_between(second, first) == edits


WORDS = st.text("abcd", min_size=6, max_size=14)


@given(st.lists(WORDS, max_size=20), WORDS)
def test_the_shortcut_finds_what_comparing_with_every_word_would(known: list[str], word: str) -> None:
    graded = sorted((edits_between(word, other), other) for other in set(known) if other[0] == word[0])
    nearest = [other for edits, other in graded if edits <= (2 if min(len(word), len(other)) >= 12 else 1)]
    expected = nearest[0] if graded and nearest and nearest[0] == graded[0][1] else None
    assert Misspellings(known).meant_by(word) == expected
