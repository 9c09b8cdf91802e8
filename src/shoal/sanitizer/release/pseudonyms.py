"""A pseudonym for every entity: a number by kind (Pers1), the kind alone ([person]), or something more general.

Numbers follow the order of first appearance, so a single text gives nothing away by them that it does not show anyway.
More general is "a medical specialist", "a day in 2009", "a city in Spain": professions, organisations and places go up
in WordNet, dates and ages become coarser. Where that gives nothing, the kind stands for the entity: "a person".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.names import same_entities
from shoal.sanitizer.entities.rules import RuleTable
from shoal.terms.wordnet import WordNet

STYLES = ("numbered", "category", "general")
SCOPES = ("document", "collection")
# Of each kind the prefix of its numbers, short enough to read past and no word of its own, and what it is called.
KIND_WORDS = RuleTable("kinds").table("names")
CROWD = 10  # a profession is called by the nearest concept that has so many below it
OLDEST = 90  # from here on, ages are few and identify

Pseudonyms = tuple[tuple[str, ...], ...]

_WORD = re.compile(r"[^\W\d_]+")
_COMPANY = {"inc", "ltd", "llc", "plc", "corp", "co", "gmbh", "ag", "sa", "nv", "bv", "spa", "srl", "oy", "ab"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_AGE = re.compile(r"(?:aged? )?(?:an? )?(?:\d+)(?:[ -]?(?:years?|yrs?)(?:[ -]olds?)?)?", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\d)(1[5-9]|20)(\d)0['’]?s\b")


def pseudonyms_of(
    documents: Sequence[Sequence[Entity]], texts: Iterable[str], style: str = "numbered", scope: str = "document"
) -> Pseudonyms:
    """For each document, one replacement per entity.

    The same entity has the same pseudonym everywhere in a document, or in the collection if that is the scope. A number
    that some text already has after the prefix is left out, so that a "Pers1" of the original is nobody's pseudonym.
    Give the entities that are to be masked and no others, and the documents in the order of the release: gaps and order
    of the numbers then reveal nothing.

    >>> from shoal.results.sanitizing import Mention
    >>> ann = Entity("PERSON", (Mention(0, 3),), "Ann", "direct", 1.0)
    >>> bob = Entity("PERSON", (Mention(8, 11),), "Bob", "direct", 1.0)
    >>> pseudonyms_of([[ann, bob]], ["Ann met Bob."])
    (('Pers1', 'Pers2'),)
    """
    if style != "numbered":
        replacement = Generalisation() if style == "general" else _category
        return tuple(tuple(map(replacement, entities)) for entities in documents)
    if scope == "document":
        numbered = (_numbered([entities], [text]) for entities, text in zip(documents, texts, strict=True))
        return tuple(pseudonyms for (pseudonyms,) in numbered)
    return _numbered(documents, texts)


def _category(entity: Entity) -> str:
    return f"[{KIND_WORDS[entity.kind][1]}]"


def _numbered(documents: Sequence[Sequence[Entity]], texts: Iterable[str]) -> Pseudonyms:
    """Numbers in the order of first appearance, for all documents together."""
    same = same_entities(documents)
    prefixes = {KIND_WORDS[entity.kind][0] for entities in documents for entity in entities}
    numbers = _free_numbers(prefixes, texts)
    pseudonym_of: dict[tuple[str, int], str] = {}  # by prefix and entity: one name may be of a person and of a place
    keys = [
        [(KIND_WORDS[entity.kind][0], identity) for entity, identity in zip(entities, identities, strict=True)]
        for entities, identities in zip(documents, same, strict=True)
    ]
    for entities, keys_of_document in zip(documents, keys, strict=True):
        first = [min(((m.start, -m.end) for m in entity.mentions), default=(0, 0)) for entity in entities]
        for _, key in sorted(zip(first, keys_of_document, strict=True), key=lambda pair: pair[0]):
            if key not in pseudonym_of:
                pseudonym_of[key] = f"{key[0]}{next(numbers[key[0]])}"
    return tuple(tuple(pseudonym_of[key] for key in keys_of_document) for keys_of_document in keys)


def _free_numbers(prefixes: Iterable[str], texts: Iterable[str]) -> dict[str, Iterator[int]]:
    """For each prefix 1, 2, … without those that stand after it in a text, in small letters or capitals."""
    after_prefix = {prefix: re.compile(rf"{prefix}(\d+)", re.IGNORECASE) for prefix in prefixes}
    taken: dict[str, set[str]] = {prefix: set() for prefix in after_prefix}
    for text in texts:
        for prefix, pattern in after_prefix.items():
            for digits in pattern.findall(text):
                # A text with "Pers12" has "Pers1" in it, too.
                taken[prefix] |= {digits[:length] for length in range(1, len(digits) + 1)}
    return {prefix: _without(numbers) for prefix, numbers in taken.items()}


def _without(taken: set[str]) -> Iterator[int]:
    return (number for number in count(1) if str(number) not in taken)


class Generalisation:
    """Called with an entity, gives what stands in its place. WordNet is loaded when it is first needed."""

    def __init__(self) -> None:
        self._coarser: dict[str, Callable[[str], str | None]] = {
            "PROFESSION": self._profession,
            "ORG": self._organisation,
            "LOC": self._place,
            "DATE": coarser_date,
            "AGE": coarser_age,
        }
        self._seen: dict[tuple[str, str], str] = {}

    def __call__(self, entity: Entity) -> str:
        key = entity.kind, " ".join(entity.name.split())
        if key not in self._seen:
            coarser = self._coarser[entity.kind](key[1]) if entity.kind in self._coarser else None
            noun = "professional" if entity.kind == "PROFESSION" else KIND_WORDS[entity.kind][1]
            self._seen[key] = coarser or _with_article(noun)
        return self._seen[key]

    @cached_property
    def _wordnet(self) -> WordNet:
        return WordNet()

    def _profession(self, name: str) -> str | None:
        """The nearest concept above that is still a kind of person and has a crowd below it."""
        concept = self._sense_below("person.n.01", name, kinds_only=True)  # Anselm is a name, not a kind of bishop
        if concept is None:
            return None
        taxonomy = self._wordnet.taxonomy
        person = self._named("person.n.01")
        above = [int(c) for c in taxonomy.ancestors_of(concept) if c not in (concept, person)]
        above = [c for c in above if person in taxonomy.ancestors_of(c) and len(taxonomy.descendants_of(c)) >= CROWD]
        if not above:
            return None
        return _with_article(self._wordnet.lemma(max(above, key=lambda c: (taxonomy.depth[c], c))))

    def _organisation(self, name: str) -> str | None:
        """By a noun in its name: the University of Girona is a university, Imagine Inc. a company."""
        words = _WORD.findall(name)
        if any(word.lower() in _COMPANY for word in words[1:]):
            return "a company"
        head = re.split(r"\b(?:of|for|de|del|der)\b", name, maxsplit=1)[0]
        for word in reversed(_WORD.findall(head)):
            concept = self._sense_below("organization.n.01", word)
            if concept is not None and self._wordnet.lemma(concept).islower():
                return _with_article(word.lower())
        return None

    def _place(self, name: str) -> str | None:
        """What it is an instance of, and what it is a part of."""
        concept = self._sense_below("location.n.01", name)
        if concept is None or self._wordnet.lemma(concept).islower():
            return None
        kind = self._wordnet.lemma(int(self._wordnet.taxonomy.parents_of(concept)[0]))
        if kind.endswith("capital"):  # of which a country has one
            kind = "city"
        wholes = self._wordnet.wholes(concept)
        within = f" in {self._wordnet.lemma(wholes[0])}" if wholes else ""
        more_general = _with_article(kind) + within
        own = {word.lower() for word in _WORD.findall(name)}
        return more_general if own.isdisjoint(_WORD.findall(more_general.lower())) else None  # New York in New York

    def _sense_below(self, top: str, word: str, *, kinds_only: bool = False) -> int | None:
        """The first sense of the word below a concept; with `kinds_only` none that is a single person or thing."""
        senses = [
            sense for sense in self._wordnet.senses(word) if not (kinds_only and self._wordnet.is_instance(sense))
        ]
        above, taxonomy = self._named(top), self._wordnet.taxonomy
        return next((sense for sense in senses if np.isin(above, taxonomy.ancestors_of(sense))), None)

    def _named(self, name: str) -> int:
        concept = self._wordnet.concept(name)
        assert concept is not None
        return concept


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' and not noun.lower().startswith(('uni', 'eu')) else 'a'} {noun}"


def coarser_date(date: str) -> str | None:
    """The date with less of it; None when no year can be read from it.

    >>> coarser_date("3 May 2009"), coarser_date("May 2009"), coarser_date("2009"), coarser_date("the 1980s")
    ('a day in 2009', '2009', 'the 2000s', 'the 20th century')
    """
    decade = _DECADE.search(date)
    if decade is not None:
        return f"the {int(decade[1]) + 1}{'st' if decade[1] == '20' else 'th'} century"
    years = list(dict.fromkeys(_YEAR.findall(date)))
    if len(years) != 1:
        return None
    numbers = _NUMBER.findall(_YEAR.sub("", date))
    months = _MONTH.findall(date)
    if len(numbers) > 2 or (numbers and not months and len(numbers) != 2):
        return None  # a time, a period or something else
    if numbers:
        return f"a day in {years[0]}"
    return years[0] if months else f"the {years[0][:3]}0s"


def coarser_age(age: str) -> str | None:
    """The age with its number replaced by ten years; None when it is not a number of years and nothing else.

    >>> coarser_age("43 years old"), coarser_age("aged 7"), coarser_age("95")
    ('40 to 49 years old', 'aged 0 to 9', '90 or more')
    """
    if not _AGE.fullmatch(age):  # what else it says would stay
        return None
    decade = int(_NUMBER.findall(age)[0]) // 10 * 10
    return _NUMBER.sub("90 or more" if decade >= OLDEST else f"{decade} to {decade + 9}", age)
