"""Columns of labels: their values as concepts, and how far everything that may stand for them is from them.

A column is read with an ontology: WordNet, a hierarchy, or, for numbers, dates and truth values, a set without
structure. Messages give columns and counts, never what a cell holds: that is confidential.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from shoal.data.columns import MISSING, is_text
from shoal.data.files import counted, shown
from shoal.data.frames import columns_of
from shoal.errors import InputError
from shoal.kernels.grouping.labels import ONE, Concepts, represent
from shoal.methods.estimator import refuse_lazy
from shoal.terms.taxonomy import Taxonomy, build_taxonomy, distances, segments
from shoal.terms.value_mapping import ABSENT_VALUE, mappings_of
from shoal.terms.wordnet import WordNet

Ints = NDArray[Any]
Floats = NDArray[np.float64]

# Concepts that no taxonomy has, each right below the root: a missing value, and a number not seen before.
ABSENT, UNSEEN = -1, -2
LARGEST = 100_000_000  # pairs of a concept and a value that are compared for one column
VECTOR_LENGTH = 16  # of a vector; enough to send like rows to one block


class Flat:
    """An ontology of a root and the given values below it. Two different values are all alike."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = sorted(values)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        # Named by their place: so their order is that of the values, whatever these are.
        names = [*(f"{number:09d}" for number in range(len(self.values))), "the root"]
        return build_taxonomy(names, np.array([(number, len(self.values)) for number in range(len(self.values))]))

    def senses(self, value: Any) -> tuple[int, ...]:
        """The value's place; none when it was not among the given ones."""
        number = self._place.get(value)
        return () if number is None else (number,)

    def concept(self, name: Any) -> int | None:
        """The same as a number, or None."""
        return self._place.get(name)

    def label(self, concept: int) -> Any:
        """The value; None, any value, for the root."""
        return self.values[concept] if concept < len(self.values) else None

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {value: number for number, value in enumerate(self.values)}


class Equals(Flat):
    """A set of values that are equal or not, and nothing else: the most frequent one stands for several.

    The more frequent of two that are equally frequent in a group is the one that more records of the whole table have.
    """

    def __init__(self, values: pa.Array, counts: NDArray[np.int64]) -> None:
        pairs = zip(values.to_pylist(), counts.tolist(), strict=True)
        given = [(-count, value) for value, count in pairs if value is not None]
        self.values = [value for _, value in sorted(given)]


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
class ColumnReading:
    """How the values of one column become concepts, now and for rows that come later."""

    name: str
    ontology: Ontology
    mapping: Mapping[str, str] = field(default_factory=dict)

    def concepts(self, values: Sequence[Any]) -> tuple[list[int | None], int]:
        """The concept of each value (None: unknown), and how many are mapped to a concept that is not there."""
        concepts: list[int | None] = []
        astray = 0
        for value in values:
            text = _text(value)
            if self.mapping.get(text) == ABSENT_VALUE:
                concepts.append(ABSENT)
            elif text in self.mapping:
                concepts.append(self.ontology.concept(self.mapping[text]))
                astray += concepts[-1] is None
            elif _is_absent(value):
                concepts.append(ABSENT)
            elif isinstance(self.ontology, Flat):
                concepts.append((*self.ontology.senses(value), UNSEEN)[0])
            else:
                concepts.append((*self.ontology.senses(text), None)[0])
        return concepts, astray

    def encode(self, column: pa.Array) -> Encoded:
        """Each row's concept; values that are unknown are refused."""
        encoded = column.dictionary_encode(null_encoding="encode")
        values, value_of_row = encoded.dictionary.to_pylist(), np.asarray(encoded.indices)
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
                f"({{option}}), map them with `shoal map INPUT {name} -o mapping.csv`, or give a hierarchy "
                "of your own with {option}",
                (f"categorical {name}", "ontology"),
            )
        distinct, code_of_value = np.unique(np.array(concepts, dtype=np.int64), return_inverse=True)
        return Encoded(distinct, code_of_value[value_of_row], values, code_of_value, np.bincount(value_of_row))

    def distances(self, a: Ints, b: Ints) -> Floats:
        """1 - Wu-Palmer similarity of each concept of a with each of b, concepts outside the taxonomy included.

        Plain categories are 0 apart if they are equal, else 1: so are they from whatever stands above them all.
        """
        if isinstance(self.ontology, Equals):
            return np.where(a[:, None] == b[None, :], 0.0, 1.0)
        distance = distances(self.ontology.taxonomy, np.maximum(a, 0), np.maximum(b, 0))
        up_a, up_b = self._links_to_root(a), self._links_to_root(b)
        outside = (a < 0)[:, None] | (b < 0)[None, :]
        both = up_a[:, None] + up_b[None, :]
        same = (a == ABSENT)[:, None] & (b == ABSENT)[None, :]
        distance = np.where(outside, both / (both + 2.0), distance)
        return np.where(same, 0.0, distance)

    def moved(self, before: Ints, after: Ints) -> Floats:
        """The distance of each concept to the one beside it."""
        (a, of_a), (b, of_b) = (np.unique(side, return_inverse=True) for side in (before, after))
        moves: Floats = self.distances(a, b)[of_a, of_b]
        return moves

    def _links_to_root(self, concepts: Ints) -> Ints:
        taxonomy = self.ontology.taxonomy
        entries, _ = segments(taxonomy.ancestor_indptr, np.maximum(concepts, 0))
        up = taxonomy.links[entries][taxonomy.ancestors[entries] == taxonomy.root]
        return np.where(concepts < 0, 1, up)


