"""Queries: answers with ties by hand, and against every order in which ties can be broken."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.utility.queries import KINDS, chances_to_be_best, expected_f1, pair_queries, query_terms
from shoal.utility.spaces import space_pair

SCORES = st.lists(st.integers(0, 3), min_size=5, max_size=5)


def answers(scores: list[int], r: int) -> Counter[frozenset[int]]:
    """How often each answer comes out when ties are broken in every possible order."""
    found: Counter[frozenset[int]] = Counter()
    for order in permutations(range(len(scores))):
        ranked = sorted((row for row in order if scores[row] > 0), key=lambda row: -scores[row])
        found[frozenset(ranked[:r])] += 1
    return found


def slow_f1(one: list[int], other: list[int], r: int) -> float:
    """The mean of F1 over all pairs of answers."""
    left, right = answers(one, r), answers(other, r)
    total = Fraction(0)
    for a, times in left.items():
        for b, as_often in right.items():
            f1 = Fraction(2 * len(a & b), len(a) + len(b)) if a or b else Fraction(1)
            total += f1 * times * as_often
    return float(total / (left.total() * right.total()))


def test_the_last_places_are_drawn_among_those_that_tie():
    # Two for sure, and two places for the three documents at 0.5; without a common term no document is found.
    chances = chances_to_be_best(np.array([0.5, 0.9, 0.0, 0.5, 0.8, 0.5]), 4)
    assert chances == pytest.approx([2 / 3, 1, 0, 2 / 3, 1, 2 / 3])
    assert chances_to_be_best(np.array([0.5, 0.0, 0.2]), 4).tolist() == [1, 0, 1]


@given(SCORES, SCORES, st.integers(1, 5))
def test_expected_f1_is_the_mean_over_all_ways_to_break_ties(one: list[int], other: list[int], r: int):
    chances = (chances_to_be_best(np.array(scores, dtype=float), r) for scores in (one, other))
    assert expected_f1(*chances) == pytest.approx(slow_f1(one, other, r))


def test_six_kinds_of_terms_by_hand():
    X = np.array(
        [
            [0.6, 0.8, 0.0, 0.0],
            [0.8, 0.6, 0.0, 0.0],
            [0.8, 0.0, 0.6, 0.0],
            [0.0, 0.6, 0.8, 0.0],
            [0.1, 0.0, 0.0, 0.9],
        ]
    )
    terms = query_terms(sp.csr_matrix(X), [1, 2], random_state=0)
    assert list(terms) == list(KINDS)
    assert terms["most frequent terms"].tolist() == [0, 1]  # in 4, 3, 2 and 1 documents
    assert terms["least frequent terms"].tolist() == [3, 2]
    assert terms["highest mean weight"].tolist() == [0, 1]  # 2.3, 2.0, 1.4 and 0.9 over five documents
    assert terms["highest single weight"].tolist() == [3, 0]  # 0.9; of three with 0.8 the first
    assert len(set(terms["random terms, first draw"].tolist())) == 2


def test_a_query_of_one_term_by_hand():
    before = [[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]]
    after = [[0.8, 0.6], [0.8, 0.6], [0.6, 0.8], [0.6, 0.8]]
    # Both terms are in three documents; the first is asked for. The original's best two are rows 0 and 1, the
    # protected's too, tied. The best one: row 0, against row 0 or 1.
    found = {query.best: query for query in pair_queries(space_pair(before, after), lengths=[1], best=[1, 2])[:2]}
    assert found[1].f1 == pytest.approx(1 / 2)
    assert found[2].f1 == pytest.approx(1)
    assert (found[1].ceiling, found[2].ceiling) == (1, 1)
    # Of four documents one or two drawn at random.
    assert (found[1].baseline, found[2].baseline) == (pytest.approx(1 / 4), pytest.approx(1 / 2))


def test_the_same_space_reaches_the_ceiling_which_is_1_without_ties():
    X = np.random.default_rng(0).random((30, 8))
    assert all(query.f1 == query.ceiling == pytest.approx(1) for query in pair_queries(space_pair(X, X), best=[4, 10]))
    tied = np.repeat(X[:10], 3, axis=0)
    ceilings = [query.ceiling for query in pair_queries(space_pair(tied, tied), best=[4])]
    assert all(0.5 < ceiling < 1 for ceiling in ceilings)


def test_the_order_of_the_rows_and_the_length_of_vectors_change_nothing():
    random = np.random.default_rng(1)
    X = np.round(random.random((24, 7)), 1) + 0.01
    Y = np.repeat(X[::3], 3, axis=0)
    shuffled = random.permutation(24)
    scale = random.random((24, 1)) + 0.5
    one = pair_queries(space_pair(X, Y), best=[5])
    other = pair_queries(space_pair(X[shuffled], Y[shuffled] * scale), best=[5])
    assert [query.f1 for query in one] == pytest.approx([query.f1 for query in other])


def test_another_seed_asks_for_other_random_terms():
    X = np.random.default_rng(0).random((20, 40))
    Y = np.repeat(X[::4], 4, axis=0)
    seeds = [[query.f1 for query in pair_queries(space_pair(X, Y), random_state=seed)] for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lengths": [1, 3]}, "a query has 1 to 2 terms"),
        ({"lengths": [0]}, "a query has 1 to 2 terms"),
        ({"lengths": [1], "best": [0]}, "at least 1 document"),
    ],
)
def test_impossible_queries_are_refused(options: dict[str, list[int]], said: str):
    X = [[1.0, 0.0], [0.5, 0.5]]
    with pytest.raises(InputError, match=said):
        pair_queries(space_pair(X, X), **options)
