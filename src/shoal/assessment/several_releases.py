"""Several releases of overlapping tables: two judged as a pair, or one repeated with a record left out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from shoal.attacks.differencing import subtracted
from shoal.attacks.intersection import intersection_attack
from shoal.attacks.rates import near_by_chance
from shoal.data.columns import holds_numbers
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.language import N_
from shoal.methods.numeric import Microaggregation
from shoal.release.figures import coarsened_columns, published_means
from shoal.release.folders import CERTIFICATE, MAPPING, SEAL
from shoal.release.load import kind_of_release, load
from shoal.release.private_mapping import private_folder
from shoal.results.assessment import Overlap

NEAR = 0.05  # standard deviations


@dataclass(frozen=True)
class _PublishedRecords:
    """One release: which row published each record."""

    k: int
    table: pa.Table
    names: list[str]  # of the records, in the order of the rows
    rows: list[str]  # the protected part of each row, in writing
    quasi: tuple[str, ...]
    others: tuple[str, ...]
    by_ids: bool

    def snapshot(self) -> dict[str, frozenset[str]]:
        records_of_row: dict[str, set[str]] = {}
        for name, row in zip(self.names, self.rows, strict=True):
            records_of_row.setdefault(row, set()).add(name)
        return {row: frozenset(names) for row, names in records_of_row.items()}

    def row_of_record(self, columns: tuple[str, ...]) -> dict[Any, tuple[int, str]]:
        """By record and its values in columns that are released as they are: its row, of this release."""
        cells = zip(*(self.table[name].to_pylist() for name in columns), strict=True)
        records = zip(self.names, map(repr, cells), strict=True)
        return dict(zip(records, ((id(self), row) for row in self.rows), strict=True))


def overlap_of(
    release: str | os.PathLike[str],
    private: Any,
    earlier: str | os.PathLike[str],
    earlier_private: Any,
    original: pa.Table,
) -> Overlap:
    """Judge a release together with an earlier one of the same people, or some of them.

    `original` has the records of the first of them as they were, in the order of its rows.
    """
    later, first = _side(release, private), _side(earlier, earlier_private)
    if later.by_ids != first.by_ids or (not later.by_ids and sorted(later.names) != sorted(first.names)):
        raise InputError(
            "records cannot be matched across the two releases: make both with {option}, or both of the same rows",
            "id_column",
        )
    names = set(later.names), set(first.names)
    both, k = names[0] & names[1], min(later.k, first.k)
    attacked = intersection_attack([first.snapshot(), later.snapshot()], k)
    sizes = Counter(attacked.sizes[name] for name in both)
    columns = tuple(name for name in later.others if name in first.others)
    cells, by_guessing = _revealed_by_sums(later, first, original, names[0] ^ names[1])
    return Overlap(
        k=k,
        both=len(both),
        left=len(names[1] - names[0]),
        came=len(names[0] - names[1]),
        how=N_("by their ids") if later.by_ids else N_("by the rows of the table"),
        smallest=min(sizes, default=0),
        exposed=sum(many for size, many in sizes.items() if size < k),
        candidates=tuple(sorted(sizes.items())),
        shown=columns,
        told_apart=_told_apart(first, later, columns, k) if columns else 0,
        cells=cells,
        by_guessing=by_guessing,
    )


def _side(release: str | os.PathLike[str], private: Any) -> _PublishedRecords:
    folder = Path(release)
    if not (folder / CERTIFICATE).is_file() or kind_of_release(folder) != "table":
        raise InputError(f"{shown(folder)} is not the release of a table; give the folders of two such releases")
    loaded = load(folder)
    promises = loaded.certificate["promises"]
    quasi = tuple(column["name"] for column in promises["columns"] if column["role"] == "quasi")
    others = tuple(column["name"] for column in promises["columns"] if column["role"] != "quasi")
    beside = private_folder(folder, private)
    file, seal = beside / MAPPING, beside / SEAL
    try:
        mapping = pq.read_table(file).sort_by("released_row")
        by_ids = "record" in mapping.column_names
        names = mapping["record" if by_ids else "id"].cast(pa.string()).to_pylist()
        sound = np.array_equal(mapping["released_row"].to_numpy(), np.arange(1, loaded.table.num_rows + 1))
        sound &= not seal.is_file() or seal.read_text(encoding="ascii").strip() == loaded.certificate["seal"]
    except (pa.ArrowException, OSError, KeyError, ValueError):
        raise InputError(
            f"{shown(file)} is not there, or no mapping; give the private folders with {{option}} and {{option}}",
            ("private", "earlier_private"),
        ) from None
    if not sound:
        raise InputError(f"{shown(file)} is the mapping of another release; give the private folder of this one")
    rows = [repr(row) for row in zip(*(loaded.table[name].to_pylist() for name in sorted(quasi)), strict=True)]
    return _PublishedRecords(promises["anonymity"]["k"] or 1, loaded.table, names, rows, quasi, others, by_ids)


def _told_apart(first: _PublishedRecords, later: _PublishedRecords, columns: tuple[str, ...], k: int) -> int:
    """Records that left or came among fewer than k, to an attacker who subtracts what has the same records.

    Groups with a record in common, its values unchanged, are compared together: one that is still there with itself,
    one that joined another with both, and where all groups cross, the whole releases.
    """
    row_of = [side.row_of_record(columns) for side in (first, later)]
    common = row_of[0].keys() & row_of[1].keys()
    groups = {row: group for group, row in enumerate(dict.fromkeys(row for side in row_of for row in side.values()))}
    edges = np.array([[groups[side[record]] for record in common] for side in row_of], dtype=np.int64)
    crossing = sp.coo_array((np.ones(len(common)), edges), shape=(len(groups), len(groups)))
    together = connected_components(crossing, directed=False)[1]
    alone = set()
    for side in row_of:
        many = Counter(together[groups[row]] for record, row in side.items() if record not in common)
        alone |= {record[0] for record, row in side.items() if record not in common and many[together[groups[row]]] < k}
    return len(alone)


def _revealed_by_sums(
    later: _PublishedRecords, first: _PublishedRecords, original: pa.Table, only: set[str]
) -> tuple[float | None, float | None]:
    """The share of cells that the sums of two releases reveal of the one record that only one of them has."""
    larger, smaller = (later, first) if len(later.names) > len(first.names) else (first, later)
    if len(only) != 1 or not only <= set(larger.names) or original.num_rows != len(larger.names):
        return None, None
    numbers = [name for name in larger.quasi if name in smaller.quasi and name in original.column_names]
    numbers = [name for name in numbers if all(holds_numbers(table[name].type) for table in (larger.table, original))]
    if not numbers:
        return None, None
    sides = [np.column_stack([side.table[name].to_numpy() for name in numbers]) for side in (larger, smaller)]
    values = np.column_stack([original[name].cast(pa.float64()).to_numpy() for name in numbers])
    record = values[larger.names.index(next(iter(only)))]  # the originals are in the order of the release
    reach = NEAR * values.std(axis=0) + 1e-9 * np.abs(values).max(axis=0)
    known = np.abs(subtracted(*sides) - record) <= reach
    blind = [near_by_chance(column, near) for column, near in zip(values.T, reach.tolist(), strict=True)]
    return float(known.mean()), float(np.mean(blind))


def protection_of(release: Any, names: tuple[str, ...]) -> Callable[[Floats], Floats]:
    """What turned the numbers of a table, one column for each name, into those of the release."""
    stated, columns = _certified(release)
    if sorted(columns) != sorted(names):
        raise InputError("differencing needs all protected columns; leave out {option}", "columns")
    coarsen = stated["parameters"].get("coarsen", {})
    method = Microaggregation(**stated["parameters"]["microaggregation"]).set_output(transform="default")

    def protect(values: Floats) -> Floats:
        ordered = values[np.lexsort(values.T[::-1])]  # as a release has them, in the order of their content
        means = coarsened_columns(names, method.fit_transform(ordered), coarsen)
        return published_means(ordered, means, method.k)

    return protect


def _certified(release: Any) -> tuple[dict[str, Any], list[str]]:
    """What the certificate states, and the protected columns; refused if the protection cannot be repeated."""
    try:
        folder = Path(release).parent if Path(release).is_file() else Path(release)
        content = json.loads((folder / CERTIFICATE).read_bytes())
        stated, promises = content["stated"], content["promises"]
        quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
        numbers = all(column["type"] == "double" for column in promises["columns"] if column["role"] == "quasi")
        repeatable = "method" in stated["parameters"]["microaggregation"] and "diversity" not in stated["parameters"]
    except (OSError, TypeError, ValueError, KeyError):
        repeatable = False
    if not (repeatable and numbers):
        raise InputError(
            "differencing repeats the protection, which it can for releases of numbers by microaggregation without l; "
            "leave it out"
        )
    return stated, quasi
