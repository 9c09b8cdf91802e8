"""Who is found again: biographies against public text of the same people, each attacker left out of the loop in turn.

Two attackers never take part in any loop: the rare words that a text shares with the public one, and naive Bayes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import data, measure
from benchmarks.sanitizer import must_be_masked, spans

RATE = 0.1
FEWEST_SENTENCES, FEWEST_WORDS = 4, 60
BEGINNING = 1500  # characters of a document that is somebody else's public text
Spans = list[tuple[int, int]]
Rank = Callable[[Sequence[str], np.ndarray], float]


def run() -> dict[str, Any]:
    from shoal.attacks.text_search import ATTACKERS
    from shoal.sanitizer.entities.finder import EntityFinder

    released, public = people(data.records("wikibio_tune.jsonl.gz"))
    entities = list(EntityFinder().find(text for text, _ in released))
    masks = {
        "nothing": [[] for _ in released],
        "threshold 0.3": [spans(found, 0.3) for found in entities],
        "threshold 0.1": [spans(found, 0.1) for found in entities],
        "by hand": [hand for _, hand in released],
    }
    attackers = {**never_in_a_loop(public), **in_the_loop(public)}
    rows = []
    for name, masked in masks.items():
        for left_out in (None, *ATTACKERS) if name != "by hand" else (None,):
            found = found_first(released, public, masked, attackers, left_out)
            rows.append({"masked": name, "left out": left_out or "no loop", **found})
    measure.show("people", rows)
    return {"people": rows}


def people(lives: list[dict[str, Any]]) -> tuple[list[tuple[str, Spans]], list[str]]:
    """Every second sentence with its hand-made masks, and public texts: the other sentences, then others' texts."""
    released, own, others = [], [], []
    for life in lives:
        text = life["text"]
        sentences = [match.span() for match in re.finditer(r"\S.*?(?:[.!?](?=\s+[A-Z])|$)", text, re.S | re.M)]
        if len(sentences) < FEWEST_SENTENCES or len(text.split()) < FEWEST_WORDS:
            others.append(text)
            continue
        shown, hand = "", []
        for start, end in sentences[1::2]:
            hand += [
                (len(shown) + max(start, begin) - start, len(shown) + min(end, stop) - start)
                for begin, stop in must_be_masked(life)
                if begin < end and start < stop
            ]
            shown += text[start:end] + " "
        released.append((shown, hand))
        own.append(" ".join(text[start:end] for start, end in sentences[::2]))
    for name in ("frus_docs.jsonl.gz", "tab_tune.jsonl.gz"):
        others += [record["text"][:BEGINNING] for record in data.records(name)]
    return released, own + others


def found_first(
    released: list[tuple[str, Spans]],
    public: list[str],
    masked: list[Spans],
    attackers: dict[str, Rank],
    left_out: str | None,
) -> dict[str, float]:
    """The share of words masked, and of people whom each attacker finds first."""
    from shoal.sanitizer.release.reidentification import OpenText, hide_people

    opened = [
        OpenText(text, hidden, person) for person, ((text, _), hidden) in enumerate(zip(released, masked, strict=True))
    ]
    more: list[Any] = [[] for _ in opened]
    if left_out is not None:
        more, _ = hide_people(opened, public, RATE, left_out)
    texts = [source.shown(extra) for source, extra in zip(opened, more, strict=True)]
    words = sum(len(re.findall(r"\w+", text)) for text, _ in released)
    persons = np.arange(len(texts))
    shown = sum(len(re.findall(r"\w+", text)) for text in texts)
    return {"words masked": 1 - shown / words, **{name: rank(texts, persons) for name, rank in attackers.items()}}


def in_the_loop(public: list[str]) -> dict[str, Rank]:
    from shoal.attacks.text_search import ATTACKERS, TextAttacker, text_attacker

    def rate(attacker: TextAttacker) -> Rank:
        return lambda texts, persons: float(np.mean(attacker.chances(texts, persons)))

    return {name: rate(text_attacker(name, public)) for name in ATTACKERS}


def never_in_a_loop(public: list[str]) -> dict[str, Rank]:
    """The weight of the rare words in common, and naive Bayes over words and pairs."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    seen = CountVectorizer(binary=True, token_pattern=r"(?u)[^\W_]+").fit(public)
    has = seen.transform(public).tocsc()
    holders = np.asarray(has.sum(axis=0)).ravel()
    rarity = np.where(holders <= 10, np.log(len(public) / holders), 0.0)
    read = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\w+").fit(public)
    bayes = MultinomialNB(alpha=0.01, fit_prior=False).fit(read.transform(public), np.arange(len(public)))

    def rate(score: Callable[[Sequence[str]], np.ndarray]) -> Rank:
        def first(texts: Sequence[str], persons: np.ndarray) -> float:
            scores = score(texts)  # texts × people
            best = scores >= scores.max(axis=1, keepdims=True) - 1e-9
            return float(np.mean(best[np.arange(len(texts)), persons] / best.sum(axis=1)))

        return first

    return {
        "rare words": rate(lambda texts: (seen.transform(texts).multiply(rarity) @ has.T).toarray()),
        "naive Bayes": rate(lambda texts: bayes.predict_joint_log_proba(read.transform(texts))),
    }
