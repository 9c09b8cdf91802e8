"""WordNet 3.0's nouns as an ontology: hypernyms and instance hypernyms up to entity, compiled once and kept.

A concept is a synset. Its *name* is its first lemma, n for noun, and the number of the sense: computer.n.01. Its
*label*, which is what a release shows, is the first of its lemmas whose first sense it is, with spaces (big cat),
and the name where there is no such lemma (carrier.n.10): either leads back to the same concept.

The compiled arrays are kept in a file of the user's cache folder (SHOAL_CACHE, or the platform's). The file is written
aside and renamed, so it is whole or not there; it is made again when its source or its layout has changed, or when it
cannot be read. Without a folder to write to, everything works and takes longer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.private_files import cache_folder
from shoal.terms.lexicon import CLOSED, FUNCTION_WORDS, lexicon, noun_lemmas
from shoal.terms.suggestion import Spellings, suggestions
from shoal.terms.taxonomy import Taxonomy, build_taxonomy
from shoal.terms.wordnet_files import (
    english_folder,
    is_instance,
    noun_files,
    read_gloss,
    read_lemmas,
    read_nouns,
    read_wholes,
)

Arrays = dict[str, NDArray[Any]]

_LAYOUT = 1  # to be raised whenever `_compile` gives other arrays
_SENSE = re.compile(r"(?P<lemma>.+?)\.(?:n\.)?(?P<number>\d+)")
_MARK = "fingerprint"


class WordNet:
    """WordNet's nouns.

    >>> wordnet = WordNet()
    >>> [wordnet.label(concept) for concept in wordnet.senses("Computers")]
    ['computer', 'calculator']
    """

    def __init__(self) -> None:
        self._folder = english_folder()
        self._arrays = cached_arrays("wordnet-nouns", _fingerprint(self._folder), lambda: _compile(self._folder))

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

        Case, and spaces, hyphens or underscores between words, do not matter. A word that is not a lemma is reduced to
        one (plurals); a name such as computer.n.01 or computer.1 means that sense alone.
        """
        for spelling in _spellings(word):
            if spelling in self._row_of_word:
                return self._listed(spelling)
        named = self._named(word)
        if named is not None:
            return (named,)
        for spelling in _spellings(word):
            lemmas = [lemma for lemma in noun_lemmas(spelling) if lemma in self._row_of_word]
            if lemmas:  # more than one: bases are those of base and of basis
                return tuple(dict.fromkeys(sense for lemma in lemmas for sense in self._listed(lemma)))
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

    def words_below(
        self, senses: Iterable[int], without: Iterable[int] = (), first_senses_only: bool = False
    ) -> Iterator[tuple[str, int]]:
        """Words of the senses and of everything below, except `without` and below; each with its number of links up.

        With `first_senses_only`, a word below counts only if the concept is its first sense (and that of its singular,
        if it looks like a plural): a piece is not taken for a gun. Words of the senses themselves always count.
        """
        taxonomy = self.taxonomy
        excluded = {int(concept) for branch in without for concept in taxonomy.descendants_of(branch)}
        for sense in senses:
            for concept in taxonomy.descendants_of(sense).tolist():
                if concept in excluded:
                    continue
                above = slice(taxonomy.ancestor_indptr[concept], taxonomy.ancestor_indptr[concept + 1])
                links = int(taxonomy.links[above][taxonomy.ancestors[above] == sense][0])
                for word in self.words(concept):
                    if not (first_senses_only and links) or self._means_first(word, concept):
                        yield word, links

    def _means_first(self, word: str, concept: int) -> bool:
        singulars = [lemma for lemma in noun_lemmas(word.lower().replace(" ", "_")) if self.senses(lemma)]
        return all(self.senses(form)[:1] == (concept,) for form in (word, *singulars))

    def wholes(self, concept: int) -> tuple[int, ...]:
        """The concepts that it is a part of: Spain for Barcelona."""
        offsets = self._arrays["places"]
        wholes = read_wholes(self._folder, int(offsets[concept]))
        return tuple(int(np.flatnonzero(offsets == offset)[0]) for offset in wholes)

    def is_instance(self, concept: int) -> bool:
        """Whether it is a single thing or person, such as Barcelona or Anselm, not a kind of them."""
        return is_instance(self._folder, int(self._arrays["places"][concept]))

    def spellings(self) -> Iterator[tuple[str, str]]:
        """Nouns of several words, but for those that texts write without meaning them ("has-been", "at home")."""
        for word in self._row_of_word:
            parts = re.split("[_-]", word)
            if len(parts) > 1 and not (FUNCTION_WORDS | CLOSED) & {parts[0], parts[-1]}:
                yield word, word.replace("_", " ")

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
    name_of_offset = {
        offset: f"{first}.n.{nouns.senses[first].index(offset) + 1:02d}"
        for offset, first in ((offset, lemmas[0].lower()) for offset, lemmas in nouns.lemmas.items())
    }
    offsets = sorted(nouns.lemmas, key=name_of_offset.__getitem__)
    number = {offset: concept for concept, offset in enumerate(offsets)}
    links = [(number[offset], number[above]) for offset in offsets for above in nouns.hypernyms[offset]]
    taxonomy = build_taxonomy([name_of_offset[offset] for offset in offsets], links)
    words = sorted(nouns.senses)
    counts = [len(nouns.senses[word]) for word in words]
    return {
        "names": _packed(taxonomy.names),
        "labels": _packed(
            [_label(offset, nouns.lemmas[offset], nouns.senses, name_of_offset[offset]) for offset in offsets]
        ),
        "lemmas": _packed([nouns.lemmas[offset][0].replace("_", " ") for offset in offsets]),
        "places": np.array(offsets, np.int32),
        "words": _packed(words),
        "sense_indptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "senses": np.array([number[offset] for word in words for offset in nouns.senses[word]], np.int32),
        "parent_indptr": taxonomy.parent_indptr,
        "parents": taxonomy.parents,
        "depth": taxonomy.depth,
        "ancestor_indptr": taxonomy.ancestor_indptr,
        "ancestors": taxonomy.ancestors,
        "links": taxonomy.links,
    }


