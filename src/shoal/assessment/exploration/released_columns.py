"""Protected columns before and after, whatever became of them: what an analyst loses, and what an attacker infers.

One measure of loss for means, bands, sets, blanks and false values: the error of an analyst who takes the best guess
for each cell, as a share of the error of one who only knows the distribution of the column. A true cell loses 0, a
blank 1 on average, a false label more. Numbers are guessed with squared error, labels are right or wrong; a band or set
stands for all values in it, as likely as they are frequent. Of means it is SSE / SST.

One attacker, too: they know the original values of everybody, how far columns were changed on average, and link each
record to the crowd in which it is likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.labels import LabelPair, label_pair
from shoal.attacks.rates import sample_rows
from shoal.data.columns import is_gap, plain
from shoal.kernels import Floats, Ints

MOST_LINKED = 1_000  # records that the attacker looks for
AT_ONCE = 4_000_000  # pairs of a record and a crowd
GAP = "(missing)"


@dataclass(frozen=True)
class ReleasedNumbers:
    """Numbers that became other numbers; NaN is a gap."""

    before: Floats  # (n,)
    after: Floats  # (n,)

    @property
    def lost(self) -> Floats:
        """The loss of each cell."""
        mean = float(np.nanmean(self.before))
        return _share((self.before - np.where(np.isnan(self.after), mean, self.after)) ** 2, self.before)

    def log_chances(self, rows: Ints, crowds: Ints) -> Floats:
        """(rows, crowds): how likely a crowd, given by one of its rows, is to hold the record of each row."""
        error = float(np.nanmean((self.before - self.after) ** 2)) if np.isfinite(self.before - self.after).any() else 0
        apart = (self.before[rows][:, None] - self.after[crowds][None, :]) ** 2
        if error == 0:
            return np.where(np.nan_to_num(apart) > 0, -np.inf, 0.0)
        return -np.nan_to_num(apart, nan=error) / (2.0 * error)


@dataclass(frozen=True)
class ReleasedBands:
    """Numbers that became bands: each reaches from the lowest to the highest number that it stands for."""

    before: Floats
    band: Ints  # (n,) of each record
    low: Floats  # of each band; NaN where it stands for gaps
    high: Floats

    @property
    def lost(self) -> Floats:
        known = np.sort(self.before[~np.isnan(self.before)])
        sums = np.append(0.0, np.cumsum(known))
        first, last = np.searchsorted(known, self.low, "left"), np.searchsorted(known, self.high, "right")
        middle = (sums[last] - sums[first]) / np.maximum(last - first, 1)
        return _share((self.before - middle[self.band]) ** 2, self.before)

    def log_chances(self, rows: Ints, crowds: Ints) -> Floats:
        known = np.sort(self.before[~np.isnan(self.before)])
        within = np.searchsorted(known, self.high, "right") - np.searchsorted(known, self.low, "left")
        values, bands = self.before[rows][:, None], self.band[crowds]
        outside = (values < self.low[bands]) | (values > self.high[bands])
        return np.where(outside, -np.inf, -np.log(np.maximum(within[bands], 1)))


@dataclass(frozen=True)
class ReleasedLabels:
    """Labels that became others, or sets of them."""

    pair: LabelPair

    @property
    def lost(self) -> Floats:
        counts = np.bincount(self.pair.before, minlength=len(self.pair.values))
        usual = 1.0 - float(np.sum((counts / counts.sum()) ** 2))
        wrong: Floats = 1.0 - self.pair.disclosed
        return wrong / usual if usual > 0 else np.zeros(len(wrong))

    def log_chances(self, rows: Ints, crowds: Ints) -> Floats:
        pair = self.pair
        frequency = np.bincount(pair.before, minlength=len(pair.values)) / len(pair.before)
        false = float(np.mean(pair.disclosed == 0))
        with np.errstate(divide="ignore"):
            chance = np.log((1.0 - false) * pair.chance + false * frequency[:, None])
        chances: Floats = chance[pair.before[rows]][:, pair.after[crowds]]
        return chances


ReleasedColumn = ReleasedNumbers | ReleasedBands | ReleasedLabels


def released_column(name: str, before: Floats | pa.Array, after: Floats | pa.Array) -> ReleasedColumn:
    """A column before and after: numbers, or what is written."""
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return ReleasedNumbers(before, after)
    if not isinstance(before, np.ndarray):
        texts = _texts(before)
        shown = [GAP if was == label == "" else label for was, label in zip(texts, _texts(after), strict=True)]
        return ReleasedLabels(label_pair(name, [was or GAP for was in texts], shown))
    bands, band = np.unique(np.array(_texts(after), dtype=object).astype(str), return_inverse=True)
    low, high = np.full(len(bands), np.inf), np.full(len(bands), -np.inf)
    known = ~np.isnan(before)
    np.minimum.at(low, band[known], before[known])
    np.maximum.at(high, band[known], before[known])
    blank = np.isin(bands, ("", "*", "..."))
    low[blank], high[blank] = before[known].min(initial=0.0), before[known].max(initial=0.0)
    empty = low > high  # it stands for gaps
    return ReleasedBands(before, band.astype(np.int64), np.where(empty, np.nan, low), np.where(empty, np.nan, high))


def share_linked(columns: Sequence[ReleasedColumn], crowd_of_row: Ints, random_state: int = 0) -> float:
    """Probability that the attacker links a record to its row, over a sample of at most 1,000 of them."""
    crowds, first, sizes = np.unique(crowd_of_row, return_index=True, return_counts=True)
    rows, chances = sample_rows(len(crowd_of_row), MOST_LINKED, random_state), 0.0
    for some in np.array_split(rows, max(1, len(rows) * len(crowds) // AT_ONCE)):
        total = np.zeros((len(some), len(crowds)))
        for column in columns:
            total += column.log_chances(some, first)
        best = total >= total.max(axis=1, keepdims=True) - 1e-9
        own = best[np.arange(len(some)), np.searchsorted(crowds, crowd_of_row[some])]
        chances += float(np.sum(own / (best @ sizes)))
    return chances / len(rows)


def _share(errors: Floats, before: Floats) -> Floats:
    """Squared errors as shares of the column's variance; what was missing before loses nothing."""
    variance = float(np.nanvar(before))
    if variance == 0:
        return np.where(np.nan_to_num(errors) > 0, 1.0, 0.0)
    return np.nan_to_num(errors) / variance


def _texts(column: Any) -> list[str]:
    """What is written in each cell; nothing in a gap."""
    column = plain(column)
    texts = column.cast(pa.large_string()).to_pylist()
    return ["" if gap else text.strip() for text, gap in zip(texts, np.asarray(is_gap(column)), strict=True)]
