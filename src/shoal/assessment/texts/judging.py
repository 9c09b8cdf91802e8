"""Sanitized texts judged: what searches lose, what they no longer betray, and whether the originals are found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal import progress
from shoal.assessment.documents import check_related
from shoal.assessment.texts.pairs import AlignedTexts, align_texts, is_sanitized, read_texts
from shoal.assessment.texts.queries import read_queries, risk_queries, subject_queries
from shoal.bundle.folders import CERTIFICATE
from shoal.errors import InputError
from shoal.results.searches import TextAssessment
from shoal.risk.texts.reidentification import SearchAttack
from shoal.sanitizer.policies import BUILT_IN, Policy
from shoal.utility.search_change import Query, compare_searches
from shoal.vectors.search_engine import SearchEngine, words_of

__all__ = ["TextOptions", "assess_texts"]

RANDOM = 0.2  # share of the documents in the random set
DEFAULT = "eo13526"  # policy
FEW = 30  # below, shares of documents say little


@dataclass(frozen=True)
class TextOptions:
    """What can be asked about texts; see `assess`."""

    text_column: str | None = None
    id_column: str | None = None
    queries: Any = None
    policy: Any = None
    relevance: float | None = None
    background: Any = None
    language: str = "english"


def assess_texts(
    original: Any, protected: Any, options: TextOptions, aligned: bool, random_state: int
) -> TextAssessment:
    """Put the texts side by side, search them, and search for them."""
    columns = {"text_column": options.text_column, "id_column": options.id_column}
    pair = align_texts(original, protected, columns)
    progress.step("indexing texts", 0, 2)
    before = SearchEngine(options.language).fit(pair.before)
    progress.step("indexing texts", 1, 2)
    after = SearchEngine(options.language).fit(pair.after)
    progress.step("indexing texts", 2, 2)
    if not aligned:
        check_related(before.rows_, before.queries(pair.after))
    policy = _policy(options.policy, protected)
    useful = subject_queries(before, random_state) if options.queries is None else _queries(options.queries)
    n_texts = len(pair.names)
    random = np.random.default_rng(random_state).choice(n_texts, size=round(RANDOM * n_texts), replace=False)
    utility, risk = (
        compare_searches(before, after, queries, threshold=options.relevance, random_documents=random.tolist())
        for queries in (useful, risk_queries(policy))
    )
    places, background = _background(pair, options, columns)
    attack = SearchAttack(language=options.language, random_state=random_state)
    alike = Counter(pair.after).values()
    notes = [f"{n_texts} texts are few: shares of fewer than {FEW} say little"] if n_texts < FEW else []
    return TextAssessment(
        rows=n_texts,
        how="by their names",
        words_left=_words_left(pair),
        utility=utility,
        risk=risk,
        policy=policy.name,
        attack=attack.run(pair.after, background, places),
        unsanitized=attack.run(pair.before, background, places),
        smallest_group=min(alike),
        unique=sum(count == 1 for count in alike),
        notes=(*pair.notes, *notes),
        names=pair.names,
    )


def _policy(given: Any, protected: Any) -> Policy:
    """The one that is asked for, else the one that a release was made with, if it is built in, else the default."""
    if isinstance(given, Policy):
        return given
    if given is None and is_sanitized(protected):
        stated = json.loads((Path(protected) / CERTIFICATE).read_bytes()).get("stated", {}).get("policy")
        given = stated if stated in BUILT_IN else None
    return Policy.read(DEFAULT if given is None else given)


def _queries(given: Any) -> list[Query]:
    """From a file, or as they are: strings and `Query`."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [query if isinstance(query, Query) else Query(str(query), str(query)) for query in given]
    return read_queries(given)


def _background(
    pair: AlignedTexts, options: TextOptions, columns: dict[str, str | None]
) -> tuple[list[int], Sequence[str]]:
    """Where each text's original is in the background, -1 for nowhere, and the texts of that."""
    if options.background is None:
        return list(range(len(pair.names))), pair.before
    background = read_texts(options.background, columns)
    place = {name: row for row, name in enumerate(background)}
    places = [place.get(name, -1) for name in pair.names]
    if max(places) < 0:
        raise InputError(
            f"none of the {len(background)} documents of the background has the name of a text, so nobody can tell "
            "which is the right one; give those about the same people or cases the same names"
        )
    return places, list(background.values())


def _words_left(pair: AlignedTexts) -> float:
    """The share of the originals' words, repetitions counted, that their sanitized texts still have."""
    left = total = 0
    for before, after in zip(pair.before, pair.after, strict=True):
        words = words_of(before)
        total += words.total()
        left += (words & words_of(after)).total()
    return left / total if total else 1.0
