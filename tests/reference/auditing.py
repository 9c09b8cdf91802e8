"""Measures of one table, row by row and subset by subset as they are defined. Gaps are None."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Row = tuple[object, ...]


def crowd(rows: Sequence[Row], row: int, columns: Sequence[int], gaps_match: bool = False) -> list[int]:
    """The rows whose key agrees with that of one row."""

    def agree(one: object, other: object) -> bool:
        return one == other or (gaps_match and (one is None or other is None))

    return [
        other for other in range(len(rows)) if all(agree(rows[row][column], rows[other][column]) for column in columns)
    ]


def minimal_sample_uniques(rows: Sequence[Row], max_size: int) -> list[set[tuple[int, ...]]]:
    """Of each row, the sets of columns that single it out though no proper subset does."""
    n_columns = len(rows[0])
    found = []
    for row in range(len(rows)):
        single = {
            columns
            for size in range(1, max_size + 1)
            for columns in combinations(range(n_columns), size)
            if crowd(rows, row, columns) == [row]
        }
        found.append({columns for columns in single if not any(set(part) < set(columns) for part in single)})
    return found


def suda_scores(rows: Sequence[Row], max_size: int) -> list[int]:
    """Sum over the minimal sample uniques of (A - m) (A - m - 1) ... (A - M); nothing is multiplied by A - A."""
    n_columns = len(rows[0])
    last = min(max_size, n_columns - 1)
    return [
        sum(math.prod(n_columns - size for size in range(len(columns), last + 1)) for columns in uniques)
        for uniques in minimal_sample_uniques(rows, max_size)
    ]


def confidential_measures(keys: Sequence[object], values: Sequence[float], ordered: bool) -> dict[str, float | None]:
    """The worst over all keys."""
    overall = Counter(values)
    share_of = {value: count / len(values) for value, count in overall.items()}
    groups = [Counter(v for k, v in zip(keys, values, strict=True) if k == key) for key in set(keys)]
    shares = [{value: group[value] / group.total() for value in sorted(overall)} for group in groups]
    gain = max(share[value] / p - 1 for share in shares for value, p in share_of.items())
    l = min(len(group) for group in groups)
    return {
        "distinct_l": l,
        "entropy_l": min(math.exp(-sum(q * math.log(q) for q in share.values() if q)) for share in shares),
        "recursive_c": None
        if l < 2
        else max(sorted(group.values())[-1] / sum(sorted(group.values(), reverse=True)[l - 1 :]) for group in groups),
        "t": max(_distance(share, share_of, ordered) for share in shares),
        "alpha": max(max(share.values()) for share in shares),
        "beta": gain,
        "enhanced_beta": max(min(gain, -math.log(p)) for p in share_of.values()),
        "delta": max(abs(math.log(q / share_of[value])) for share in shares for value, q in share.items() if q),
    }


def _distance(share: dict[float, float], overall: dict[float, float], ordered: bool) -> float:
    """The earth mover's distance: over ranks, or between any two values the same."""
    differences = [share[value] - overall[value] for value in sorted(overall)]
    if not ordered:
        return sum(map(abs, differences)) / 2
    if len(differences) == 1:
        return 0.0
    return sum(abs(sum(differences[: end + 1])) for end in range(len(differences))) / (len(differences) - 1)
