"""Keys counted beside the definition, with gaps of both kinds, and with people."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.assessment.audit.key_columns import KeyColumns
from tests.reference.auditing import crowd

CELL = st.sampled_from([None, 1, 2, 3])
ROWS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[CELL] * width), min_size=1, max_size=25))


def columns_of(rows, **more) -> KeyColumns:
    columns = tuple(np.array([cell or 0 for cell in column], dtype=np.int64) for column in zip(*rows, strict=True))
    return KeyColumns(tuple("abcdef"[: len(columns)]), columns, **more)


@pytest.mark.parametrize("gaps_match", [False, True])
@given(rows=ROWS)
def test_every_combination_is_counted_and_comes_after_its_parts(gaps_match, rows) -> None:
    keys = columns_of(rows, gaps_match=gaps_match)
    seen: list[tuple[int, ...]] = []
    for columns, frequencies in keys.walk(3):
        assert frequencies.tolist() == [len(crowd(rows, row, columns, gaps_match)) for row in range(len(rows))]
        assert all(part in seen for part in combinations(columns, len(columns) - 1) if part)
        seen.append(columns)
    width = len(rows[0])
    assert sorted(seen) == sorted(c for size in (1, 2, 3) for c in combinations(range(width), size))


@pytest.mark.parametrize("gaps_match", [False, True])
@given(rows=ROWS)
def test_weights_are_added_up_over_the_crowd(gaps_match, rows) -> None:
    weights = np.arange(1.0, len(rows) + 1)
    everything = range(len(rows[0]))
    expected = [sum(weights[crowd(rows, row, everything, gaps_match)]) for row in range(len(rows))]
    assert columns_of(rows, gaps_match=gaps_match).frequencies(weights=weights).tolist() == expected


@given(ROWS, st.integers(1, 4))
def test_with_people_a_person_counts_once(rows, n_people) -> None:
    person = np.arange(len(rows), dtype=np.int64) % n_people
    everything = range(len(rows[0]))
    expected = [len(set(person[crowd(rows, row, everything)].tolist())) for row in range(len(rows))]
    assert columns_of(rows, person=person).frequencies().tolist() == expected
