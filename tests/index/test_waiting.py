"""Documents that wait until k of them are alike."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.index import DynamicIndex
from shoal.index.waiting import Waiting

# Five terms of their own, none of which can be read off the sum of three.
ALIKE = [(1, 1, 2, 2, 0), (1, 1, 1, 2, 1), (0, 2, 2, 0, 1)]


def row(*counts: int) -> sp.csr_matrix:
    return sp.csr_matrix(np.array([counts], dtype=np.int64))


def started() -> DynamicIndex:
    index = DynamicIndex(3, np.ones(8), embargo=0.45)
    index.insert_groups([["a", "b", "c"]], row(4, 5, 6, 0, 0, 0, 0, 0))
    return index


def test_the_k_th_document_that_is_alike_completes_a_crowd_and_others_join_it() -> None:
    index = started()
    placements = [index.insert(str(number), row(0, 0, 0, *counts)) for number, counts in enumerate(ALIKE)]
    assert [placement.waits for placement in placements] == [True, True, False]
    assert index.snapshot().pools.toarray()[1].tolist() == [0, 0, 0, 2, 4, 5, 4, 2]
    assert not index.insert("later", row(0, 0, 0, *ALIKE[0])).waits


def test_a_crowd_is_alike_on_average() -> None:
    # With their pool (22, 21, 24, 5, 6) the first two have a cosine of 0.98 and the third of 0.27: 0.75 on average.
    index = started()
    apart = [(10, 11, 12, 1, 0), (11, 10, 12, 1, 0), (1, 0, 0, 3, 6)]
    placements = [index.insert(str(number), row(0, 0, 0, *counts)) for number, counts in enumerate(apart)]
    assert not placements[-1].waits


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1_000)), max_size=300))
@settings(max_examples=30, deadline=None)
def test_what_is_taken_is_what_was_added_however_many_came_and_went(events: list[tuple[bool, int]]) -> None:
    waiting, there = Waiting(3, np.ones(4)), {}
    for number, (comes, which) in enumerate(events):
        if comes or not there:
            there[f"d{number}"] = [number + 1, 0, which, 0]
            waiting.add(f"d{number}", row(number + 1, 0, which, 0))
        else:
            document = list(there)[which % len(there)]
            assert waiting.take([document]).toarray().tolist() == [there.pop(document)]
        assert list(waiting) == list(there)


def test_nothing_is_left_in_memory_of_a_document_that_waits_no_longer() -> None:
    waiting = Waiting(3, np.ones(4))
    for name in "ab":
        waiting.add(name, row(0, 77, 0, 0))
    waiting.take(["a"])
    assert waiting._counts.nnz == waiting._unit.nnz == 1
    with pytest.raises(KeyError):
        waiting.take(["a"])


def test_k_copies_of_one_text_become_a_group() -> None:
    index = DynamicIndex(3, np.ones(4), embargo=0.45)
    placements = [index.insert(str(number), row(1, 2, 0, 0)) for number in range(7)]
    assert [placement.waits for placement in placements] == [True, True, False, False, False, False, False]
    assert index.snapshot().documents == 7
