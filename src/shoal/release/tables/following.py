"""A table that goes on from an earlier release: who stays, left or is new; rows that were published stay so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.columns import equal_rows, holds_numbers, values_of
from shoal.data.files import shown
from shoal.data.parts import LoadedPart
from shoal.errors import InputError
from shoal.methods.blocks.grouping import Plan
from shoal.methods.following import Followed, ReleasedValues, follow
from shoal.methods.label_columns import ABSENT, Flat
from shoal.promises.joining import GroupDistances
from shoal.promises.values import value_codes
from shoal.release.private_mapping import Earlier
from shoal.release.tables.files import file_name
from shoal.release.tables.grouping import join_groups
from shoal.release.tables.labels import Concepts
from shoal.release.tables.rows import (
    ANY,
    Floats,
    Ints,
    Mask,
    MaskedLabels,
    MaskedRows,
    TableLayout,
    TableMethod,
    TableRows,
)
from shoal.request.options import DISTINCT, GroupPromises

WAITING = "fewer than k newcomers: they wait for a later release"
TOO_ALIKE = "newcomers with fewer than l values: coming later, among others, they would tell them"
WITHHELD = "others of the group left or have other values, which would show if these stayed"
RETURNED = "left an earlier release, or was withheld from one: nobody comes back"


@dataclass(frozen=True)
class FollowUp:
    """What is published again, and who is not."""

    rows: pa.Table  # of the earlier release
    row_of: dict[str, int]  # the row that is published of a record
    withheld: tuple[tuple[str, str], ...]  # row of the input and reason
    gone: tuple[str, ...]  # ids that may not come back
    seal: str
    grid: dict[str, float]  # on which the earlier means lie

    def steps(self, numbers: Sequence[str]) -> Floats:
        """The grid of each number; 0 for none."""
        return np.array([self.grid.get(name, 0.0) for name in numbers])

    def check_numbers(self, numbers: Sequence[str], quasi: Sequence[str]) -> None:
        """Refuse columns that are amounts in one release and something else in the other, dates and ordered labels."""
        for name in quasi:
            if (name in numbers) != holds_numbers(self.rows[name].type):
                raise InputError(
                    f"column {shown(name)}: a release can follow by plain numbers and labels, the same in both, not by "
                    "dates and ordered labels; start anew without {option}",
                    "after",
                )

    def check_kept(self, released: pa.Table, records: NDArray[Any] | None, quasi: Sequence[str]) -> None:
        """Refuse settings that would change a row that was published: rounded otherwise, or written otherwise."""
        assert records is not None
        kept = [(place, self.row_of[one]) for place, one in enumerate(records.tolist()) if one in self.row_of]
        places, rows = (pa.array(side) for side in zip(*kept, strict=True))
        for name in quasi:
            now, then = (_cells(table.take(some), [name]) for table, some in ((released, places), (self.rows, rows)))
            if (now != then).any():
                raise InputError(
                    f"column {shown(name)} would be released otherwise than before; give the options of the earlier "
                    "release, or start anew without {option}",
                    "after",
                )

    def parameters(self) -> dict[str, Any]:
        """What the certificate says of it."""
        return {"after": {"seal": self.seal, "kept": len(self.row_of)}}


def followed_up(loaded: LoadedPart, earlier: Earlier, k: int, promises: GroupPromises) -> tuple[LoadedPart, FollowUp]:
    """The rows of a table that are published after an earlier release, and what is published of them."""
    if loaded.records is None:
        raise InputError("matching records across releases needs an id column; name it with {option}", "id_column")
    l = None if promises.l is None else int(promises.l)
    _check_alike(loaded, earlier, k, l)
    place = {record: row for row, record in enumerate(loaded.records.tolist())}
    now = np.array([place.get(record, -1) for record in earlier.records.tolist()], dtype=np.int64)
    if not (now >= 0).any():
        raise InputError(
            "no record of the earlier release is in this table; give the ids it was made with, or start anew without "
            "{option}",
            "after",
        )
    quasi = earlier.columns("quasi")
    groups = equal_rows(earlier.rows, quasi)
    shown_columns = earlier.columns("confidential", "insensitive")
    shown = _ReleasedValues(earlier, loaded.table.data, now, k, l).shown() if shown_columns else None
    followed = follow(groups, now >= 0, k, _RowDistance(earlier.rows, groups, quasi), shown=shown)
    if not followed.kept.any():
        raise InputError(
            "of no group of the earlier release enough is left to go on; start anew without {option}", "after"
        )
    return _chosen(loaded, earlier, followed, _newcomers(loaded, earlier, k, l))


def _newcomers(loaded: LoadedPart, earlier: Earlier, k: int, l: int | None) -> tuple[list[int], dict[int, str]]:
    """The rows of newcomers that are published, and the reasons of those that are not."""
    assert loaded.records is not None
    known = {*earlier.records.tolist(), *earlier.gone}
    records = loaded.records.tolist()
    new = [row for row, record in enumerate(records) if record not in known]
    reasons = {row: RETURNED for row, record in enumerate(records) if record in earlier.gone}
    if 0 < len(new) < k:
        return [], reasons | dict.fromkeys(new, WAITING)
    if l is not None and new:
        some = loaded.table.data.select(list(loaded.roles.confidential)).take(pa.array(new))
        if any(_different(value_codes(values_of(column))) < l for column in some.columns):
            return [], reasons | dict.fromkeys(new, TOO_ALIKE)
    return new, reasons


def _chosen(
    loaded: LoadedPart, earlier: Earlier, followed: Followed, newcomers: tuple[list[int], dict[int, str]]
) -> tuple[LoadedPart, FollowUp]:
    assert loaded.records is not None
    place = {record: row for row, record in enumerate(loaded.records.tolist())}
    first = {int(group): row for row, group in reversed(list(enumerate(followed.old.tolist())))}
    old = np.flatnonzero(followed.kept)
    row_of = {earlier.records[row]: first[int(followed.group[row])] for row in old.tolist()}
    new, reasons = newcomers
    for record in earlier.records[followed.withheld].tolist():
        reasons[place[record]] = WITHHELD
    rows = np.array(sorted([*(place[record] for record in row_of), *new]), dtype=np.int64)
    left = earlier.records[~followed.kept].tolist()
    too_alike = [loaded.records[row] for row, reason in reasons.items() if reason == TOO_ALIKE]
    gone = sorted({*earlier.gone, *left, *too_alike})
    table = replace(loaded.table, data=loaded.table.data.take(pa.array(rows)))
    chosen = replace(loaded, table=table, rows=rows, records=loaded.records[rows])
    withheld = tuple((f"{row + 1}", reason) for row, reason in sorted(reasons.items()))
    stated = earlier.certificate["stated"]["parameters"]
    return chosen, FollowUp(earlier.rows, row_of, withheld, tuple(gone), earlier.seal, stated.get("rounded_to", {}))


class _ReleasedValues:
    """The values of published records that are released as they are, before and now."""

    def __init__(self, earlier: Earlier, table: pa.Table, place: Ints, k: int, l: int | None) -> None:
        """`place` is the row of each published record in the table; -1: it is not there."""
        self._k, self._l = k, l
        here = place >= 0
        confidential = earlier.columns("confidential")
        names = (*confidential, *earlier.columns("insensitive"))
        present = table.select(list(names)).take(pa.array(place[here]))
        self._before, self._now = _cells(earlier.rows, names), np.empty(len(place), dtype=object)
        self._now[here] = _cells(present, names)
        self._changed = here & (self._before != self._now)
        self._codes = [value_codes(values_of(earlier.rows[name])) for name in confidential]
        self._codes_now = [np.full(len(place), -1, dtype=np.int64) for _ in confidential]
        for name, codes in zip(confidential, self._codes_now, strict=True):
            codes[here] = value_codes(values_of(present[name]))

    def shown(self) -> ReleasedValues:
        l = 0 if self._l is None else self._l
        return ReleasedValues(self._changed, self._enough, self._enough_now, self._in_place, l * len(self._codes))

    def _enough(self, members: Mask) -> bool:
        return self._l is None or all(_different(codes[members]) >= self._l for codes in self._codes)

    def _enough_now(self, members: Mask) -> bool:
        return self._l is None or all(_different(codes[members]) >= self._l for codes in self._codes_now)

    def _in_place(self, left: Mask, changed: Mask) -> bool:
        """Whether at least k values vanish and k come, those that cancel aside, and there are l of each."""
        before, now = Counter(self._before[left | changed]), Counter(self._now[changed])
        return all(self._crowd(some) for some in (before - now, now - before))

    def _crowd(self, rows: Counter[tuple[str, ...]]) -> bool:
        columns = list(zip(*rows, strict=True))[: len(self._codes)]
        diverse = self._l is None or all(_different(value_codes(np.array(one))) >= self._l for one in columns)
        return rows.total() >= self._k and diverse


def _different(codes: Ints) -> int:
    return len(set(codes.tolist()) - {-1})


class _RowDistance:
    """How far the published rows of groups are apart: by what is published alone."""

    def __init__(self, rows: pa.Table, groups: Ints, quasi: Sequence[str]) -> None:
        first = np.unique(groups, return_index=True)[1]
        columns = [rows[name].take(pa.array(first)) for name in quasi]
        numbers = [column.cast(pa.float64()).to_numpy() for column in columns if holds_numbers(column.type)]
        labels = [values_of(column) for column in columns if not holds_numbers(column.type)]
        self._numbers = np.column_stack([np.zeros((len(first), 0)), *numbers])
        self._numbers /= np.where(self._numbers.std(axis=0) > 0, self._numbers.std(axis=0), 1.0)
        self._labels = np.column_stack([np.empty((len(first), 0), dtype=object), *labels])

    def __call__(self, one: int, others: Ints) -> Floats:
        moved = np.sum((self._numbers[others] - self._numbers[one]) ** 2, axis=1)
        differ: Floats = moved + np.sum(self._labels[others] != self._labels[one], axis=1)
        return differ


def _check_alike(loaded: LoadedPart, earlier: Earlier, k: int, l: int | None) -> None:
    """Refuse a release of other columns, of another k, of a smaller l or in another format."""
    if earlier.k is None:
        raise InputError(
            "the earlier release promises no crowd, so there is none to keep; start anew without {option}", "after"
        )
    if earlier.k != k:
        raise InputError(f"k={k}, and the earlier release has k={earlier.k}; give -k {earlier.k}, or start anew")
    kinds = {"closeness", "crowds"} & earlier.certificate["promises"].keys()
    if kinds or earlier.certificate["promises"]["diversity"].get("kind", DISTINCT) != DISTINCT:
        raise InputError("the earlier release promises more than k and distinct l, which cannot be kept; start anew")
    least = earlier.certificate["promises"]["diversity"]["l"]
    if least is not None and (l is None or l < least):
        raise InputError(
            f"the earlier release promises l={least:g}; give {{option}} or more, or start anew", f"l {least:g}"
        )
    if "coarsen" in earlier.certificate["stated"]["parameters"]:
        raise InputError(
            "the earlier release has coarsened columns, which cannot go on; start anew without {option}", "after"
        )
    roles = loaded.roles
    for role, columns in (
        ("quasi", roles.quasi),
        ("confidential", roles.confidential),
        ("insensitive", roles.insensitive),
    ):
        if set(columns) != set(earlier.columns(role)):
            odd = sorted(set(columns) ^ set(earlier.columns(role)))
            raise InputError(
                f"{role} columns differ from those of the earlier release ({', '.join(map(shown, odd[:5]))}); "
                "give the same, or start anew without {option}",
                "after",
            )
    now, before = file_name(loaded.table.format, loaded.table.dialect), file_name(earlier.format)
    if now != before:
        raise InputError(f"the earlier release is {before}, and this one would be {now}; give the same format")


def _cells(table: pa.Table, names: Sequence[str]) -> NDArray[Any]:
    """The cells of each row as they are written; a missing text is an empty one, and 1 is 1.0."""
    cells = np.empty(table.num_rows, dtype=object)
    cells[:] = list(zip(*([_written(one) for one in table[name].to_pylist()] for name in names), strict=True))
    return cells


def _written(value: Any) -> str:
    return "" if value is None else str(int(value) if isinstance(value, float) and value.is_integer() else value)


class Following(TableMethod):
    """Another method for newcomers, and for all others the row that is published of them already."""

    def __init__(self, newcomers: TableMethod, rows: pa.Table, row_of: Mapping[str, int], layout: TableLayout) -> None:
        """`rows` are published, and `row_of` says which is that of a record; whoever is not in it is a newcomer."""
        if not newcomers.k_anonymous:
            raise InputError(
                "a release that follows another keeps its crowds, and this method promises none; use microaggregation"
            )
        self.k = newcomers.k
        self.name = f"{newcomers.name}, after an earlier release"
        self.together = newcomers.together
        self.newcomers = newcomers
        self.layout = layout
        self._numbers: Floats = np.column_stack(
            [np.zeros((rows.num_rows, 0)), *(rows[name].cast(pa.float64()).to_numpy() for name in layout.numbers)]
        )
        self._labels = {name: _plain_texts(rows[name]) for name in layout.labels}
        self._row_of = row_of

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        return self.join(rows, GroupPromises()), 0.0

    def join(self, rows: TableRows, promises: GroupPromises) -> Ints:
        """Those who are published by one row are a group; newcomers have groups of their own, with what is promised."""
        row, new = self._published(rows)
        groups = np.unique(row, return_inverse=True)[1].astype(np.int64)
        if len(new):
            alone = rows.take(new)
            groups[new] = groups.max() + 1 + self._grouped_anew(alone, promises)
            groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
        return groups

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        return self.newcomers.group_distances(rows, group_of_row)

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        row, new = self._published(rows)
        old = np.flatnonzero(row >= 0)
        numbers = np.zeros((len(row), len(self.layout.numbers)))
        numbers[old] = self._numbers[row[old]]
        fresh = None
        if len(new):
            own_groups = np.unique(group_of_row[new], return_inverse=True)[1].astype(np.int64)
            fresh = self.newcomers.represent(rows.take(new), own_groups)
            numbers[new] = fresh.numbers
        labels = {}
        for name in self.layout.labels:
            reading = self._concepts.readings[name]
            concepts, codes, *_ = reading.encode(rows.columns[name])
            texts = np.empty(len(row), dtype=object)
            after = np.zeros(len(row), dtype=np.int64)
            texts[old] = self._labels[name][row[old]]
            named = _concepts_by_name(reading, concepts)
            after[old] = [named.get(text, reading.ontology.taxonomy.root) for text in texts[old].tolist()]
            if fresh is not None:
                texts[new], after[new] = fresh.labels[name].released.to_pylist(), fresh.labels[name].after
            labels[name] = MaskedLabels(pa.array(texts.tolist(), pa.string()), concepts[codes], after)
        return MaskedRows(rows, numbers, labels)

    def coarser(self, name: str, labels: MaskedLabels) -> int:
        return self.newcomers.coarser(name, labels)

    def squares(self, masked: MaskedRows, released: Floats) -> tuple[float, float]:
        return self.newcomers.squares(masked, released)

    def parameters(self) -> dict[str, Any]:
        return self.newcomers.parameters()

    def block_plan(self, n_rows: int) -> Plan:
        raise InputError("a release that follows another is made of a table in one piece; join the parts first")

    def block_coordinates(self, rows: TableRows) -> Floats:
        return self.newcomers.block_coordinates(rows)

    def loss_anew(self, rows: TableRows, promises: GroupPromises) -> float:
        """What would be lost by a release of the same records that follows no other."""
        masked = self.newcomers.represent(rows, self._grouped_anew(rows, promises))
        sse, sst = self.squares(masked, masked.numbers)
        return sse / sst if sst > 0 else 0.0

    def _grouped_anew(self, rows: TableRows, promises: GroupPromises) -> Ints:
        """Groups as if nothing was published before, with what is promised."""
        groups = self.newcomers.group(rows)[0]
        return join_groups(self.newcomers, rows, groups, promises) if promises.asked else groups

    @property
    def _concepts(self) -> Concepts:
        assert isinstance(self.newcomers, Concepts)
        return self.newcomers

    def _published(self, rows: TableRows) -> tuple[Ints, Ints]:
        """The published row of each record, -1 for none; and the rows of those who have none."""
        assert rows.records is not None
        row = np.array([self._row_of.get(record, -1) for record in rows.records.tolist()], dtype=np.int64)
        return row, np.flatnonzero(row < 0)


def _plain_texts(column: pa.ChunkedArray) -> NDArray[Any]:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [None if text is None or text == "" else str(text) for text in column.to_pylist()]
    return texts


def _concepts_by_name(reading: Any, concepts: Ints) -> dict[Any, int]:
    """The concept behind each label that a release may show: a value of the column, or something above one."""
    taxonomy, ontology = reading.ontology.taxonomy, reading.ontology
    above = {int(one) for concept in concepts[concepts >= 0].tolist() for one in taxonomy.ancestors_of(concept)}
    named: dict[Any, int] = {str(ontology.label(concept)): concept for concept in sorted(above, reverse=True)}
    if isinstance(ontology, Flat):
        named[ANY] = taxonomy.root
    return named | {None: ABSENT}
