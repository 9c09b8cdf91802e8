"""Links mentions of one entity, and finds the mentions of known names that no candidate covers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.sanitizer.entities.named import GENERIC
from shoal.sanitizer.entities.names import PersonName, folded, name_key, name_words, owners, unbroken
from shoal.sanitizer.entities.rules import Candidate
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word

_NAMED = ("ORG", "LOC", "MISC")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"(?<![^\W_])(?P<word>[^\W\d_]{1,30}(?:[._-]?[^\W\d_]{1,30}))[\d_]{0,6}(?![^\W_])")
_INITIALS = re.compile(r"(?<![\w.])(?:[B-HJ-Z][ \t.]{1,2}|[AI][. \t]{2}|[A-Z][ \t][A-Z][ \t])+$")
_INITIAL = re.compile(r"(?<![\w.])([A-Z])[ \t]$")
_SMALL_INITIALS = re.compile(r"(?<![\w.])(?:[a-z]\.[ \t]?){1,3}$")  # before a name in lower case
_SHORTEST_CUT = 4  # letters of a surname in a user name
_FEWEST_INITIALS = 3
_GAP = re.compile(r"[\s.\-‑–'’]{0,3}")


@dataclass
class Draft:
    """An entity that is not judged yet."""

    kind: str
    form: str
    name: str
    mentions: list[tuple[int, int]] = field(default_factory=list)


def linked(text: str, candidates: Sequence[Candidate]) -> list[Draft]:
    """The entities of a text, by first mention; `candidates` do not overlap."""
    people = _people(text, [candidate for candidate in candidates if candidate.kind == "PERSON"])
    by_word, by_initials = _person_by_word(people), _person_by_initials(people)
    groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.kind == "PERSON":
            continue
        key = name_key(text[candidate.start : candidate.end])
        person = None
        if candidate.kind in (*_NAMED, "NATIONALITY"):
            person = by_word.get(key) or by_initials.get(text[candidate.start : candidate.end])
        if person is not None:
            person.mentions.append((candidate.start, candidate.end))
        else:
            groups["NAME" if candidate.kind in _NAMED else candidate.kind, key].append(candidate)
    drafts = people + [_draft(text, group) for group in _with_acronyms(text, groups)]
    known = set(map(id, people))
    drafts += [person for person in by_word.values() if id(person) not in known]
    _find_everywhere(text, drafts, by_word)
    drafts += _find_derived(text, drafts)
    _find_codes(text, drafts)
    _add_initials(text, drafts)
    mentioned = [draft for draft in drafts if draft.mentions]
    for draft in mentioned:
        draft.mentions.sort()
    return sorted(mentioned, key=lambda draft: draft.mentions[0])


def _people(text: str, candidates: list[Candidate]) -> list[Draft]:
    """One draft per person, the most complete names first."""
    name_of = {candidate: PersonName.of(text[candidate.start : candidate.end]) for candidate in candidates}
    owner = owners(name_of.values(), misspelt=True)
    of_initials: dict[str, set[PersonName]] = defaultdict(set)
    for name in owner.values():
        if len(name.words) > 1 and all(len(word.rstrip(".")) > 1 for word in name.words):
            of_initials["".join(word[0] for word in name.words)].add(name)
    groups: dict[PersonName, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda other: -len(name_of[other].words)):
        known = of_initials.get(_initials(name_of[candidate]), set())
        groups[next(iter(known)) if len(known) == 1 else owner[name_of[candidate]]].append(candidate)
    return [_draft(text, group) for group in groups.values()]


def _initials(name: PersonName) -> str:
    """The letters of a name that is nothing but initials, "jt" of J.T.; "" of others."""
    letters = [word.rstrip(".") for word in name.words]
    return "".join(letters) if len(letters) > 1 and max(map(len, letters)) == 1 else ""


def _person_by_word(people: Sequence[Draft]) -> dict[str, Draft]:
    """The person that a word of a name points to; a word of several people's names is a person of its own."""
    holders: dict[str, list[Draft]] = defaultdict(list)
    for person in people:
        for word in dict.fromkeys(map(folded, _identifying_words(person.name))):
            holders[word].append(person)
    by_word = {}
    for word, people_with_word in holders.items():
        own = [person for person in people_with_word if PersonName.of(person.name) == PersonName((word,))]
        if len(people_with_word) > 1 and not own:
            name = next(name for name in _identifying_words(people_with_word[0].name) if folded(name) == word)
            own = [Draft("PERSON", people_with_word[0].form, name)]
        by_word[word] = (own or people_with_word)[0]
    return by_word


