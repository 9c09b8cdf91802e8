"""Kernels side by side: every row has its turn once, results keep their order, and an error comes through."""

from __future__ import annotations

import numba
import pytest

from shoal.kernels.threads import LEAST_RUN, runs, side_by_side


@pytest.mark.parametrize("n_rows", [0, 1, LEAST_RUN, 2 * LEAST_RUN, 3 * LEAST_RUN + 1, 10_000])
def test_every_row_is_in_one_run_in_its_place(n_rows):
    assert [row for run in runs(n_rows) for row in range(n_rows)[run]] == list(range(n_rows))


@pytest.mark.parametrize("threads", [1, 2])
def test_results_come_in_the_order_of_the_parts(threads):
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        assert side_by_side(pow, [(base, 2) for base in range(20)]) == [base**2 for base in range(20)]
    finally:
        numba.set_num_threads(before)


def test_an_error_in_one_part_is_raised():
    with pytest.raises(ZeroDivisionError):
        side_by_side(divmod, [(1, 1), (1, 0), (1, 1)])
