"""People's names: when two spellings are one name, and when two names may be one person's."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.rules import RuleTable
from shoal.sanitizer.policies.matching import edits_between
from shoal.terms.lexicon import is_common_word

_TABLE = RuleTable("names")
_TITLED = _TABLE.pattern("titled")
_TITLES = {gender: _TABLE.words(f"titles_{gender}") for gender in "mf"}
_GIVEN = {gender: _TABLE.words(f"given_{gender}") for gender in "mf"}
_ORDINARY_GIVEN = _TABLE.words("given_ordinary")
_ALL_GIVEN = _GIVEN["m"] | _GIVEN["f"] | _TABLE.words("given_any") | _ORDINARY_GIVEN
GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
_AFTER_COMMA = GENERATIONS | {"esq", "phd", "md", "qc", "kc", "mp"}
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-‑'’][^\W\d_]+)*\.?")
_BROKEN = re.compile(r"[-‑]\s+(?=[a-z])")
_POSSESSIVE = re.compile(r"['’]s?$")
_TRANSLATED = str.maketrans({"ı": "i", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ß": "ss", "đ": "d", "‑": "-", "–": "-"})


@lru_cache(maxsize=65_536)
def folded(text: str) -> str:
    """Without accents and case: İzmir, Izmir and IZMIR are one spelling."""
    parts = unicodedata.normalize("NFKD", text.translate(_TRANSLATED))
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def unbroken(name: str) -> str:
    """On one line: "Trel-⏎oar" is Treloar."""
    return " ".join(_BROKEN.sub("", name).split())


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """What all spellings of a name share: no article, title, possessive, accents, case; one space between words."""
    name = unbroken(name)
    name = _TITLED.sub("", name.strip(), count=1) if _TITLED.match(name.strip()) else name.strip()
    words = re.findall(r"[^\W_]+", folded(_POSSESSIVE.sub("", name)))
    return " ".join(words[1:] if words and words[0] in ("the", "a", "an") else words)


def name_words(name: str) -> list[str]:
    """The words of a person's name, without titles, the surname last.

    >>> name_words("Dr Anna Smith"), name_words("SMITH, John"), name_words("Smith, Jr.")
    (['Anna', 'Smith'], ['John', 'SMITH'], ['Smith', 'Jr.'])
    """
    surname, comma, given = _POSSESSIVE.sub("", unbroken(name)).partition(",")
    words = [_NAME_WORD.findall(_TITLED.sub("", part.strip())) for part in (surname, given)]
    turned = comma and words[1] and folded(words[1][0]).rstrip(".") not in _AFTER_COMMA
    return words[1] + words[0] if turned else words[0] + words[1]


_NAMED = ("ORG", "LOC", "MISC")
_MISSPELT = 7  # letters of a name that may be misspelt by one: shorter ones are too near each other
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, order=True)
class PersonName:
    """A name as it is compared: words without case and accents, the surname last."""

    words: tuple[str, ...]
    gender: str = ""  # "m" or "f" by title, else by the given name; "" if unknown
    suffix: str = ""  # jr, sr, iii

    @classmethod
    @lru_cache(maxsize=65_536)
    def of(cls, written: str) -> PersonName:
        """
        >>> PersonName.of("Mrs Anna Smith"), PersonName.of("SMITH, John Jr.")
        (PersonName(words=('anna', 'smith'), gender='f', suffix=''), \
PersonName(words=('john', 'smith'), gender='m', suffix='jr'))
        """
        words = [folded(word) for word in name_words(written)] or [name_key(written)]
        suffix = next((plain for word in words[1:] if (plain := word.rstrip(".")) in GENERATIONS), "")
        own_words = tuple(word for word in words if word.rstrip(".") not in GENERATIONS) or tuple(words)
        titles = [folded(word) for word in _WORD.findall(written)[: -len(own_words)]]
        return cls(own_words, _gender(titles, _TITLES) or _gender(own_words[:-1], _GIVEN), suffix)


def _gender(words: Sequence[str], known: Mapping[str, frozenset[str]]) -> str:
    """Of words that are all used for men, or all for women; "" for "Mr and Mrs"."""
    genders = {gender for word in words for gender, names in known.items() if word in names}
    return genders.pop() if len(genders) == 1 else ""


def is_given_name(word: str) -> bool:
    """Whether a word in lower case is among the commonest given names."""
    return folded(word) in _ALL_GIVEN


def is_only_a_name(word: str) -> bool:
    """Whether a word in lower case is a given name and no word of English: "tariq", not "mark"."""
    return is_given_name(word) and word not in _ORDINARY_GIVEN and not is_common_word(word)


def may_be_one(name: PersonName, other: PersonName, misspelt: bool = False) -> bool:
    """Whether two names may be one person's: Smith, Dr Smith, J. Smith and John Smith may be; Mrs Smith may not.

    With `misspelt`, a letter may be wrong in one long word of a full name.
    """
    if _are_distinct(name, other):
        return False
    first, second = sorted((name.words, other.words), key=len)
    if len(first) == 1:
        return len(first[0].rstrip(".")) > 1 and first[0] in second
    if misspelt and len(first) == len(second):
        wrong = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
        if len(wrong) == 1 and min(map(len, (*first, *second))) > 2:
            return _is_misspelling(*wrong[0])
    if first[-1] != second[-1]:
        return False
    return all(any(_given_names_agree(given, longer) for longer in second[:-1]) for given in first[:-1])


def _are_distinct(name: PersonName, other: PersonName) -> bool:
    """Whether titles or generations show two different people."""
    generations = {name.suffix, other.suffix} - {""}
    return {name.gender, other.gender} == {"m", "f"} or len(generations) > 1


def _given_names_agree(given: str, other: str) -> bool:
    if "." in given or "." in other or min(len(given), len(other)) == 1:
        return given[0] == other[0]
    return given == other


def _is_misspelling(word: str, other: str) -> bool:
    """First and last letter must agree: endings distinguish a man from a woman, Sidorov from Sidorova."""
    long = min(len(word), len(other)) >= _MISSPELT
    return long and word[0] == other[0] and word[-1] == other[-1] and edits_between(word, other) == 1


def owners(names: Iterable[PersonName], misspelt: bool = False) -> dict[PersonName, PersonName]:
    """For each name the most complete one it belongs to: the only one it fits, or itself if it fits several.

    The order of the names does not matter.
    """
    holders: dict[str, list[PersonName]] = defaultdict(list)
    owner: dict[PersonName, PersonName] = {}
    for name in sorted(set(names), key=_least_complete_last):
        near = {other for word in (name.words[0], name.words[-1]) for other in holders[word]}
        fitting = {
            owner[other]
            for other in near
            if may_be_one(name, other, misspelt) and not _are_distinct(name, owner[other])
        }
        owner[name] = fitting.pop() if len(fitting) == 1 else name
        for word in set(name.words):
            holders[word].append(name)
    genders: dict[PersonName, set[str]] = defaultdict(set)
    for name, person in owner.items():
        genders[person].add(name.gender)
    # Mr Smith and Mrs Smith cannot both be Kim Smith, and nobody knows which of them is.
    return {name: name if name.gender and {"m", "f"} <= genders[person] else person for name, person in owner.items()}


def _least_complete_last(name: PersonName) -> tuple[Any, ...]:
    return -len(name.words), -sum(map(len, name.words)), not (name.gender or name.suffix), name.words, name


def same_entities(documents: Sequence[Sequence[Entity]]) -> list[tuple[int, ...]]:
    """For each entity of each document its number in the collection, from 0 in the order of first appearance.

    Entities are the same if they have the same kind and name, whatever the spelling. A person's shorter name ("Smith",
    "J. Smith") belongs to the only longer name it fits; if it fits several, it is a person of its own.
    """
    owner = owners(
        PersonName.of(entity.name) for document in documents for entity in document if entity.kind == "PERSON"
    )
    numbers: dict[tuple[str, str | PersonName], int] = {}
    return [
        tuple(numbers.setdefault(_identity(entity, owner), len(numbers)) for entity in document)
        for document in documents
    ]


def _identity(entity: Entity, owner: Mapping[PersonName, PersonName]) -> tuple[str, str | PersonName]:
    if entity.kind == "PERSON":
        return "PERSON", owner[PersonName.of(entity.name)]
    return "NAME" if entity.kind in _NAMED else entity.kind, name_key(entity.name)