def _person_by_initials(people: Sequence[Draft]) -> dict[str, Draft]:
    """The only person with these initials, three or more: "RAD" is Robin Ashworth-Diallo."""
    holders: dict[str, list[Draft]] = defaultdict(list)
    for person in people:
        parts = re.split("[ -]", " ".join(name_words(person.name)))
        if len(parts) >= _FEWEST_INITIALS and all(part[:1].isupper() for part in parts):
            holders["".join(part[0] for part in parts)].append(person)
    return {initials: with_them[0] for initials, with_them in holders.items() if len(with_them) == 1}


def _draft(text: str, group: list[Candidate]) -> Draft:
    """The kind and the form most mentions have (the better rank, if equal), the longest mention as its name."""
    best = min(group, key=lambda candidate: candidate.rank)
    kinds = Counter(candidate.kind for candidate in group)
    kind = max(kinds, key=lambda kind: (kinds[kind], kind == best.kind))
    form = min((candidate.rank, candidate.form) for candidate in group if candidate.kind == kind)[1]
    longest = max(group, key=lambda candidate: (candidate.end - candidate.start, -candidate.start))
    name = unbroken(text[longest.start : longest.end])
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


def _identifying_words(name: str) -> list[str]:
    """The words of a person's name that point to them on their own."""
    words = [word for word in name_words(name) if len(word) > 2 and word[0].isupper() and "." not in word]
    return [word for word in words if folded(word) not in GENERIC and folded(word) not in FUNCTION_WORDS]


def _find_everywhere(text: str, drafts: Sequence[Draft], by_word: Mapping[str, Draft]) -> None:
    """Add the mentions of known names that no candidate covers, longest names first."""
    taken = _taken(text, drafts)
    starts: dict[str, list[tuple[tuple[str, ...], Draft]]] = defaultdict(list)
    for draft in drafts:
        for words in _spellings(text, draft):
            is_surname = draft.kind == "PERSON" and len(words) == 1
            starts[words[0]].append((words, by_word.get(folded(words[0]), draft) if is_surname else draft))
    for names in starts.values():
        names.sort(key=lambda name: -len(name[0]))
    tokens = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    for index, (word, start, _) in enumerate(tokens):
        for words, draft in starts.get(word, ()):
            end = _matched(text, tokens, index, words)
            if end and not any(taken[start:end]):
                draft.mentions.append((start, end))
                taken[start:end] = b"\1" * (end - start)
                break


def _taken(text: str, drafts: Sequence[Draft]) -> bytearray:
    """1 for every character of a mention."""
    taken = bytearray(len(text))
    for draft in drafts:
        for start, end in draft.mentions:
            taken[start:end] = b"\1" * (end - start)
    return taken


def _add_initials(text: str, drafts: Sequence[Draft]) -> None:
    """Let the mentions of known people begin with the initials before them: "K A Badmus"; "A" only if it is theirs."""
    taken = _taken(text, drafts)
    for draft in drafts:
        for number, (start, end) in enumerate(draft.mentions if draft.kind == "PERSON" else ()):
            before = _SMALL_INITIALS if text[start].islower() else _INITIALS
            initials = before.search(text, max(0, start - 9), start)
            if initials is None:
                initial = _INITIAL.search(text, max(0, start - 2), start)
                initials = initial if initial and draft.name.startswith(initial[1]) else None
            if initials is not None and not any(taken[initials.start() : start]):
                draft.mentions[number] = (initials.start(), end)


_JOINT = re.compile("[._-]")
_ENDINGS = ("", "i", "y", "ie", "ey")  # of short forms


def _find_derived(text: str, drafts: Sequence[Draft]) -> list[Draft]:
    """Add user names and short forms of known people: "jsmith" and "smithj" of Jane Smith, "Otti" of Ottoline.

    So are the words of an address of mail: "noor" of noor.elbaz@example.org.
    What may be derived from several people's names is an entity of its own, and returned.
    """
    holders: dict[str, list[Draft]] = defaultdict(list)
    taken = _taken(text, drafts)
    for draft in drafts:
        words = [folded(word) for word in name_words(draft.name)] if draft.kind == "PERSON" else []
        if len(words) > 1 and min(map(len, words)) > 1:
            for derived in _derived(words[0], words[-1]):
                holders[derived].append(draft)
        for word in re.findall(r"[^\W\d_]{4,}", draft.name.partition("@")[0]) if draft.kind == "EMAIL" else ():
            holders[folded(word)].append(draft)
    own: dict[str, Draft] = {}
    for match in _TOKEN.finditer(text) if holders else ():
        word = match["word"]
        key = folded(_JOINT.sub("", word))
        people = holders.get(key, ())
        if not people or any(taken[match.start() : match.end()]) or is_common_word(key):
            continue
        shared = own.setdefault(key, Draft("PERSON", "labelled", word)) if len(people) > 1 else people[0]
        shared.mentions.append(match.span())
    return list(own.values())