@dataclass(frozen=True)
class Labels:
    """A column as codes, and everything that may stand for its values, the deeper concept first, then by name."""

    reading: ColumnReading
    codes: Ints  # (n,) each row's value, numbered in the order of the concepts' names; a missing one comes first
    concepts: Ints  # (c,) numbers in the taxonomy, ABSENT for a missing value
    concept_of_value: Ints  # (v,) place of a value's own concept among them
    distance: Floats  # (c, v)
    spelling: dict[int, Any]  # place among `concepts`: how the rows spell it

    @cached_property
    def labels(self) -> list[Any]:
        """What a release shows for each concept; None for a missing value."""
        return [
            None if concept == ABSENT else self.spelling.get(position, self.reading.ontology.label(int(concept)))
            for position, concept in enumerate(self.concepts)
        ]

    def centroid(self, counts: Ints) -> tuple[int, float]:
        """The centroid of the column, given the number of records per value, and their root mean square distance to it.

        That is 1 where all are equal, to be divided by.
        """
        values = np.arange(len(counts))
        centre = represent(pack([self]), values[:, None], counts, np.zeros_like(values))[0, 0]
        mean_square = float(np.average(self.distance[centre] ** 2, weights=counts))
        return int(self.concepts[centre]), float(np.sqrt(mean_square)) if mean_square > 0 else 1.0


def label_column(reading: ColumnReading, column: pa.Array, k: int) -> Labels:
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
        spelling=_spellings(encoded, own, k) if is_text(column.type) else {},
    )


def centroid_of(reading: ColumnReading, values: pa.Array, counts: Ints) -> tuple[int, float]:
    """As `Labels.centroid`, for distinct values and the number of records that have each."""
    labels = label_column(reading, values, 1)
    return labels.centroid(np.bincount(labels.codes, weights=counts).astype(np.int64))


def labels_of(columns: Sequence[Labels], concepts: Ints) -> NDArray[Any]:
    """The labels of concepts given by their places: (g, m) of text, numbers or None."""
    labels = np.empty(concepts.shape, dtype=object)
    for attribute, column in enumerate(columns):
        labels[:, attribute] = [column.labels[number] for number in concepts[:, attribute]]
    return labels


def pack(columns: Sequence[Labels]) -> Concepts:
    """The columns side by side, as the kernels take them."""
    m = len(columns)
    c = max((len(column.concepts) for column in columns), default=1)
    v = max((len(column.concept_of_value) for column in columns), default=1)
    packed = Concepts(
        distance=np.zeros((m, v, c), np.int32),
        links=np.full((m, v, c), -1, np.int16),
        above=np.zeros((m, c, c), np.bool_),
        depth=np.zeros((m, c), np.int32),
        n_concepts=np.array([len(column.concepts) for column in columns], np.int64),
        concept_of_value=np.zeros((m, v), np.int64),
    )
    for attribute, column in enumerate(columns):
        n_concepts, n_values = column.distance.shape
        taxonomy = column.reading.ontology.taxonomy
        packed.distance[attribute, :n_values, :n_concepts] = np.rint(column.distance * ONE).T
        packed.depth[attribute, :n_concepts] = _depth(taxonomy, column.concepts)
        packed.concept_of_value[attribute, :n_values] = column.concept_of_value
        links = _links_up(taxonomy, column.concepts)  # (upper, lower)
        packed.above[attribute, :n_concepts, :n_concepts] = links >= 0
        packed.links[attribute, :n_values, :n_concepts] = links[:, column.concept_of_value].T
    return packed


