"""Control records: people who are not in the original, on whom the same attacks are tried."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.assessment.aligned import AlignedTables, plain_column
from shoal.assessment.originals import read_original
from shoal.errors import InputError
from shoal.io.files import counted, unknown_column
from shoal.io.pairs import NumericTable, numeric_table

__all__ = ["control_records"]

FEWEST = 30  # below, what happens to them says little about anybody else
CERTAIN = 3.0  # standard deviations above what chance gives


def control_records(source: Any, pair: AlignedTables) -> tuple[NumericTable, tuple[str, ...]]:
    """The numbers that are compared, of the control table, and what makes it less of a control."""
    if not pair.numbers:
        raise InputError("control records are for attacks on numbers, and no column of numbers is compared; leave them")
    table = read_original(source).data
    for name in pair.numbers:
        if name not in table.column_names:
            raise unknown_column(name, table.column_names, "the control table")
    notes = []
    if table.num_rows < FEWEST:
        notes.append(
            f"the control table has {counted(table.num_rows, 'record')}, and with fewer than {FEWEST} it says little; "
            "give more people who are not in the original"
        )
    known, by_chance = _in_original(table, pair)
    if known > by_chance + CERTAIN * np.sqrt(by_chance):
        are = "is" if known == 1 else "are"
        chance = f", where chance gives about {by_chance:.0f}" if by_chance >= 0.5 else ""
        notes.append(
            f"{known} of {counted(table.num_rows, 'control record')} {are} also in the original, equal in all columns "
            f"that are compared{chance}; give people who are not in it"
        )
    return numeric_table(table.select(list(pair.numbers)), "control"), tuple(notes)


def _in_original(table: pa.Table, pair: AlignedTables) -> tuple[int, float]:
    """How many rows equal a row of the original, in numbers, and in labels where the control has them.

    And how many strangers would: as often as originals equal one another (the estimate of Good and Turing).
    """
    columns = [*pair.numbers, *(name for name in pair.labels if name in table.column_names)]
    before = [pair.before[name].to_pylist() for name in columns]
    others = [plain_column(table[name]).cast(pair.before[name].type, safe=False).to_pylist() for name in columns]
    originals = Counter(zip(*before, strict=True))
    known = sum(row in originals for row in zip(*others, strict=True))
    single = sum(count == 1 for count in originals.values())
    return known, table.num_rows * (1.0 - single / pair.before.num_rows)
