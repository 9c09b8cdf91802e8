"""WordNet 3.0's nouns as an ontology: hypernyms and instance hypernyms up to entity, compiled once and kept.

A concept is a synset. Its *name* is its first lemma, n for noun, and the number of the sense: computer.n.01. Its
*label*, which is what a release shows, is the first of its lemmas whose first sense it is, with spaces (big cat),
and the name where there is no such lemma (carrier.n.10): either leads back to the same concept.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.io.lexicon import lexicon, noun_lemmas
from shoal.io.wordnet_files import (
    english_folder,
    is_instance,
    noun_files,
    read_gloss,
    read_lemmas,
    read_nouns,
    read_wholes,
)
from shoal.ontology.cache import Arrays, kept
from shoal.ontology.suggestion import Spellings, suggestions
from shoal.ontology.taxonomy import Taxonomy, build_taxonomy

__all__ = ["WordNet"]

_LAYOUT = 1  # to be raised whenever `_compile` gives other arrays
_SENSE = re.compile(r"(?P<lemma>.+?)\.(?:n\.)?(?P<number>\d+)")


class WordNet:
    """WordNet's nouns.

    >>> wordnet = WordNet()
    >>> [wordnet.label(concept) for concept in wordnet.senses("Computers")]
    ['computer', 'calculator']
    """

    def __init__(self) -> None:
        self._folder = english_folder()
        self._arrays = kept("wordnet-nouns", _fingerprint(self._folder), lambda: _compile(self._folder))

    def __repr__(self) -> str:
        return "WordNet()"

    def __reduce__(self) -> tuple[type[WordNet], tuple[()]]:
        return WordNet, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> WordNet:
        return self  # it never changes

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The synsets as arrays, numbered in the order of their names."""
        arrays = self._arrays
        return Taxonomy(
            names=_unpacked(arrays["names"]),
            parent_indptr=arrays["parent_indptr"],
            parents=arrays["parents"],
            depth=arrays["depth"],
            ancestor_indptr=arrays["ancestor_indptr"],
            ancestors=arrays["ancestors"],
            links=arrays["links"],
        )

    def senses(self, word: str) -> tuple[int, ...]:
        """The concepts that a word may mean, the first listed sense first; () when WordNet does not have it.

        Case, and spaces, hyphens or underscores between words, do not matter. A word that is no lemma is reduced to one
        (plurals); a name such as computer.n.01 or computer.1 means that sense alone.
        """
        for spelling in _spellings(word):
            if spelling in self._row_of_word:
                return self._listed(spelling)
        named = self._named(word)
        if named is not None:
            return (named,)
        for spelling in _spellings(word):
            found = [lemma for lemma in noun_lemmas(spelling) if lemma in self._row_of_word]
            if found:  # more than one: bases are those of base and of basis
                return tuple(dict.fromkeys(sense for lemma in found for sense in self._listed(lemma)))
        return ()

    def concept(self, name: str) -> int | None:
        """The concept with this label or name (computer.n.01, also as computer.1); None when there is none.

        A lemma alone is its first sense.
        """
        for spelling in _spellings(name):
            if spelling in self._row_of_word:
                return self._listed(spelling)[0]
        return self._named(name)

    def label(self, concept: int) -> str:
        """What a release shows: a lemma whose first sense this is, or the concept's name; `concept` leads back."""
        return self._labels[concept]

    def lemma(self, concept: int) -> str:
        """The first lemma with spaces, which may have other senses, too."""
        return self._lemmas[concept]

    def gloss(self, concept: int) -> str:
        """Definition and examples."""
        return read_gloss(self._folder, int(self._arrays["places"][concept]))

    def words(self, concept: int) -> tuple[str, ...]:
        """All lemmas with spaces, capitals as they are written: CIA, atomic bomb."""
        lemmas = read_lemmas(self._folder, int(self._arrays["places"][concept]))
        return tuple(lemma.replace("_", " ") for lemma in lemmas)

    def wholes(self, concept: int) -> tuple[int, ...]:
        """The concepts that it is a part of: Spain for Barcelona."""
        places = self._arrays["places"]
        wholes = read_wholes(self._folder, int(places[concept]))
        return tuple(int(np.flatnonzero(places == place)[0]) for place in wholes)

    def is_instance(self, concept: int) -> bool:
        """Whether it is a single thing or person, such as Barcelona or Anselm, not a kind of them."""
        return is_instance(self._folder, int(self._arrays["places"][concept]))

    def suggest(self, value: str, n: int = 5) -> list[int]:
        """At most n concepts that a value may mean, the likeliest first."""
        if is_code(value):
            return []
        # Masters means the tournament, and may be masters.
        forms = (lemma for spelling in _spellings(value) for lemma in noun_lemmas(spelling))
        meant = [*self.senses(value), *(sense for lemma in forms for sense in self._listed(lemma))]
        if meant:
            return list(dict.fromkeys(meant))[: max(n, 0)]
        # Urban is an adjective, not Pope Urban misspelt.
        return suggestions(value, n, self.senses, self._words_by_spelling, misspelt=value.lower() not in lexicon())

    def is_clear(self, value: str) -> bool:
        """Whether the first listed sense can be taken for what the value means.

        Not for a code (2, F); a word that is an adjective first (single, private); a name written like a common noun
        (china); a form of another word that is a word of its own (Masters), or of one with several senses (Bachelors).
        """
        senses = self.senses(value)
        if not senses or is_code(value) or lexicon().is_adjective(value.lower()):
            return False
        if self.lemma(senses[0])[:1].isupper() and value[:1].islower():
            return False
        spelt = [spelling for spelling in _spellings(value) if spelling in self._row_of_word]
        if not spelt:
            return len(senses) == 1 or self._named(value) is not None
        return not any(lemma in self._row_of_word for lemma in noun_lemmas(spelt[0]))

    @cached_property
    def _words_by_spelling(self) -> Spellings:
        return Spellings(self._row_of_word)

    @cached_property
    def _row_of_word(self) -> dict[str, int]:
        words = _unpacked(self._arrays["words"])
        return dict(zip(words, range(len(words)), strict=True))

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return _unpacked(self._arrays["labels"])

    @cached_property
    def _lemmas(self) -> tuple[str, ...]:
        return _unpacked(self._arrays["lemmas"])

    def _listed(self, lemma: str) -> tuple[int, ...]:
        """The senses of a lemma; () when it is none."""
        row = self._row_of_word.get(lemma)
        if row is None:
            return ()
        indptr, senses = self._arrays["sense_indptr"], self._arrays["senses"]
        return tuple(senses[indptr[row] : indptr[row + 1]].tolist())

    def _named(self, name: str) -> int | None:
        """The sense that "lemma.n.number" or "lemma.number" means."""
        sense = _SENSE.fullmatch(name.strip())
        if sense is None:
            return None
        for spelling in _spellings(sense["lemma"]):
            if spelling in self._row_of_word:
                listed = self._listed(spelling)
                number = int(sense["number"])
                return listed[number - 1] if 1 <= number <= len(listed) else None
        return None


