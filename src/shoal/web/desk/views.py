"""What the desk's page is told, as plain data. With two reviewers, nobody sees the other's answer before their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.release.sanitized.plan import Planned
from shoal.results.sanitizing import KINDS, Decision
from shoal.sanitizer.review.items import BLOCK, Item, Proposals
from shoal.sanitizer.review.replay import DISPUTED, State, Verdict, active
from shoal.sanitizer.review.shrinking import shrunk
from shoal.web.desk.offsets import Offsets
from shoal.web.desk.snapshot import Snapshot, standing

__all__ = ["KIND_NAMES", "as_after", "as_document", "as_history", "as_items"]

# Kinds as people call them; those not here are called by their own name.
KIND_NAMES = {kind: kind.lower() for kind in KINDS} | {
    "ORG": "organisation",
    "LOC": "place",
    "EMAIL": "e-mail",
    "ID": "number of a person",
    "CASE": "number of a case",
    "URL": "link",
    "MISC": "other",
    BLOCK: "passage",
}


def as_document(proposals: Proposals, text: str) -> dict[str, Any]:
    return {"id": proposals.document, "name": proposals.source, "lost": proposals.lost, "text": text}


def as_items(
    state: State, judged: Iterable[tuple[Item, Verdict]], equal: Snapshot, text: str, reviewer: str
) -> list[dict[str, Any]]:
    """Items of a document and what holds for each; equal ones are looked up in a snapshot."""
    found = []
    offsets = Offsets(text)
    for item, verdict in judged:
        alike = equal.equal(item)
        group = {"group": "/".join(alike[0].key), "equal": len(alike)}
        documents = len({other.document for other in alike})
        # What is masked of it, if less than all.
        left = None if verdict.span is None else _spans(shrunk(item, verdict.span, text), offsets)
        known = _as_item(state, item, verdict, offsets, reviewer)
        found.append(known | group | {"documents": documents, "cut": left})
    return found


def _as_item(state: State, item: Item, verdict: Verdict, offsets: Offsets, reviewer: str) -> dict[str, Any]:
    given = state.by_reviewer.get(item.key, {})
    mine = given.get(reviewer)
    settled = state.adjudicated.get(item.key)
    blind = state.reviewers_needed > 1 and mine is None and verdict.state != DISPUTED and settled is None
    answers = [*given.values(), *([settled] if settled else [])]
    return {
        "id": item.id,
        "kind": item.kind,
        "called": KIND_NAMES[item.kind],
        "name": " ".join(item.name.split()),
        "spans": _spans(item, offsets),
        "probability": item.probability if item.id.startswith("e") else None,  # of what the model found
        "stands": standing(verdict, mine is not None),
        "mine": None if mine is None else mine.action,
        "by": [] if blind else [_as_answer(decision, offsets) for decision in answers],
        "others": len(given) - (mine is not None),
    }


def _as_answer(decision: Decision, offsets: Offsets) -> dict[str, Any]:
    span = None if decision.span is None else _span(decision.span, offsets)
    known = {"reviewer": decision.reviewer, "action": decision.action, "at": decision.at, "reason": decision.reason}
    return {**known, "span": span, "adjudicates": decision.adjudicates, "number": decision.number}


def as_after(planned: Planned, offsets: Offsets) -> dict[str, Any]:
    """The redacted text, and where in it and in the original each pseudonym stands."""
    text = planned.masked.text
    after = Offsets(text)
    pieces = [
        [*_span((start, end), after), offsets.to_browser(place[0])]
        for (start, end, _), place in zip(planned.masked.pieces, planned.original_places, strict=True)
    ]
    return {"text": text, "pieces": pieces}


def as_history(decisions: Sequence[Decision], snapshot: Snapshot, reviewer: str, most: int) -> list[dict[str, Any]]:
    """Who decided what, when and why; decisions at once are one entry. The answers of a second reader stay hidden."""
    holding = {decision.number for decision in active(decisions)}
    steps: dict[tuple[str, str], list[Decision]] = {}
    for decision in reversed(decisions):
        steps.setdefault((decision.reviewer, decision.at), []).append(decision)
        if len(steps) > most:
            break
    state = snapshot.collection.state
    entries = []
    for (who, at), made in list(steps.items())[:most]:
        first = made[-1]
        item = snapshot.item((first.document, first.item))
        given = state.by_reviewer.get((first.document, first.item), {})
        hidden = state.reviewers_needed > 1 and who != reviewer and reviewer not in given and not first.adjudicates
        entries.append(
            {
                "reviewer": who,
                "at": at,
                "action": "decided" if hidden else first.action,
                "adjudicates": first.adjudicates,
                "reason": "" if hidden else first.reason,
                "document": first.document,
                "item": first.item,
                "name": " ".join(item.name.split())[:80] if item else "",
                "items": len(made),
                "holds": first.action != "undo" and first.number in holding,
            }
        )
    return entries


def _spans(item: Item, offsets: Offsets) -> list[tuple[int, int]]:
    return [_span((mention.start, mention.end), offsets) for mention in item.mentions]


def _span(span: tuple[int, int], offsets: Offsets) -> tuple[int, int]:
    return offsets.to_browser(span[0]), offsets.to_browser(span[1])
