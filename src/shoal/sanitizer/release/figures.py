"""Figures of a release of sanitized documents that may be published: counts, and settings that are no secret."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from shoal.results.sanitizing import KINDS, MaskedKind, PeopleFound, SanitizedSummary
from shoal.results.stated import stated_language, worded
from shoal.sanitizer.release.masking import REMOVED, PlannedDocument
from shoal.sanitizer.review.decisions import ACCEPTED_UNSEEN, active
from shoal.sanitizer.review.work import WorkFolder

DIAL = 20  # steps of the threshold
DIGITS = "0123456789"
FEWEST = 30  # figures over fewer entities or places might reveal how long a name is, or how likely
STATED = ("model", "policy", "threshold", "blocks", "kept", "reviewers", "unseen", "rejected", "withheld")


def summary_of(work: WorkFolder, planned: Sequence[PlannedDocument], form: str, kept: int) -> SanitizedSummary:
    """The release in figures."""
    settings = work.settings
    log = work.log.read()
    decisions = active(log)
    last = {(decision.document, decision.item): decision for decision in decisions}
    people = {decision.reviewer for decision in decisions} - {ACCEPTED_UNSEEN}
    pieces = hidden = shown = blocks = 0
    for document in planned:
        pieces += len(document.masked.pieces)
        hidden += sum(len(original) for _, _, original in document.masked.pieces)
        shown += len(document.masked.text) - sum(end - start for start, end, _ in document.masked.pieces)
        blocks += document.removed
    return SanitizedSummary(
        documents=len(planned),
        form=form,
        style=settings["style"],
        scope=settings["scope"],
        kinds=tuple(_kinds(planned, settings["scope"], settings["style"])),
        blocks=blocks,
        kept=kept,
        hidden_share=hidden / (hidden + shown) if pieces >= FEWEST else None,
        model=worded(settings["model"]),
        policy=worded(settings["policy"]),
        threshold=settings["threshold"],
        decisions=len(log),
        reviewers=len(people),
        unseen=len({(d.document, d.item) for d in decisions if d.reviewer == ACCEPTED_UNSEEN}),
        rejected=sum(d.action == "reject" and d.reviewer != ACCEPTED_UNSEEN for d in last.values()),
        withheld=work.withheld,
        dial=_dial(planned),
    )


def published(found: PeopleFound | None, documents: int) -> PeopleFound | None:
    """Of few documents a rate would say whose text is in the background."""
    if found is None or documents >= FEWEST:
        return found
    return PeopleFound(found.asked, found.k, found.people, found.attacker)


def promises_of(
    summary: SanitizedSummary, planned: Sequence[PlannedDocument], head: str, digest: str
) -> dict[str, Any]:
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
    masked = {kind.kind: {"entities": kind.entities, "places": kind.places} for kind in summary.kinds}
    stated = {name: getattr(summary, name) for name in (*STATED, "hidden_share")}
    return (
        stated
        | {"masked": masked, "dial": [list(step) for step in summary.dial]}
        | stated_language(summary.language)
        | ({} if summary.reidentification is None else {"reidentification": asdict(summary.reidentification)})
    )


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


def _kinds(planned: Sequence[PlannedDocument], scope: str, style: str) -> list[MaskedKind]:
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


def _dial(planned: Sequence[PlannedDocument]) -> tuple[tuple[float, int], ...]:
    """How many entities reach each threshold."""
    probabilities = [entity.probability for document in planned for entity in document.proposals.entities]
    if len(probabilities) < FEWEST:
        return ()
    steps = [step / DIAL for step in range(DIAL + 1)]
    return tuple((step, sum(probability >= step for probability in probabilities)) for step in steps)
