"""What may be said of a release of sanitized documents: counts, and settings that are no secret."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.release.sanitized.plan import Planned
from shoal.results.sanitized import MaskedKind, SanitizedSummary
from shoal.results.sanitizing import KINDS, Decision
from shoal.sanitizer.pseudonyms import REMOVED
from shoal.sanitizer.review.outcome import Collection, Outcome
from shoal.sanitizer.review.replay import active

__all__ = ["ACCEPTED_UNSEEN", "promises_of", "stated_of", "summary_of"]

ACCEPTED_UNSEEN = "shoal --accept-rest"  # the reviewer in whose name the rest is decided
DIAL = 20  # steps of the threshold
DIGITS = "0123456789"
FEWEST = 30  # figures over fewer entities or places might tell how long a name is, or how likely


def summary_of(
    collection: Collection, outcomes: Sequence[Outcome], planned: Sequence[Planned], form: str
) -> SanitizedSummary:
    """The release in figures; `kept` is counted when its texts are searched."""
    settings = collection.work.settings
    decisions = active(collection.work.log.read())
    people = {decision.reviewer for decision in decisions} - {ACCEPTED_UNSEEN}
    pieces = hidden = shown = blocks = 0
    for document in planned:
        pieces += len(document.masked.pieces)
        hidden += sum(len(original) for _, _, original in document.masked.pieces)
        shown += len(document.masked.text) - _replaced(document)
        blocks += document.removed
    return SanitizedSummary(
        documents=len(planned),
        form=form,
        style=settings["style"],
        scope=settings["scope"],
        kinds=tuple(_kinds(planned, settings["scope"], settings["style"])),
        blocks=blocks,
        kept=0,
        hidden_share=hidden / (hidden + shown) if pieces >= FEWEST else None,
        model=settings["model"],
        policy=settings["policy"],
        threshold=settings["threshold"],
        decisions=len(collection.work.log.read()),
        reviewers=len(people),
        unseen=len({(d.document, d.item) for d in decisions if d.reviewer == ACCEPTED_UNSEEN}),
        rejected=_rejected(decisions),
        withheld=collection.work.withheld,
        dial=_dial(outcomes),
    )


def promises_of(summary: SanitizedSummary, planned: Sequence[Planned], head: str, digest: str) -> dict[str, Any]:
    """What anyone can count in the texts, and the fingerprints of what only the owner has."""
    pseudonyms = {pseudonym for document in planned for pseudonym, _, _ in document.entities}
    countable = sorted(pseudonyms) if summary.style != "general" else []
    counts = _counts([*countable, REMOVED], (document.masked.text for document in planned))
    return {
        "documents": summary.documents,
        "form": summary.form,
        "style": summary.style,
        "scope": summary.scope,
        "pseudonyms": {pseudonym: counts[pseudonym] for pseudonym in countable},
        "removed": counts[REMOVED],
        "log": {"decisions": summary.decisions, "head": head},
        "vault": digest,
    }


def stated_of(summary: SanitizedSummary) -> dict[str, Any]:
    """The owner's word."""
    return {
        "model": summary.model,
        "policy": summary.policy,
        "threshold": summary.threshold,
        "masked": {kind.kind: {"entities": kind.entities, "places": kind.places} for kind in summary.kinds},
        "blocks": summary.blocks,
        "kept": summary.kept,
        "reviewers": summary.reviewers,
        "unseen": summary.unseen,
        "rejected": summary.rejected,
        "withheld": summary.withheld,
    }


def _counts(strings: Sequence[str], texts: Iterable[str]) -> Counter[str]:
    """How often each is in the texts, read once. Pers1 is not in Pers12."""
    prefixes = sorted({string.rstrip(DIGITS) for string in strings if string[-1] in DIGITS}, key=len, reverse=True)
    numbered = re.compile(f"(?=((?:{'|'.join(map(re.escape, prefixes))})[{DIGITS}]+))")
    others = [string for string in strings if string[-1] not in DIGITS]
    counts: Counter[str] = Counter()
    for text in texts:
        if prefixes:
            counts.update(match[1] for match in numbered.finditer(text))
        counts.update({string: text.count(string) for string in others})
    return counts


def _replaced(document: Planned) -> int:
    return sum(end - start for start, end, _ in document.masked.pieces)


def _kinds(planned: Sequence[Planned], scope: str, style: str) -> list[MaskedKind]:
    """Of what can be seen: a mention within a removed block is not counted."""
    places, different = Counter[str](), set()
    for document in planned:
        kind_of = {pseudonym: kind for pseudonym, kind, _ in document.entities}
        for start, end, _ in document.masked.pieces:
            shown = document.masked.text[start:end].rstrip()
            if shown in kind_of:
                places[kind_of[shown]] += 1
        for pseudonym, kind, name in document.entities:
            named = pseudonym if style == "numbered" else name
            different.add((document.name if scope == "document" else "", kind, named))
    entities = Counter(kind for _, kind, _ in different)
    return [MaskedKind(kind, entities[kind], places[kind]) for kind in KINDS if places[kind]]


def _rejected(decisions: Sequence[Decision]) -> int:
    last = {(decision.document, decision.item): decision for decision in decisions}
    return sum(decision.action == "reject" and decision.reviewer != ACCEPTED_UNSEEN for decision in last.values())


def _dial(outcomes: Sequence[Outcome]) -> tuple[tuple[float, int], ...]:
    probabilities = [entity.probability for outcome in outcomes for entity in outcome.proposals.entities]
    steps = [step / DIAL for step in range(DIAL + 1)]
    if len(probabilities) < FEWEST:
        return ()
    return tuple((step, sum(probability >= step for probability in probabilities)) for step in steps)
