"""Rows of a table before and after masking, and what a method for tables can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.kinds.number_forms import NumberForm
from shoal.data.roles import Roles
from shoal.methods.blocks.grouping import Plan
from shoal.methods.numeric import group_means
from shoal.promises.joining import GroupDistances
from shoal.terms.wordnet import WordNet

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ANY = "*"  # any value of a column whose values have nothing above them
MISSING = "(missing)"  # a missing value, where it is shown beside others
BETWEEN = " | "  # the values of a set
BLOCK_ROWS = 12_500  # rows of a block, where they come in parts
ARRAYS = ("numbers", "gaps", "names", "person", "own_k", "records")  # of rows, those beside the columns
LEAST_PRESENT = 2  # values behind a published mean: that of one would be that one


@dataclass(frozen=True)
class TableLayout:
    """What holds for the whole table: columns, their types, and the scale on which rows are compared."""

    roles: Roles
    schema: pa.Schema  # of the released columns that stay as they are, and of quasi-identifiers that are labels
    numbers: tuple[str, ...]  # quasi-identifiers with numbers behind them
    labels: tuple[str, ...]  # and those that are labels
    forms: tuple[NumberForm, ...]  # how the numbers are written
    mean: Floats  # of the numbers
    scale: Floats
    constant: Mask  # columns of one value
    lowest: Floats
    highest: Floats
    squares: Floats  # the sum of squared deviations from the mean
    largest_square: Floats
    released: tuple[str, ...]  # columns of the release, in the file's order
    recoded: frozenset[str] = frozenset()  # columns whose values were made coarser before all else
    kept: tuple[str, ...] = ()  # quasi-identifiers that are true in every row: groups never cross them
    unit: str | None = None  # the column with a new number for each person or household, the last of the release
    categories: frozenset[str] = frozenset()  # labels without meaning: the most frequent one stands for a group
    has_gaps: bool = False  # some numbers are missing; they stand as the mean of their column
    averaged: bool = True  # the numbers of a group become its mean or median
    # Of the numbers that have gaps which count as values of their own: columns, shares of gaps, and their deviation.
    gap_columns: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    gap_mean: Floats = field(default_factory=lambda: np.empty(0))
    gap_scale: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def masked(self) -> tuple[str, ...]:
        """The quasi-identifiers that a method masks: all but the kept ones."""
        return tuple(name for name in self.roles.quasi if name not in self.kept)

    def standardised(self, numbers: Floats) -> Floats:
        """Numbers on the scale on which rows are compared."""
        standard: Floats = (numbers - self.mean) / self.scale
        return standard


@dataclass(frozen=True)
class TableRows:
    """Rows of a table: the numbers that are protected, the other columns as they came, and what each row belongs to."""

    numbers: Floats  # (rows, numbers); a gap stands as the mean of its column
    gaps: Mask | None  # (rows, numbers); None where no number of the table is missing
    columns: Mapping[str, pa.Array]  # labels, confidential and insensitive columns
    names: NDArray[Any]  # file and row
    person: Ints | None = None  # whose each row is, where a crowd is of people
    own_k: Ints | None = None  # the k that each row asks for
    records: NDArray[Any] | None = None  # the id of each row's record, where a column has it

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Ints) -> TableRows:
        """Some of the rows, in that order."""
        chosen = pa.array(rows)
        arrays = {name: values[rows] for name in ARRAYS if (values := getattr(self, name)) is not None}
        return replace(self, columns={name: column.take(chosen) for name, column in self.columns.items()}, **arrays)


@dataclass(frozen=True)
class MaskedLabels:
    """A column of labels: what is released, and each row's concept before and after."""

    released: pa.Array
    before: Ints
    after: Ints


@dataclass(frozen=True)
class MaskedRows:
    """Rows with their quasi-identifiers masked; numbers neither coarsened nor rounded yet."""

    rows: TableRows
    numbers: Floats  # (rows, numbers)
    labels: Mapping[str, MaskedLabels]
    gaps: Mask | None = None  # (rows, numbers): a gap stands for the group


@dataclass(frozen=True)
class AttackedColumns:
    """Labels before and after as an attacker takes them, and what relates the two."""

    before: Mapping[str, pa.Array]
    after: Mapping[str, pa.Array]
    ontology: Any
    numbers: tuple[str, ...] = ()  # columns that are numbers here


def joined_rows(pieces: Sequence[MaskedRows]) -> MaskedRows:
    """The rows of all pieces, one piece after the other."""
    rows = [piece.rows for piece in pieces]

    def stacked(arrays: Sequence[Any]) -> Any:
        return None if arrays[0] is None else np.concatenate(arrays)

    def joined(columns: Sequence[pa.Array]) -> pa.Array:
        return pa.chunked_array(columns).combine_chunks()

    return MaskedRows(
        TableRows(
            columns={name: joined([piece.columns[name] for piece in rows]) for name in rows[0].columns},
            **{name: stacked([getattr(piece, name) for piece in rows]) for name in ARRAYS},
        ),
        np.concatenate([piece.numbers for piece in pieces]),
        {
            name: MaskedLabels(
                joined([piece.labels[name].released for piece in pieces]),
                stacked([piece.labels[name].before for piece in pieces]),
                stacked([piece.labels[name].after for piece in pieces]),
            )
            for name in pieces[0].labels
        },
        stacked([piece.gaps for piece in pieces]),
    )


