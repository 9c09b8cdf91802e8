"""Who is who: spellings that are one person's, and one number for an entity throughout a collection.

Two people under one number is the worse mistake: where a name fits several people, it is a person of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.ordinary import word_set
from shoal.sanitizer.entities.spelling import GENERATIONS, folded, name_key, name_words
from shoal.sanitizer.matching.misspelling import edits_between

__all__ = ["PersonName", "is_given_name", "may_be_one", "owners", "same_entities"]

_NAMED = ("ORG", "LOC", "MISC")
_MISSPELT = 7  # letters of a name that may be misspelt by one: shorter ones are too near each other
_TITLES = {
    "m": word_set("mr mister sir lord herr don father fr brother king prince monsieur congressman master uncle"),
    "f": word_set("mrs ms miss mme mlle madam madame dame lady frau doña sister queen princess congresswoman aunt"),
}
# Only to keep apart who would be taken for one: "John Smith" is not Mrs Smith.
_GIVEN = {
    "m": word_set(
        "adam ahmed alan albert alexander ali andrew anthony arthur brian carl charles christopher daniel david dennis "
        "donald douglas edward eric ernest frank fred frederick gary george gerald gordon hans harold harry henry "
        "howard hugh ian ivan jack jacob james jason jeffrey john jonathan jose joseph joshua juan karl keith kenneth "
        "kevin larry lawrence luis mark martin matthew michael mohamed mohammed neil nicholas oliver oscar patrick "
        "paul pedro peter philip ralph raymond richard robert roger ronald roy samuel scott simon stephen steven "
        "stuart theodore thomas timothy victor vladimir walter wayne william"
    ),
    "f": word_set(
        "agnes alice amanda amy angela anita ann anna anne annie barbara beatrice betty brenda carol caroline "
        "catherine charlotte christina christine clara claire cynthia deborah diana diane donna doris dorothy edith "
        "eleanor elena elizabeth ellen emily emma esther eva evelyn fatima florence frances gloria grace hannah "
        "heather helen ingrid irene jane janet jennifer jessica joan joanna judith julia karen katherine kathleen "
        "laura linda lisa louise lucy margaret maria marie martha mary monica nancy natalia nora olga patricia pamela "
        "rachel rebecca rosa rose ruth sandra sara sarah sharon sofia sophia stephanie susan sylvia teresa theresa "
        "ursula victoria virginia"
    ),
}
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, order=True)
class PersonName:
    """A name as it is compared: words without case and accents, the surname last."""

    words: tuple[str, ...]
    gender: str = ""  # "m" or "f" by title, else by the given name; "" if neither tells
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
        kept = tuple(word for word in words if word.rstrip(".") not in GENERATIONS) or tuple(words)
        titles = [folded(word) for word in _WORD.findall(written)[: -len(kept)]]
        return cls(kept, _gender(titles, _TITLES) or _gender(kept[:-1], _GIVEN), suffix)


def _gender(words: Sequence[str], known: Mapping[str, frozenset[str]]) -> str:
    """Of words that are all said of men, or all of women; "Mr and Mrs" tells nothing."""
    genders = {gender for word in words for gender, names in known.items() if word in names}
    return genders.pop() if len(genders) == 1 else ""


def is_given_name(word: str) -> bool:
    """Whether a word in lower case is among the commonest given names."""
    return any(word in names for names in _GIVEN.values())


def may_be_one(one: PersonName, other: PersonName, misspelt: bool = False) -> bool:
    """Whether two names may be one person's: Smith, Dr Smith, J. Smith and John Smith may, and not Mrs Smith.

    With `misspelt`, a letter may be wrong in one long word of a full name.
    """
    if _apart(one, other):
        return False
    first, second = sorted((one.words, other.words), key=len)
    if len(first) == 1:
        return len(first[0].rstrip(".")) > 1 and first[0] in second
    if misspelt and len(first) == len(second):
        wrong = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
        if len(wrong) == 1 and min(map(len, (*first, *second))) > 2:
            return _is_misspelling(*wrong[0])
    if first[-1] != second[-1]:
        return False
    return all(any(_given_names_agree(given, longer) for longer in second[:-1]) for given in first[:-1])


def _apart(one: PersonName, other: PersonName) -> bool:
    """Whether titles or generations tell two people apart."""
    return {one.gender, other.gender} == {"m", "f"} or bool(one.suffix and other.suffix and one.suffix != other.suffix)


def _given_names_agree(given: str, other: str) -> bool:
    if "." in given or "." in other or min(len(given), len(other)) == 1:
        return given[0] == other[0]
    return given == other


def _is_misspelling(word: str, other: str) -> bool:
    """First and last letter are right: endings tell a man from a woman, Sidorov from Sidorova."""
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
            owner[other] for other in near if may_be_one(name, other, misspelt) and not _apart(name, owner[other])
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
