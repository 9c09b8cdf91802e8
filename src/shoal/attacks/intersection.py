"""The intersection attack: an observer of all snapshots of an index asks who each document could still be.

The observer keeps every snapshot: which ids share a representative, and when a representative first appeared. Two
things narrow down a document. Its groups over time: a document that was not always with it is another one. And what two
representatives differ by: if one was made of the same documents as another and a few more, their difference is the sum
of those few, and the sum of a single document is the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Snapshot = Mapping[str, frozenset[str]]  # the documents that share each representative


@dataclass(frozen=True)
class Candidates:
    """How many documents each document could be, to the observer of all snapshots."""

    k: int
    sizes: Mapping[str, int]  # by document

    @property
    def smallest(self) -> int:
        """Of the document that is narrowed down most; 0 when nothing was ever visible."""
        return min(self.sizes.values(), default=0)

    @property
    def exposed(self) -> int:
        """Documents with fewer than k candidates."""
        return sum(size < self.k for size in self.sizes.values())


def intersection_attack(snapshots: Iterable[Snapshot], k: int) -> Candidates:
    """Attack a history. Documents that were deleted still count: the observer has seen them."""
    candidates: dict[str, frozenset[str]] = {}
    made_of: dict[str, frozenset[str]] = {}  # the documents that a representative appeared with
    for snapshot in snapshots:
        present = frozenset().union(*snapshot.values())
        for representative, members in snapshot.items():
            made_of.setdefault(representative, members)
            for document in members:
                before = candidates.get(document, members)
                candidates[document] = before - (present - members)
    sizes = {document: len(others) for document, others in candidates.items()}
    for difference in _differences(made_of.values()):
        for document in difference:
            sizes[document] = min(sizes[document], len(difference))
    return Candidates(k, sizes)


def _differences(sets: Iterable[frozenset[str]]) -> Iterable[frozenset[str]]:
    """What one set has beyond another that it contains."""
    of_document: dict[str, list[frozenset[str]]] = {}
    for contributors in set(sets):
        for document in contributors:
            of_document.setdefault(document, []).append(contributors)
    for contributors in set(sets):
        beside = {other for document in contributors for other in of_document[document]}
        yield from (other - contributors for other in beside if contributors < other)
