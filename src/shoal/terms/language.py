"""What a language brings: its stop words and its stemmer."""

from __future__ import annotations

import difflib

import Stemmer
import stopwordsiso

from shoal.errors import InputError

# Snowball's language names to ISO 639-1, by which stop-word lists go.
_CODES = (
    "arabic:ar armenian:hy basque:eu catalan:ca czech:cs danish:da dutch:nl english:en esperanto:eo estonian:et "
    "finnish:fi french:fr german:de greek:el hindi:hi hungarian:hu indonesian:id irish:ga italian:it lithuanian:lt "
    "norwegian:no persian:fa polish:pl portuguese:pt romanian:ro russian:ru sesotho:st spanish:es swedish:sv "
    "turkish:tr"
)
ISO_CODE = dict(pair.split(":") for pair in _CODES.split())


def languages() -> list[str]:
    """Those that Snowball has a stemmer for."""
    return sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter"})


def check_language(language: object) -> str:
    """The language's name if Snowball has it."""
    known = languages()
    if language in known:
        return str(language)
    close = difflib.get_close_matches(str(language), known, n=1)
    hint = f"did you mean {close[0]}?" if close else "one of: " + ", ".join(known)
    raise InputError(f"language={language!r} is not known; {hint}")


def stop_words(language: str) -> frozenset[str]:
    """The language's stop words; empty when no list is known."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes a second to load

        # The usual English list: the longer one drops a tenth of the content words as well.
        return frozenset(ENGLISH_STOP_WORDS)
    code = ISO_CODE.get(language)
    if code is None or not stopwordsiso.has_lang(code):
        return frozenset()
    return frozenset(stopwordsiso.stopwords(code))


def stemmer(language: str) -> Stemmer.Stemmer:
    """Snowball's stemmer; for English the original Porter algorithm, as in the literature."""
    return Stemmer.Stemmer("porter" if language == "english" else language)