class TableMethod(ABC):
    """Rows in, groups and masked rows out. `prepared` fits the method to a table; the rest needs no other rows."""

    name: str  # in words
    k: int  # 1 when no crowd is promised
    averages: bool = True  # released numbers are means, which are rounded
    k_anonymous: bool = True
    together: tuple[tuple[str, ...], ...]  # columns whose values at least k rows share; set by `prepared`
    layout: TableLayout  # of the table; set by `prepared`

    def prepared(self, layout: TableLayout, values: Mapping[str, tuple[pa.Array, Ints]]) -> Self:
        """The method for a table; `values` has the different labels of each column and their counts."""
        ready = copy(self)
        ready.layout, ready.together = layout, (layout.roles.quasi,)
        return ready

    @abstractmethod
    def group(self, rows: TableRows) -> tuple[Ints, float]:
        """The group of each row, and the least SSE that any groups could have; 0 if that is not known."""

    @abstractmethod
    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        """How far the centre of some rows is from some groups."""

    @abstractmethod
    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        """The rows with the representatives of their groups."""

    @property
    def shared_columns(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns whose values at least k rows share; kept ones and weights belong to each."""
        kept, roles = self.layout.kept, self.layout.roles
        return tuple(
            (*(name for name in roles.quasi if name in columns or name in kept), *roles.weight)
            for columns in self.together
        )

    def coarser(self, name: str, labels: MaskedLabels) -> int:
        """How many cells of a column of labels show something that is above the original."""
        return 0

    def attacked_columns(
        self, rows: TableRows, labels: Mapping[str, MaskedLabels], released: pa.Table, ontology: Any
    ) -> AttackedColumns:
        """The columns of labels as an attacker takes them; without an ontology WordNet masked them."""
        layout = self.layout
        if layout.categories:  # which are equal or not
            by_meaning = [name for name in labels if name not in layout.categories]
            given = ontology if isinstance(ontology, Mapping) else dict.fromkeys(by_meaning, ontology)
            ontology = {name: given.get(name) or WordNet() for name in by_meaning}
        elif ontology is None and (layout.labels or layout.kept):
            ontology = WordNet()
        return AttackedColumns(rows.columns, {name: released[name] for name in labels}, ontology)

    def squares(self, masked: MaskedRows, released: Floats) -> tuple[float, float]:
        """SSE of the released rows, and SST: the squared distances of the rows to the centre of all."""
        before = coordinates(masked.rows.numbers, masked.rows.gaps, self.layout)
        after = coordinates(released, masked.gaps, self.layout)
        sse = float(np.sum((before - after) ** 2))
        return sse, sse + float(np.sum(after**2))

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Of the method, as far as they may be published."""

    @abstractmethod
    def block_plan(self, n_rows: int) -> Plan:
        """How a table of so many rows that comes in parts is cut into blocks."""

    def block_coordinates(self, rows: TableRows) -> Floats:
        """Rows in which near ones are alike, to cut a table into blocks by."""
        return coordinates(rows.numbers, rows.gaps, self.layout)


def gap_coordinates(gaps: Mask | None, layout: TableLayout, n_rows: int) -> Floats:
    """Which values are missing, on the scale of the numbers: a column for each that has gaps which count as values."""
    if gaps is None or not len(layout.gap_columns):
        return np.empty((n_rows, 0))
    scaled: Floats = (gaps[:, layout.gap_columns] - layout.gap_mean) / layout.gap_scale
    return scaled


def coordinates(numbers: Floats, gaps: Mask | None, layout: TableLayout) -> Floats:
    """Rows as points: their numbers, and which of them are missing."""
    standard = layout.standardised(numbers)
    return standard if gaps is None else np.column_stack([standard, gap_coordinates(gaps, layout, len(numbers))])


def group_numbers(rows: TableRows, group_of_row: Ints, layout: TableLayout) -> tuple[Floats, Mask | None]:
    """The numbers that stand for each row's group: mean or median; and where a gap does."""
    values, groups, gaps = rows.numbers, group_of_row, rows.gaps
    if not values.shape[1]:
        return np.empty((len(groups), 0)), None
    middle = group_means(values, groups)
    for column, form in enumerate(layout.forms):
        if form.median:
            middle[:, column] = _medians(values[:, column], groups)
    if gaps is None:
        return middle[groups], None
    sizes = np.bincount(groups)
    gone = np.zeros_like(middle, dtype=bool)
    for column in np.flatnonzero(gaps.any(axis=0)).tolist():
        known = ~gaps[:, column]
        present = np.bincount(groups, weights=known)
        enough = (present >= LEAST_PRESENT) & (2 * present >= sizes)
        if layout.forms[column].median:
            own = _medians(values[:, column], groups, gaps[:, column])
        else:
            sums = np.bincount(groups, weights=np.where(known, values[:, column], 0.0))
            own = np.divide(sums, present, out=np.zeros_like(sums), where=present > 0)
        middle[:, column] = np.where(enough, own, middle[:, column])
        if len(layout.gap_columns):  # a gap is a value; else it is filled, by the column's mean where few have a value
            gone[:, column] = ~enough
            middle[gone[:, column], column] = layout.mean[column]
    return middle[groups], gone[groups]


def _medians(values: Floats, groups: Ints, gaps: Mask | None = None) -> Floats:
    """The lower median of each group, of the values that are there; any value where none is."""
    sizes = np.bincount(groups)
    filled = values if gaps is None else np.where(gaps, np.inf, values)
    order = np.lexsort((filled, groups))
    known = sizes if gaps is None else np.bincount(groups, weights=~gaps).astype(np.int64)
    first = np.cumsum(sizes) - sizes
    middle: Floats = values[order[first + np.maximum(known - 1, 0) // 2]]
    return middle


def spelt(label: Any) -> str:
    """A label as text; whole numbers as such, whatever their type, and truth values as files write them."""
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
