"""The entities of texts: rules and a language model propose, mentions are linked, a model says what identifies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.amounts import amount_candidates
from shoal.sanitizer.entities.candidates import Candidate, resolved, trimmed
from shoal.sanitizer.entities.codes import code_candidates
from shoal.sanitizer.entities.dates import date_candidates
from shoal.sanitizer.entities.descriptions import description_candidates
from shoal.sanitizer.entities.leftovers import leftover_candidates
from shoal.sanitizer.entities.linking import Draft, linked
from shoal.sanitizer.entities.nations import well_known, with_countries
from shoal.sanitizer.entities.organisations import organisation_candidates
from shoal.sanitizer.entities.people import people_candidates
from shoal.sanitizer.entities.recognised import load_model, recognised
from shoal.sanitizer.entities.spelling import name_key
from shoal.sanitizer.identifying.weights import Weights, shipped_weights

__all__ = ["EntityFinder"]

_LONGEST = 50_000  # characters the language model reads at once
_RULES = (
    code_candidates,
    date_candidates,
    amount_candidates,
    people_candidates,
    organisation_candidates,
    description_candidates,
    leftover_candidates,
)
_READS = ("tok2vec", "transformer", "ner")  # of the pipeline, all that finding names needs


class EntityFinder:
    """Finds the entities of texts and how likely each must be masked.

    `model` is the name of a spaCy model, `stays` the names that are never masked (by default countries and well-known
    institutions), `weights` those of another training.
    """

    def __init__(
        self, model: str | None = None, stays: Iterable[str] | None = None, weights: Weights | None = None
    ) -> None:
        self._language = load_model(model)
        self._unread = [name for name in self._language.pipe_names if name not in _READS]
        self._stays = well_known().stays if stays is None else frozenset(map(name_key, stays))
        self._weights = shipped_weights() if weights is None else weights
        meta = self._language.meta
        self.model_name = f"{meta['lang']}_{meta['name']} {meta['version']}"

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """The entities of each text, in order, sorted by first mention."""
        for text, drafts in self.drafts(texts):
            yield self._weights.judged(text, drafts, self._stays)

    def drafts(self, texts: Iterable[str]) -> Iterator[tuple[str, list[Draft]]]:
        """The entities of each text before anybody asked what they identify."""
        pieces = chain.from_iterable(map(_pieces, texts))
        candidates: list[Candidate] = []
        with self._language.select_pipes(disable=self._unread):
            for document, (text, offset) in self._language.pipe(pieces, as_tuples=True, batch_size=16):
                candidates += recognised(document, offset)
                if offset + len(document.text) == len(text):
                    yield text, drafts_of(text, candidates)
                    candidates = []


def drafts_of(text: str, recognised_names: Iterable[Candidate]) -> list[Draft]:
    """Linked entities, from the names a language model found and from the rules."""
    candidates = chain(recognised_names, *(rule(text) for rule in _RULES))
    clean = (trimmed(text, candidate) for candidate in candidates)
    return linked(
        text, with_countries(text, resolved(text, (candidate for candidate in clean if candidate is not None)))
    )


def _pieces(text: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """A text in pieces that the language model can read, cut at the ends of lines where there are any."""
    start = 0
    while True:
        end = min(len(text), start + _LONGEST)
        if end < len(text):
            end = (text.rfind("\n", start, end) + 1) or (text.rfind(" ", start, end) + 1) or end
            end = end if end > start else min(len(text), start + _LONGEST)
        yield text[start:end], (text, start)
        if end == len(text):
            return
        start = end
