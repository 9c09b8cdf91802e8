"""People, organisations, places and addresses by the form of their names; other capitalised names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.names import is_given_name, is_only_a_name, name_words
from shoal.sanitizer.entities.rules import Candidate, RuleTable, matches
from shoal.terms.lexicon import CLOSED, FUNCTION_WORDS, is_common_word

HEADS = RuleTable("organisations").lists("heads")  # by what sort of organisation they are
_ALL_HEADS = sorted((word for words in HEADS.values() for word in words), key=len, reverse=True)
_TABLE = RuleTable("organisations", {"HEAD_WORDS": "|".join(map(re.escape, _ALL_HEADS))})
# On their own these name nobody: "the Court", "the Ministry".
GENERIC = frozenset(word.lower() for word in _ALL_HEADS) | _TABLE.words("generic")
_RULES = _TABLE.rules()
_ORGANISATION, _FOREIGN = _TABLE.pattern("organisation"), _TABLE.pattern("foreign")
_IN_LOWER_CASE, _NUMBERED_STREET = _TABLE.pattern("in_lower_case"), _TABLE.pattern("numbered_street")
_RUN, _ACRONYM = _TABLE.pattern("run"), _TABLE.pattern("acronym")


def organisation_candidates(text: str) -> Iterator[Candidate]:
    """Organisations, places and addresses of a text whose names follow from their form."""
    for match in _ORGANISATION.finditer(text):
        yield Candidate(match.start(), match.end(), "ORG", "built", 14)
        foreign = _FOREIGN.match(text, match.end())
        if foreign is not None:
            explains = any(
                word.islower() and not is_common_word(word) for word in re.findall(r"[^\W\d_]{4,}", foreign[1])
            )
            yield Candidate(*foreign.span(1), "ORG", "in brackets", 13 if explains else 49)
    for match in _IN_LOWER_CASE.finditer(text):
        if not is_common_word(match.group(1).lower()):
            yield Candidate(match.start(), match.end(), "ORG", "built", 23)
    yield from matches(text, _RULES)
    for match in _NUMBERED_STREET.finditer(text):
        if not is_common_word(match.group(1).lower()):
            yield Candidate(match.start(), match.end(), "ADDRESS", "numbered", 29)


_BEFORE = re.compile(r"(?:[a-z0-9,;)§]|[a-z]['’]s|[–-])\s+$|[(“\"‘]$")  # the sentence goes on
# What a person does, after a name that begins a sentence.
_SUBJECT = re.compile(r"(?:['’]s)?[ \t](?:has|had|is|was|will|would|says?|said|told|asked|knows|and|can|to)\b")
_QUOTED = re.compile(r"[“\"]([^”\"\n]{2,80})[”\"]")


def leftover_candidates(text: str) -> Iterator[Candidate]:
    """Runs of capitalised words within sentences, quoted titles and acronyms."""
    for match in _RUN.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group())
        unusual = [word for word in words if word[0].isupper() and not is_common_word(word.lower())]
        inside = _BEFORE.search(text, max(0, match.start() - 6), match.start()) is not None or (
            bool(unusual) and _SUBJECT.match(text, match.end()) is not None
        )
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


_NOT_NAMES = "|".join(sorted(word.capitalize() for word in (*FUNCTION_WORDS, "article", "section", "chapter")))
_PEOPLE = RuleTable("people", {"NOT_NAMES": _NOT_NAMES})
_PEOPLE_RULES = _PEOPLE.rules()
_ABBREVIATIONS, _TITLE_WORDS = _PEOPLE.words("abbreviations"), _PEOPLE.words("title_words")


_HEADING = re.compile(r"[A-Z]\.\s(?:\w+\s){0,9}(\w+)")
_NOT_INITIALS = re.compile(r"(?:^|[a-z])u\.[snk]\.|^(?:no|art)\.")


def is_heading(text: str, start: int, end: int) -> bool:
    """Whether an initial is the number of a heading: "A. Facts", "I. THE CIRCUMSTANCES"."""
    if text[max(0, start - 9) : start].rstrip(" \t")[-1:] not in ("", "\n") or text[end : end + 1] == ",":
        return False
    heading = _HEADING.fullmatch(text, start, end)
    return heading is not None and is_common_word(heading.group(1).lower())


def people_candidates(text: str) -> Iterator[Candidate]:
    """People of a text whose names follow from their form."""
    for kind, form, rank, pattern in _PEOPLE_RULES:
        for match in pattern.finditer(text):
            words = re.sub(r"\s", "", match.group()).lower()
            if form == "initials" and words in _ABBREVIATIONS:
                continue
            if form == "initialled" and (_NOT_INITIALS.search(words) or is_heading(text, match.start(), match.end())):
                continue
            start, end = match.span("name" if "name" in pattern.groupindex else 0)
            if form in ("shouted", "in lower case") and not _is_named(match.group().lower().split(), form):
                continue
            if form in _SURER and not _SURER[form](match, start, end):
                continue
            if form in ("titled", "listed") and _names_nobody(text[start:end], form):
                continue
            yield Candidate(start, end, kind, "labelled" if form in _SURER else form, rank)


def _is_ranked(match: re.Match[str], start: int, end: int) -> bool:
    return not is_common_word(match["name"].split()[-1].lower())


def _is_lettered(match: re.Match[str], start: int, end: int) -> bool:
    return not is_common_word(match["last"].lower()) and match["last"].lower() not in GENERIC


def _begins_with_given_name(match: re.Match[str], start: int, end: int) -> bool:
    """A given name alone must be nothing else: "Torvald", not "Will"."""
    first, *rest = match[0].lower().split()
    if not rest:
        return is_only_a_name(first)
    return is_given_name(first) and not (is_common_word(first) and is_common_word(rest[-1])) and rest[-1] not in GENERIC


_SURER = {"ranked": _is_ranked, "lettered": _is_lettered, "given": _begins_with_given_name}  # what else must hold


def _names_nobody(written: str, form: str) -> bool:
    """Whether a title or a comma stands with nothing but titles and ordinary words: "Mr. President", "Paris, Texas"."""
    words = [word.lower() for word in name_words(written)]
    if form == "titled":
        return bool(words) and all(word in GENERIC or word in _TITLE_WORDS for word in words)
    return is_common_word(words[-1]) and is_common_word(words[0]) and not is_given_name(words[0])


def _is_named(words: list[str], form: str) -> bool:
    """Whether a name without capitals, or in nothing else, begins with a given name: "john trelawny"; not "mark it"."""
    if not is_given_name(words[0]) or words[-1] in FUNCTION_WORDS:
        return False
    return not is_common_word(words[-1]) if form == "in lower case" else words[-1] not in GENERIC


_LOWER_CASE_RULES = RuleTable("lower_case").rules()
_SENTENCE = re.compile(r"(?:[.!?]\s+|\n[^\n:]{0,40}[\w\])>]:[ \t])([^\W\d_])")
_UNKNOWN = re.compile(r"(?<![\w@./'’-])(?=[a-z]*[aeiou])[a-z]{3,20}(?![\w@/'’-]|\.\w)")
_FEWEST_SENTENCES = 2
_SHORTEST_UNKNOWN = 4  # letters


def lower_case_candidates(text: str) -> Iterator[Candidate]:
    """Names and addresses of a message that is written without capitals: words that no dictionary has."""
    for match in _UNKNOWN.finditer(text):
        if is_only_a_name(match.group()):
            yield Candidate(match.start(), match.end(), "PERSON", "labelled", 31)
    begins = _SENTENCE.findall(text)
    if len(begins) < _FEWEST_SENTENCES or 2 * sum(map(str.islower, begins)) < len(begins):
        return
    for found in matches(text, _LOWER_CASE_RULES):
        if text[found.start : found.end] not in FUNCTION_WORDS:
            yield found
    for match in _UNKNOWN.finditer(text):
        word = match.group()
        readings = (word, word.removesuffix("s"), word.removesuffix("nt"))
        if len(word) >= _SHORTEST_UNKNOWN and not any(map(_is_ordinary, readings)):
            yield Candidate(match.start(), match.end(), "PERSON", "labelled", 31)


def _is_ordinary(word: str) -> bool:
    return is_common_word(word) or word in FUNCTION_WORDS or word in CLOSED
