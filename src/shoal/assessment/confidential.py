"""Attacks on a release's confidential columns: matched to the members of groups, and intersected over people's rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.assessment.aligned import AlignedTables
from shoal.attacks.matching import MatchingAttack
from shoal.attacks.people import PeopleIntersection
from shoal.data.columns import equal_rows, holds_numbers, values_of
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.promises.values import value_codes
from shoal.results.attacks import IntersectedPeople, Rate

FEWEST_NUMBERS = 20  # different ones; fewer are labels


def confidential_of(pair: AlignedTables, random_state: int) -> tuple[Rate, ...]:
    """For each confidential column, how many of its values are matched to the right member of their group."""
    if pair.release is None or pair.release.certificate["promises"]["anonymity"]["k"] is None:
        return ()
    known = np.column_stack([_as_numbers(column.combine_chunks()) for column in pair.before.columns])
    groups, attack = _groups(pair), MatchingAttack(random_state)
    rates = []
    for name in _columns(pair, "confidential"):
        column = pair.release.table[name].combine_chunks()
        codes = value_codes(values_of(pair.release.table[name]))
        there = np.flatnonzero(codes >= 0)
        values: Ints | Floats = codes
        if holds_numbers(column.type) and codes.max(initial=0) >= FEWEST_NUMBERS:
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            there = np.flatnonzero(np.isfinite(values))
        with progress.stage("matching confidential values"):
            rates.append(attack.run(name, known[there], values[there], groups[there]))
    return tuple(rate for rate in rates if rate is not None)


def people_of(pair: AlignedTables) -> IntersectedPeople | None:
    """Who carries all the rows that a person carries; None if whose they are was not given."""
    if pair.person is None:
        return None
    if pair.release is None:
        raise InputError(
            "{option} is for the folder of a release, and the protected table is not one; give a release", "person"
        )
    table, anonymity = pair.release.table, pair.release.certificate["promises"]["anonymity"]
    constants = {name: value_codes(values_of(table[name])) for name in _columns(pair, "confidential")}
    with progress.stage("intersecting people's rows"):
        return PeopleIntersection(anonymity["k"] or 2).run(pair.person, _groups(pair), constants)


def unattacked_columns(pair: AlignedTables) -> tuple[str, ...]:
    """Released columns that no attack used: neither compared nor matched."""
    used = {*pair.numbers, *pair.labels}
    if pair.release is not None and pair.release.certificate["promises"]["anonymity"]["k"] is not None:
        used |= set(_columns(pair, "confidential"))
    return tuple(name for name in pair.released if name not in used)


def _columns(pair: AlignedTables, role: str) -> list[str]:
    assert pair.release is not None
    return [column["name"] for column in pair.release.certificate["promises"]["columns"] if column["role"] == role]


def _groups(pair: AlignedTables) -> Ints:
    """The group of each row: rows that are equal in all protected columns, compared or not."""
    assert pair.release is not None
    return equal_rows(pair.release.table, _columns(pair, "quasi"))


def _as_numbers(column: pa.Array) -> Floats:
    """Numbers as they are; labels by their place among all, a gap before the first."""
    is_number = pa.types.is_floating(column.type)
    values = column.to_numpy(zero_copy_only=False) if is_number else value_codes(values_of(pa.chunked_array([column])))
    return np.asarray(values, dtype=np.float64)
