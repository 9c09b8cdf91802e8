"""The model that says what identifies: a weight for each feature, read from a file people can read."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.entities.linking import Draft
from shoal.sanitizer.entities.nations import well_known
from shoal.sanitizer.entities.spelling import name_key, name_words
from shoal.sanitizer.identifying.features import TextContext, features

__all__ = ["Weights", "shipped_weights"]

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
        score = self.bias + sum(self.of_feature.get(name, 0.0) * value for name, value in values.items())
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
            _judged(draft, max(probability, at_end.get(_explained_end(text, draft), 0.0), _inside(draft, of_surname)))
            for draft, probability in pairs
        )


def _judged(draft: Draft, probability: float) -> Entity:
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


def _inside(draft: Draft, of_surname: Mapping[str, float]) -> float:
    """The probability of a person whose name another name contains: the "Jensen Act" tells of Mr Jensen.

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
    return _parsed(files("shoal.sanitizer.identifying").joinpath("weights.toml").read_text(encoding="utf-8"))


def _parsed(source: str) -> Weights:
    table = tomllib.loads(source)
    return Weights(float(table["bias"]), {name: float(weight) for name, weight in table["weights"].items()})
