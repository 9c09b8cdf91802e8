"""Singling out, linkability and attribute inference: the three risks that European guidance on anonymisation names.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques; measured by attack, baseline and control
as in Giomi, Boenisch, Wehmeyer and Tasnádi, "A unified framework for quantifying privacy risk in synthetic data"
(2023). The chance of isolating somebody without the release is from Cohen and Nissim, "Towards formalizing the GDPR's
notion of singling out" (2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from shoal.attacks.distance import RELATIVE, standard
from shoal.attacks.rates import check_count, log_choose, near_by_chance, rate_of, sample_rows
from shoal.data.pairs import NumericPair, numeric_control, numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.language import N_, sayable
from shoal.results.attacks import Rate

POOL = 10  # descriptions thought of for every one that is used
CELLS = 4_000_000  # distances held at a time: 32 MB


@dataclass(frozen=True)
class _Descriptions:
    """Boxes: a record fits when each of its named columns lies between low and high, both included."""

    columns: Ints  # (descriptions, m)
    low: Floats  # (descriptions, m)
    high: Floats  # (descriptions, m)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, which: Any) -> _Descriptions:
        return _Descriptions(self.columns[which], self.low[which], self.high[which])

    def fitting(self, values: Floats) -> tuple[Ints, Ints]:
        """How many records fit each description, and the first that does (-1: none)."""
        counts, first = np.zeros(len(self), dtype=np.int64), np.full(len(self), -1, dtype=np.int64)
        by_column = np.ascontiguousarray(values.T)
        for number, (columns, low, high) in enumerate(zip(self.columns, self.low, self.high, strict=True)):
            fits = np.ones(len(values), dtype=bool)
            for column, lowest, highest in zip(columns, low, high, strict=True):
                fits &= (by_column[column] >= lowest) & (by_column[column] <= highest)
            counts[number] = np.count_nonzero(fits)
            if counts[number]:
                first[number] = np.argmax(fits)
        return counts, first


class SinglingOut:
    """Describe somebody so that exactly one person fits.

    The intruder has the release only. With one attribute they take what is rare in it: values that one released record
    has, everything up to the smallest, everything from the largest. With several they take released records and say
    "at least this" of what is above the median and "at most this" of what is below. They think of ten times as many
    descriptions as they need and keep those that the fewest released records fit, one if possible. An attempt succeeds
    when exactly one original record fits.

    The baseline is the same with values drawn at random from the attributes' ranges. Even without any data a
    description that fits one in n isolates somebody with a chance of about 37 %, so the rate alone proves nothing. The
    control are people who are not in the data: isolating one of them as often is luck. What isolates depends on the
    size of the crowd, so data and control are compared at the size of the smaller of the two: give as many control
    records as there are originals, or more.

    Parameters
    ----------
    attributes : int, how many a description names
    attacks : int, at most; there may be fewer different descriptions
    random_state : int
    """

    def __init__(self, attributes: int = 1, attacks: int = 500, random_state: int = 0) -> None:
        self.attributes = attributes
        self.attacks = attacks
        self.random_state = random_state

    def run(self, original: Any, protected: Any, control: Any = None) -> Rate:
        """The share of descriptions that isolate; `targets` are the rows isolated, -1 where none is."""
        pair = numeric_pair(original, protected)
        attributes = check_count(self.attributes, "attributes")
        if attributes > len(pair.names):
            raise InputError(f"attributes={attributes} but the table has {len(pair.names)}; lower it")
        random = np.random.default_rng(self.random_state)
        attacks = check_count(self.attacks, "attacks")
        if attributes == 1:
            thought_of = _some(_rare_values(pair.protected), POOL * attacks, random)
        else:
            thought_of = _corners(pair.protected, attributes, POOL * attacks, random)
        used = _fewest(thought_of, pair.protected, attacks, random)
        blind = _with_random_values(used, pair.protected, random)

        outside = None if control is None else numeric_control(control, pair)
        size = len(pair.original) if outside is None else min(len(pair.original), len(outside))
        counts, first = used.fitting(pair.original)
        chances = _isolates(counts, len(pair.original), size)
        baseline = _isolates(blind.fitting(pair.original)[0], len(pair.original), size).mean()
        held_out = None if outside is None else _isolates(used.fitting(outside)[0], len(outside), size)
        about = sayable(
            "singling out by {attributes} attribute" if attributes == 1 else "singling out by {attributes} attributes",
            attributes=attributes,
        )
        return rate_of(about, chances, float(baseline), held_out, np.where(counts == 1, first, -1))


def _rare_values(released: Floats) -> _Descriptions:
    """One column each: up to the smallest value, from the largest, and every value that is there once."""
    columns, low, high = [], [], []
    for column, values in enumerate(released.T):
        different, counts = np.unique(values, return_counts=True)
        once = different[counts == 1]
        columns += [column] * (2 + len(once))
        low += [-np.inf, different[-1], *once]
        high += [different[0], np.inf, *once]
    return _Descriptions(np.array(columns)[:, None], np.array(low)[:, None], np.array(high)[:, None])


def _corners(released: Floats, attributes: int, how_many: int, random: np.random.Generator) -> _Descriptions:
    """Released records as corners: at least what is above the median, at most what is below; none twice."""
    n_rows, n_columns = released.shape
    rows = random.integers(n_rows, size=how_many)
    columns = np.sort(np.argsort(random.random((how_many, n_columns)), axis=1)[:, :attributes], axis=1)
    values = released[rows[:, None], columns]
    above = values >= np.median(released, axis=0)[columns]
    made = np.hstack([columns, np.where(above, values, -np.inf), np.where(above, np.inf, values)])
    made = np.unique(made, axis=0)
    return _Descriptions(
        made[:, :attributes].astype(np.int64), made[:, attributes : 2 * attributes], made[:, 2 * attributes :]
    )


def _fewest(thought_of: _Descriptions, released: Floats, attacks: int, random: np.random.Generator) -> _Descriptions:
    """Those that the fewest released records fit, at most `attacks` of them, drawn at random."""
    counts = thought_of.fitting(released)[0]
    return _some(thought_of[counts == counts.min()], attacks, random)


def _some(descriptions: _Descriptions, most: int, random: np.random.Generator) -> _Descriptions:
    """All of them, or `most` drawn at random."""
    if len(descriptions) <= most:
        return descriptions
    return descriptions[np.sort(random.choice(len(descriptions), most, replace=False))]


def _with_random_values(used: _Descriptions, released: Floats, random: np.random.Generator) -> _Descriptions:
    """The same descriptions with every value replaced by one drawn from the column's range."""
    smallest, largest = released.min(axis=0)[used.columns], released.max(axis=0)[used.columns]
    drawn = smallest + random.random(used.columns.shape) * (largest - smallest)
    return _Descriptions(
        used.columns, np.where(np.isinf(used.low), used.low, drawn), np.where(np.isinf(used.high), used.high, drawn)
    )


