"""Interval disclosure: windows by hand, the baseline, and what must hold for any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, RankSwap
from shoal.attacks.disclosure import IntervalDisclosure


def told_by_looking(x: list[float], y: list[float], reach: int) -> list[bool]:
    """Whether each original lies between the masked values `reach` places below and above its own."""
    ranked = sorted(y)
    told = []
    for original, masked in zip(x, y, strict=True):
        places = [place for place, value in enumerate(ranked) if value == masked]
        low, high = ranked[max(places[0] - reach, 0)], ranked[min(places[-1] + reach, len(y) - 1)]
        told.append(low <= original <= high)
    return told


def test_four_rows_by_hand():
    # A window of 25 % is one place to either side: [3, 4], [1, 2], [2, 4], [1, 3] round 4, 1, 3, 2.
    rate = IntervalDisclosure([25]).run([[1.0], [2.0], [3.0], [4.0]], [[4.0], [1.0], [3.0], [2.0]])
    assert rate.chances.tolist() == [0, 1, 1, 0]
    assert rate.rate == 0.5
    # A random original lies in them with a chance of 2/4, 2/4, 3/4, 3/4.
    assert rate.baseline == 0.625


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40), st.sampled_from([0, 5, 10, 50])
)
def test_windows_are_those_found_by_looking(rows, p):
    x, y = [float(one) for one, _ in rows], [float(other) for _, other in rows]
    rate = IntervalDisclosure([p]).run(np.array(x)[:, None], np.array(y)[:, None])
    assert rate.chances.astype(bool).tolist() == told_by_looking(x, y, p * len(rows) // 100)
    everyone = [told_by_looking([other] * len(x), y, p * len(rows) // 100) for other in x]
    assert rate.baseline == pytest.approx(np.mean(everyone))


def test_the_rate_is_the_mean_over_windows_and_attributes():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    Y = RankSwap(15, random_state=0).fit_transform(X)
    whole = IntervalDisclosure().run(X, Y)
    single = [IntervalDisclosure([p]).run(X, Y).rate for p in range(1, 11)]
    assert whole.rate == pytest.approx(np.mean(single))
    by_column = [IntervalDisclosure().run(X[:, [column]], Y[:, [column]]) for column in range(3)]
    assert whole.rate == pytest.approx(np.mean([one.rate for one in by_column]))
    assert whole.baseline == pytest.approx(np.mean([one.baseline for one in by_column]))


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=2, max_size=30))
def test_an_unmasked_table_is_told_whole(rows):
    assert IntervalDisclosure().run(rows, rows).rate == 1


def test_swapping_less_than_the_window_is_no_protection_and_more_is_some():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    assert IntervalDisclosure([10]).run(X, RankSwap(9, random_state=0).fit_transform(X)).rate == 1
    assert IntervalDisclosure([1]).run(X, RankSwap(50, random_state=0).fit_transform(X)).rate < 0.1


@pytest.mark.parametrize("windows", [[], [-1], [101]])
def test_windows_out_of_bounds_are_refused(windows):
    with pytest.raises(InputError, match="percentages from 0 to 100"):
        IntervalDisclosure(windows).run([[1.0], [2.0]], [[1.0], [2.0]])
