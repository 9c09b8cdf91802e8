"""A table that goes on from an earlier release: who stays, who left, who is new, and whose row everybody gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.bundle.earlier import Earlier
from shoal.errors import InputError
from shoal.io.files import counted, shown, unknown_column
from shoal.io.table import holds_numbers
from shoal.microaggregation.following import Followed, follow
from shoal.protection.groups import value_codes
from shoal.protection.masked import equal_rows, values_of
from shoal.release.tables.files import file_name
from shoal.release.tables.reading import Opened
from shoal.results.promised import DISTINCT, GroupPromises

__all__ = ["Continuation", "continued", "with_records"]

WAITING = "fewer than k newcomers: they wait for a later release"
TOO_ALIKE = "newcomers with fewer than l values: they wait for a later release"
COMPANIONS = "withheld together with those who left, so that these cannot be told"
RETURNED = "left an earlier release, and would tell by coming back who was only withheld"
TOO_FEW = "fewer than k are left of all that were published"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Continuation:
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
        """Refuse columns that are amounts in one release and something else in the other, and dates."""
        for name in quasi:
            if (name in numbers) != holds_numbers(self.rows[name].type):
                raise InputError(
                    f"column {shown(name)} is a number in one of the two releases and a label or a date in the other; "
                    "give the same kind, or start anew without --after"
                )

    def check_kept(self, released: pa.Table, records: NDArray[Any] | None, quasi: Sequence[str]) -> None:
        """Refuse settings that would change a row that was published: rounded otherwise, or written otherwise."""
        assert records is not None
        kept = [(place, self.row_of[one]) for place, one in enumerate(records.tolist()) if one in self.row_of]
        places, rows = (np.array(side, dtype=np.int64) for side in zip(*kept, strict=True))
        for name in quasi:
            now, then = (_cells(table[name], some) for table, some in ((released, places), (self.rows, rows)))
            if now != then:
                raise InputError(
                    f"column {shown(name)} would be released otherwise than before; give the options of the earlier "
                    "release, or start anew without --after"
                )

    def parameters(self, loss_anew: float | None) -> dict[str, Any]:
        """What the certificate says of it; `loss_anew`: what starting anew would lose, where that may be published."""
        anew = None if loss_anew is None else round(loss_anew, 3)
        return {"after": {"seal": self.seal, "kept": len(self.row_of), "loss_anew": anew}}


def with_records(opened: Opened, id_column: str) -> Opened:
    """The table with the id of each record; the column is not released."""
    data, roles = opened.table.data, opened.roles
    if id_column not in data.column_names:
        raise unknown_column(id_column, data.column_names, "the table")
    if id_column in (*roles.quasi, *roles.confidential, *roles.insensitive):
        raise InputError(
            f"the id column {shown(id_column)} would be released; name a column without a role, or drop it"
        )
    texts = pc.cast(data[id_column], pa.large_string())
    missing = texts.null_count + int(pc.sum(pc.equal(texts, "")).as_py() or 0)
    twice = len(texts) - len(pc.unique(texts))
    if missing or twice:
        what = f"{counted(missing, 'row')} without an id" if missing else f"{counted(twice, 'id')} more than once"
        raise InputError(f"column {shown(id_column)}: {what}; give a column that names each record once")
    return replace(opened, records=np.array(texts.to_pylist(), dtype=object))


def continued(opened: Opened, earlier: Earlier, k: int, promises: GroupPromises) -> tuple[Opened, Continuation]:
    """The rows of a table that are published after an earlier release, and what is published of them."""
    if opened.records is None:
        raise InputError("who is who in two releases goes by an id; name its column with --id-column")
    _check_alike(opened, earlier, k)
    l = None if promises.l is None else int(promises.l)
    shown_columns = earlier.columns("confidential", "insensitive")
    place = {record: row for row, record in enumerate(opened.records.tolist())}
    now = np.array([place.get(record, -1) for record in earlier.records.tolist()], dtype=np.int64)
    if not (now >= 0).any():
        raise InputError(
            "no record of the earlier release is in this table; give the ids it was made with, or start anew without "
            "--after"
        )
    stays = now >= 0
    stays[stays] = _unchanged(earlier.rows, np.flatnonzero(stays), opened.table.data, now[stays], shown_columns)
    quasi = earlier.columns("quasi")
    groups = equal_rows([earlier.rows[name].combine_chunks() for name in quasi])
    codes = [value_codes(values_of(earlier.rows[name])) for name in earlier.columns("confidential")]

    def enough(members: NDArray[np.bool_]) -> bool:
        return l is None or all(len(set(column[members].tolist()) - {-1}) >= l for column in codes)

    apart = _Apart(earlier.rows, groups, quasi)
    followed = follow(groups, stays, k, apart, enough=enough, shown=bool(shown_columns))
    return _chosen(opened, earlier, followed, stays, _newcomers(opened, earlier, stays, k, l))


def _newcomers(
    opened: Opened, earlier: Earlier, stays: NDArray[np.bool_], k: int, l: int | None
) -> tuple[list[int], dict[int, str]]:
    """The rows of newcomers that are published, and the reasons of those that are not."""
    assert opened.records is not None
    known = set(earlier.records[stays].tolist())
    records = opened.records.tolist()
    new = [row for row, record in enumerate(records) if record not in known and record not in earlier.gone]
    reasons = {row: RETURNED for row, record in enumerate(records) if record in earlier.gone}
    if 0 < len(new) < k:
        return [], reasons | dict.fromkeys(new, WAITING)
    if l is not None and new:
        some = opened.table.data.select(list(opened.roles.confidential)).take(pa.array(new))
        if any(len(set(value_codes(values_of(column)).tolist()) - {-1}) < l for column in some.columns):
            return [], reasons | dict.fromkeys(new, TOO_ALIKE)
    return new, reasons


def _chosen(
    opened: Opened,
    earlier: Earlier,
    followed: Followed,
    stays: NDArray[np.bool_],
    newcomers: tuple[list[int], dict[int, str]],
) -> tuple[Opened, Continuation]:
    assert opened.records is not None
    place = {record: row for row, record in enumerate(opened.records.tolist())}
    first = {int(group): row for row, group in reversed(list(enumerate(followed.old.tolist())))}
    old = np.flatnonzero(followed.kept)
    row_of = {earlier.records[row]: first[int(followed.group[row])] for row in old.tolist()}
    new, reasons = newcomers
    shown_columns = earlier.columns("confidential", "insensitive")
    for row in np.flatnonzero(followed.companions).tolist():
        reasons[place[earlier.records[row]]] = COMPANIONS if shown_columns else TOO_FEW
    rows = np.array(sorted([*(place[record] for record in row_of), *new]), dtype=np.int64)
    left = [record for record, kept in zip(earlier.records.tolist(), followed.kept.tolist(), strict=True) if not kept]
    changed = {earlier.records[row] for row in np.flatnonzero(~stays).tolist()} & place.keys()
    gone = sorted({*earlier.gone, *(one for one in left if one not in changed)}) if shown_columns else []
    table = replace(opened.table, data=opened.table.data.take(pa.array(rows)))
    chosen = replace(opened, table=table, rows=rows, records=opened.records[rows])
    withheld = tuple((f"{row + 1}", reason) for row, reason in sorted(reasons.items()))
    grid = earlier.certificate["stated"]["parameters"].get("rounded_to", {})
    return chosen, Continuation(earlier.rows, row_of, withheld, tuple(gone), earlier.seal, grid)


class _Apart:
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


def _check_alike(opened: Opened, earlier: Earlier, k: int) -> None:
    """Refuse a release of other columns, of another k or in another format."""
    if earlier.k is None:
        raise InputError("the earlier release promises no crowd, so there is none to keep; start anew without --after")
    if earlier.k != k:
        raise InputError(f"k={k}, and the earlier release has k={earlier.k}; give -k {earlier.k}, or start anew")
    kinds = {"closeness", "crowds"} & earlier.certificate["promises"].keys()
    if kinds or earlier.certificate["promises"]["diversity"].get("kind", DISTINCT) != DISTINCT:
        raise InputError("the earlier release promises more than k and distinct l, which cannot be kept; start anew")
    if "coarsen" in earlier.certificate["stated"]["parameters"]:
        raise InputError("the earlier release has coarsened columns, which cannot go on; start anew without --after")
    roles = opened.roles
    for role, columns in (
        ("quasi", roles.quasi),
        ("confidential", roles.confidential),
        ("insensitive", roles.insensitive),
    ):
        if set(columns) != set(earlier.columns(role)):
            odd = sorted(set(columns) ^ set(earlier.columns(role)))
            raise InputError(
                f"{role} columns differ from those of the earlier release ({', '.join(map(shown, odd[:5]))}); "
                "give the same, or start anew without --after"
            )
    now, before = file_name(opened.table.format, opened.table.dialect), file_name(earlier.format)
    if now != before:
        raise InputError(f"the earlier release is {before}, and this one would be {now}; give the same format")


def _unchanged(before: pa.Table, rows: Ints, after: pa.Table, places: Ints, columns: Sequence[str]) -> Any:
    """Whether the cells that are released as they are, of rows before and after, are still the same."""
    same = np.ones(len(rows), dtype=bool)
    for name in columns:
        old, new = (_cells(table[name], chosen) for table, chosen in ((before, rows), (after, places)))
        same &= np.array([one == other for one, other in zip(old, new, strict=True)], dtype=bool)
    return same


def _cells(column: pa.ChunkedArray, rows: Ints) -> list[str]:
    """As they are written; a missing text is an empty one."""
    if pa.types.is_integer(column.type):
        column = column.cast(pa.float64())
    return ["" if one is None else str(one) for one in column.take(pa.array(rows)).to_pylist()]
