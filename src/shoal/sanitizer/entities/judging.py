"""How likely an entity must be masked: its features, and a weight for each in a file people can read."""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.entities.descriptions import well_known
from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.entities.named import GENERIC, HEADS
from shoal.sanitizer.entities.names import name_key, name_words
from shoal.sanitizer.entities.rules import RuleTable
from shoal.terms.lexicon import is_common_word, is_famous

_TABLE = RuleTable("judging")
_LAW, _TITLES, _RANKS, _PLAIN_CUES = map(_TABLE.words, ("law", "titles", "ranks", "plain_cues"))
_HEAD_OF = {word.lower(): sort for sort, words in HEADS.items() for word in words}
_CUES = _TABLE.lists("cues") | {"law": sorted(_LAW), "case law": sorted(_TABLE.words("case_law"))}
_CUES_OF: dict[str, list[str]] = {}
for _cue, _words in _CUES.items():
    for _word in _words:
        _CUES_OF.setdefault(_word, []).append(_cue)

_WORD = re.compile(r"[^\W\d_]+|§|\d+|%")


class TextContext:
    """The words of a text with their places, to look up the neighbours of any mention."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_WORD.finditer(text))
        self.words = [match.group().lower() for match in matches]
        self.starts = [match.start() for match in matches]

    def before(self, position: int, count: int) -> list[str]:
        """The words that end before a place, the nearest last."""
        at = bisect_right(self.starts, position - 1)
        return self.words[max(0, at - count) : at]

    def after(self, position: int, count: int) -> list[str]:
        """The words that begin at a place or after it."""
        at = bisect_right(self.starts, position - 1)
        return self.words[at : at + count]

    @cached_property
    def _paragraphs(self) -> tuple[list[int], list[float]]:
        starts, shares = [], []
        for match in re.finditer(r"[^\n]+", self.text):
            words = [word.lower() for word in _WORD.findall(match.group())]
            starts.append(match.start())
            shares.append(sum(word in _LAW for word in words) / max(10, len(words)))
        return starts, shares

    @cached_property
    def law_share_of_text(self) -> float:
        """Ten times the share of words of the law: texts that cite the law name many who identify nobody."""
        return 10 * sum(word in _LAW for word in self.words) / max(50, len(self.words))

    def law_share(self, position: int) -> float:
        """The share of words of the law in the paragraph around a place."""
        starts, shares = self._paragraphs
        return shares[bisect_right(starts, position) - 1] if starts else 0.0

    @cached_property
    def law_starts(self) -> int:
        """Where a part on the law begins, by its heading; the end of the text if there is none."""
        heading = re.search(r"(?m)^.{0,8}(?:RELEVANT|APPLICABLE) [A-Z ,]*(?:LAW|PRACTICE|LEGISLATION).*$", self.text)
        return heading.start() if heading else len(self.text)


def features(context: TextContext, draft: Draft) -> dict[str, float]:
    """The features of an entity by their names; a feature that is not named is 0."""
    kind, sort = draft.kind, f"{draft.kind} {draft.form}"
    values = {kind: 1.0, sort: 1.0}
    values |= {f"{kind}: {name}": value for name, value in _name_features(draft).items()}
    mentions = draft.mentions
    values[f"{kind}: mentions"] = math.log(len(mentions))
    values[f"{kind}: words of the law in the text"] = context.law_share_of_text
    law_around = sum(context.law_share(start) for start, _ in mentions) / len(mentions)
    values[f"{kind}: words of the law around"] = min(1.0, 10 * law_around)
    values[f"{kind}: in the part on the law"] = float(mentions[0][0] >= context.law_starts)
    for name in _context_features(context, mentions):
        values[f"{kind}: {name}"] = 1.0
    return values


def _name_features(draft: Draft) -> dict[str, float]:
    """Features of the name itself."""
    known = well_known()
    written = re.findall(r"[^\W\d_]+", draft.name)
    words = [word.lower() for word in written]
    content = [word for word in words if len(word) > 2 and word not in _TITLES]
    key = name_key(draft.name)
    unusual = [word for word in content if not is_common_word(word) and word not in known.nation_words]
    holding = {
        "has digits": bool(re.search(r"\d", draft.name)),
        "is a country": key in known.countries,
        "is well known": key in known.stays and key not in known.countries,
        "names a nation": key not in known.stays and any(word in known.nation_words for word in content),
        "is in WordNet": is_famous(key),
        "has an unusual word": bool(unusual),
        "is generic": bool(content) and all(word in GENERIC for word in content),
        "has a foreign word in lower case": draft.kind in ("PERSON", "ORG", "LOC", "MISC")
        and any(word.islower() and len(word) > 3 and not is_common_word(word) for word in written),
        "in the plural": draft.kind == "PROFESSION" and draft.name.endswith("s"),
        "in lower case": draft.name[:1].islower(),
        "in capitals": draft.name.isupper(),
    }
    values = {"words": math.log(1 + len(words))} | {name: 1.0 for name, holds in holding.items() if holds}
    for sort in {_HEAD_OF[word] for word in words if word in _HEAD_OF}:
        values[f"{sort} by name"] = 1.0
        if unusual:
            values[f"{sort} with an unusual word"] = 1.0
    for word in set(words) & (_LAW | _RANKS):
        values[f"has {word!r}"] = 1.0
    return values


def _context_features(context: TextContext, mentions: Sequence[tuple[int, int]]) -> set[str]:
    """Cues around the mentions (the first ten, which is enough)."""
    names: set[str] = set()
    for start, end in mentions[:10]:
        for word in context.before(start, 4):
            names.update(f"after {cue!r}" for cue in _CUES_OF.get(word, ()) if cue not in _PLAIN_CUES)
        for word in context.before(start, 1):
            names.update(f"right after {cue!r}" for cue in _CUES_OF.get(word, ()))
        for word in context.after(end, 3):
            names.update(f"before {cue!r}" for cue in _CUES_OF.get(word, ()) if cue not in _PLAIN_CUES)
        if context.text[start - 1 : start] == "(":
            names.add("in brackets")
        if context.text[start - 1 : start] in '“"‘':
            names.add("in quotes")
    return names


_DIRECT = frozenset(("PERSON", "EMAIL", "PHONE", "ACCOUNT", "ID", "CASE", "ADDRESS"))
_HARMLESS = 0.1  # below this probability nobody need look at an entity


@dataclass(frozen=True)
class Weights:
    """A logistic model: the probability that an entity must be masked, from named features."""

    bias: float
    of_feature: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> Weights:
        """Weights from a file that `train` wrote."""
        try:
            return _parsed(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"{path.name} holds no weights ({type(error).__name__}); train them again") from None

    def probability(self, values: Mapping[str, float]) -> float:
        """The probability that an entity with these features must be masked."""
        # Exact, so that the order of the features, which depends on the hash seed, makes no difference.
        score = math.fsum((self.bias, *(self.of_feature.get(name, 0.0) * value for name, value in values.items())))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))

    def judged(self, text: str, drafts: Sequence[Draft], stays: frozenset[str]) -> tuple[Entity, ...]:
        """Drafts with their probability and role; names that stay have probability 0."""
        context = TextContext(text)
        pairs = [
            (draft, 0.0 if _stays(draft, stays) else self.probability(features(context, draft))) for draft in drafts
        ]
        at_end = {end: probability for draft, probability in pairs for _, end in draft.mentions}
        of_surname = _surnames(pairs)
        return tuple(
            _entity(
                draft,
                max(probability, at_end.get(_explained_end(text, draft), 0.0), _highest_of_surnames(draft, of_surname)),
            )
            for draft, probability in pairs
        )


def _entity(draft: Draft, probability: float) -> Entity:
    role = "harmless" if probability < _HARMLESS else "direct" if draft.kind in _DIRECT else "quasi"
    mentions = tuple(Mention(start, end) for start, end in draft.mentions)
    return Entity(draft.kind, mentions, draft.name, role, round(probability, 4))


def _stays(draft: Draft, stays: frozenset[str]) -> bool:
    """Whether an entity is on the list of what stays; Mr Jordan is a person, not the country."""
    key = name_key(draft.name)
    return key in stays and not (draft.kind == "PERSON" and key in well_known().countries)


def _surnames(pairs: Sequence[tuple[Draft, float]]) -> dict[str, float]:
    """The last words of people's names with their probability, the highest of all who have it."""
    of_surname: dict[str, float] = {}
    for draft, probability in pairs:
        words = name_words(draft.name) if draft.kind == "PERSON" else []
        if words and len(words[-1]) > 3:
            of_surname[words[-1]] = max(probability, of_surname.get(words[-1], 0.0))
    return of_surname


def _highest_of_surnames(draft: Draft, of_surname: Mapping[str, float]) -> float:
    """The probability of a person whose surname another name contains: the "Jensen Act" points to Mr Jensen.

    A surname that several people share may be any of theirs.
    """
    words = name_words(draft.name)
    if draft.kind not in ("ORG", "LOC", "MISC") and not (draft.kind == "PERSON" and len(words) == 1):
        return 0.0
    return max((of_surname.get(word, 0.0) for word in words), default=0.0)


def _explained_end(text: str, draft: Draft) -> int:
    """Where the name ends that an entity in brackets explains: "Supreme Court (Oberster Gerichtshof)"; -1 if none."""
    start = draft.mentions[0][0]
    return start - 2 if text[start - 2 : start] == " (" else -1


@cache
def shipped_weights() -> Weights:
    """The weights of the package."""
    return _parsed(files("shoal.sanitizer.entities").joinpath("weights.toml").read_text(encoding="utf-8"))


def _parsed(source: str) -> Weights:
    table = tomllib.loads(source)
    return Weights(float(table["bias"]), {name: float(weight) for name, weight in table["weights"].items()})
