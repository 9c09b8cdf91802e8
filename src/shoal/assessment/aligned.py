"""An original table and a protected one, made by anyone, with their rows side by side; and control records.

Rows belong together by a key, by the private mapping of a release, or by their place. Where that cannot be relied on,
the pair is refused with the reason: tables compared row by row in different orders give figures that mean nothing.
Control records are people who are not in the original, on whom the same attacks are tried.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.assessment.originals import Original, read_original
from shoal.data.columns import holds_numbers, is_text, plain, value_type, values_of
from shoal.data.files import counted, shown, unknown_column
from shoal.data.pairs import NumericTable, comparable_columns, numeric_table
from shoal.errors import InputError
from shoal.kernels import Ints
from shoal.language import N_, Sayable, sayable
from shoal.promises.values import person_numbers
from shoal.release.folders import CERTIFICATE
from shoal.release.load import Release, load
from shoal.release.private_mapping import PrivateMapping, private_folder, read_mapping, rows_of_parts
from shoal.request.judging_options import AssessOptions
from shoal.utility.column_values import released_numbers

LARGEST = 1e150
UNRELATED = 4.0  # standard errors of a rank correlation: below that, a column does not go with its counterpart
RELATED = 0.9  # a rank correlation of few rows, side by side by their place only: above that, it does in any case
RELATED_BY_NAME = 0.4  # the same where a key or a mapping names the rows
FEWEST = 20  # named rows from which one can see whether they belong together
BY_PLACE = N_("by their place")
FEW = 30  # below, what happens to them says little about anybody else
CERTAIN = 3.0  # standard deviations above what chance gives


@dataclass(frozen=True)
class AlignedTables:
    """Row i of `after` is what became of row i of `before`; the same columns, numbers as float64, labels as text."""

    before: pa.Table
    after: pa.Table
    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    how: str  # in words: how the rows were put side by side
    left_out: tuple[str, ...]  # columns that only one of the tables has, and the key
    whole: tuple[pa.Table, pa.Table]  # both with all their columns, as they stand
    coded: tuple[str, ...] = ()  # columns of a release whose digits are names
    notes: tuple[str, ...] = ()  # how cells were read that cannot be compared plainly, a sentence each
    release: Release | None = None  # where the protected table is one, its rows in the order of `after`
    original_rows: Ints | None = None  # by the private mapping, the row of the original that each was
    in_parts: bool = False
    released: tuple[str, ...] = ()  # columns of the protected table
    person: Ints | None = None  # whose each row is, by a column of the original

    @cached_property
    def original(self) -> NumericTable:
        """The numbers of `before`, checked once for every attack and measure."""
        return numeric_table(self.before.select(list(self.numbers)), "original")

    @cached_property
    def protected(self) -> NumericTable:
        """The numbers of `after`, likewise."""
        return numeric_table(self.after.select(list(self.numbers)), "protected")


def align_tables(original: Any, protected: Any, asked: AssessOptions) -> AlignedTables:
    """Read both and put their rows side by side; see the module."""
    key, private, target = asked.key, asked.private, asked.target
    if isinstance(protected, str | os.PathLike) and (Path(protected).parent / CERTIFICATE).is_file() and key is None:
        protected = Path(protected).parent  # the data file of a release: its rows are in an order of their own
    release = _release(protected)
    after = read_original(protected).data if release is None else release.table
    parts = [] if release is None else rows_of_parts(Path(protected), "table")
    given = read_original(original, _text_columns(release, target), parts=bool(parts))
    before = given.data
    original_rows, how = None, BY_PLACE
    if target is not None:
        _check_column(target, before, after)
    if key is not None:
        before, after, how = *_by_key(before, after, key), sayable("by the key {column}", column=key)
    elif release is not None or private is not None:
        mapping = read_mapping(private_folder(protected, private), parts or [after.num_rows])
        original_rows, how = _by_mapping(given, mapping), N_("by the private mapping")
        before = before.take(pa.array(original_rows))
    elif before.num_rows != after.num_rows:
        raise InputError(
            f"the original has {counted(before.num_rows, 'row')} and the protected table {after.num_rows}; "
            "give tables with the same rows, or the column that names them with {option}",
            "key",
        )
    names = _columns(before, after, asked.columns, key, release)
    certified = None if release is None else release.certificate["stated"]["parameters"]
    whole, coded = (before, after), tuple[str, ...]()
    if certified is not None:
        coded = (*_text_columns(release, None), *certified.get("categories", ()))
    before, after, notes = _bands_as_numbers(before, after, names, coded)
    before, after = comparable_columns(before, after, names, certified)
    before, after = _of_one_kind(before, after, names)
    numbers = tuple(name for name in names if holds_numbers(before[name].type))
    labels = tuple(name for name in names if name not in numbers)
    before, after, filled = _without_gaps(_cast(before, numbers, labels), _cast(after, numbers, labels), numbers)
    left_out = sorted({*whole[0].column_names, *whole[1].column_names} - {*names})
    pair = AlignedTables(
        before=before,
        after=after,
        numbers=numbers,
        labels=labels,
        how=how,
        left_out=tuple(left_out),
        whole=whole,
        coded=coded,
        notes=(*notes, *filled),
        release=None if key is not None else release,
        original_rows=original_rows,
        in_parts=bool(parts),
        released=tuple(whole[1].column_names),
        person=None if asked.person is None else _owners(whole[0], asked.person),
    )
    if not asked.aligned:
        _check_related(pair)
    return pair


def _release(protected: Any) -> Release | None:
    """The release in a folder, or None for anything else."""
    if not isinstance(protected, str | os.PathLike) or not (Path(protected) / CERTIFICATE).is_file():
        return None
    release = load(protected)
    if release.certificate.get("kind") != "table":
        raise InputError(f"{shown(protected)} is a release of documents, and the original is a table; give one kind")
    return release


def _text_columns(release: Release | None, target: str | None) -> list[str]:
    """Columns that a release has as text: in the original's text files they are text, too, whatever they hold."""
    columns = [] if release is None else release.certificate["promises"]["columns"]
    texts = [column for column in columns if column["type"] == "string"]
    return [column["name"] for column in texts if column["role"] == "quasi" or column["name"] == target]


