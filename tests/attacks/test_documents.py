"""The search for originals: ranks by hand, ties by their chance, and strangers who must not be named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.attacks.documents import SearchAttack

LETTERS = ["heron tide reed", "heron tide wheat", "ship harbour", "winter snow"]


def test_a_text_that_kept_its_words_is_found_first() -> None:
    found = SearchAttack(words=()).run(LETTERS, LETTERS)
    assert found.with_all_words.first.rate == 1.0
    assert found.with_all_words.median_rank == 1.0
    assert (found.with_all_words.first.baseline, found.random_rank) == (0.25, 2.5)


def test_ties_count_by_their_chance() -> None:
    # "heron" fits the first two equally: half a chance for text 0. Text 3 has nothing left: any of four.
    found = SearchAttack(words=()).run(["heron Loc1", "wheat", "harbour", "[...]"], LETTERS)
    assert found.ranks.tolist() == [1.5, 1.0, 1.0, 2.5]
    assert found.with_all_words.first.rate == (0.5 + 1 + 1 + 0.25) / 4
    assert found.with_all_words.ten.rate == 1.0
    assert found.with_all_words.median_rank == 1.25


def test_what_is_left_may_point_at_somebody_else() -> None:
    found = SearchAttack(words=()).run(["wheat", "reed", "harbour", "snow"], LETTERS)
    assert found.ranks.tolist()[2:] == [1.0, 1.0]
    # Document 1 has "wheat", the other three have no word of it, and text 0 is one of them: second to fourth.
    assert found.ranks.tolist()[:2] == [3.0, 3.0]


def test_few_words_find_less_than_all() -> None:
    background = ["a b c x1", "a b d x2", "a e c x3", "f e d x4", "g h i x5"]
    texts = ["a b c", "a b d", "a e c", "f e d", "g h i"]
    one, every = SearchAttack(words=[1]).run(texts, background).searches
    assert (one.words, every.words) == (1, None)
    assert one.first.rate < every.first.rate == 1.0


def test_a_text_whose_original_is_not_there_is_no_target_but_a_control() -> None:
    found = SearchAttack(words=()).run([*LETTERS, "glacier moraine"], LETTERS, [0, 1, 2, 3, -1])
    assert (found.documents, found.background) == (4, 4)
    assert found.with_all_words.first.n == 4
    assert len(found.ranks) == 4
    assert found.named.control is not None


def test_verbatim_texts_are_named_and_strangers_are_not() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in random.integers(0, 300, 40)) for _ in range(200)]
    found = SearchAttack(words=()).run(texts, texts)
    assert found.named.rate == 1.0
    assert found.named.control_low <= 0.05 <= found.named.control_high


def test_texts_without_anything_in_common_are_not_named() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in random.integers(0, 300, 40)) for _ in range(200)]
    strangers = [" ".join(f"w{word}" for word in random.integers(0, 300, 40)) for _ in range(200)]
    found = SearchAttack(words=()).run(strangers, texts)
    assert found.named.rate < 0.03
    assert found.with_all_words.first.low <= found.with_all_words.first.baseline <= found.with_all_words.first.high
    assert found.with_all_words.median_low <= found.random_rank <= found.with_all_words.median_high


def test_at_most_so_many_texts_are_searched_for() -> None:
    found = SearchAttack(words=(), most=3).run(["heron", "tide wheat", "ship", "snow"], LETTERS)
    assert found.documents == 3
    assert len(found.ranks) == len(found.named.targets) == 3
    places = {0: 1.5, 1: 1.0, 2: 1.0, 3: 1.0}
    assert found.ranks.tolist() == [places[row] for row in found.named.targets.tolist()]


@given(st.lists(st.text("abc d", max_size=8), min_size=3, max_size=8), st.integers(0, 9))
def test_ranks_of_each_text_lie_within_the_background(texts, seed) -> None:
    shuffled = np.random.default_rng(seed).permutation(len(texts))
    found = SearchAttack(words=[1]).run([texts[row] for row in shuffled], texts, shuffled.tolist())
    assert all(1.0 <= rank <= len(texts) for rank in found.ranks)
    direct = SearchAttack(words=[1]).run(texts, texts)
    assert sorted(found.ranks) == sorted(direct.ranks)


@pytest.mark.parametrize(
    ("texts", "background", "originals"), [(["a"], ["a", "b", "c"], None), (["a", "b"], ["a", "b"], None)]
)
def test_too_few_to_search_for_is_said(texts, background, originals) -> None:
    with pytest.raises(InputError, match="too few to search for"):
        SearchAttack().run(texts, background, originals)


def test_a_number_of_words_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="words=0"):
        SearchAttack(words=[0]).run(LETTERS, LETTERS)
