"""Recodings of a whole column that can be tried, finer first: bands, periods, prefixes, levels of its hierarchy.

Each makes unions of the values of the one before, so that they are the levels of full-domain recoding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.columns import all_match, is_text, plain, value_type
from shoal.data.kinds.dates import PERIODS, check_period
from shoal.data.kinds.number_forms import Doubles, NumberForm, Wholes, unit_of
from shoal.data.recoding import recoded
from shoal.data.table import Table
from shoal.kernels import Floats, Ints
from shoal.release.tables.records import levels_above
from shoal.terms.hierarchy import Hierarchy

WIDTHS = 4  # of bands, each twice as wide as the one before
FINEST = 16  # bands, about
FEWEST_CODES = 10  # different ones, below which prefixes make no sense
LARGEST = 1e12  # number of which a band is written


@dataclass(frozen=True)
class Recoded:
    """A column by a rule; "" is the column as it is."""

    rule: str
    codes: Ints  # (n,) the class of each row


def column_recodings(
    table: Table, name: str, form: NumberForm | None, numbers: Floats | None, ontology: Any
) -> list[Recoded]:
    """The column as it is, and by each rule that leaves fewer values, but more than one."""
    column, levels = table.data[name], levels_above(ontology, [name])
    recodings = [Recoded("", _codes(column))]
    for rule in _rules(column, form, numbers, (ontology or {}).get(name) if isinstance(ontology, dict) else ontology):
        if rule in PERIODS:
            assert form is not None and numbers is not None
            periods = replace(form, period=rule)  # type: ignore[type-var]
            codes = _codes(periods.written(np.nan_to_num(numbers, nan=float(np.nanmin(numbers))), np.isnan(numbers)))
        else:
            codes = _codes(recoded(table, {name: rule}, levels).data[name])
        if 0 < codes.max() < recodings[-1].codes.max():
            recodings.append(Recoded(rule, codes))
    return recodings


def cell_losses(codes: Ints, finest: Ints, numbers: Floats | None) -> Floats:
    """Of each code, what a cell loses (NCP): its width as a share of the range, or its share of the values."""
    n_codes = int(codes.max()) + 1
    if numbers is None:
        pairs = np.unique(np.column_stack([codes, finest]), axis=0)
        different = np.bincount(pairs[:, 0], minlength=n_codes)
        return np.where(different > 1, different / (int(finest.max()) + 1), 0.0)
    low, high, known = np.full(n_codes, np.inf), np.full(n_codes, -np.inf), ~np.isnan(numbers)
    np.minimum.at(low, codes[known], numbers[known])
    np.maximum.at(high, codes[known], numbers[known])
    width = float(np.ptp(numbers[known])) if known.any() else 0.0
    return np.where(high > low, (high - low) / width if width else 0.0, 0.0)


def _rules(column: Any, form: NumberForm | None, numbers: Floats | None, meaning: Any) -> Iterator[str]:
    if isinstance(meaning, Hierarchy):
        yield from (f"level {steps}" for steps in range(1, int(meaning.taxonomy.depth.max()) - 1))
    elif numbers is not None and isinstance(form, Doubles | Wholes):
        yield from _bands(numbers[~np.isnan(numbers)])
    elif form is not None and hasattr(form, "period"):
        yield from (period for period in PERIODS if form.period is None and check_period(unit_of(form), period))
    elif form is None and is_text(value_type(column.type)):
        texts = pc.drop_null(pc.unique(plain(column).cast(pa.large_string())))
        if len(texts) >= FEWEST_CODES and all_match(texts, r"^[A-Za-z]?[0-9][0-9A-Za-z.]+$"):
            longest = int(pc.max(pc.utf8_length(texts)).as_py())
            yield from (f"prefix {length}" for length in range(min(longest - 1, WIDTHS), 0, -1))


def _bands(numbers: Floats) -> Iterator[str]:
    """Bands of rising width that lie in one another, as rules."""
    low, high = float(numbers.min(initial=0.0)), float(numbers.max(initial=0.0))
    if not low < high or max(-low, high) > LARGEST or len(np.unique(numbers)) < FINEST:
        return
    whole = bool(np.all(numbers == np.rint(numbers)))
    unit = 10.0 ** math.floor(math.log10((high - low) / FINEST))
    width = next(step * unit for step in (1, 2, 5, 10) if step * unit >= (high - low) / FINEST)
    width = max(width, 1.0) if whole else width
    start = math.floor(low / (width * 2 ** (WIDTHS - 1))) * width * 2 ** (WIDTHS - 1)
    for step in (width * 2**power for power in range(WIDTHS)):
        lows = [start + number * step for number in range(math.floor((high - start) / step) + 1)]
        texts = [f"{_spelt(one)}-{_spelt(one + step - (1 if whole else 0))}" for one in lows[:-1]]
        if len(texts) > 3:
            texts = [*texts[:2], "..."]
        if texts:
            yield ",".join([*texts, f"{_spelt(lows[-1])}+"])


def _spelt(number: float) -> str:
    return f"{round(number, 9):.12g}"


def _codes(column: Any) -> Ints:
    encoded = pa.chunked_array([plain(column)]) if isinstance(column, pa.Array) else plain(column)
    encoded = encoded.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices, dtype=np.int64)
