"""A table that goes on from an earlier release: who stays, who left, who is new, and whose row everybody gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.columns import equal_rows, holds_numbers, values_of
from shoal.data.files import shown
from shoal.data.parts import LoadedPart
from shoal.errors import InputError
from shoal.methods.following import Followed, ReleasedValues, follow
from shoal.promises.values import value_codes
from shoal.release.earlier import Earlier
from shoal.release.tables.files import file_name
from shoal.release.tables.rows import Floats, Ints, Mask
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
        raise InputError("who is who in two releases goes by an id; name its column with {option}", "id_column")
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
