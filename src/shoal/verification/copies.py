"""The copy of a table in the format that came in: what its dictionary may say, and how it shows the values of the rows.

A copy itself is not read: no file of a stranger is parsed by the library of its format.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.results.summary import ColumnDictionary
from shoal.verification.release_files import Refused

COPIES = ("table.csv", "table.tsv", "table.sav", "table.dta", "table.xpt", "table.xlsx", "table.feather")
ROUNDED_TIMES = ("table.sav", "table.dta", "table.xpt", "table.xlsx")  # times are numbers there, exact to milliseconds
DIGITS_OF_A_SHEET = 16


def dictionary_of(copy: dict[str, Any]) -> dict[str, ColumnDictionary]:
    """Labels and missing codes, as the certificate has them."""
    return {
        column["name"]: ColumnDictionary(
            label=column["label"],
            values=tuple((value["code"], value["label"]) for value in column["values"]),
            missing=tuple((span["first"], span["last"]) for span in column["missing"]),
            letters=column["letters"],
            category=column["category"],
            measure=column["measure"],
        )
        for column in copy["columns"]
    }


def check_dictionary(rows: pa.Table, copy: dict[str, Any]) -> None:
    """A dictionary has values that are in the rows and no others: those would be of somebody who is not shown."""
    for column, about in dictionary_of(copy).items():
        if column not in rows.column_names:
            raise Refused("same data", "labels are stated of a column that is not there", copy["file"])
        present = {cell for cell in rows[column].unique().to_pylist() if cell is not None}
        codes, labels = [code for code, _ in about.values], [label for _, label in about.values]
        if about.category:
            fits = len(set(codes)) == len(codes) == len(labels) and set(labels) == present
        else:
            spelt = {float(cell) if about.letters and not cell.startswith(".") else cell for cell in present}
            fits = all((f".{code}" if about.letters and isinstance(code, str) else code) in spelt for code in codes)
        if not fits:
            raise Refused("same data", "labels are stated of values that no row has", copy["file"])


def as_shown(column: pa.Array, file: str) -> pa.Array:
    """The values of a column as a copy shows them: two that differ in the rows may be one there."""
    kind = column.type
    if file in ROUNDED_TIMES and (pa.types.is_timestamp(kind) or pa.types.is_time(kind)) and kind.unit in ("us", "ns"):
        rounded = pa.timestamp("ms", kind.tz) if pa.types.is_timestamp(kind) else pa.time32("ms")
        return column.cast(rounded, safe=False)
    if file == "table.xlsx" and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        different, number_of_row = np.unique(numbers, return_inverse=True)
        written = np.array([float(f"{number:.{DIGITS_OF_A_SHEET}G}") for number in different.tolist()])
        return pa.array(written[number_of_row], mask=np.asarray(column.is_null()))
    return column
