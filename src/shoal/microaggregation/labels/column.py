"""A categorical column: its values as concepts, and how far everything that may stand for them is from them.

Messages give columns and counts, never what a cell holds: that is confidential.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.columns import is_text
from shoal.io.delimited import MISSING
from shoal.io.files import counted, shown
from shoal.kernels.grouping.concepts import ONE, Concepts, represent
from shoal.microaggregation.labels.unordered import Equals, Flat
from shoal.ontology import Taxonomy, distances
from shoal.ontology.taxonomy import segments
from shoal.ontology.value_mapping import ABSENT_VALUE

__all__ = ["Labels", "Ontology", "Reading", "centroid_of", "label_column", "pack"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

# Concepts that no taxonomy has, each right below the root: a missing value, and a number not seen before.
ABSENT, UNSEEN = -1, -2
LARGEST = 100_000_000  # pairs of a concept and a value that are compared for one column


class Ontology(Protocol):
    """What a column needs to know of an ontology."""

    @property
    def taxonomy(self) -> Taxonomy:
        """Its concepts as arrays."""

    def senses(self, word: str) -> tuple[int, ...]:
        """The concepts of a value, the first listed first."""

    def concept(self, name: str) -> int | None:
        """The concept with this name."""

    def label(self, concept: int) -> Any:
        """What a release shows."""


class Encoded(NamedTuple):
    """A column as concepts."""

    concepts: Ints  # the different ones, rising
    codes: Ints  # (n,) the place of each row's among them
    values: list[Any]  # the different values
    code_of_value: Ints  # the place of their concepts
    counts: Ints  # and how many rows have each


@dataclass(frozen=True)
class Reading:
    """How the values of one column become concepts, now and for rows that come later."""

    name: str
    ontology: Ontology
    mapping: Mapping[str, str] = field(default_factory=dict)

    def concepts(self, values: Sequence[Any]) -> tuple[list[int | None], int]:
        """The concept of each value (None: unknown), and how many are mapped to a concept that is not there."""
        found: list[int | None] = []
        astray = 0
        for value in values:
            text = _text(value)
            if self.mapping.get(text) == ABSENT_VALUE:
                found.append(ABSENT)
            elif text in self.mapping:
                found.append(self.ontology.concept(self.mapping[text]))
                astray += found[-1] is None
            elif _is_absent(value):
                found.append(ABSENT)
            elif isinstance(self.ontology, Flat):
                found.append((*self.ontology.senses(value), UNSEEN)[0])
            else:
                found.append((*self.ontology.senses(text), None)[0])
        return found, astray

    def encode(self, column: pa.Array) -> Encoded:
        """Each row's concept; values that are unknown are refused."""
        encoded = column.dictionary_encode(null_encoding="encode")
        values, places = encoded.dictionary.to_pylist(), np.asarray(encoded.indices)
        concepts, astray = self.concepts(values)
        where, those = f"column {shown(self.name)}", _named(self.ontology)
        if astray:
            raise InputError(
                f"{where}: the mapping gives {counted(astray, 'value')} a concept that {those} has not; correct it"
            )
        unknown = np.array([concept is None for concept in concepts], dtype=bool)
        if unknown.any():
            name = shlex.quote(shown(self.name))
            raise InputError(
                f"{where}: {counted(int(unknown.sum()), 'value')} not in {those}; take all as plain categories "
                f"(--categorical {name}), map them with `shoal map INPUT {name} -o mapping.csv`, or give a hierarchy "
                "of your own with --ontology"
            )
        distinct, place_of_value = np.unique(np.array(concepts, dtype=np.int64), return_inverse=True)
        return Encoded(distinct, place_of_value[places], values, place_of_value, np.bincount(places))

    def distances(self, a: Ints, b: Ints) -> Floats:
        """1 - Wu-Palmer similarity of each concept of a with each of b, concepts outside the taxonomy included.

        Plain categories are 0 apart if they are equal, else 1: so are they from whatever stands above them all.
        """
        if isinstance(self.ontology, Equals):
            return np.where(a[:, None] == b[None, :], 0.0, 1.0)
        found = distances(self.ontology.taxonomy, np.maximum(a, 0), np.maximum(b, 0))
        up_a, up_b = self._links_to_root(a), self._links_to_root(b)
        outside = (a < 0)[:, None] | (b < 0)[None, :]
        both = up_a[:, None] + up_b[None, :]
        same = (a == ABSENT)[:, None] & (b == ABSENT)[None, :]
        found = np.where(outside, both / (both + 2.0), found)
        return np.where(same, 0.0, found)

    def moved(self, before: Ints, after: Ints) -> Floats:
        """The distance of each concept to the one beside it."""
        (a, of_a), (b, of_b) = (np.unique(side, return_inverse=True) for side in (before, after))
        moves: Floats = self.distances(a, b)[of_a, of_b]
        return moves

    def _links_to_root(self, concepts: Ints) -> Ints:
        taxonomy = self.ontology.taxonomy
        places, _ = segments(taxonomy.ancestor_indptr, np.maximum(concepts, 0))
        up = taxonomy.links[places][taxonomy.ancestors[places] == taxonomy.root]
        return np.where(concepts < 0, 1, up)


