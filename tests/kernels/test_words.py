"""Word kernels against their twins."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import words as kernel
from tests.reference import words as twin

IS_LETTER = np.array([chr(code).isalpha() for code in range(sys.maxunicode + 1)])
TEXTS = st.lists(st.text("aab cé1_-\nж𝒳中 ", max_size=30), min_size=1, max_size=6)


def found_words(documents):
    codes = np.frombuffer("".join(documents).encode("utf-32-le"), dtype=np.uint32)
    ends = np.cumsum([len(document) for document in documents], dtype=np.int64)
    return kernel.find_words(codes, ends, IS_LETTER)


@given(TEXTS)
def test_words_are_runs_of_letters_numbered_by_first_appearance(documents):
    token_word, token_end, start, length = found_words(documents)
    tokens, words = twin.find_words(documents)
    whole = "".join(documents)
    assert [whole[s : s + n] for s, n in zip(start, length, strict=True)] == words
    ends = [0, *token_end.tolist()]
    assert [[words[word] for word in token_word[a:b]] for a, b in pairwise(ends)] == tokens


def test_the_table_of_words_grows_past_every_size_it_starts_with():
    letters = "abcdefghijklmnop"
    words = [a + b + c + d for a in letters for b in letters for c in letters for d in letters[:4]]
    token_word, token_end, start, _ = found_words([" ".join(words), " ".join(reversed(words))])
    assert len(start) == len(words) == 16384
    assert token_word.tolist() == [*range(16384), *reversed(range(16384))]
    assert token_end.tolist() == [16384, 32768]


@given(st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=6), st.data())
def test_counts_are_a_counter_of_terms_in_order_of_appearance(tokens, data):
    term_of_word = data.draw(st.lists(st.integers(-1, 4), min_size=7, max_size=7))
    flat = np.array([word for words in tokens for word in words], dtype=np.int32)
    ends = np.cumsum([len(words) for words in tokens], dtype=np.int64)
    row_end, terms, counts = kernel.count_terms(flat, ends, np.array(term_of_word, dtype=np.int32), 5)
    pairs = list(zip(terms.tolist(), counts.tolist(), strict=True))
    assert [pairs[a:b] for a, b in pairwise([0, *row_end.tolist()])] == twin.count_terms(tokens, term_of_word)


@given(st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=6), st.data())
def test_weighed_rows_are_count_times_weight_at_unit_length(rows, data):
    column_of_term = data.draw(st.permutations([0, 1, 2, -1, -1]))
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.5, 0.1, 3.0]), min_size=3, max_size=3))
    listed = [list(row.items()) for row in rows]
    flat = [pair for row in listed for pair in row]
    indptr, indices, values = kernel.weigh_rows(
        np.cumsum([len(row) for row in listed], dtype=np.int64),
        np.array([term for term, _ in flat], dtype=np.int32),
        np.array([count for _, count in flat], dtype=np.int32),
        np.array(column_of_term, dtype=np.int32),
        np.array(weights),
    )
    pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
    expected = twin.weigh_rows(listed, column_of_term, weights)
    assert [pairs[a:b] for a, b in pairwise(indptr.tolist())] == expected