def _derived(given: str, surname: str) -> set[str]:
    """What user names and short forms are made of."""
    cut = [surname[:length] for length in range(_SHORTEST_CUT, len(surname) + 1)]
    users = {name for part in cut for name in (given[0] + part, part + given[0], given + part)} | {given + surname[0]}
    short = {given[:length] + ending for length in range(3, len(given)) for ending in _ENDINGS}
    return users | short - {given}


_CODED = ("ID", "ACCOUNT", "PHONE", "CASE")
_SHORTEST_CODE = 4  # characters
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_CODE_TOKEN = re.compile(r"(?<![\w.,])[A-Za-z\d][\w.-]{2,40}(?![\w.]\w)")


def _find_codes(text: str, drafts: Sequence[Draft]) -> None:
    """Add the codes and user names that are known from elsewhere in the text: "card ending 4471", then "CD 4471"."""
    owner: dict[str, Draft] = {}
    for draft in drafts:
        if draft.kind in _CODED:
            if len(draft.name) >= _SHORTEST_CODE:
                owner.setdefault(draft.name, draft)
            for digits in re.findall(r"\d{4,}", draft.name):
                if not _YEAR.fullmatch(digits):
                    owner.setdefault(digits, draft)
    taken = _taken(text, drafts)
    for match in _CODE_TOKEN.finditer(text) if owner else ():
        word = match[0].rstrip(".-")
        end = match.start() + len(word)
        if word in owner and not any(taken[match.start() : end]) and not is_common_word(word.lower()):
            owner[word].mentions.append((match.start(), end))


def _matched(text: str, tokens: list[tuple[str, int, int]], index: int, words: tuple[str, ...]) -> int:
    """Where a name that begins at a token ends; 0 if the text goes on otherwise."""
    if index + len(words) > len(tokens):
        return 0
    for step, word in enumerate(words):
        token, start, _ = tokens[index + step]
        if token != word or (step and not _GAP.fullmatch(text, tokens[index + step - 1][2], start)):
            return 0
    return tokens[index + len(words) - 1][2]


def _spellings(text: str, draft: Draft) -> set[tuple[str, ...]]:
    """The ways a name is written: as mentioned, in capitals, and for people each identifying word alone."""
    if draft.kind not in ("PERSON", *_NAMED) or draft.form in ("health", "initials"):
        return set()
    names = {tuple(_WORD.findall(text[start:end])) for start, end in draft.mentions}
    if draft.kind == "PERSON":
        for start, end in draft.mentions:
            words = name_words(text[start:end])
            names |= {tuple(_WORD.findall(word)) for word in _identifying_words(text[start:end])}
            names.add(tuple(_WORD.findall(" ".join(words))))
    elif not is_common_word(last := max(names, key=len)[-1].lower()):
        names.add((last.capitalize(),))  # "Pring" of Vic Pring, who may be a person after all
    naming = {words for words in names if words and _names_anywhere(words, draft)}
    in_capitals = {tuple(word.upper() for word in words) for words in naming if len("".join(words)) > 3}
    in_lower_case = {(words[0].lower(),) for words in naming if len(words) == 1 and _is_unmistakable(words[0], draft)}
    return naming | in_capitals | in_lower_case


def _is_unmistakable(word: str, draft: Draft) -> bool:
    """Whether a word is a person's name even in lower case: "marcus", not "baker"."""
    return draft.kind == "PERSON" and len(word) > 4 and not is_common_word(word.lower())


def _names_anywhere(words: tuple[str, ...], draft: Draft) -> bool:
    """Whether these words name the entity wherever they stand: "Smith", not "May" or "the"."""
    if len(words) > 1:
        return any(word[0].isupper() for word in words)
    word = words[0]
    if len(word) < 2 or not word[0].isupper():
        return False
    return (draft.kind == "PERSON" and len(word) > 2) or not is_common_word(word.lower())