@dataclass(frozen=True)
class Labels:
    """A column as codes, and everything that may stand for its values, the deeper concept first, then by name."""

    reading: Reading
    codes: Ints  # (n,) each row's value, numbered in the order of the concepts' names; a missing one comes first
    concepts: Ints  # (c,) numbers in the taxonomy, ABSENT for a missing value
    concept_of_value: Ints  # (v,) place of a value's own concept among them
    distance: Floats  # (c, v)
    spelling: dict[int, Any]  # place among `concepts`: how the rows spell it

    @cached_property
    def labels(self) -> list[Any]:
        """What a release shows for each concept; None for a missing value."""
        return [
            None if concept == ABSENT else self.spelling.get(place, self.reading.ontology.label(int(concept)))
            for place, concept in enumerate(self.concepts)
        ]

    def centroid(self, counts: Ints) -> tuple[int, float]:
        """The concept in the middle of so many records of each value, and their root mean square distance to it.

        That is 1 where all are equal, to be divided by.
        """
        values = np.arange(len(counts))
        place = represent(pack([self]), values[:, None], counts, np.zeros_like(values))[0, 0]
        mean_square = float(np.average(self.distance[place] ** 2, weights=counts))
        return int(self.concepts[place]), float(np.sqrt(mean_square)) if mean_square > 0 else 1.0


def label_column(reading: Reading, column: pa.Array, k: int) -> Labels:
    """A column with all that may stand for it: its values' concepts and whatever is above these.

    A concept is spelt as the column spells it most often, if at least k rows do; else as the ontology does.
    """
    encoded = reading.encode(column)
    values = encoded.concepts
    taxonomy = reading.ontology.taxonomy
    inside = values[values >= 0]
    above = np.unique(taxonomy.ancestors[segments(taxonomy.ancestor_indptr, inside)[0]]) if len(inside) else ()
    concepts = np.union1d(np.asarray(above, dtype=np.int64), values)
    if taxonomy.root not in concepts:
        concepts = np.append(concepts, taxonomy.root)
    if len(concepts) * len(values) > LARGEST:
        raise InputError(
            f"column {shown(reading.name)}: {len(values)} different values are too many to compare with the "
            f"{len(concepts)} concepts above them; map them to fewer concepts, or give the column another role"
        )
    concepts = concepts[np.lexsort((concepts, -_depth(taxonomy, concepts)))]
    own = np.array([np.flatnonzero(concepts == value)[0] for value in values], dtype=np.int64)
    return Labels(
        reading=reading,
        codes=encoded.codes,
        concepts=concepts,
        concept_of_value=own,
        distance=reading.distances(concepts, values),
        spelling=_spellings(encoded, own, k) if is_text(column) else {},
    )


def centroid_of(reading: Reading, values: pa.Array, counts: Ints) -> tuple[int, float]:
    """As `Labels.centroid`, of a column that has so many records of each of these values."""
    labels = label_column(reading, values, 1)
    return labels.centroid(np.bincount(labels.codes, weights=counts).astype(np.int64))


def pack(columns: Sequence[Labels]) -> Concepts:
    """The columns side by side, as the kernels take them."""
    m = len(columns)
    c = max((len(one.concepts) for one in columns), default=1)
    v = max((len(one.concept_of_value) for one in columns), default=1)
    packed = Concepts(
        distance=np.zeros((m, v, c), np.int32),
        links=np.full((m, v, c), -1, np.int16),
        above=np.zeros((m, c, c), np.bool_),
        depth=np.zeros((m, c), np.int32),
        n_concepts=np.array([len(one.concepts) for one in columns], np.int64),
        concept_of_value=np.zeros((m, v), np.int64),
    )
    for place, one in enumerate(columns):
        n_concepts, n_values = one.distance.shape
        taxonomy = one.reading.ontology.taxonomy
        packed.distance[place, :n_values, :n_concepts] = np.rint(one.distance * ONE).T
        packed.depth[place, :n_concepts] = _depth(taxonomy, one.concepts)
        packed.concept_of_value[place, :n_values] = one.concept_of_value
        links = _links_up(taxonomy, one.concepts)  # (upper, lower)
        packed.above[place, :n_concepts, :n_concepts] = links >= 0
        packed.links[place, :n_values, :n_concepts] = links[:, one.concept_of_value].T
    return packed


def _spellings(encoded: Encoded, concept_of_code: Ints, k: int) -> dict[int, Any]:
    """The most frequent text of each concept that has one with at least k rows."""
    best: dict[int, tuple[int, str]] = {}
    places = concept_of_code[encoded.code_of_value]
    for text, place, count in zip(encoded.values, places.tolist(), encoded.counts.tolist(), strict=True):
        if text is not None and count >= k:
            best[place] = min(best.get(place, (-count, text)), (-count, text))
    return {place: text for place, (_, text) in best.items()}


def _links_up(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    """Links from the second concept up to the first, -1 where the first is not above it: (c, c)."""
    found = np.full((len(concepts), len(concepts)), -1, np.int16)
    place_of = np.full(len(taxonomy), -1, np.int64)
    inside = np.flatnonzero(concepts >= 0)
    place_of[concepts[inside]] = inside
    places, counts = segments(taxonomy.ancestor_indptr, concepts[inside])
    found[place_of[taxonomy.ancestors[places]], np.repeat(inside, counts)] = taxonomy.links[places]
    for place in np.flatnonzero(concepts < 0):
        found[place, place] = 0
        found[place_of[taxonomy.root], place] = 1
    return found


def _depth(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    return np.where(concepts < 0, 2, taxonomy.depth[np.maximum(concepts, 0)])


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in MISSING)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _named(ontology: Any) -> str:
    return "WordNet" if type(ontology).__name__ == "WordNet" else "the hierarchy"
