"""Which words are ordinary English and name nobody."""

from __future__ import annotations

from functools import cache

from shoal.io.lexicon import lexicon

__all__ = ["CLOSED", "is_common_word"]

CLOSED = frozenset(
    "the a an and or but of in on at by for from to with as is was were be been he she it they we you i his her its their this that these "
    "those who which when where while after before since until during under over between into about against not no all any each both "
    "such other some there here however moreover furthermore further also then thus".split()
)


@cache
def is_common_word(word: str) -> bool:
    """Whether a word in lower case is ordinary English."""
    return word in CLOSED or word in lexicon()
