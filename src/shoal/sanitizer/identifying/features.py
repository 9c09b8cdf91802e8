"""What can be said of an entity that tells whether it identifies somebody: names of features, each with a value."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.entities.nations import well_known
from shoal.sanitizer.entities.ordinary import is_common_word, is_famous, word_set
from shoal.sanitizer.entities.organisations import GENERIC, HEADS
from shoal.sanitizer.entities.spelling import name_key

__all__ = ["TextContext", "features"]

_WORD = re.compile(r"[^\W\d_]+|§|\d+|%")
_LAW = word_set(
    "article articles act acts law laws code section sections rule rules protocol convention § decree regulation "
    "regulations constitution paragraph statute directive chapter legislation ordinance treaty provision "
    "provisions"
)
_CASE_LAW = word_set("v judgment judgments echr series reports precedent")
_HEAD_OF = {word.lower(): sort for sort, words in HEADS.items() for word in words.split()}
_TITLES = word_set("mr mrs ms miss dr prof")
_RANKS = word_set("supreme federal constitutional administrative regional district european national")
_PLAIN_CUES = word_set("a the his in from on by")  # said of almost anything: only right before a mention
# Words beside a mention, by what they say of it.
_CUES = {
    "born": "born birth",
    "lives": "lives lived living resident residing resides domiciled",
    "practising": "practising practicing",
    "represented": "represented lawyer counsel solicitor advocate",
    "agent": "agent agents",
    "judge": "judge judges president registrar",
    "national": "national nationals citizen citizens nationality",
    "against": "against",
    "government": "government",
    "law": " ".join(_LAW),
    "case law": " ".join(_CASE_LAW),
    "number": "no nos number nr",
    "year of": "year years period since until",
    "named": "named called known alias entitled titled",
    "works": "worked works working employed profession job post as",
    "family": "son daughter wife husband father mother brother sister parents married children",
    "died": "died killed death murdered",
    "court": "court tribunal prosecutor police",
    "money": "paid pay compensation damages sum amount sentenced fine fined",
    "before": "before after within",
    "a": "a an",
    "the": "the",
    "his": "his her their",
    "in": "in at",
    "from": "from of",
    "on": "on",
    "by": "by with",
}
_CUES_OF: dict[str, list[str]] = {}
for _cue, _words in _CUES.items():
    for _word in _words.split():
        _CUES_OF.setdefault(_word, []).append(_cue)


class TextContext:
    """A text as its words, so that the neighbourhood of any mention is read at once."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_WORD.finditer(text))
        self.words = [match.group().lower() for match in matches]
        self.starts = [match.start() for match in matches]

    def before(self, place: int, count: int) -> list[str]:
        """The words that end before a place, the nearest last."""
        at = bisect_right(self.starts, place - 1)
        return self.words[max(0, at - count) : at]

    def after(self, place: int, count: int) -> list[str]:
        """The words that begin at a place or after it."""
        at = bisect_right(self.starts, place - 1)
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
        """Ten times the share of words of the law: who cites the law names many who identify nobody."""
        return 10 * sum(word in _LAW for word in self.words) / max(50, len(self.words))

    def law_share(self, place: int) -> float:
        """The share of words of the law in the paragraph around a place."""
        starts, shares = self._paragraphs
        return shares[bisect_right(starts, place) - 1] if starts else 0.0

    @cached_property
    def law_starts(self) -> int:
        """Where a part on the law begins, by its heading; the end of the text if there is none."""
        heading = re.search(r"(?m)^.{0,8}(?:RELEVANT|APPLICABLE) [A-Z ,]*(?:LAW|PRACTICE|LEGISLATION).*$", self.text)
        return heading.start() if heading else len(self.text)


def features(context: TextContext, draft: Draft) -> dict[str, float]:
    """The features of an entity by name; those that are not named are 0."""
    kind, sort = draft.kind, f"{draft.kind} {draft.form}"
    values = {kind: 1.0, sort: 1.0}
    values |= {f"{kind}: {name}": value for name, value in _of_name(draft).items()}
    mentions = draft.mentions
    values[f"{kind}: mentions"] = math.log(len(mentions))
    values[f"{kind}: words of the law in the text"] = context.law_share_of_text
    law_around = sum(context.law_share(start) for start, _ in mentions) / len(mentions)
    values[f"{kind}: words of the law around"] = min(1.0, 10 * law_around)
    values[f"{kind}: in the part on the law"] = float(mentions[0][0] >= context.law_starts)
    for name in _of_neighbours(context, mentions):
        values[f"{kind}: {name}"] = 1.0
    return values


def _of_name(draft: Draft) -> dict[str, float]:
    """What the name itself tells."""
    known = well_known()
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", draft.name)]
    content = [word for word in words if len(word) > 2 and word not in _TITLES]
    key = name_key(draft.name)
    values = {"words": math.log(1 + len(words))}
    if re.search(r"\d", draft.name):
        values["has digits"] = 1.0
    if key in known.countries:
        values["is a country"] = 1.0
    elif key in known.stays:
        values["is well known"] = 1.0
    elif any(word in known.nation_words for word in content):
        values["names a nation"] = 1.0
    if is_famous(key):
        values["is in WordNet"] = 1.0
    unusual = [word for word in content if not is_common_word(word) and word not in known.nation_words]
    if unusual:
        values["has an unusual word"] = 1.0
    if content and all(word in GENERIC for word in content):
        values["is generic"] = 1.0
    if draft.kind in ("PERSON", "ORG", "LOC", "MISC") and any(
        word.islower() and len(word) > 3 and not is_common_word(word) for word in re.findall(r"[^\W\d_]+", draft.name)
    ):
        values["has a foreign word in lower case"] = 1.0
    if draft.kind == "PROFESSION" and draft.name.endswith("s"):
        values["in the plural"] = 1.0
    if draft.name[:1].islower():
        values["in lower case"] = 1.0
    if draft.name.isupper():
        values["in capitals"] = 1.0
    for sort in {_HEAD_OF[word] for word in words if word in _HEAD_OF}:
        values[f"{sort} by name"] = 1.0
        if unusual:
            values[f"{sort} with an unusual word"] = 1.0
    for word in set(words) & (_LAW | _RANKS):
        values[f"has {word!r}"] = 1.0
    return values


def _of_neighbours(context: TextContext, mentions: Sequence[tuple[int, int]]) -> set[str]:
    """The cues around any of the mentions (of the first ten, which is enough)."""
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
