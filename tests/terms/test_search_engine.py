"""The search engine: cosines by hand, and thresholds at the knee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.terms.search_engine import SearchEngine, knee


def test_relevance_is_the_cosine_of_tf_idf_weights() -> None:
    engine = SearchEngine().fit(["tide tide heron", "heron", "wheat"])
    tide, heron = np.log(3), np.log(3 / 2)
    length = np.hypot(2 * tide, heron)
    expected = (2 * tide * tide + heron * heron) / (length * np.hypot(tide, heron))
    assert engine.relevance(["heron tide"])[0] == pytest.approx([expected, heron / np.hypot(tide, heron), 0.0])


def test_any_word_of_a_query_returns_a_document() -> None:
    engine = SearchEngine().fit(["the tide", "a heron", "wheat"])
    assert (engine.relevance(["herons or tides"])[0] > 0).tolist() == [True, True, False]


def test_numbers_are_words_and_stop_words_are_not() -> None:
    engine = SearchEngine().fit(["case 2241/10 of the court", "case 17/99 of the court", "and the and"])
    assert (engine.relevance(["2241"])[0] > 0).tolist() == [True, False, False]
    assert not engine.relevance(["of the and"]).any()


def test_words_are_given_as_they_are_usually_written() -> None:
    engine = SearchEngine().fit(["armies armies army", "a heron"])
    assert engine.words(engine.rows_[0].toarray().ravel(), 3) == ("armies",)


def test_texts_without_a_word_are_found_by_nothing() -> None:
    assert SearchEngine().fit(["", "...", "tide"]).relevance(["tide", ""]).tolist() == [
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0],
    ]


def test_the_knee_of_the_papers_example_lies_behind_seven_documents() -> None:
    # Table 3.4 of the thesis has the first eight relevances and the last of 44; between them the curve falls evenly.
    first = [0.26248, 0.21050, 0.10709, 0.09852, 0.08784, 0.07626, 0.05202, 0.02243]
    relevances = np.array([*first, *np.linspace(0.02243, 0.000034, 37)[1:]])
    threshold = knee(relevances)
    assert 0.02243 < threshold < 0.05202  # the paper chose 0.0422
    assert (relevances >= threshold).sum() == 7


@pytest.mark.parametrize("relevances", [[0.5], [0.5, 0.1], [0.3, 0.3, 0.3], [0.9, 0.6, 0.3], [0.9, 0.89, 0.1]])
def test_without_a_knee_all_are_relevant(relevances) -> None:
    assert knee(np.array(relevances)) == min(relevances)


def test_nothing_returned_has_no_threshold() -> None:
    assert knee(np.zeros(3)) == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_the_most_relevant_document_is_above_the_knee(relevances) -> None:
    values = np.array(relevances)
    assert values.max() >= knee(values)
