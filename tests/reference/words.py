"""Words, counts and weights, written as one would say them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter


def words_of(text: str) -> list[str]:
    """Runs of letters and the marks on them, lower-case and composed."""
    composed = unicodedata.normalize("NFC", text.lower())
    letters = "".join(c if unicodedata.category(c)[0] in "LM" else " " for c in composed)
    return re.findall(r"[^ ]+", letters)


def find_words(documents: list[str]) -> tuple[list[list[str]], list[str]]:
    """The words of each document, and all words in order of their first appearance."""
    tokens = [re.findall(r"[^\W\d_]+", document) for document in documents]
    return tokens, list(dict.fromkeys(word for words in tokens for word in words))


def count_terms(tokens: list[list[int]], term_of_word: list[int]) -> list[list[tuple[int, int]]]:
    """For each document its terms in order of appearance, with their counts; -1 is no term."""
    rows = []
    for words in tokens:
        counts = Counter(term_of_word[word] for word in words)
        rows.append([(term, seen) for term, seen in counts.items() if term >= 0])
    return rows


def weigh_rows(
    rows: list[list[tuple[int, int]]], column_of_term: list[int], weight_of_column: list[float]
) -> list[list[tuple[int, float]]]:
    """Count times weight for every term that has a column, the row then scaled to unit length."""
    weighed = []
    for row in rows:
        kept = [(column_of_term[term], seen) for term, seen in row if column_of_term[term] >= 0]
        values = [(column, seen * weight_of_column[column]) for column, seen in kept]
        length = math.sqrt(sum(value * value for _, value in values)) or 1.0
        weighed.append([(column, value / length) for column, value in values])
    return weighed


def tf_idf(documents: list[list[str]]) -> tuple[list[str], list[dict[str, float]]]:
    """tf · ln(N / df) of unit length, straight from the formula; terms in every document weigh nothing."""
    frequency = Counter(term for document in documents for term in set(document))
    idf = {term: math.log(len(documents) / seen) for term, seen in frequency.items() if seen < len(documents)}
    rows = []
    for document in documents:
        row = {term: tf * idf[term] for term, tf in Counter(document).items() if term in idf}
        length = math.sqrt(sum(weight**2 for weight in row.values())) or 1.0
        rows.append({term: weight / length for term, weight in row.items()})
    return sorted(idf), rows