def _by_mapping(original: Original, mapping: PrivateMapping) -> Ints:
    """Which row of the original each row of the release was."""
    if mapping.in_parts:
        return original.original_rows(mapping.names)
    if len(original.parts) > 1:
        raise InputError(
            f"the release was made from one table, and the original has {len(original.parts)} parts; give the table"
        )
    try:
        rows = np.asarray(mapping.names.cast(pa.int64())) - 1
    except pa.ArrowException:
        raise InputError(f"{mapping.place} is not the mapping of a table's release; give its private folder") from None
    if len(rows) and (rows.max() >= original.data.num_rows or rows.min() < 0):
        raise InputError(
            f"{mapping.place} names row {rows.max() + 1}, the original has {original.data.num_rows}; "
            "give the table that was protected"
        )
    return rows


def _by_key(before: pa.Table, after: pa.Table, key: str) -> tuple[pa.Table, pa.Table]:
    """Both in the order of the key, which must name the same rows in both, each once."""
    orders = []
    keys = []
    for table, called in ((before, "the original"), (after, "the protected table")):
        if key not in table.column_names:
            raise unknown_column(key, table.column_names, called)
        texts = pc.cast(plain(table[key]), pa.large_string())
        missing = texts.null_count
        twice = len(texts) - missing - len(pc.unique(pc.drop_null(texts)))
        if missing or twice:
            what = counted(missing, "row") + " without a key" if missing else counted(twice, "key") + " more than once"
            raise InputError(f"{called}: {what} in column {shown(key)}; give a column that names each row once")
        orders.append(pc.sort_indices(texts))
        keys.append(texts.take(orders[-1]))
    only = [len(set(own.to_pylist()) - set(other.to_pylist())) for own, other in (keys, keys[::-1])]
    if any(only):
        raise InputError(
            f"{counted(only[0], 'key')} only in the original and {only[1]} only in the protected table; "
            "leave rows out that have no counterpart"
        )
    return before.take(orders[0]), after.take(orders[1])


def _owners(before: pa.Table, person: str) -> Ints:
    """A number for the person of each row."""
    if person not in before.column_names:
        raise unknown_column(person, before.column_names, "the original")
    numbers = person_numbers(values_of(before[person]))
    if (numbers < 0).any():
        nobody = counted(int(np.sum(numbers < 0)), "row")
        raise InputError(f"{nobody} of the original without a value in {shown(person)}; leave these out", "person")
    return numbers