def _label(offset: int, lemmas: tuple[str, ...], senses: dict[str, tuple[int, ...]], name: str) -> str:
    for lemma in lemmas:
        if senses[lemma.lower()][0] == offset:
            return lemma.replace("_", " ")
    return name


def _packed(strings: Any) -> NDArray[np.uint8]:
    """Strings as one array, which is read faster than each on its own."""
    return np.frombuffer("\n".join(strings).encode(), np.uint8)


def _unpacked(packed: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(packed.tobytes().decode().split("\n"))


def cached_arrays(name: str, fingerprint: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays kept as `name` with this fingerprint, or those that `make` makes, which are kept from then on."""
    try:
        path = cache_folder() / f"{name}.npz"
    except RuntimeError:  # the user has no home folder
        return make()
    stored = _read(path, fingerprint)
    if stored is not None:
        return stored
    made = make()
    with suppress(OSError):
        _write(path, fingerprint, made)
    return made


def _read(path: Path, fingerprint: str) -> Arrays | None:
    """The arrays in the file; None when it is missing, broken (it has checksums), or has another fingerprint."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = [name for name in stored.files if name != _MARK]
            if bytes(stored[_MARK]) != _mark(fingerprint, names):
                return None
            return {name: stored[name] for name in names}
    except Exception:  # A broken archive fails in a dozen ways, and the remedy is always the same.
        return None


def _mark(fingerprint: str, names: Iterable[str]) -> bytes:
    """What the file was made from, and which arrays it has."""
    return f"{fingerprint} {sorted(names)}".encode()


def _write(path: Path, fingerprint: str, arrays: Arrays) -> None:
    from tempfile import TemporaryDirectory  # takes a while to load, and is needed once

    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}-") as folder:
        aside = Path(folder) / path.name
        mark: NDArray[Any] = np.frombuffer(_mark(fingerprint, arrays), np.uint8)
        np.savez(aside, allow_pickle=False, **arrays, **{_MARK: mark})
        os.replace(aside, path)
