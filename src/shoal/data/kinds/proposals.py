"""A role for every column of a table, as a proposal: only the owner knows what others may know.

Ids, household numbers, weights and free text are never proposed as quasi-identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import all_match, holds_numbers, is_text, plain
from shoal.data.kinds.recognition import (
    AMOUNT,
    FEW_VALUES,
    KNOWN_ELSEWHERE,
    NUMBERING,
    PEOPLE,
    WANTED,
    names_household,
    names_person,
    names_wanted,
    names_weight,
    plain_values,
    words_of,
)
from shoal.data.roles import Kind, Role
from shoal.language import _, in_figures

Floats = NDArray[np.float64]
FEWEST_REPLICATES = 8  # replicate weights: 32, 80 or 160 of them, as a rule
FEWEST_DIGITS = 8  # of the number of a person or case
SEVERAL = 0.2  # different values by records, above which a number is that of a person or a case


def says_nothing(name: str) -> bool:
    """Whether a name gives no hint of what its column measures: V4010, UF, q5_2."""
    words = words_of(name)
    return not words & (AMOUNT | KNOWN_ELSEWHERE | WANTED) and not any(len(w) > 3 and w.isalpha() for w in words)


@dataclass(frozen=True)
class WeightsByNumbers:
    """Columns that no name makes sampling weights, but their numbers."""

    likely: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  # measured, as likely


def weights_by_numbers(data: pa.Table) -> WeightsByNumbers:
    """Weights of strata; or else the one column of broken numbers that spread as weights do.

    Measurements spread like that, too. So of several the one with far more decimals is the weight, as quotients have;
    and none is that stands in a numbered row of columns of which others have as many decimals: x1, x2, x3.
    """
    named = any(names_weight(name) and is_weight(data[name], True) for name in data.column_names)
    determined = [name for name in data.column_names if not named and _determined_weight(name, data[name], data)]
    if named or determined:
        return WeightsByNumbers(tuple(determined))
    names = data.column_names
    spread = [name for name in names if _spreads_like_weights(name, data)]
    alone = [name for name in spread if not any(_has_decimals(data, one, 4) for one in _numbered_beside(name, names))]
    unrounded = [name for name in alone if _has_decimals(data, name, 9)]
    likely = alone if len(alone) == 1 else unrounded if len(unrounded) == 1 else []
    return WeightsByNumbers(tuple(likely), tuple(name for name in spread if name not in likely))


def _numbered_beside(name: str, names: Sequence[str]) -> list[str]:
    """The other columns of an unbroken numbered row: x1, x3 and x4 of x2."""
    stem = name.rstrip("0123456789")
    beside: list[str] = []
    for step in (-1, 1):
        number = name[len(stem) :]
        while number and (other := f"{stem}{int(number) + step:0{len(number)}d}") in names:
            beside.append(other)
            number = other[len(stem) :]
    return beside


def _has_decimals(data: pa.Table, name: str, decimals: int) -> bool:
    """Whether nearly all numbers of a column have so many decimals or more."""
    numbers = _numbers(data[name])
    if numbers is None or not len(numbers):
        return False
    shifted = numbers * 10.0 ** (decimals - 1)
    return bool(np.mean(np.abs(shifted - np.rint(shifted)) > 1e-6) > 0.8)


def suggested_role(name: str, kind: Kind, column: Any, data: pa.Table, weights: WeightsByNumbers) -> tuple[Role, str]:
    """The role of a column of a table, and the reason in words with what else could be written."""
    words, distinct, n_rows = words_of(name), len(plain_values(column)), len(column)
    if distinct == 0:
        return Role.IDENTIFIER, "it holds nothing: dropped"
    if is_replicate_weight(name, column, data):
        return Role.IDENTIFIER, "a replicate of the sampling weight, which says more than one weight: dropped"
    if (named := names_weight(name)) is not False and kind is not Kind.DATE and is_weight(column, bool(named)):
        return Role.WEIGHT, _("a sampling weight: each group shows its mean, nothing is grouped by it")
    if named and kind in (Kind.NUMBER, Kind.WHOLE) and distinct > FEW_VALUES:
        return Role.IDENTIFIER, (
            "called like a sampling weight, but missing or negative in some records: dropped; to have it, fill it and "
            'write role = "weight"'
        )
    repeats = distinct < 0.95 * (n_rows - column.null_count)
    several = distinct > FEW_VALUES or distinct == n_rows - column.null_count > 1
    if names_household(name) and several:
        if repeats and not column.null_count:
            return Role.HOUSEHOLD, "it numbers households: whole ones are grouped, and the number is not released"
        return Role.IDENTIFIER, "it numbers households: dropped"
    if kind in (Kind.CODE, Kind.IDENTIFIER, Kind.LABEL) and names_person(name) and several:
        if repeats and kind is not Kind.IDENTIFIER and not column.null_count:
            return Role.PERSON, "it says whose a record is: whole people are grouped, and it is not released"
        return Role.IDENTIFIER, "by its name it numbers people or cases: dropped"
    if kind is Kind.CODE and words & NUMBERING and repeats and not column.null_count and distinct > SEVERAL * n_rows:
        return (
            Role.PERSON,
            "it numbers what has few records each: taken as people, who are grouped whole, or write drop",
        )
    if kind is not Kind.DATE and distinct > SEVERAL * n_rows and built_like_numbers_of_cases(plain_values(column)):
        if repeats and not column.null_count:
            return (
                Role.PERSON,
                "built like numbers of people, and repeats: people are grouped whole, or write drop",
            )
        return Role.IDENTIFIER, "built like numbers of people or cases: dropped; if it is an amount, write protect"
    if words & PEOPLE and kind not in (Kind.YES_NO, Kind.NUMBER):
        return Role.IDENTIFIER, "by its name it points at a person: dropped"
    if words & {"lat", "lon", "lng", "latitude", "longitude", "gps"}:
        return Role.IDENTIFIER, "a place on the map points at a person: dropped"
    if kind is Kind.IDENTIFIER:
        return Role.IDENTIFIER, "one value per record points at the record: dropped"
    if kind is Kind.TEXT:
        return Role.IDENTIFIER, "text can hold names and cannot be averaged: dropped"
    if len(column.unique()) == 1:
        return Role.INSENSITIVE, _("the same value for every record tells nobody apart")
    if kind is Kind.CODE and is_unit(column):
        return Role.HOUSEHOLD, "it numbers units of a few rows each, in their order, as households are: grouped whole"
    if name in weights.likely:
        return Role.WEIGHT, _("its numbers are like sampling weights: if it is an amount, write protect")
    if names_wanted(name):
        reason = _("by its name it is what an intruder wants to learn: released, and watched")
        if 2 * distinct > n_rows:
            reason += _(
                "; its {values} values all but name {records} records: if others know some, write protect"
            ).format(values=in_figures(f"{distinct:,}"), records=in_figures(f"{n_rows:,}"))
        return Role.CONFIDENTIAL, reason
    if words & KNOWN_ELSEWHERE:
        return Role.QUASI, _("by its name others may know it of a person: it is protected")
    if kind is Kind.DATE:
        return Role.QUASI, _("others often know when something happened: it is protected")
    return Role.QUASI, _("nothing says that others cannot know it: protected unless you know better")


def built_like_numbers_of_cases(values: pa.Array) -> bool:
    """Whether all are whole numbers of as many digits, eight or more, or letters and digits without a blank."""
    if pa.types.is_integer(values.type):
        lowest, highest = (str(end) for end in pc.min_max(values).as_py().values())
        return len(lowest) == len(highest) >= FEWEST_DIGITS and lowest[0] != "-"
    return is_text(values.type) and all(
        all_match(values, pattern) for pattern in (rf"^[A-Za-z0-9/-]{{{FEWEST_DIGITS},}}$", "[0-9]", "[A-Za-z]")
    )


def is_weight(column: Any, named: bool) -> bool:
    """Whether numbers can be sampling weights: none negative or missing; unless so `named`, not weights of bodies."""
    numbers = _numbers(column)
    if numbers is None or np.isnan(numbers).any() or not (numbers >= 0).all() or not numbers.any():
        return False
    if named:
        return True
    low, middle, high = np.quantile(numbers, (0.05, 0.5, 0.95))
    weighed = bool(np.all(np.abs(numbers * 10 - np.rint(numbers * 10)) < 1e-6))  # to 100 grams
    body = weighed and low > 0 and high < 5 * low and 2 <= middle <= 200
    return not body and len(np.unique(numbers)) > 2


def _determined_weight(name: str, column: Any, data: pa.Table) -> bool:
    """Whether a column of broken numbers has one value in each value of another column, as weights of strata have."""
    numbers = _numbers(column)
    if numbers is None or len(numbers) < 100 or np.isnan(numbers).any() or not (numbers > 0).all():
        return False
    different = np.unique(numbers)
    broken = np.abs(numbers * 100 - np.rint(numbers * 100)) > 1e-6  # more than two decimals
    scaled = numbers.mean() > 10_000  # some files have weights without the point
    if not 2 <= len(different) <= len(numbers) / 10 or numbers.mean() < 1.5 or (broken.mean() < 0.5 and not scaled):
        return False
    weights = np.searchsorted(different, numbers)
    for other in data.column_names:
        if other == name or pa.types.is_nested(data[other].type) or pa.types.is_floating(data[other].type):
            continue
        encoded = plain(data[other]).combine_chunks().dictionary_encode(null_encoding="encode")
        strata = np.asarray(encoded.indices).astype(np.int64)
        n_strata = int(strata.max()) + 1
        if len(different) <= n_strata <= len(numbers) / 10:
            first = np.unique(strata, return_index=True)[1]
            if np.array_equal(weights, weights[first][strata]):
                return True
    return False


def _spreads_like_weights(name: str, data: pa.Table) -> bool:
    """Whether nearly all numbers have four decimals or more, none is negative, and they differ widely or are 1 on
    average, as weights are that were divided by their mean."""
    numbers = _numbers(data[name])
    if numbers is None or len(numbers) < 100 or np.isnan(numbers).any() or not (numbers >= 0).all():
        return False
    if not _has_decimals(data, name, 4):
        return False
    low, high = np.quantile(numbers, (0.05, 0.95))
    return bool(abs(numbers.mean() - 1) < 0.05 or (numbers.min() > 0 and numbers.mean() > 1.5 and high > 3 * low))


def is_replicate_weight(name: str, column: Any, data: pa.Table) -> bool:
    """Whether a column is one of a numbered row of columns that all have about the mean of a sampling weight."""
    stem, numbers = name.rstrip("0123456789"), _numbers(column)
    siblings = [other for other in data.column_names if re.fullmatch(re.escape(stem) + r"\d+", other)]
    if stem == name or numbers is None or len(siblings) < FEWEST_REPLICATES:
        return False
    weights = [_numbers(data[other]) for other in data.column_names if other not in siblings and names_weight(other)]
    means = [float(np.nanmean(weight)) for weight in weights if weight is not None]
    return any(abs(float(np.nanmean(numbers)) - mean) < 0.1 * abs(mean) for mean in means)


def is_unit(column: Any) -> bool:
    """Whether whole numbers number units of a few rows each, which stand one below the other."""
    numbers = _numbers(column)
    if numbers is None or np.isnan(numbers).any() or len(numbers) < 100:
        return False
    different = len(np.unique(numbers))
    return 0.15 * len(numbers) < different < 0.95 * len(numbers) and bool(np.all(np.diff(numbers) >= 0))


def numbers_members(data: pa.Table, name: str, household: str) -> bool:
    """Whether the rows of every household are numbered from 1 on, as persons of a roster are."""
    if not pa.types.is_integer(data[name].type) or (pc.max(data[name]).as_py() or 0) < 3:  # 1 and 2 may be head, spouse
        return False
    pair = pa.table({"household": data[household], "number": data[name]})
    sizes = [("number", "min"), ("number", "max"), ("number", "count_distinct"), ([], "count_all")]
    homes = pair.group_by("household").aggregate(sizes)
    rows, last, first = (
        homes["count_all"],
        homes["number_max"].cast(pa.int64()),
        pc.min_max(homes["number_min"]).as_py(),
    )
    return first == {"min": 1, "max": 1} and bool(last.equals(rows) and homes["number_count_distinct"].equals(rows))


def _numbers(column: Any) -> Floats | None:
    if not holds_numbers(column.type) or pa.types.is_null(column.type) or pa.types.is_dictionary(column.type):
        return None
    numbers: Floats = plain(column).cast(pa.float64(), safe=False).to_numpy()
    return numbers
