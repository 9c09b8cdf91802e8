"""The language of a text, by its script and the words that every text of a language is full of."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from importlib.resources import files

_LANGUAGES = tomllib.loads(files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))
NAMES: dict[str, str] = {code: language["name"] for code, language in _LANGUAGES.items()}
_WORDS = {code: frozenset(language["words"].split()) for code, language in _LANGUAGES.items()}
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 12  # words that say which language a text is in
_LEAST = 0.12  # share of the words that must be those of a language
_DIFFERENT = 4  # words that the language expected does not have
_CLEARER = 1.5  # times as many as of the language expected


def foreign_language(text: str, expected: str) -> str | None:
    """What a text is written in if that is clearly not the language expected; None otherwise.

    >>> foreign_language("Der Patient ist im Jahr 1961 in Graz geboren und wird von der Klinik betreut.", "en")
    'German'
    """
    words = [word.lower() for word in _WORD.findall(text)]
    letters = Counter(_script(letter) for letter in "".join(words)[:20_000])
    if letters and letters["LATIN"] * 2 < letters.total():
        return f"the {letters.most_common(1)[0][0].title()} script"
    if len(words) < _FEWEST or expected not in _WORDS:
        return None
    counts = Counter(words)
    own = {code: [word for word in known if counts[word] and len(word) > 1] for code, known in _WORDS.items()}
    shares = {code: sum(counts[word] for word in known) / len(words) for code, known in own.items()}
    best = max(shares, key=lambda code: shares[code])
    different = set(own[best]) - _WORDS[expected]
    clear = len(different) >= _DIFFERENT and shares[best] >= max(_LEAST, _CLEARER * shares[expected])
    return NAMES[best] if clear and best != expected else None


def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN").split()[0]
