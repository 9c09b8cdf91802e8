"""Names that no rule and no model expected: capitals inside a sentence, quoted titles, acronyms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.ordinary import CLOSED, is_common_word
from shoal.sanitizer.entities.organisations import GENERIC
from shoal.sanitizer.entities.spelling import CAPITALISED

__all__ = ["leftover_candidates"]

_RUN = re.compile(
    rf"(?<![\w’'-]){CAPITALISED}(?:(?:[ \t](?:of|the|and|de|du|la|for|in)){{0,2}}[ \t-]{CAPITALISED})*(?!\w)"
)
_BEFORE = re.compile(r"(?:[a-z0-9,;)§]|[a-z]['’]s|[–-])\s+$|[(“\"‘]$")  # the sentence goes on
_QUOTED = re.compile(r"[“\"]([^”\"\n]{2,80})[”\"]")
_ACRONYM = re.compile(r"(?<![\w.-])(?:[A-Z]{2,}[\d]?(?:[-/][A-Z\d]+)*|[A-Z][a-z]?[A-Z]{2,}\w*)(?![\w.]\w)")


def leftover_candidates(text: str) -> Iterator[Candidate]:
    """Runs of capitalised words within sentences, quoted titles and acronyms."""
    for match in _RUN.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group())
        unusual = [word for word in words if word[0].isupper() and not is_common_word(word.lower())]
        inside = _BEFORE.search(text, max(0, match.start() - 6), match.start()) is not None
        if not (inside or (unusual and len(words) > 1) or len(unusual) > 1):
            continue
        if all(word.lower() in GENERIC or word.lower() in CLOSED for word in words):
            continue
        form = "unusual name" if unusual else "capitals" if len(words) > 1 else "capital"
        yield Candidate(match.start(), match.end(), "MISC", form, 50)
    for match in _QUOTED.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group(1))
        if words and sum(word[0].isupper() for word in words) * 2 > len(words) and words[0] != "the":
            yield Candidate(match.start(1), match.end(1), "MISC", "quoted", 45)
    for match in _ACRONYM.finditer(text):
        if not is_common_word(match.group().lower()):
            yield Candidate(match.start(), match.end(), "ORG", "acronym", 48)