def _spellings(encoded: Encoded, concept_of_code: Ints, k: int) -> dict[int, Any]:
    """The most frequent text of each concept that has one with at least k rows."""
    best: dict[int, tuple[int, str]] = {}
    concept_of_value = concept_of_code[encoded.code_of_value]
    for text, concept, count in zip(encoded.values, concept_of_value.tolist(), encoded.counts.tolist(), strict=True):
        if text is not None and count >= k:
            best[concept] = min(best.get(concept, (-count, text)), (-count, text))
    return {concept: text for concept, (_, text) in best.items()}


def _links_up(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    """Links from the second concept up to the first, -1 where the first is not above it: (c, c)."""
    links_up = np.full((len(concepts), len(concepts)), -1, np.int16)
    position_of = np.full(len(taxonomy), -1, np.int64)
    inside = np.flatnonzero(concepts >= 0)
    position_of[concepts[inside]] = inside
    entries, counts = segments(taxonomy.ancestor_indptr, concepts[inside])
    links_up[position_of[taxonomy.ancestors[entries]], np.repeat(inside, counts)] = taxonomy.links[entries]
    for position in np.flatnonzero(concepts < 0):
        links_up[position, position] = 0
        links_up[position_of[taxonomy.root], position] = 1
    return links_up


def _depth(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    return np.where(concepts < 0, 2, taxonomy.depth[np.maximum(concepts, 0)])


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in MISSING)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _named(ontology: Any) -> str:
    return "WordNet" if type(ontology).__name__ == "WordNet" else "the hierarchy"


def checked_columns(estimator: Any, X: Any, reset: bool) -> tuple[list[str], list[pa.Array]]:
    """The names and the columns of X, as scikit-learn wants an estimator to look at its input."""
    refuse_lazy(X)
    is_frame = isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
    if is_frame:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:
        X = validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
    numbers = [str(number) for number in range(estimator.n_features_in_)]
    names = [str(name) for name in getattr(estimator, "feature_names_in_", numbers)]
    columns = columns_of(X, names)
    if not columns or not len(columns[0]):
        rows = len(columns[0]) if columns else 0
        raise InputError(
            f"{counted(len(columns), 'column')} and {rows} rows (n_samples={rows}); both must be at least 1"
        )
    return names, columns


def column_readings(
    names: Sequence[str], columns: Sequence[pa.Array], ontology: Any, mapping: Any
) -> list[ColumnReading]:
    """How each column is read: its ontology, by default WordNet for text and a flat set for anything else."""
    given = ontology if isinstance(ontology, Mapping) else {}
    astray = [shown(str(name)) for name in given if name not in names]
    if astray:
        listed = ", ".join(astray[:5])
        raise InputError(f"ontology names {counted(len(astray), 'column')} that is not there: {listed}; correct it")
    for_text = None if isinstance(ontology, Mapping) else ontology
    mappings = mappings_of(mapping, names)
    readings = []
    for name, column in zip(names, columns, strict=True):
        own = given.get(name)
        if own is None and is_text(column.type):
            for_text = _wordnet() if for_text is None else for_text
            own = for_text
        own = Flat(_numbers(column)) if own is None else own
        readings.append(ColumnReading(name, own, {} if isinstance(own, Flat) else mappings[name]))
    return readings


@cache
def _wordnet() -> WordNet:
    """Read once: it never changes, and reading it takes longer than most tables."""
    return WordNet()


def _numbers(column: pa.Array) -> list[Any]:
    return list(
        np.unique(np.array([value for value in column.unique().to_pylist() if value is not None], dtype=object))
    )


def embedded(taxonomy: Taxonomy, concepts: Ints) -> Floats:
    """A vector of about length 1 for each concept: the sum of the directions of its ancestors, itself included.

    A concept outside the taxonomy (below 0) has the root above it and a direction of its own.
    """
    vectors = np.empty((len(concepts), VECTOR_LENGTH))
    for row, concept in enumerate(concepts.tolist()):
        outside = [taxonomy.root, len(taxonomy) - concept]
        above = outside if concept < 0 else taxonomy.ancestors_of(concept).tolist()
        vectors[row] = sum(map(_direction, above)) / np.sqrt(len(above))
    return vectors


def embedded_values(n_values: int) -> Floats:
    """As `embedded`, of values right below a root, and of a missing one, which comes last."""
    below = [*range(n_values), n_values + 2]
    return np.array([(_direction(value) + _direction(n_values)) / np.sqrt(2) for value in below])


def _direction(concept: int) -> Floats:
    """The same for a concept on every machine."""
    direction: Floats = np.random.default_rng(concept).choice([-1.0, 1.0], size=VECTOR_LENGTH) / np.sqrt(VECTOR_LENGTH)
    return direction
