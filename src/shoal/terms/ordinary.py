"""Which words are ordinary English and name nobody, and which names are in every encyclopaedia."""

from __future__ import annotations

from functools import cache

from shoal.terms.lexicon import lexicon
from shoal.terms.wordnet_files import english_folder, read_nouns


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