def _check_column(name: str, before: pa.Table, after: pa.Table) -> None:
    for table, called in ((before, "the original"), (after, "the protected table")):
        if name not in table.column_names:
            raise unknown_column(name, table.column_names, called)


def _columns(
    before: pa.Table, after: pa.Table, columns: Sequence[str] | None, key: str | None, release: Release | None
) -> tuple[str, ...]:
    """The columns to compare: those asked for, a release's protected ones, or all that both tables have."""
    if columns is not None:
        for name in columns:
            _check_column(name, before, after)
        return tuple(dict.fromkeys(columns))
    if release is not None:
        listed = release.certificate["promises"]["columns"]
        return tuple(
            column["name"] for column in listed if column["role"] == "quasi" and column["name"] in before.column_names
        )
    both = tuple(name for name in before.column_names if name in after.column_names and name != key)
    if not both:
        raise InputError("the two tables have no column in common; give tables with the same names of columns")
    return both


def _bands_as_numbers(
    before: pa.Table, after: pa.Table, names: Sequence[str], coded: Sequence[str]
) -> tuple[pa.Table, pa.Table, list[str]]:
    """Numbers that were released as text: by the middles of bands, or as text on both sides; and notes of it."""
    notes = []
    for name in names:
        if not holds_numbers(before[name].type) or not is_text(value_type(after[name].type)):
            continue
        numbers, note = released_numbers(name, plain(after[name]).combine_chunks(), name in coded)
        if numbers is not None:
            after = after.set_column(after.column_names.index(name), name, pa.array(numbers, from_pandas=True))
        elif note:
            texts = plain(before[name]).cast(pa.string())
            before = before.set_column(before.column_names.index(name), name, texts)
        notes += [note] if note else []
    return before, after, notes


