"""Attackers who have public text about many people, and look for the one whom a text is about.

Each scores every person by a sum over what the text still shows: words, pairs of words, characters, latent topics, a
linear model trained on pieces of the public text, or stems as search engines weigh them (BM25). The person with the
highest score is their guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.terms.language import stemmer
from shoal.terms.vector_space import at_unit_length

ATTACKERS = ("words", "pairs", "characters", "topics", "linear", "search")
HIDDEN = " ¤ "  # in the place of what is masked: no attacker reads it, and no pair goes over it
TIE = 1e-6  # of the largest weight: scores that differ by less are equal
_MOST_FEATURES = 60_000
_TOPICS = 100
_PIECE = 40  # words of public text that are one example for the trained model
_PENALTY = 1.0
_SATURATION, _BY_LENGTH = 1.2, 0.75  # k1 and b of BM25, as Robertson and Zaragoza (2009) recommend
_WORD = r"(?u)\w+|¤"


@dataclass(frozen=True)
class TextAttacker:
    """A score for each person, linear in the counts of features of a text."""

    name: str
    vectorizer: Any
    weights: Any  # people × features, sparse or dense

    def scores(self, texts: Sequence[str]) -> Floats:
        """texts × people."""
        scores = self.vectorizer.transform(texts) @ self.weights.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores, dtype=np.float64)

    def chances(self, texts: Sequence[str], persons: Ints) -> Floats:
        """The chance to name the right person of each text: one of all who have the highest score."""
        scores = self.scores(texts)
        own = scores[np.arange(len(persons)), persons]
        tie = TIE * np.abs(self.weights).max()
        rivals = (scores >= own[:, None] - tie).sum(axis=1)
        found = (own > tie) & (own >= scores.max(axis=1) - tie)
        return np.asarray(np.where(found, 1.0 / rivals, 0.0))


def text_attacker(name: str, background: Sequence[str]) -> TextAttacker:
    """An attacker of a kind who has read a public text about each person."""
    if name not in ATTACKERS:
        raise InputError(f"attacker {name!r} is unknown; give one of: {', '.join(ATTACKERS)}")
    if len(background) < 2:
        raise InputError(f"a background of {len(background)} people hides nobody; give texts about at least 2")
    from sklearn.feature_extraction.text import CountVectorizer

    forms: dict[str, dict[str, Any]] = {
        "pairs": {"ngram_range": (2, 2), "token_pattern": _WORD},
        "characters": {"analyzer": "char_wb", "ngram_range": (4, 4)},
        "search": {"analyzer": _stems},
    }
    vectorizer = CountVectorizer(max_features=_MOST_FEATURES, **forms.get(name, {"token_pattern": _WORD}))
    counts = vectorizer.fit_transform(background)
    if name == "search":
        return TextAttacker(name, vectorizer, _bm25(counts))
    idf = 1 + np.log((1 + counts.shape[0]) / (1 + np.bincount(counts.indices, minlength=counts.shape[1])))
    weigh: Callable[[Any], Any] = {"topics": _topics, "linear": lambda m: _trained(vectorizer, background, idf)}.get(
        name, lambda matrix: matrix
    )
    return TextAttacker(name, vectorizer, _scaled(weigh(at_unit_length(_scaled(counts, idf))), idf))


def _scaled(matrix: Any, idf: Floats) -> Any:
    return (matrix @ sp.diags(idf)).tocsr() if sp.issparse(matrix) else matrix * idf


def _stems(text: str) -> list[str]:
    return list(stemmer("english").stemWords(re.findall(r"[^\W_]+", text.lower())))


def _bm25(counts: Any) -> Any:
    """What each stem adds to the relevance of each person's text."""
    holders = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log(1 + (counts.shape[0] - holders + 0.5) / (holders + 0.5))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    damped = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * lengths / lengths.mean())
    weights = counts.tocsr().astype(np.float64)
    weights.data *= (_SATURATION + 1) / (weights.data + np.repeat(damped, np.diff(weights.indptr)))
    return _scaled(weights, rarity)


def _topics(people: Any) -> Floats:
    """Scores by the cosine in the space of the strongest topics."""
    from sklearn.decomposition import TruncatedSVD

    topics = min(_TOPICS, min(people.shape) - 1)
    model = TruncatedSVD(topics, random_state=0).fit(people)
    return np.asarray(at_unit_length(model.transform(people)) @ model.components_)


def _trained(vectorizer: Any, background: Sequence[str], idf: Floats) -> Floats:
    """A ridge regression onto the people, trained on pieces of their texts; by its dual, for pieces are few."""
    pieces, person_of_piece = [], []
    for person, text in enumerate(background):
        words = text.split()
        starts = range(0, max(1, len(words) - _PIECE // 2), _PIECE)
        pieces += [" ".join(words[start : start + _PIECE]) for start in starts]
        person_of_piece += [person] * len(starts)
    examples = at_unit_length(_scaled(vectorizer.transform(pieces), idf))
    targets = np.zeros((len(pieces), len(background)))
    targets[np.arange(len(pieces)), person_of_piece] = 1.0
    targets -= targets.mean(axis=0)
    gram = (examples @ examples.T).toarray() + _PENALTY * np.eye(len(pieces))
    return np.asarray(examples.T @ np.linalg.solve(gram, targets)).T
