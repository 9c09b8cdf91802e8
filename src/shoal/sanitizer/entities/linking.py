"""Mentions that speak of one thing, and the mentions nobody pointed out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.ordinary import is_common_word
from shoal.sanitizer.entities.organisations import GENERIC
from shoal.sanitizer.entities.spelling import folded, name_key, name_words

__all__ = ["Draft", "linked", "same_person"]

_NAMED = ("ORG", "LOC", "MISC")
_WORD = re.compile(r"\w+")
_GAP = re.compile(r"[\s.\-‑–'’]{0,3}")


@dataclass
class Draft:
    """An entity before anybody asked what it identifies."""

    kind: str
    form: str
    name: str
    mentions: list[tuple[int, int]] = field(default_factory=list)


def linked(text: str, candidates: Sequence[Candidate]) -> list[Draft]:
    """The entities of a text, by first mention; `candidates` do not overlap."""
    people = _people(text, [candidate for candidate in candidates if candidate.kind == "PERSON"])
    word_of_person = {folded(word): person for person in reversed(people) for word in _telling_words(person.name)}
    groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.kind == "PERSON":
            continue
        key = name_key(text[candidate.start : candidate.end])
        person = word_of_person.get(key) if candidate.kind in (*_NAMED, "NATIONALITY") else None
        if person is not None:
            person.mentions.append((candidate.start, candidate.end))
        else:
            groups["NAME" if candidate.kind in _NAMED else candidate.kind, key].append(candidate)
    drafts = people + [_draft(text, group) for group in _with_acronyms(text, groups)]
    _find_everywhere(text, drafts)
    for draft in drafts:
        draft.mentions.sort()
    return sorted(drafts, key=lambda draft: draft.mentions[0])


def same_person(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names, word by word, may be one person's: Smith, J. Smith and John Smith may."""
    first, second = ([folded(word) for word in name] for name in (one, other))
    if len(first) > len(second):
        first, second = second, first
    if len(first) == 1:
        return len(first[0].rstrip(".")) > 1 and first[0] in second
    if first[-1] != second[-1]:
        return False
    return all(any(_given_names_agree(given, longer) for longer in second[:-1]) for given in first[:-1])


def _given_names_agree(given: str, other: str) -> bool:
    if "." in given or "." in other or min(len(given), len(other)) == 1:
        return given[0] == other[0]
    return given == other


def _people(text: str, candidates: list[Candidate]) -> list[Draft]:
    """One draft per person; the most complete names first, so that a surname finds its owner."""
    people: list[tuple[list[str], list[Candidate]]] = []
    holders: dict[str, list[int]] = defaultdict(list)  # word of a name -> people who have it
    for candidate in sorted(candidates, key=lambda other: -len(name_words(text[other.start : other.end]))):
        words = name_words(text[candidate.start : candidate.end]) or [text[candidate.start : candidate.end]]
        near = holders[folded(words[-1])]
        place = next((person for person in near if same_person(words, people[person][0])), None)
        if place is None:
            place = len(people)
            people.append((words, []))
            for word in words:
                holders[folded(word)].append(place)
        people[place][1].append(candidate)
    return [_draft(text, group) for _, group in people]


def _draft(text: str, group: list[Candidate]) -> Draft:
    """The kind and the form most mentions have (the better rank, if equal), the longest mention as its name."""
    best = min(group, key=lambda candidate: candidate.rank)
    kinds = Counter(candidate.kind for candidate in group)
    kind = max(kinds, key=lambda kind: (kinds[kind], kind == best.kind))
    form = min((candidate.rank, candidate.form) for candidate in group if candidate.kind == kind)[1]
    longest = max(group, key=lambda candidate: (candidate.end - candidate.start, -candidate.start))
    name = " ".join(text[longest.start : longest.end].split())
    return Draft(kind, form, name, [(candidate.start, candidate.end) for candidate in group])


def _with_acronyms(text: str, groups: dict[tuple[str, str], list[Candidate]]) -> Iterator[list[Candidate]]:
    """Groups, an acronym together with the only name it abbreviates."""
    by_initials: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for family, key in groups:
        words = [word for word in key.split() if word not in ("of", "the", "and", "for", "in", "de")]
        if family == "NAME" and len(words) > 1:
            by_initials["".join(word[0] for word in words)].append((family, key))
    absorbed = set()
    for (family, key), group in groups.items():
        short = text[group[0].start : group[0].end]
        full = by_initials.get(key, [])
        if family == "NAME" and len(full) == 1 and short.isupper() and len(short) > 1:
            groups[full[0]].extend(group)
            absorbed.add((family, key))
    return (group for key, group in groups.items() if key not in absorbed)


def _telling_words(name: str) -> list[str]:
    """The words of a person's name that point to them on their own."""
    words = [word for word in name_words(name) if len(word) > 2 and word[0].isupper() and "." not in word]
    return [word for word in words if folded(word) not in GENERIC]


def _find_everywhere(text: str, drafts: Iterable[Draft]) -> None:
    """Add the mentions of known names that nobody pointed out, longest names first."""
    taken = bytearray(len(text))
    for draft in drafts:
        for start, end in draft.mentions:
            taken[start:end] = b"\1" * (end - start)
    starts: dict[str, list[tuple[tuple[str, ...], Draft]]] = defaultdict(list)
    for draft in drafts:
        for words in _spellings(text, draft):
            starts[words[0]].append((words, draft))
    for names in starts.values():
        names.sort(key=lambda name: -len(name[0]))
    tokens = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    for place, (word, start, _) in enumerate(tokens):
        for words, draft in starts.get(word, ()):
            end = _matched(text, tokens, place, words)
            if end and not any(taken[start:end]):
                draft.mentions.append((start, end))
                taken[start:end] = b"\1" * (end - start)
                break


def _matched(text: str, tokens: list[tuple[str, int, int]], place: int, words: tuple[str, ...]) -> int:
    """Where a name that begins at a token ends; 0 if the text goes on otherwise."""
    if place + len(words) > len(tokens):
        return 0
    for step, word in enumerate(words):
        token, start, _ = tokens[place + step]
        if token != word or (step and not _GAP.fullmatch(text, tokens[place + step - 1][2], start)):
            return 0
    return tokens[place + len(words) - 1][2]


def _spellings(text: str, draft: Draft) -> set[tuple[str, ...]]:
    """The ways a name is written: as mentioned, in capitals, and for people each word that tells who it is."""
    if draft.kind not in ("PERSON", *_NAMED) or draft.form in ("health", "initials"):
        return set()
    names = {tuple(_WORD.findall(text[start:end])) for start, end in draft.mentions}
    if draft.kind == "PERSON":
        for start, end in draft.mentions:
            words = name_words(text[start:end])
            names |= {tuple(_WORD.findall(word)) for word in _telling_words(text[start:end])}
            names.add(tuple(_WORD.findall(" ".join(words))))
    telling = {words for words in names if words and _tells(words, draft)}
    return telling | {tuple(word.upper() for word in words) for words in telling if len("".join(words)) > 3}


def _tells(words: tuple[str, ...], draft: Draft) -> bool:
    """Whether these words name the entity wherever they stand: "Smith", not "May" or "the"."""
    if len(words) > 1:
        return any(word[0].isupper() for word in words)
    word = words[0]
    if len(word) < 2 or not word[0].isupper():
        return False
    return (draft.kind == "PERSON" and len(word) > 2) or not is_common_word(word.lower())
