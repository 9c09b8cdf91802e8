"""A desk: one work folder, several reviewers and tabs at once, and answers without waiting.

Deciding adds lines to the log and is quick. What follows from decisions in all texts (repeats of masked strings) is
computed once for every length of the log, beside.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from shoal.errors import InputError
from shoal.results.sanitizing import Decision
from shoal.sanitizer.release.masking import plan
from shoal.sanitizer.review.outcome import ReviewedCollection, current, equal_part
from shoal.sanitizer.review.review import Review, Span
from shoal.sanitizer.review.strings import RememberedSearch
from shoal.sanitizer.review.work import WorkFolder
from shoal.web.commands import WORK
from shoal.web.desk_views import Key, Offsets, Snapshot, as_after, as_history, as_items
from shoal.web.jobs import DONE, Job

MOST_NAMES = 30  # that a preview lists


@dataclass(frozen=True)
class Choice:
    """What a reviewer chose for an item; places are the browser's."""

    key: Key
    action: str  # accept, reject or shrink
    span: Span | None = None  # what remains of it, if it is shrunk
    reason: str = ""
    adjudicates: bool = False
    everywhere: bool = False  # and for all equal ones


class Desk:
    """What routes call, each call in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self.work = WorkFolder(path)  # to look at
        self._proposals = {proposals.document: proposals for proposals in self.work.proposals}
        self._deciding = copy(self.work)  # to decide: with a log of its own, so that nobody waits for a look
        self._looking, self._writing = Lock(), Lock()
        self._snapshot: Snapshot | None = None
        self._remembered = RememberedSearch()

    @property
    def has_pdf(self) -> bool:
        """Whether pages can be redacted."""
        return any(proposals.pdf for proposals in self._proposals.values())

    def snapshot(self) -> Snapshot:
        """As the log has it now; computed anew only when somebody has decided."""
        with self._looking:
            length = len(self.work.log.read())
            if self._snapshot is None or self._snapshot.length != length:
                collection = current(self.work, self._remembered)
                outcomes = {outcome.proposals.document: outcome for outcome in collection.outcomes()}
                self._snapshot = Snapshot(length, collection, outcomes)
            return self._snapshot

    def progress(self, reviewer: str) -> dict[str, Any]:
        """Of every document, for one reviewer."""
        snapshot = self.snapshot()
        documents = []
        for name, outcome in snapshot.outcomes.items():
            counts = snapshot.progress(outcome, reviewer)
            documents.append({"id": name, "name": outcome.proposals.source, **counts})
        return {"length": snapshot.length, "locked": self.work.locked, "documents": documents}

    def document(self, document: str, reviewer: str) -> dict[str, Any]:
        """Its text and all its items."""
        snapshot = self.snapshot()
        proposals = snapshot.outcomes[document].proposals
        text = self.work.text(proposals)
        return {
            "id": document,
            "name": proposals.source,
            "lost": proposals.lost,
            "text": text,
            "length": snapshot.length,
            "items": self._items(snapshot, document, text, reviewer),
        }

    def news(self, document: str, reviewer: str, since: int) -> dict[str, Any]:
        """What was decided since the log had `since` lines: progress, and items without the text."""
        with self._writing:
            if len(self._deciding.log.read()) == since:
                return {"length": since, "locked": self.work.locked}
        progress = self.progress(reviewer)
        snapshot = self.snapshot()
        text = self.work.text(snapshot.outcomes[document].proposals)
        return progress | {"length": snapshot.length, "items": self._items(snapshot, document, text, reviewer)}

    def after(self, document: str) -> dict[str, Any]:
        """What the document would say if the release were made now. With numbers for a collection, all are planned."""
        snapshot = self.snapshot()
        whole = self.work.settings["scope"] == "collection"
        outcomes = list(snapshot.outcomes.values()) if whole else [snapshot.outcomes[document]]
        planned = plan(self.work, outcomes)
        shown = next(candidate for candidate in planned if candidate.proposals.document == document)
        open_items = len(snapshot.outcomes[document].open)
        return as_after(shown, Offsets(self.work.text(shown.proposals))) | {"open": open_items}

    def history(self, reviewer: str, most: int) -> list[dict[str, Any]]:
        """The latest decisions first."""
        snapshot = self.snapshot()
        with self._looking:
            decisions = self.work.log.read()
        return as_history(decisions, snapshot, reviewer, most)

    def decide(self, reviewer: str, chosen: Choice) -> dict[str, Any]:
        """Accept, reject or shrink an item."""
        snapshot = self._snapshot or self.snapshot()
        document, _ = chosen.key
        item = snapshot.item(chosen.key)
        keys = [chosen.key]
        if item is not None and chosen.everywhere:
            keys = list(snapshot.decided_together(item, reviewer, chosen.action, chosen.adjudicates))
        span = None if chosen.span is None else self._from_browser(document, chosen.span)
        if chosen.action == "shrink" and span is not None:
            keys = [chosen.key, *self._with_part(snapshot, chosen.key, keys, span)]
        given = span, chosen.reason, chosen.adjudicates
        return self._made(document, reviewer, lambda review: review.decide(keys, chosen.action, *given))

    def open_of_kind(self, kind: str, reviewer: str) -> dict[str, Any]:
        """What deciding a whole kind would decide: how many, in how many documents, and their names."""
        items = self.snapshot().open_of_kind(kind, reviewer)
        names = list(dict.fromkeys(item.name for item in items))
        documents = len({item.document for item in items})
        return {
            "items": len(items),
            "documents": documents,
            "names": names[:MOST_NAMES],
            "others": len(names[MOST_NAMES:]),
        }

    def decide_kind(self, reviewer: str, document: str, kind: str, action: str, reason: str) -> dict[str, Any]:
        """Accept or reject all that is open of a kind, as one step, which one undo takes back."""
        keys = [item.key for item in self.snapshot().open_of_kind(kind, reviewer)]
        if not keys:
            raise InputError("nothing of this kind is open; choose another")
        return self._made(document, reviewer, lambda review: review.decide(keys, action, reason=reason))

    def _with_part(self, snapshot: Snapshot, key: Key, keys: list[Key], span: Span) -> list[Key]:
        """Of the others, those that have the part to which an item is shrunk."""
        part = self._text(key[0])[slice(*span)]
        others = [item for item in map(snapshot.item, keys) if item is not None and item.key != key]
        return [item.key for item in others if equal_part(item, self._text(item.document), part) is not None]

    def _text(self, document: str) -> str:
        return self.work.text(self._proposals[document])

    def add(self, reviewer: str, document: str, span: Span, kind: str, reason: str) -> dict[str, Any]:
        """Mask what nobody proposed."""
        text_span = self._from_browser(document, span)
        return self._made(document, reviewer, lambda review: review.add(document, text_span, kind, reason=reason))

    def undo(self, reviewer: str, document: str, reason: str) -> dict[str, Any]:
        return self._made(document, reviewer, lambda review: review.undo(reason=reason))

    def redo(self, reviewer: str, document: str) -> dict[str, Any]:
        return self._made(document, reviewer, Review.redo)

    def _made(self, document: str, reviewer: str, decide: Callable[[Review], tuple[Decision, ...]]) -> dict[str, Any]:
        """What was written, and how the items of the document shown stand now; repeats are found later, as news."""
        with self._writing:
            made = decide(Review(self._deciding, reviewer, self._remembered))
            collection = current(self._deciding)
            length = len(self._deciding.log.read())
        touched = list(dict.fromkeys((decision.document, decision.item) for decision in made))
        changed = self._changed(collection, [key for key in touched if key[0] == document], reviewer)
        return {"length": length, "made": len(made), "touched": touched[:1], "items": changed}

    def _changed(self, collection: ReviewedCollection, keys: list[Key], reviewer: str) -> list[dict[str, Any]]:
        before = self._snapshot
        if before is None or not keys:
            return []
        items = [item for item in map(before.item, keys) if item is not None]
        text = self._text(keys[0][0])
        judged = [(item, collection.verdict(item)) for item in items]
        return as_items(collection.state, judged, before, text, reviewer)

    @staticmethod
    def _items(snapshot: Snapshot, document: str, text: str, reviewer: str) -> list[dict[str, Any]]:
        return as_items(snapshot.collection.state, snapshot.outcomes[document].judged, snapshot, text, reviewer)

    def _from_browser(self, document: str, span: Span) -> Span:
        proposals = self._proposals.get(document)
        if proposals is None:
            raise LookupError(document)
        offsets = Offsets(self.work.text(proposals))
        return offsets.from_browser(span[0]), offsets.from_browser(span[1])


class Desks:
    """One for each work folder."""

    def __init__(self) -> None:
        self._desks: dict[Path, Desk] = {}
        self._opening = Lock()

    def of(self, job: Job) -> Desk:
        """Of a job that has made its proposals."""
        if job.page != "review" or job.state != DONE:
            raise LookupError(job.id)
        with self._opening:
            for closed in [path for path in self._desks if not path.is_dir()]:
                del self._desks[closed]
            path = job.work / WORK
            if path not in self._desks:
                self._desks[path] = Desk(path)
            return self._desks[path]