def _of_one_kind(before: pa.Table, after: pa.Table, names: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Columns that are numbers in one table only, as text in both."""
    for name in names:
        if holds_numbers(before[name].type) != holds_numbers(after[name].type):
            before, after = (
                table.set_column(table.column_names.index(name), name, plain(table[name]).cast(pa.string()))
                for table in (before, after)
            )
    return before, after


def _cast(table: pa.Table, numbers: Sequence[str], labels: Sequence[str]) -> pa.Table:
    columns = {name: plain(table[name]).cast(pa.float64(), safe=False) for name in numbers}
    columns |= {name: plain(table[name]).cast(pa.string()) for name in labels}
    return pa.table(columns)


def _without_gaps(
    before: pa.Table, after: pa.Table, numbers: Sequence[str]
) -> tuple[pa.Table, pa.Table, list[Sayable]]:
    """Gaps in numbers as the mean of the original column, so that they count in every measure; and notes of it."""
    notes = []
    for name in numbers:
        sides = [table[name].to_numpy() for table in (before, after)]
        there = [np.isfinite(values) for values in sides]
        for values, known, called in zip(sides, there, ("the original", "the protected table"), strict=True):
            if not known.any():
                raise InputError(
                    f"{called}: {counted(len(values), 'missing or infinite value')} in column {shown(name)}, all there "
                    "are; leave the column out with {option}",
                    "columns",
                )
            if np.abs(values[known]).max() >= LARGEST:
                raise InputError(
                    f"{called}: column {shown(name)} has numbers of {LARGEST:g} or more, too large; rescale it"
                )
        if not all(known.all() for known in there):
            middle = float(sides[0][there[0]].mean())
            before, after = (
                table.set_column(table.column_names.index(name), name, pa.array(np.where(known, values, middle)))
                for table, values, known in zip((before, after), sides, there, strict=True)
            )
            gaps = [int(np.count_nonzero(~known)) for known in there]
            notes.append(
                sayable(
                    "column {column}: gaps ({before} before, {after} after) count as the mean of the original",
                    column=shown(name),
                    before=gaps[0],
                    after=gaps[1],
                )
            )
    return before, after, notes


def _check_related(pair: AlignedTables) -> None:
    """Refuse tables of which most columns do not match their counterparts: their rows do not belong together."""
    related = []
    n_rows, by_place = pair.before.num_rows, pair.how == BY_PLACE
    if n_rows < FEWEST and not by_place:  # a sound release of a few crowds may correlate little
        return
    bound = min(UNRELATED / np.sqrt(max(n_rows - 1, 1)), RELATED if by_place else RELATED_BY_NAME)
    for name in pair.numbers:
        ranks_before, ranks_after = (_ranks(table[name].to_numpy()) for table in (pair.before, pair.after))
        if ranks_before.std() and ranks_after.std():
            related.append(float(np.corrcoef(ranks_before, ranks_after)[0, 1]) >= bound)
    for name in pair.labels:
        goes_together = _labels_related(pair.before[name], pair.after[name])
        related += [] if goes_together is None else [goes_together]
    if related and 2 * sum(related) < len(related):
        raise InputError(
            f"{len(related) - sum(related)} of {counted(len(related), 'column')} do not match their counterparts: "
            f"the rows, put side by side {pair.how}, do not belong together, or little is left; give the column that "
            "names rows with {option}, the right table or private folder, or say {option} if all is right",
            ("key", "aligned"),
        )


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _labels_related(before: pa.ChunkedArray, after: pa.ChunkedArray) -> bool | None:
    """Whether labels hang together more than by chance; None when one side has a single label."""
    codes = [np.asarray(side.combine_chunks().dictionary_encode("encode").indices) for side in (before, after)]
    sizes = [int(side.max()) + 1 for side in codes]
    if min(sizes) < 2:
        return None
    equal = pc.sum(pc.fill_null(pc.equal(before, after), False)).as_py() or 0
    if 2 * equal >= len(before):
        return True
    pairs, counts = np.unique(codes[0] * sizes[1] + codes[1], return_counts=True)
    margins = [np.bincount(side) for side in codes]
    expected = margins[0][pairs // sizes[1]] * margins[1][pairs % sizes[1]] / len(before)
    statistic = float(np.sum(counts**2 / expected)) - len(before)  # chi-square
    freedom = (sizes[0] - 1) * (sizes[1] - 1)
    return bool(statistic > freedom + UNRELATED * np.sqrt(2 * freedom))


def control_records(source: Any, pair: AlignedTables) -> tuple[NumericTable, tuple[str, ...]]:
    """The numbers that are compared, of the control table, and what makes it less of a control."""
    if not pair.numbers:
        raise InputError("control records are for attacks on numbers, and no numbers are compared; leave them out")
    table = read_original(source).data
    for name in pair.numbers:
        if name not in table.column_names:
            raise unknown_column(name, table.column_names, "the control table")
    notes = []
    if table.num_rows < FEW:
        notes.append(
            sayable(
                "the control table has {records} record, and with fewer than {few} it says little; give more people "
                "who are not in the original"
                if table.num_rows == 1
                else "the control table has {records} records, and with fewer than {few} it says little; give more "
                "people who are not in the original",
                records=table.num_rows,
                few=FEW,
            )
        )
    known, by_chance = _in_original(table, pair)
    if known > by_chance + CERTAIN * np.sqrt(by_chance):
        notes.append(
            sayable(
                "{known} of {records} {are} also in the original, equal in all columns that are compared{chance}; give "
                "people who are not in it",
                known=known,
                records=sayable(
                    "{records} control record" if table.num_rows == 1 else "{records} control records",
                    records=table.num_rows,
                ),
                are=sayable("is" if known == 1 else "are"),
                chance=sayable(", where chance gives about {records}", records=round(by_chance))
                if by_chance >= 0.5
                else "",
            )
        )
    return numeric_table(table.select(list(pair.numbers)), "control"), tuple(notes)


def _in_original(table: pa.Table, pair: AlignedTables) -> tuple[int, float]:
    """How many rows equal a row of the original, in numbers, and in labels where the control has them.

    And how many strangers would: as often as originals equal one another (the estimate of Good and Turing).
    """
    columns = [*pair.numbers, *(name for name in pair.labels if name in table.column_names)]
    before = [pair.before[name].to_pylist() for name in columns]
    others = [plain(table[name]).cast(pair.before[name].type, safe=False).to_pylist() for name in columns]
    originals = Counter(zip(*before, strict=True))
    known = sum(row in originals for row in zip(*others, strict=True))
    single = sum(count == 1 for count in originals.values())
    return known, table.num_rows * (1.0 - single / pair.before.num_rows)
