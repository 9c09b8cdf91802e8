"""Mask what gives a text away, until several unlike attackers no longer find the person whom it is about.

All but one of the attackers say which words help them most; these are masked until the right person ranks no better
than k-th for each. The rate that is reported is that of the attacker who was left out: it chooses no word, but while it
finds too many, the others go on.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import scipy.sparse as sp

from shoal import progress
from shoal.attacks.rates import wilson
from shoal.attacks.text_search import ATTACKERS, HIDDEN, TIE, TextAttacker, text_attacker
from shoal.data.files import PathLike, counted
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.sanitizing import PeopleFound
from shoal.sanitizer.reading.sources import TextSource
from shoal.sanitizer.release.masking import HIDDEN_WORDS, PlannedDocument

Span = tuple[int, int]
_WORD = re.compile(r"\w+")
_DEEPER = 2  # the rank asked for grows by this factor while the attacker left out still finds too many


@dataclass(frozen=True)
class OpenText:
    """A text, the stretches of it that are masked already, and the number of its person in the background."""

    text: str
    masked: Sequence[Span]
    person: int

    def shown(self, more: Sequence[Span] = ()) -> str:
        """What an attacker reads."""
        parts, start = [], 0
        for begin, end in sorted((*self.masked, *more)):
            parts += [self.text[start : max(start, begin)], HIDDEN]
            start = max(start, end)
        return "".join((*parts, self.text[start:]))


def without_people(
    planned: Sequence[PlannedDocument], rate: float, background: PathLike | None
) -> tuple[tuple[PlannedDocument, ...], PeopleFound]:
    """The documents with more words masked. The background has a text for each id; None: the originals themselves."""
    originals = [document.work.text(document.proposals) for document in planned]
    public, persons = originals, list(range(len(planned)))
    if background is not None:
        texts = {_person(text.id): text.text for text in TextSource(background)}
        number = {person: position for position, person in enumerate(texts)}
        persons = _matched([_person(document.proposals.source) for document in planned], number)
        public = list(texts.values())
    opened = [
        OpenText(text, [(start, end) for start, end, _ in document.original_spans], person)
        for text, document, person in zip(originals, planned, persons, strict=True)
    ]
    spans, found = hide_people(opened, public, rate)
    if found.after is not None and found.after > rate:
        warnings.warn(
            f"{found.after:.0%} of the people are still found first, and {rate:.0%} was asked for; mask more by a "
            "lower threshold, or add people to the background",
            stacklevel=4,
        )
    more = (
        replace(document, replacements=(*document.replacements, *((*span, HIDDEN_WORDS) for span in hidden)))
        for document, hidden in zip(planned, spans, strict=True)
    )
    return tuple(more), found


def _person(name: str) -> str:
    """letters/17.docx and 17.txt are about the same person."""
    return PurePosixPath(name).stem


def _matched(people: Sequence[str], number: Mapping[str, int]) -> list[int]:
    missing = sum(person not in number for person in people)
    if missing:
        raise InputError(
            f"{counted(missing, 'document')} of {len(people)} not in the background by id or name of the file; add a "
            "text about each person",
            option="background",
        )
    return [number[person] for person in people]


def hide_people(
    texts: Sequence[OpenText], background: Sequence[str], rate: float, left_out: str = "pairs"
) -> tuple[list[list[Span]], PeopleFound]:
    """Stretches to mask in each text, and what attackers find before and after."""
    if not 0 < rate < 1:
        raise InputError(f"reidentification={rate!r} is a rate; give a number between 0 and 1")
    attackers = {name: text_attacker(name, background) for name in ATTACKERS}
    loop = [attacker for name, attacker in attackers.items() if name != left_out]
    persons = np.array([text.person for text in texts])
    k = min(math.ceil(1 / rate), len(background))
    before = _rates(attackers, [text.shown() for text in texts], persons)
    documents = [_Document(text, loop) for text in texts]
    depth = k
    while True:
        for number, document in enumerate(documents):
            progress.step("re-identification", number, len(documents))
            document.hide(depth)
        after = _rates(attackers, [d.source.shown(d.spans) for d in documents], persons)
        if after[left_out] <= rate or depth >= len(background) // 2:
            break
        depth = min(depth * _DEEPER, len(background) // 2)
    words = sum(len(document.words) for document in documents)
    hidden = sum(len(document.spans) for document in documents)
    low, high = wilson(after[left_out], len(texts))
    found = PeopleFound(
        asked=rate,
        k=k,
        people=len(background),
        attacker=left_out,
        before=before[left_out],
        after=after[left_out],
        low=low,
        high=high,
        worst=max(after.values()),
        words=hidden,
        shown=words,
    )
    return [_joined(document.source.text, document.spans) for document in documents], found


def _rates(attackers: dict[str, TextAttacker], texts: Sequence[str], persons: Ints) -> dict[str, float]:
    """The share of texts whose person each attacker finds first."""
    return {name: math.fsum(attacker.chances(texts, persons)) / len(persons) for name, attacker in attackers.items()}


class _Document:
    """The words of a text that can still be masked, and what each adds to every attacker's scores."""

    def __init__(self, source: OpenText, attackers: Sequence[TextAttacker]) -> None:
        self.source = source
        covered = bytearray(len(source.text))
        for start, end in source.masked:
            covered[start:end] = b"\1" * (end - start)
        self.words = [m for m in _WORD.finditer(source.text) if not any(covered[m.start() : m.end()])]
        self.types = sorted({word[0].lower() for word in self.words})
        self._type_of = {word: number for number, word in enumerate(self.types)}
        self.alive = np.ones(len(self.types), dtype=bool)
        self.costs = np.bincount([self._type_of[word[0].lower()] for word in self.words], minlength=len(self.types))
        self._views = [_View(attacker, self._occurrences(attacker), source.person) for attacker in attackers]

    @property
    def spans(self) -> list[Span]:
        return [word.span() for word in self.words if not self.alive[self._type_of[word[0].lower()]]]

    def hide(self, k: int) -> None:
        """Mask the words that help the attackers most for each place masked, until the person ranks k-th or worse."""
        while self.alive.any():
            gains = np.zeros(len(self.types))
            for view in self._views:
                gains += view.gains(self.alive, k)
            gains[~self.alive] = 0.0
            if not gains.any():
                return
            self.alive[int(np.argmax(gains / np.maximum(self.costs, 1)))] = False

    def _occurrences(self, attacker: TextAttacker) -> Ints:
        """Rows of a feature and the one or two words that it stands on."""
        known = attacker.vectorizer.vocabulary_
        analyse = attacker.vectorizer.build_analyzer()
        types = [self._type_of[word[0].lower()] for word in self.words]
        rows = []
        if attacker.name == "pairs":
            for (first, second), one, other in zip(
                zip(self.words, self.words[1:], strict=False), types, types[1:], strict=False
            ):
                between = self.source.text[first.end() : second.start()]
                pair = f"{first[0].lower()} {second[0].lower()}"
                if pair in known and not _WORD.search(between):
                    rows.append((known[pair], one, other))
        else:
            for word, number in zip(self.words, types, strict=True):
                rows += [(known[feature], number, number) for feature in analyse(word[0]) if feature in known]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)


