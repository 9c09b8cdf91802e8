"""What became of a column of labels: the tree of its concepts, and how far its labels moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.label_columns import ColumnReading
from shoal.results.summary import Concept, Generalisation
from shoal.terms.taxonomy import Taxonomy, subsumers

MISSING = "(missing)"
MOST = 150  # concepts of one tree; the least used ones are left out of a picture that nobody could read

Ints = NDArray[np.int64]


def concept_tree(
    taxonomy: Taxonomy, labels: Mapping[int, str], before: Ints, after: Ints, k: int
) -> tuple[tuple[Concept, ...], int]:
    """The lines of the tree from the top, and of how many records, about, it does not tell what they had.

    `before` and `after` are each record's concept, negative for a missing value; `labels` names the concepts.
    """
    had, has = _counts(before), _counts(after)
    publishable = _published(had, k)
    named = sorted({*has, *publishable}, key=lambda one: (-has.get(one, 0), -had.get(one, 0), one))[:MOST]
    inside = np.array([concept for concept in named if concept >= 0], dtype=np.int64)
    # Where branches meet, so that the tree shows what is near to what.
    joints = np.unique(subsumers(taxonomy, inside, inside)) if len(inside) else inside
    shown = np.union1d(inside, joints)
    children: dict[int | None, list[int]] = {}
    for concept in shown.tolist():
        children.setdefault(_parent(taxonomy, concept, shown), []).append(concept)

    def line(concept: int, level: int, label: str) -> Concept:
        records = publishable.get(concept) if concept in had else 0
        return Concept(label, level, records and _in_crowds(records, k), has.get(concept, 0))

    lines: list[Concept] = []

    def walk(concept: int, level: int) -> None:
        lines.append(line(concept, level, labels[concept]))
        for child in sorted(children.get(concept, []), key=lambda one: (-weight[one], labels[one])):
            walk(child, level + 1)

    weight = {concept: _weight(concept, children, has) for concept in shown.tolist()}
    for top in sorted(children.get(None, []), key=lambda one: (-weight[one], labels[one])):
        walk(top, 0)
    if any(concept < 0 for concept in named):
        lines.append(line(-1, 0, MISSING))
    counted = publishable.keys() & {*shown.tolist(), *named}
    left_out = sum(records for concept, records in had.items() if concept not in counted)
    return tuple(lines), _in_crowds(left_out, k)


def _in_crowds(records: int, k: int) -> int:
    """The nearest multiple of k; none only where there is none."""
    return max((2 * records + k) // (2 * k) * k, k if records else 0)


def _published(had: Mapping[int, int], k: int) -> dict[int, int]:
    """The counts that may be published: none below k, and those left out add up to none or to k and more."""
    publishable = {concept: records for concept, records in had.items() if records >= k}
    left_out = sum(had.values()) - sum(publishable.values())
    if 0 < left_out < k and publishable:
        del publishable[min(publishable, key=lambda concept: (publishable[concept], concept))]
    return publishable


def _counts(concepts: Ints) -> dict[int, int]:
    found, counts = np.unique(np.maximum(concepts, -1), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def _parent(taxonomy: Taxonomy, concept: int, shown: Ints) -> int | None:
    """The deepest of the shown concepts above this one; the lowest number of several."""
    start, stop = taxonomy.ancestor_indptr[concept : concept + 2]
    above = [one for one in np.intersect1d(taxonomy.ancestors[start:stop], shown).tolist() if one != concept]
    return max(above, key=lambda one: (int(taxonomy.depth[one]), -one)) if above else None


def _weight(concept: int, children: Mapping[Any, list[int]], has: Mapping[int, int]) -> int:
    return has.get(concept, 0) + sum(_weight(child, children, has) for child in children.get(concept, []))


ANY = "any value"  # what stands above values without structure, such as numbers or truth values


def generalisation(
    reading: ColumnReading, moves: Mapping[tuple[int, int], int], spelt: Mapping[int, str], k: int, publishable: bool
) -> Generalisation:
    """`moves` counts records by their concepts before and after, `spelt` has how concepts are written."""
    ontology: Any = reading.ontology

    class Labels(dict[int, str]):
        def __missing__(self, concept: int) -> str:
            label = None if concept < 0 else ontology.label(concept)
            return MISSING if concept < 0 else ANY if label is None else str(label)

    pairs, counts = np.array(list(moves), dtype=np.int64), np.array(list(moves.values()), dtype=np.int64)
    before, after = (np.repeat(side, counts) for side in pairs.T)
    lines, unnamed = concept_tree(ontology.taxonomy, Labels(spelt), before, after, k)
    mean_move = round(float(reading.moved(*pairs.T) @ counts) / counts.sum(), 4) if publishable else None
    return Generalisation(reading.name, lines, unnamed, mean_move)
