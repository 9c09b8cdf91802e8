"""Columns that are taken for labels, looked at before anybody asks what they mean."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.delimited import MISSING
from shoal.io.files import shown
from shoal.io.table import Table, not_numbers

__all__ = ["check_labels"]


def check_labels(table: Table, columns: Iterable[str], hierarchy: bool = False) -> None:
    """Refuse what is no label unless a hierarchy says so: dates and the like, and text of which half has digits.

    `hierarchy`: there is one for all columns of text, which may well have digits in it.
    """
    for name in columns:
        column = table.data[name]
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise not_numbers(column, shown(name))
        if not pa.types.is_boolean(kind) and not hierarchy:
            texts = column.cast(pa.large_string())
            present = pc.and_(pc.is_valid(texts), pc.invert(pc.is_in(texts, pa.array(MISSING, pa.large_string()))))
            digits = pc.and_(present, pc.fill_null(pc.match_substring_regex(texts, r"\d"), False))
            if 2 * (pc.sum(digits).as_py() or 0) >= max(pc.sum(present).as_py() or 0, 1):
                raise not_numbers(
                    texts,
                    shown(name),
                    "correct them, say that they are plain categories (--categorical) or what they mean (--ontology)",
                )
