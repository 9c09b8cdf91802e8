"""Something more general in the place of an entity: "a medical specialist", "a day in 2009", "a city in Spain".

Professions, organisations and places go up in WordNet, dates and ages become coarser. Where that gives nothing,
the kind stands for the entity: "a person".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import numpy as np

from shoal.ontology import WordNet
from shoal.results.sanitizing import Entity
from shoal.sanitizer.pseudonyms.times import coarser_age, coarser_date

__all__ = ["NOUN_OF_KIND", "Generalisation"]

NOUN_OF_KIND = {
    "PERSON": "person",
    "ORG": "organisation",
    "LOC": "place",
    "DATE": "date",
    "ADDRESS": "address",
    "EMAIL": "e-mail address",
    "PHONE": "phone number",
    "ACCOUNT": "account number",
    "ID": "identifier",
    "CASE": "case number",
    "MONEY": "amount of money",
    "QUANTITY": "quantity",
    "PROFESSION": "profession",
    "AGE": "age",
    "NATIONALITY": "nationality",
    "URL": "web address",
    "MISC": "detail",
}
CROWD = 10  # a profession is told by the nearest concept that has so many below it

_WORD = re.compile(r"[^\W\d_]+")
_COMPANY = {"inc", "ltd", "llc", "plc", "corp", "co", "gmbh", "ag", "sa", "nv", "bv", "spa", "srl", "oy", "ab"}


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
            noun = "professional" if entity.kind == "PROFESSION" else NOUN_OF_KIND[entity.kind]
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
