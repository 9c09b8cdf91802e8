"""Which words WordNet knows, after morphological reduction; which are ordinary English, and which are famous names.

The reduction is WordNet's own ("morphy"): endings are detached part of speech by part of speech, and a word is known
when what remains is a lemma. Irregular verbs come from the conjugation table beside WordNet's files; irregular
plurals that no rule reaches are listed in irregular_plurals.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from shoal.terms.wordnet_files import english_folder, read_nouns

# (ending, replacement) by part of speech, as WordNet's morphy detaches them.
ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z")),
        *(("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


class Lexicon:
    """The words of WordNet. `"geese" in lexicon` is true: the lemma is goose."""

    def __init__(self, folder: Path) -> None:
        self._lemmas = {pos: _lemmas(folder / "wordnet" / "dict" / f"index.{pos}") for pos in ENDINGS}
        self._verb_forms = _verb_forms(folder / "en-verbs.txt")

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        if any(word in lemmas for lemmas in self._lemmas.values()):
            return True
        if self._verb_forms.get(word) in self._lemmas["verb"] or word in irregular_plurals():
            return True
        return any(
            word.endswith(ending) and word[: -len(ending)] + replacement in self._lemmas[pos]
            for pos, endings in ENDINGS.items()
            for ending, replacement in endings
        )

    def is_adjective(self, word: str) -> bool:
        """Whether the word is an adjective, whatever else it is."""
        return word in self._lemmas["adj"]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """WordNet's words, read once."""
    return Lexicon(english_folder(otherwise=", or do without WordNet"))


@lru_cache(maxsize=1)
def irregular_plurals() -> dict[str, str]:
    """Plurals that no rule reaches, and their singulars."""
    lines = Path(__file__).with_name("irregular_plurals.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ") for line in lines)


def noun_lemmas(word: str) -> Iterator[str]:
    """What a noun may be the inflected form of, the irregular reading first; not all of it need be words."""
    head, mark, last = _last_part(word)
    if last in irregular_plurals():
        yield head + mark + irregular_plurals()[last]
    for ending, replacement in ENDINGS["noun"]:
        if word.endswith(ending):
            yield word[: -len(ending)] + replacement


def _last_part(word: str) -> tuple[str, str, str]:
    """ "field_mice" as "field", "_" and "mice"."""
    mark = max("_", "-", key=word.rfind)
    return word.rpartition(mark)


def _lemmas(path: Path) -> frozenset[str]:
    """First field of every line of an index file; the licence at the top is indented."""
    with path.open(encoding="utf-8") as lines:
        return frozenset(line.split(" ", 1)[0] for line in lines if not line.startswith(" "))


def _verb_forms(path: Path) -> dict[str, str]:
    """Every conjugated form in the table (infinitive first, comma-separated) to its infinitive."""
    forms: dict[str, str] = {}
    with path.open(encoding="utf-8-sig") as lines:
        for line in lines:
            if line.startswith(";"):
                continue
            infinitive, *others = line.strip().split(",")
            for form in others:
                forms.setdefault(form, infinitive)
    forms.pop("", None)
    return forms


def word_set(listed: str) -> frozenset[str]:
    """The words of a list, separated by blanks."""
    return frozenset(listed.split())


CLOSED = word_set(
    "the a an and or but of in on at by for from to with as is was were be been he she it they we you i his her "
    "its their this that these those who which when where while after before since until during under over "
    "between into about against not no all any each both such other some there here however moreover furthermore "
    "further also then thus may might can could will would shall should must do does did has have had if because "
    "although though"
)
# Those that are nobody's name, unlike May, Will or An, with what else is in every text.
FUNCTION_WORDS = (CLOSED - word_set("may will an do can has here")) | word_set(
    "my your our me him them upon than too very more most only even what whom whose how why per own same just now "
    "among without whether others within around"
)


@cache
def is_common_word(word: str) -> bool:
    """Whether a word in lower case is ordinary English, not only a name such as Wilson or Vienna."""
    if word in CLOSED:
        return True
    return word in lexicon() and (word not in _famous_names() or lexicon().is_adjective(word))


def is_famous(key: str) -> bool:
    """Whether WordNet has a name: of a city, a statesman, a river; `key` is a `name_key`."""
    return key.replace(" ", "_") in _famous_names()


@cache
def _famous_names() -> frozenset[str]:
    """WordNet's nouns that are always written with a capital, in lower case."""
    lemmas = {lemma for names in read_nouns(english_folder()).lemmas.values() for lemma in names}
    return frozenset({lemma.lower() for lemma in lemmas if lemma[0].isupper()} - lemmas)
