"""From the concepts of a policy to its terms: the synonyms and all that lies below the chosen senses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from shoal.errors import InputError
from shoal.io.lexicon import noun_lemmas
from shoal.ontology import WordNet

__all__ = ["definition_of", "offered_senses", "sense_named", "terms_below"]

_SENSE = re.compile(r".+\.n\.\d+")
_SHORTEST = 2  # letters of a term: .22 and 9/11 would be found in every list of numbers


def offered_senses(word: str, wordnet: WordNet) -> list[tuple[str, str]]:
    """What a word may mean, for a person to choose from: the name of each sense and its gloss."""
    return [(wordnet.taxonomy.names[sense], wordnet.gloss(sense)) for sense in wordnet.senses(word)]


def sense_named(name: str, word: str, wordnet: WordNet) -> int:
    """The sense with this name; an error that offers the word's senses when there is none."""
    concept = wordnet.concept(name) if _SENSE.fullmatch(name) else None
    if concept is None:
        senses = wordnet.senses(word)
        offered = " · ".join(f"{wordnet.taxonomy.names[s]} ({definition_of(s, wordnet)})" for s in senses)
        remedy = f"choose from: {offered}" if offered else "WordNet does not have the word; list it under words"
        raise InputError(f"the sense {name!r} of the concept {word!r} is unknown; {remedy}")
    return concept


def terms_below(
    senses: Iterable[int], without: Iterable[int], first_senses_only: bool, wordnet: WordNet
) -> Iterator[tuple[str, int]]:
    """The lemmas of the senses and of all below them, but not of `without` and below; each with its links up.

    With `first_senses_only`, a word below counts only if this is the first thing that WordNet says it means: a piece
    is not taken for a gun. The words of the chosen senses themselves always count.
    """
    taxonomy = wordnet.taxonomy
    excluded = {int(concept) for branch in without for concept in taxonomy.descendants_of(branch)}
    for sense in senses:
        for concept in taxonomy.descendants_of(sense).tolist():
            if concept in excluded:
                continue
            links = _links(concept, sense, taxonomy)
            for word in wordnet.words(concept):
                counts = not (first_senses_only and links) or _means_first(word, concept, wordnet)
                if counts and sum(map(str.isalpha, word)) >= _SHORTEST:
                    yield word, links


def _means_first(word: str, concept: int, wordnet: WordNet) -> bool:
    """Whether the concept is the first sense of the word, and of its singular if it looks like a plural (talks)."""
    singulars = [lemma for lemma in noun_lemmas(word.lower().replace(" ", "_")) if wordnet.senses(lemma)]
    return all(wordnet.senses(form)[:1] == (concept,) for form in (word, *singulars))


def _links(concept: int, above: int, taxonomy: Any) -> int:
    row = slice(taxonomy.ancestor_indptr[concept], taxonomy.ancestor_indptr[concept + 1])
    return int(taxonomy.links[row][taxonomy.ancestors[row] == above][0])


def definition_of(concept: int, wordnet: WordNet) -> str:
    """The gloss without its examples."""
    return wordnet.gloss(concept).partition('; "')[0]
