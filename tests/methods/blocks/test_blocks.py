"""Blocks: the promise holds whatever the rows and however small the blocks, and nothing but the rows shows in it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal import Microaggregation, SphericalMicroaggregation, progress
from shoal.errors import InputError
from shoal.methods import refinement
from shoal.methods.blocks.grouping import block_count
from shoal.methods.blocks.tree import grow
from shoal.methods.mdav import EuclideanSpace, SphericalSpace

ESTIMATORS = pytest.mark.parametrize("estimator", [Microaggregation, SphericalMicroaggregation])
SPACES = pytest.mark.parametrize("spherical", [False, True])


def between(spherical):
    return (SphericalSpace if spherical else EuclideanSpace).between


@st.composite
def rows(draw, least, most=70):
    """Rows of three small whole numbers, many of them equal, none of them zero."""
    number = st.integers(0, 3).map(float)
    different = draw(st.lists(st.tuples(number, number, st.sampled_from([1.0, 2.0])), min_size=1, max_size=12))
    return np.array(draw(st.lists(st.sampled_from(different), min_size=least, max_size=most)))


def distinct_rows(n_rows, seed=0):
    return np.random.default_rng(seed).random((n_rows, 5)) + 0.01


@ESTIMATORS
@given(st.data())
def test_groups_have_k_to_2k_minus_1_rows_however_small_the_blocks(estimator, data):
    k = data.draw(st.integers(2, 4))
    X = data.draw(rows(least=k))
    blocks = data.draw(st.integers(3 * k, 8 * k))
    model = estimator(k, blocks=blocks, refine=data.draw(st.booleans()), time_budget=0.001).fit(X)
    sizes = np.bincount(model.groups_)
    assert k <= sizes.min() and sizes.max() < 2 * k
    assert sizes.sum() == len(X)


@ESTIMATORS
@pytest.mark.parametrize("refine", [False, True])
def test_the_same_rows_give_the_same_groups(estimator, refine):
    X = distinct_rows(200)
    one, two = (estimator(3, blocks=20, refine=refine, time_budget=0.01).fit(X).groups_ for _ in range(2))
    assert one.tolist() == two.tolist()


@ESTIMATORS
def test_rows_that_are_all_different_meet_the_same_company_in_any_order(estimator):
    X = distinct_rows(150)
    order = np.random.default_rng(1).permutation(len(X))
    model = estimator(3, blocks=20, refine=False)
    assert company(model.fit(X).groups_) == company(model.fit(X[order]).groups_, order)


def company(groups, names=None):
    """The groups as a set of sets of rows."""
    names = np.arange(len(groups)) if names is None else names
    return {frozenset(names[groups == group].tolist()) for group in np.unique(groups)}


@ESTIMATORS
@pytest.mark.parametrize("refine", [False, True])
def test_one_block_is_the_run_in_one_piece(estimator, refine):
    X = distinct_rows(90)
    whole, automatic, block = (
        estimator(4, blocks=blocks, refine=refine, time_budget=0.01).fit(X).groups_.tolist()
        for blocks in (False, None, 90)
    )
    assert block == whole == automatic


@ESTIMATORS
def test_rows_that_are_all_equal_are_grouped_too(estimator):
    model = estimator(3, blocks=9, refine=False).fit(np.ones((100, 4)))
    assert np.bincount(model.groups_).min() >= 3
    assert model.sse_ == pytest.approx(0.0, abs=1e-9)


@ESTIMATORS
def test_blocks_lose_little_and_refinement_never_loses(estimator):
    X = distinct_rows(600)
    whole, blocks, refined = (
        estimator(3, blocks=size, refine=refine, time_budget=0.2).fit(X).sse_
        for size, refine in ((False, False), (100, False), (100, True))
    )
    assert refined <= blocks <= 1.15 * whole


@pytest.mark.slow  # starts three processes
def test_the_number_of_threads_does_not_show_in_the_groups():
    job = """
import numpy as np
from shoal import Microaggregation, SphericalMicroaggregation
X = np.random.default_rng(0).random((400, 6))
for estimator in (Microaggregation, SphericalMicroaggregation):
    for refine in (False, True):
        print(estimator(3, blocks=60, refine=refine, time_budget=0.05).fit(X).groups_.tolist())
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", job], env=os.environ | settings, capture_output=True, text=True, check=True
        ).stdout
        for settings in (
            {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
            # This layer ends the process when two threads run parallel kernels at once.
            {"NUMBA_NUM_THREADS": "2", "NUMBA_THREADING_LAYER": "workqueue"},
        )
    }
    assert len(said) == 1 and "[" in said.pop()


@SPACES
@given(st.data())
def test_a_tree_sends_equal_rows_to_one_block_and_each_row_on_its_own(spherical, data):
    X = sp.csr_matrix(data.draw(rows(least=8)))
    tree = grow(X if spherical else X.toarray(), X.shape[0], data.draw(st.integers(4, 30)), between(spherical))
    block = tree.block_of(X)
    assert block.min() >= 0 and block.max() < tree.n_blocks
    assert [int(tree.block_of(X[[row]])[0]) for row in range(X.shape[0])] == block.tolist()
    _, kind = np.unique(X.toarray(), axis=0, return_inverse=True)
    assert len(set(zip(kind.ravel().tolist(), block.tolist(), strict=True))) == len(set(kind.ravel().tolist()))


