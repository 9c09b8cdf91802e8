"""Documents by meaning, with sets and lists: every sense of every word is compared whenever a distance is needed.

A term is a word, or a concept as a tuple of its one name. A document is a list of (term, weight).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.reference import taxonomy
from tests.reference.taxonomy import Parents

Term = str | tuple[str]
Document = list[tuple[Term, float]]


def single(number: float) -> float:
    """Rounded to four bytes, as distances of terms are kept."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


@dataclass(frozen=True)
class Meaning:
    """What is above each concept, and the concepts that each word may mean."""

    parents: Parents
    senses: dict[str, list[str]]

    def senses_of(self, term: Term) -> list[str]:
        return self.senses[term] if isinstance(term, str) else [term[0]]

    def term_distance(self, a: Term, b: Term) -> float:
        """The least over all pairs of senses."""
        pairs = [(one, other) for one in self.senses_of(a) for other in self.senses_of(b)]
        return single(min(taxonomy.distance(self.parents, one, other) for one, other in pairs))

    def common(self, a: Term, b: Term) -> Term:
        """The subsumer of the nearest senses, of those listed first if there are several; a term and itself are it."""
        if a == b:
            return a
        found = []
        for i, one in enumerate(self.senses_of(a)):
            for j, other in enumerate(self.senses_of(b)):
                above = taxonomy.subsumer(self.parents, {one, other})
                found.append((taxonomy.distance(self.parents, one, other), i + j, above))
        return (min(found)[2],)

    def pairing(self, first: Document, second: Document) -> tuple[float, list[tuple[int | None, int | None]]]:
        """Cost and pairs (places in the first and in the second, None for nobody) in this order."""
        unused = list(range(len(second)))
        pairs: list[tuple[int | None, int | None]] = []
        cost = 0.0
        for i, (term, weight) in enumerate(first):
            if not unused:
                pairs.append((i, None))
                cost += weight / 2
                continue
            apart = {j: self.term_distance(term, second[j][0]) for j in unused}
            j = min(unused, key=lambda j: (apart[j], second[j][0] != term, -j))
            unused.remove(j)
            pairs.append((i, j))
            cost += apart[j] * ((weight + second[j][1]) / 2)
        for j in unused:
            pairs.append((None, j))
            cost += second[j][1] / 2
        return cost / len(first), pairs

    def distance(self, a: Document, b: Document) -> float:
        return min(self.pairing(a, b)[0], self.pairing(b, a)[0])

    def representative(self, documents: list[Document]) -> Document:
        """Folded from the first to the last."""
        held = documents[0]
        for document in documents[1:]:
            cost, pairs = self.pairing(held, document)
            back, reverse = self.pairing(document, held)
            if back < cost:
                pairs = [(i, j) for j, i in reverse]
            held = by_weight([self._merged(held, document, i, j) for i, j in pairs])
        return held

    def _merged(self, a: Document, b: Document, i: int | None, j: int | None) -> tuple[Term, float]:
        if i is None or j is None:
            term, weight = a[i] if i is not None else b[j or 0]
            return term, weight / 2
        return self.common(a[i][0], b[j][0]), (a[i][1] + b[j][1]) / 2


def by_weight(document: Document) -> Document:
    """Falling; of equal weight words first, then by name."""
    return sorted(document, key=lambda entry: (-entry[1], isinstance(entry[0], tuple), entry[0]))