def is_code(value: str) -> bool:
    """Whether a value is a code, such as 2, F or A12: WordNet's two and fluorine are not what it means."""
    return sum(map(str.isalpha, value)) < 2


def _spellings(word: str) -> list[str]:
    """How WordNet may write the word: small letters, and underscores, hyphens or nothing between its parts."""
    as_given = "_".join(word.lower().replace("_", " ").split())
    with_underscores = "_".join(part for part in re.split(r"[_-]+", as_given) if part)
    spellings = (as_given, with_underscores, with_underscores.replace("_", "-"), with_underscores.replace("_", ""))
    return list(dict.fromkeys(spelling for spelling in spellings if spelling))


def _fingerprint(folder: Path) -> str:
    """Tells the files these arrays were made from, and their layout."""
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in noun_files(folder)]
    return f"{_LAYOUT} {files}"


def _compile(folder: Path) -> Arrays:
    """WordNet's files to arrays."""
    nouns = read_nouns(folder)
    name_of_place = {
        place: f"{first}.n.{nouns.senses[first].index(place) + 1:02d}"
        for place, first in ((place, lemmas[0].lower()) for place, lemmas in nouns.lemmas.items())
    }
    places = sorted(nouns.lemmas, key=name_of_place.__getitem__)
    number = {place: concept for concept, place in enumerate(places)}
    links = [(number[place], number[above]) for place in places for above in nouns.hypernyms[place]]
    taxonomy = build_taxonomy([name_of_place[place] for place in places], links)
    words = sorted(nouns.senses)
    counts = [len(nouns.senses[word]) for word in words]
    return {
        "names": _packed(taxonomy.names),
        "labels": _packed([_label(place, nouns.lemmas[place], nouns.senses, name_of_place[place]) for place in places]),
        "lemmas": _packed([nouns.lemmas[place][0].replace("_", " ") for place in places]),
        "places": np.array(places, np.int32),
        "words": _packed(words),
        "sense_indptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "senses": np.array([number[place] for word in words for place in nouns.senses[word]], np.int32),
        "parent_indptr": taxonomy.parent_indptr,
        "parents": taxonomy.parents,
        "depth": taxonomy.depth,
        "ancestor_indptr": taxonomy.ancestor_indptr,
        "ancestors": taxonomy.ancestors,
        "links": taxonomy.links,
    }


def _label(place: int, lemmas: tuple[str, ...], senses: dict[str, tuple[int, ...]], name: str) -> str:
    for lemma in lemmas:
        if senses[lemma.lower()][0] == place:
            return lemma.replace("_", " ")
    return name


def _packed(strings: Any) -> NDArray[np.uint8]:
    """Strings as one array, which is read faster than each on its own."""
    return np.frombuffer("\n".join(strings).encode(), np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\n"))