class _View:
    """A text as one attacker sees it."""

    def __init__(self, attacker: TextAttacker, occurrences: Ints, person: int) -> None:
        features, self._of = np.unique(occurrences[:, 0], return_inverse=True)
        self._words = occurrences[:, 1:]
        columns = attacker.weights[:, features]
        self._weights: Floats = np.asarray(columns.toarray() if sp.issparse(columns) else columns)  # people × features
        self._person = person
        self._tie = TIE * np.abs(attacker.weights).max()

    def gains(self, alive: np.ndarray, k: int) -> Floats:
        """What each word adds to the lead over the person at the rank asked for; nothing if they are behind."""
        shown = alive[self._words].all(axis=1)
        counts = np.bincount(self._of[shown], minlength=self._weights.shape[1])
        scores = self._weights @ counts
        own = scores[self._person]
        others = np.delete(np.arange(len(scores)), self._person)
        rival = others[np.argsort(-scores[others], kind="stable")[min(k - 2, len(others) - 1)]] if k > 1 else others[0]
        gains = np.zeros(len(alive))
        if own <= self._tie or scores[rival] >= own - self._tie:
            return gains
        lead = (self._weights[self._person] - self._weights[rival])[self._of[shown]] / own
        first, second = self._words[shown].T
        np.add.at(gains, first, lead)
        np.add.at(gains, second[first != second], lead[first != second])
        return np.maximum(gains, 0.0)


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Words with nothing but blanks between them are one stretch."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined
