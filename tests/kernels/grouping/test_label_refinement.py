"""The search: errors are those of the twin, nothing gets worse, k holds, and a seed gives the same groups."""

from __future__ import annotations

import time
from collections import Counter

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.frames import columns_of
from shoal.kernels.grouping import label_refinement as kernel
from shoal.kernels.grouping.group_errors import Items, Problem, group_errors
from shoal.kernels.grouping.refinement import Cooling
from shoal.methods.categorical import distinct_tuples
from shoal.methods.label_columns import ColumnReading, label_column
from shoal.methods.mixed import mixed_rows, scales_of
from shoal.methods.refinement import REGION_ITEMS, errors_of_groups, regrouped
from tests.reference import categorical as twin
from tests.reference.refinement import partitions
from tests.terms.hierarchies import hierarchies, hierarchy_of

BRIEF = 2e6  # nanoseconds of work


@st.composite
def labelled(draw, least=4, most=16):
    """Rows of labels, and their columns as the methods see them."""
    parents = [draw(hierarchies()) for _ in range(draw(st.integers(1, 2)))]
    cells = [st.sampled_from(draw(st.lists(st.sampled_from(sorted(one)), min_size=1, max_size=5))) for one in parents]
    rows = draw(st.lists(st.tuples(*cells), min_size=least, max_size=most))
    return parents, rows, columns(parents, rows)


def columns(parents, rows):
    made = []
    for place, one in enumerate(parents):
        column = columns_of(pl.DataFrame({"x": [row[place] for row in rows]}), ["x"])[0]
        made.append(label_column(ColumnReading("x", hierarchy_of(one)), column, 1))
    return made


def named(tuples):
    """Each tuple by the names of its concepts."""
    return [
        tuple(one.reading.ontology.label(one.concepts[one.concept_of_value[code]]) for one, code in pairs)
        for pairs in (list(zip(tuples.labels, row, strict=True)) for row in tuples.codes.tolist())
    ]


def halves(counts, k):
    """A first partition: tuples one after the other until k records are together; the rest to the last."""
    groups, group, size = [], 0, 0
    left = int(counts.sum())
    for count in counts.tolist():
        groups.append(group)
        size += count
        left -= count
        if size >= k and left >= k:
            group, size = group + 1, 0
    return np.array(groups, dtype=np.int64)


def total(problem, groups):
    numbered = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return float(errors_of_groups(problem, numbered).sum())


@given(labelled(), st.integers(2, 4))
def test_the_error_of_a_group_of_tuples_is_that_of_the_twin(table, k):
    parents, _, labels = table
    tuples = distinct_tuples(labels)
    groups = halves(tuples.counts, k)
    meanings = [twin.Meaning(one) for one in parents]
    names = named(tuples)
    found = errors_of_groups(tuples.problem, groups)
    for group in range(groups.max() + 1):
        members = {names[place]: int(tuples.counts[place]) for place in np.flatnonzero(groups == group)}
        expected = twin.error(meanings, members, twin.centroid(meanings, Counter(members)))
        assert found[group] == pytest.approx(float(expected))


@given(labelled(), st.integers(2, 4), st.integers(1, 2**62))
def test_the_search_is_never_worse_keeps_k_and_repeats(table, k, seed):
    problem = distinct_tuples(table[2]).problem
    before = halves(problem.items.counts, k)
    found = []
    for _ in range(2):
        groups = before.copy()
        kernel.anneal(problem, groups, k, Cooling(BRIEF, 0.1, 0.001, seed))
        found.append(groups.tolist())
    sizes = np.bincount(found[0], weights=problem.items.counts)
    assert sizes[sizes > 0].min() >= min(k, problem.items.counts.sum())
    assert total(problem, np.array(found[0])) <= total(problem, before) + 1e-12
    assert found[0] == found[1]


@given(labelled(most=9))
def test_the_search_finds_the_best_partition_of_a_few_tuples(table):
    """Every partition of the tuples into groups of k records or more is tried by the twin."""
    problem = distinct_tuples(table[2]).problem
    counts = problem.items.counts
    k = 3
    if counts.sum() < k:
        return
    best = min(
        total(problem, np.array(groups))
        for groups in partitions(len(counts), 1)
        if np.bincount(groups, weights=counts).min() >= k
    )
    groups = regrouped(problem, halves(counts, k), k, 0.02, 0)
    assert total(problem, groups) == pytest.approx(best, rel=0.02, abs=1e-9)


def of_rows(rows):
    """Each row an item of its own."""
    items = Items(np.ones(len(rows.codes), np.int64), rows.codes, rows.numbers)
    return Problem(items, rows.table, rows.squares, of_mean=False)


def made_up(n_rows, seed=0):
    """Rows of two labels and two numbers."""
    random = np.random.default_rng(seed)
    parents = {"root": set()} | {f"n{place}": {"root" if place < 3 else f"n{place // 3}"} for place in range(20)}
    rows = [(f"n{random.integers(20)}", f"n{random.integers(8, 20)}") for _ in range(n_rows)]
    labels = columns([parents, parents], rows)
    numbers = random.normal(size=(n_rows, 2))
    scales = scales_of(numbers, labels, np.ones(2), np.ones(2))
    return mixed_rows(numbers, labels, scales)


def test_the_error_of_mixed_groups_is_the_loss_of_the_table():
    rows = made_up(60)
    groups = np.arange(60) % 7
    assert errors_of_groups(of_rows(rows), groups).sum() == pytest.approx(rows.loss(groups).sse)
    assert group_errors(of_rows(rows), groups, 7).shape == (7,)


@pytest.mark.slow
def test_mixed_groups_get_better_and_keep_k_in_one_region_and_in_many():
    for n_rows in (300, 2 * REGION_ITEMS + 100):
        problem = of_rows(made_up(n_rows))
        before = np.arange(n_rows) // 5
        found = regrouped(problem, before, 5, 0.3, 0)
        assert np.bincount(found).min() >= 5
        assert errors_of_groups(problem, found).sum() < 0.9 * errors_of_groups(problem, before).sum()
        assert found.tolist() == regrouped(problem, before, 5, 0.3, 0).tolist()


def test_the_number_of_threads_has_no_bearing():
    problem = of_rows(made_up(2 * REGION_ITEMS + 100))
    before = np.arange(len(problem.items.counts)) // 5
    threads = numba.get_num_threads()
    try:
        found = []
        for count in (1, threads):
            numba.set_num_threads(count)
            found.append(regrouped(problem, before, 5, 0.1, 0).tolist())
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1]


def test_a_larger_budget_and_another_seed_are_heard():
    problem = of_rows(made_up(200))
    before = np.arange(200) // 4
    brief, long = (errors_of_groups(problem, regrouped(problem, before, 4, budget, 0)).sum() for budget in (0.01, 0.5))
    assert long < brief
    assert regrouped(problem, before, 4, 0.05, 1).tolist() != regrouped(problem, before, 4, 0.05, 2).tolist()


def test_what_cannot_be_better_is_left_alone():
    problem = of_rows(made_up(7))
    assert regrouped(problem, np.zeros(7, dtype=np.int64), 4, None, 0).tolist() == [0] * 7


def test_few_columns_take_no_longer_than_the_work_that_is_counted():
    """Half a second of work on 1,000 rows, a truth value and a number; once it took more than two seconds."""
    random = np.random.default_rng(0)
    flags = columns(
        [{"root": set(), "yes": {"root"}, "no": {"root"}}], [("yes" if x else "no",) for x in random.random(1000) < 0.3]
    )
    numbers = random.lognormal(3, 1, size=(1000, 1)).round(1)
    problem = of_rows(mixed_rows(numbers, flags, scales_of(numbers, flags, np.ones(1), np.ones(1))))
    kernel.anneal(problem, np.arange(1000) // 3 % 333, 3, Cooling(1e6, 0.03, 0.0003, 1))  # compiled now
    groups = np.minimum(np.argsort(np.argsort(numbers[:, 0], kind="stable"), kind="stable") // 3, 332)
    before = time.thread_time()
    kernel.anneal(problem, groups, 3, Cooling(5e8, 0.03, 0.0003, 1))
    assert time.thread_time() - before < 1.5


def test_the_usual_budget_is_a_second_for_a_thousand_records(monkeypatch):
    problem = of_rows(made_up(300))
    given = []
    monkeypatch.setattr(kernel, "anneal", lambda *arguments: given.append(arguments[-1].work))
    regrouped(problem, np.arange(300) // 5, 5, None, 0)
    assert sum(given) == pytest.approx(0.3e9)
