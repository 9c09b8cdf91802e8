"""Policies are read with care, widened by the senses that were chosen, and written as people can read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.sanitizer.policies.policy import BUILT_IN, Concept, Policy, Topic
from shoal.terms.wordnet import WordNet


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet()


def policy(*concepts: Concept, **rest: bool) -> Policy:
    return Policy("mine", "My policy", (Topic("a", "Arms", concepts),), **rest)


def texts(read: Policy, wordnet: WordNet) -> list[str]:
    return [term.text for term in read.widened(wordnet)]


def test_a_concept_is_widened_with_synonyms_and_all_below(wordnet: WordNet) -> None:
    assert texts(policy(Concept("nuclear weapon", ("nuclear_weapon.n.01",))), wordnet) == [
        *("A-bomb", "H-bomb", "atom bomb", "atomic bomb", "atomic weapon", "clean bomb", "dirty bomb", "fission bomb"),
        *("fusion bomb", "hydrogen bomb", "megaton bomb", "neutron bomb", "nuclear weapon", "plutonium bomb"),
        "thermonuclear bomb",
    ]


def test_only_the_chosen_sense_is_widened(wordnet: WordNet) -> None:
    assert "zero" not in texts(policy(Concept("cipher", ("cipher.n.01",))), wordnet)
    assert "zero" in texts(policy(Concept("cipher", ("zero.n.02",))), wordnet)


def test_branches_and_words_are_left_out_and_others_added(wordnet: WordNet) -> None:
    concept = Concept(
        "missile",
        ("missile.n.01",),
        without=("ballistic_missile.n.01",),
        without_words=("SAM",),
        words=("missile gap",),
    )
    widened = texts(policy(concept), wordnet)
    assert not {"ballistic missile", "ICBM", "SAM"} & set(widened)
    assert {"missile", "guided missile", "missile gap"} <= set(widened)


def test_a_word_that_means_something_else_first_counts_only_if_asked_for(wordnet: WordNet) -> None:
    gun = Concept("gun", ("gun.n.01", "firearm.n.01"))
    assert "arrow" not in texts(policy(gun), wordnet)
    weapon = Concept("weapon", ("weapon.n.01",))
    assert {"bow", "shot", "rifle"} <= set(texts(policy(weapon), wordnet))
    first = texts(policy(weapon, first_senses_only=True), wordnet)
    assert "rifle" in first and not {"bow", "shot"} & set(first)


def test_a_term_of_several_concepts_belongs_to_the_nearest(wordnet: WordNet) -> None:
    concepts = Concept("weapon", ("weapon.n.01",)), Concept("missile", ("missile.n.01",))
    concept_of = {term.text: term.concept for term in policy(*concepts).widened(wordnet)}
    assert concept_of["ICBM"] == "missile"
    assert concept_of["rifle"] == "weapon"


@pytest.mark.parametrize(("senses", "given"), [(("gun.n.77",), "gun.n.77"), (("gun",), "gun"), ((), "")])
def test_an_unknown_sense_is_refused_and_the_glosses_offered(
    wordnet: WordNet, senses: tuple[str, ...], given: str
) -> None:
    with pytest.raises(InputError) as refused:
        policy(Concept("gun", senses)).widened(wordnet)
    message = str(refused.value)
    assert message.startswith(
        f"the sense {given!r} of the concept 'gun' is unknown; choose from: gun.n.01 (a weapon that"
    )
    assert "artillery.n.01 (large but transportable armament)" in message
    assert "\n" not in message


def test_a_word_that_wordnet_does_not_have_is_to_be_listed(wordnet: WordNet) -> None:
    with pytest.raises(InputError, match="list it under words"):
        policy(Concept("five eyes", ("five_eyes.n.01",))).widened(wordnet)


HEAD = 'name = "n"\ntitle = "t"\n[[topics]]\nid = "a"\ntitle = "A"\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name =", "is no TOML"),
        ('name = "n"\ntitle = "t"\n', "has no topics; add at least one as"),
        (HEAD, "topic 'a' of .* has no concepts"),
        (HEAD + '[[topics.concepts]]\nword = "gun"\nsense = ["gun.n.01"]', "unknown key 'sense'; did you mean senses"),
        (HEAD + '[[topics.concepts]]\nword = "gun"\nsenses = "gun.n.01"', "senses of .* must be a list of texts"),
        (HEAD + '[[topics.concepts]]\nsenses = ["gun.n.01"]', "has no word; add it"),
        (HEAD + '[[topics.concepts]]\nword = "gun"\nwords = ["!"]', "words of .* must be a list of texts"),
        (HEAD + "[[topics.concepts]]\nword = 3", "word of .* must be a text"),
        ('first_senses_only = "yes"\n' + HEAD + '[[topics.concepts]]\nword = "gun"', "must be true or false"),
        (
            "name = 'n'\ntitle = 't'\n" + 2 * "[[topics]]\nid='a'\ntitle='A'\n[[topics.concepts]]\nword='x'\n",
            "more than once",
        ),
    ],
)
def test_a_file_that_is_no_policy_is_refused_in_a_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text(content)
    with pytest.raises(InputError, match=message) as refused:
        Policy.read(tmp_path / "bad.toml")
    assert "\n" not in str(refused.value)


def test_a_policy_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="the policy 'helth' is unknown; give a TOML file or one of: eo13526, health"):
        Policy.read("helth")
    with pytest.raises(InputError, match="does not exist"):
        Policy.read("nowhere/mine.toml")


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_glosses_in_a_built_in_policy_are_those_of_wordnet(name: str, wordnet: WordNet) -> None:
    source = Path(__file__).parents[3] / "src" / "shoal" / "sanitizer" / "policies" / "builtin" / f"{name}.toml"
    glossed = re.findall(r'(?m)^ +"(\S+\.n\.\d+)", # (.+)$', source.read_text(encoding="utf-8"))
    assert glossed
    for sense, gloss in glossed:
        assert wordnet.gloss(wordnet.concept(sense)).startswith(gloss)


def test_the_default_policy_has_eight_topics_and_becomes_hundreds_of_terms(wordnet: WordNet) -> None:
    default = Policy.read("eo13526")
    assert [topic.id for topic in default.topics] == list("abcdefgh")
    assert 30 <= sum(len(topic.concepts) for topic in default.topics) <= 40
    terms = default.widened(wordnet)
    assert 655 <= len(terms) <= 1500
    assert {term.topic for term in terms} == set("abcdefgh")


@pytest.mark.parametrize(
    ("name", "text", "topics"),
    [
        ("eo13526", "The agent handed over the cipher machine and plans of the enriched-uranium plant.", ["c", "f"]),
        ("eo13526", "A warhead for the ICBM; a spy; a démarche; a spy satellite; a bodyguard.", [*"habdeg"]),
        ("health", "She was treated for influenza and schizophrenia, and is pregnant.", ["conditions", "mind", "life"]),
        (
            "gdpr",
            "A devout Catholic and trade unionist, convicted of burglary.",
            ["beliefs", "unions", "crime", "crime"],
        ),
        ("company", "Due diligence for the takeover: the prototype, redundancies, the password.", None),
    ],
)
def test_a_built_in_policy_finds_its_topics(name: str, text: str, topics: list[str] | None, wordnet: WordNet) -> None:
    hits = Policy.read(name).finder(wordnet).find(text)
    expected = ["deals", "deals", "know-how", "people", "security"] if topics is None else topics
    assert [hit.topic for hit in hits] == expected