@SPACES
def test_a_tree_parts_what_lies_apart(spherical):
    left, right = [1.0, 0.1, 0.0], [0.1, 0.0, 1.0]
    X = np.array([left, right, left, right, right, left])
    block = grow(sp.csr_matrix(X) if spherical else X, 6, 3, between(spherical)).block_of(sp.csr_matrix(X))
    assert block[0] == block[2] == block[5] != block[1] == block[3] == block[4]


def test_blocks_of_different_rows_are_about_as_large_as_asked_for():
    X = distinct_rows(1000)
    assert np.bincount(grow(X, 1000, 130, between(False)).block_of(X)).tolist() == [125] * 8


@given(st.lists(st.integers(0, 40), min_size=8, max_size=8))
def test_blocks_that_are_too_small_join_their_siblings(counts):
    tree = grow(distinct_rows(800), 800, 100, between(False))
    use = tree.with_blocks_of(15, np.array(counts))
    sums = [sum(count for count, used in zip(counts, use, strict=True) if used == block) for block in np.unique(use)]
    assert sum(sums) == sum(counts)
    assert len(sums) == 1 or min(sums) >= 15


@given(st.integers(2, 9), st.integers(1, 3000), st.integers(0, 100))
def test_a_block_has_at_least_3k_rows_and_if_it_can_at_most_as_many_as_asked(k, n_rows, more):
    most = 3 * k + more
    n_blocks = block_count(most, n_rows, k)
    smallest, largest = n_rows // n_blocks, -(-n_rows // n_blocks)
    assert n_blocks == 1 or smallest >= 3 * k
    assert largest <= most or n_rows // (n_blocks + 1) < 3 * k


@pytest.mark.parametrize(
    ("blocks", "n_rows", "expected"),
    [
        (None, 50_000, 1),
        (None, 50_001, 5),
        (None, 1_000_000, 80),
        (False, 1_000_000, 1),
        (250, 1000, 4),
        (250, 1001, 5),
    ],
)
def test_blocks_begin_above_fifty_thousand_rows_unless_asked_for(blocks, n_rows, expected):
    assert block_count(blocks, n_rows, 5) == expected


@ESTIMATORS
@pytest.mark.parametrize("blocks", [8, 0, -1, True, 2.5, "10"])
def test_blocks_that_make_no_sense_are_refused_with_the_bound(estimator, blocks):
    with pytest.raises(InputError, match="blocks="):
        estimator(3, blocks=blocks, refine=False).fit(distinct_rows(30))


def test_blocks_of_a_sorted_sequence_are_refused():
    with pytest.raises(InputError, match="method='mdav'"):
        Microaggregation(3, method="z-scores", blocks=9).fit(distinct_rows(30))


def test_blocks_say_how_far_they_are():
    seen = []
    with progress.listening(lambda name, done, total: seen.append((name, done, total))):
        SphericalMicroaggregation(3, blocks=30, time_budget=0.01).fit(distinct_rows(100))
    for name in ("blocks", "pools 1 of 2", "pools 2 of 2", "refining"):
        steps = [(done, total) for step, done, total in seen if step == name]
        assert len(steps) > 3 and steps == [(done, len(steps) - 1) for done in range(len(steps))]


@pytest.mark.slow
@ESTIMATORS
def test_one_interrupt_ends_the_search_in_every_block_and_keeps_what_was_found(estimator, monkeypatch):
    X = distinct_rows(400)
    anneal, searched, before_the_interrupt = refinement.refinement.anneal, [], []

    def counted(*arguments):
        searched.append(1)
        anneal(*arguments)

    def interrupt(name, done, total):
        if name == "refining" and done == 1 and not before_the_interrupt:
            before_the_interrupt.extend(searched)
            raise KeyboardInterrupt

    monkeypatch.setattr(refinement.refinement, "anneal", counted)

    with progress.listening(interrupt), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = estimator(3, blocks=40, time_budget=2.0).fit(X)
    # Every block is searched four times or more; when the interrupt comes, another search or two are under way.
    assert len(searched) - len(before_the_interrupt) < 8
    assert [str(one.message) for one in said] == ["the search was interrupted: the best groups so far are kept"]
    sizes = np.bincount(model.groups_)
    assert sizes.min() >= 3 and sizes.max() < 6
    assert model.sse_ <= estimator(3, blocks=40, refine=False).fit(X).sse_


def test_one_interrupt_ends_the_search_in_every_group_of_attributes():
    rounds = []

    def interrupt(name, done, total):
        if name == "refining":
            rounds.append(done)
            raise KeyboardInterrupt

    with progress.listening(interrupt), pytest.warns(UserWarning, match="interrupted"):
        Microaggregation(3, attribute_groups=1, time_budget=60.0).fit(distinct_rows(90))
    assert rounds == [0]
