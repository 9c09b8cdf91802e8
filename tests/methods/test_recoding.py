"""Full-domain recoding finds the best node of the lattice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.recoding import Levels, best_recoding
from tests.reference import common_values as twin


def column(values):
    """Values 0 to 7 at four levels: as they are, pairs, halves, all."""
    values = np.array(values)
    widths = (1, 2, 4, 8)
    return Levels([values // width for width in widths], [np.full(8 // width, (width - 1) / 7) for width in widths])


def nodes(levels):
    pairs = zip(levels.codes, levels.losses, strict=True)
    return [(codes.tolist(), losses.tolist()) for codes, losses in pairs]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=2, max_size=14),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_no_node_loses_less(rows, k, share):
    columns = [column(values) for values in zip(*rows, strict=True)]
    if len(rows) < k:
        return
    best = best_recoding(columns, k, share)
    assert best is not None  # the top withholds nothing
    assert best.loss == pytest.approx(twin.best_node([nodes(levels) for levels in columns], k, share))
    assert best.withheld.mean() <= share


def test_rows_beyond_the_limit_are_not_withheld():
    columns = [column([0, 0, 0, 0, 0, 0, 0, 0, 0, 7])]
    kept_whole = best_recoding(columns, 2, 0.0)
    one_less = best_recoding(columns, 2, 0.1)
    assert kept_whole is not None and one_less is not None
    assert kept_whole.levels == (3,) and not kept_whole.withheld.any()
    assert one_less.levels == (0,) and one_less.withheld.tolist() == [False] * 9 + [True]
    assert one_less.loss == pytest.approx(0.1)
