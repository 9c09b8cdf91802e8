"""A release before it is written: what each file will hold, and what may be published about it.

Text that a spreadsheet would run, cells and column names that begin like a formula, is counted and never quoted.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.columns import is_text, value_type
from shoal.data.files import counted, shown
from shoal.release.folders import Content
from shoal.results.summary import CellShares, Summary

# A sign, a tab or a line end, and more than signs after it: a lone - stands for a missing value.
FORMULA = r"(?s)^[=+\-@\t\r].*[\pL\pN]"
NUMBER = r"^[+-]?[0-9]*[.,]?[0-9][0-9.,]*([eE][+-]?[0-9]+)? ?%?$"


@dataclass(frozen=True)
class Draft:
    """Public files and figures on one side, private files on the other."""

    summary: Summary
    columns: tuple[dict[str, str], ...]  # name, role and type of each released column
    shared_columns: tuple[tuple[str, ...], ...]  # sets of columns whose values at least k rows share
    parameters: dict[str, Any]
    files: Mapping[str, Content]
    private_files: Mapping[str, Content]
    measured_loss: float | None = None  # for the owner alone: the summary has what may be published of it
    cells: tuple[CellShares, ...] = ()  # the same of cells, for tables
    copy: dict[str, Any] | None = None  # what the certificate says of a copy of the rows in another format
    formulas: Mapping[str, int] = field(default_factory=dict)  # cells of each column that a spreadsheet would run


def formulas_in(released: pa.Table) -> Counter[str]:
    """How many cells of each column of text begin like a formula, and are no numbers such as -5."""
    found: Counter[str] = Counter()
    for name, column in zip(released.column_names, released.columns, strict=True):
        if count := int(pc.sum(_are_formulas(column)).as_py() or 0) if is_text(value_type(column.type)) else 0:
            found[name] = count
    return found


def warn_of_formulas(columns: Iterable[str], found: Mapping[str, int]) -> None:
    """Name the columns, those whose own name is a formula among them, and the remedy."""
    cells = [f"{counted(count, 'cell')} of column {shown(name)}" for name, count in found.items()]
    names = list(columns)
    runs = _are_formulas(pa.array(names, pa.string())).to_pylist()
    cells += [f"the name of column {shown(name)}" for name, formula in zip(names, runs, strict=True) if formula]
    if cells:
        listed = ", ".join(cells[:10]) + (", …" if len(cells) > 10 else "")
        warnings.warn(
            f"a spreadsheet would run what begins with =, +, -, @ or a tab: {listed}; write an apostrophe before it in "
            "the input, leave the column out, or tell who gets the release to import it as text",
            stacklevel=3,
        )


def _are_formulas(texts: Any) -> Any:
    texts = texts.cast(pa.large_string())
    return pc.and_(
        pc.match_substring_regex(texts, FORMULA),
        pc.invert(pc.match_substring_regex(texts, NUMBER)),
    )