def _isolates(counts: Ints, n_rows: int, size: int) -> Floats:
    """The chance that exactly one of `size` records drawn from the n fits, when `counts` of the n do."""
    chances = np.zeros(len(counts))
    possible = (counts >= 1) & (n_rows - counts >= size - 1)
    c = counts[possible].astype(np.float64)
    chances[possible] = np.exp(
        np.log(c) + log_choose(n_rows - c, size - 1.0) - log_choose(np.full_like(c, n_rows), float(size))
    )
    return np.where(counts == 1, size / n_rows, chances)


class Linkability:
    """Join two halves of a person's data through the release.

    The intruder has two files about the same people, without names, with different attributes: say one from a bank and
    one from a clinic. For each person in the first they take the released record that is nearest by the first file's
    attributes, for each in the second the nearest by the second's. Where both lead to the same released record, the two
    are one person. An attempt succeeds when the two halves of a target meet; of records equally near one is picked at
    random. The release is only asked, never aligned, so synthetic data can be judged too.

    The baseline is picking records at random, 1 / n. The control are people who are not in the data: what works on them
    as well is not the release's fault.

    Parameters
    ----------
    attacks : int, targets drawn at random
    random_state : int
    """

    def __init__(self, attacks: int = 2_000, random_state: int = 0) -> None:
        self.attacks = attacks
        self.random_state = random_state

    def run(self, original: Any, protected: Any, control: Any = None) -> Rate:
        """The share of targets whose halves meet; `targets` are their rows, `chances` how likely each is."""
        pair = numeric_pair(original, protected)
        n_columns = len(pair.names)
        if n_columns < 2:
            raise InputError(f"linkability needs at least 2 columns to be known apart, got {n_columns}")
        halves = list(range(n_columns // 2)), list(range(n_columns // 2, n_columns))
        rows = sample_rows(len(pair.original), check_count(self.attacks, "attacks"), self.random_state)
        chances = _meet(pair.protected, pair.original[rows], halves)
        outside = None
        if control is not None:
            others = numeric_control(control, pair)
            others = others[sample_rows(len(others), self.attacks, self.random_state)]
            outside = _meet(pair.protected, others, halves)
        return rate_of(N_("linkability"), chances, 1.0 / len(pair.protected), outside, rows)


def _meet(released: Floats, targets: Floats, halves: tuple[list[int], list[int]]) -> Floats:
    """The chance of each target that its two halves lead to the same released record."""
    chances = np.empty(len(targets))
    both = (_nearest(released[:, columns], targets[:, columns]) for columns in halves)
    for (rows, one), (_, other) in zip(*both, strict=True):
        chances[rows] = np.sum(one & other, axis=1) / (one.sum(axis=1) * other.sum(axis=1))
    return chances


def _nearest(released: Floats, targets: Floats) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Blocks of targets, and which released records are nearest to each, rounding aside, (targets, n)."""
    scale = standard(released, targets)
    records = scale(released)
    for rows in np.array_split(np.arange(len(targets)), -(-len(targets) * len(records) // CELLS)):
        distances = cdist(scale(targets[rows]), records)
        yield rows, distances <= distances.min(axis=1, keepdims=True) * (1.0 + RELATIVE) + scale.rounding


class AttributeInference:
    """Guess a secret attribute of people whose other attributes are known.

    The intruder knows everything of a person but one attribute, takes the released record that is nearest by what is
    known, and guesses that the secret is what that record says. The guess is right within `tolerance` standard
    deviations of the attribute. Of records equally near one is picked at random.

    The baseline is the best guess without the release: the one value that is right for the most targets. The control
    are people who are not in the data: what is guessed of them as well follows from how the attributes hang together
    in the population, and is what the release is for.

    Parameters
    ----------
    tolerance : float, in standard deviations of the original column
    attacks : int, targets drawn at random, the same for every secret
    random_state : int
    """

    def __init__(self, tolerance: float = 0.1, attacks: int = 1_000, random_state: int = 0) -> None:
        self.tolerance = tolerance
        self.attacks = attacks
        self.random_state = random_state

    def run(self, original: Any, protected: Any, control: Any = None) -> tuple[Rate, ...]:
        """A rate for each attribute as the secret one; `targets` are the rows attacked."""
        if not self.tolerance >= 0:
            raise InputError(f"tolerance={self.tolerance!r} must be at least 0 standard deviations")
        pair = numeric_pair(original, protected)
        if len(pair.names) < 2:
            raise InputError(
                f"attribute inference needs something known and something secret, got {len(pair.names)} column"
            )
        rows = sample_rows(len(pair.original), check_count(self.attacks, "attacks"), self.random_state)
        outside = None
        if control is not None:
            outside = numeric_control(control, pair)
            outside = outside[sample_rows(len(outside), self.attacks, self.random_state)]
        return tuple(self._guess(pair, secret, rows, outside) for secret in range(len(pair.names)))

    def _guess(self, pair: NumericPair, secret: int, rows: NDArray[np.int64], outside: Floats | None) -> Rate:
        truths = pair.original[rows, secret]
        # The small addition keeps equal values equal after a rounding.
        tolerance = self.tolerance * float(pair.original[:, secret].std()) + 1e-12 * float(np.abs(truths).max())
        chances = _tell(pair.protected, pair.original[rows], secret, tolerance)
        control = None if outside is None else _tell(pair.protected, outside, secret, tolerance)
        return rate_of(
            sayable("inference of {column}", column=pair.names[secret]),
            chances,
            near_by_chance(truths, tolerance),
            control,
            rows,
        )


def _tell(released: Floats, targets: Floats, secret: int, tolerance: float) -> Floats:
    """The chance of each target that the nearest released record reveals its secret."""
    known = np.arange(released.shape[1]) != secret
    chances = np.empty(len(targets))
    for rows, near in _nearest(released[:, known], targets[:, known]):
        right = np.abs(released[:, secret] - targets[rows][:, [secret]]) <= tolerance
        chances[rows] = np.sum(near & right, axis=1) / near.sum(axis=1)
    return chances
