"""t-closeness against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.promises.closeness import figures as closeness
from shoal.promises.values import facts_of
from shoal.results.claims import Closeness

pytestmark = pytest.mark.usefixtures("without_attack")


def closeness_of(groups: np.ndarray, values: np.ndarray) -> Closeness:
    """Of one column, from the groups and the values of its records."""
    numbered = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return closeness("c", facts_of(numbered, {"c": values}).values["c"])


def plain(groups: list[int], values: list[object], ordered: bool) -> float:
    """The definition, value by value."""
    different = sorted(set(values))

    def shares(some: list[object]) -> list[float]:
        return [some.count(value) / len(some) for value in different]

    whole, farthest = shares(values), 0.0
    for group in set(groups):
        members = [value for one, value in zip(groups, values, strict=True) if one == group]
        apart = [here - of_all for here, of_all in zip(shares(members), whole, strict=True)]
        if ordered:
            distance = sum(abs(sum(apart[: place + 1])) for place in range(len(apart))) / max(len(different) - 1, 1)
        else:
            distance = sum(map(abs, apart)) / 2
        farthest = max(farthest, distance)
    return farthest


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30), st.booleans())
def test_closeness_is_the_earth_movers_distance(rows: list[tuple[int, int]], ordered: bool) -> None:
    groups = np.array([group for group, _ in rows])
    values = np.array([value if ordered else f"v{value}" for _, value in rows], dtype=object)
    found = closeness_of(groups, values)
    assert found.ordered == ordered
    assert found.t == pytest.approx(plain(groups.tolist(), values.tolist(), ordered), abs=1e-4)


def test_salaries_of_the_paper() -> None:
    """The example of the paper: nine salaries; the group {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} is 0.167."""
    salaries = np.array([3, 4, 5, 6, 8, 11, 7, 9, 10], dtype=object)
    first = closeness_of(np.array([0, 0, 0, 1, 1, 1, 1, 1, 1]), salaries)
    assert first.t == pytest.approx(0.375, abs=1e-4)
    second = closeness_of(np.array([0, 0, 0, 1, 1, 1, 0, 0, 0]), salaries)
    assert second.t == pytest.approx(1 / 6, abs=1e-3)


def test_missing_values_are_left_out_and_one_value_tells_nothing() -> None:
    values = np.array(["flu", None, "flu", ""], dtype=object)
    assert closeness_of(np.array([0, 0, 1, 1]), values).t == 0.0
