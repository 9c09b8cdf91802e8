"""Words of many documents at once, from code points to counts."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


@njit(cache=True, nogil=True)
def find_words(codes: Ints, document_end: Ints, is_letter: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Maximal runs of letters, numbered by their first appearance.

    `codes` are the code points of the documents one after another, `document_end` where each one ends.
    Returns the word of every token, where each document's tokens end, and start and length of each word.
    """
    n_codes = codes.shape[0]
    token_word = np.empty(n_codes // 2 + 1 + document_end.shape[0], np.int32)
    token_end = np.empty(document_end.shape[0], np.int64)
    word_start = np.empty(1024, np.int64)
    word_length = np.empty(1024, np.int64)
    word_hash = np.empty(1024, np.uint64)
    table = np.full(4096, -1, np.int32)  # open addressing, at most half full
    n_tokens = 0
    n_words = 0
    at = 0
    for document in range(document_end.shape[0]):
        end = document_end[document]
        while at < end:
            if not is_letter[codes[at]]:
                at += 1
                continue
            start = at
            hashed = np.uint64(14695981039346656037)
            while at < end and is_letter[codes[at]]:
                hashed = (hashed ^ np.uint64(codes[at])) * np.uint64(1099511628211)
                at += 1
            hashed ^= hashed >> np.uint64(29)
            length = at - start
            mask = np.uint64(table.shape[0] - 1)
            slot = hashed & mask
            word = -1
            while True:
                candidate = table[slot]
                if candidate < 0:
                    break
                if word_hash[candidate] == hashed and word_length[candidate] == length:
                    same = True
                    first = word_start[candidate]
                    for offset in range(length):
                        if codes[first + offset] != codes[start + offset]:
                            same = False
                            break
                    if same:
                        word = candidate
                        break
                slot = (slot + np.uint64(1)) & mask
            if word < 0:
                if n_words == word_start.shape[0]:
                    word_start = np.concatenate((word_start, np.empty_like(word_start)))
                    word_length = np.concatenate((word_length, np.empty_like(word_length)))
                    word_hash = np.concatenate((word_hash, np.empty_like(word_hash)))
                word = n_words
                word_start[word] = start
                word_length[word] = length
                word_hash[word] = hashed
                n_words += 1
                table[slot] = word
                if 2 * n_words > table.shape[0]:
                    table = np.full(4 * table.shape[0], -1, np.int32)
                    mask = np.uint64(table.shape[0] - 1)
                    for other in range(n_words):
                        slot = word_hash[other] & mask
                        while table[slot] >= 0:
                            slot = (slot + np.uint64(1)) & mask
                        table[slot] = other
            token_word[n_tokens] = word
            n_tokens += 1
        token_end[document] = n_tokens
    return token_word[:n_tokens], token_end, word_start[:n_words], word_length[:n_words]


@njit(cache=True, nogil=True)
def count_terms(token_word: Ints, token_end: Ints, term_of_word: Ints, n_terms: int) -> tuple[Ints, Ints, Ints]:
    """How often each document has each term: CSR arrays (row ends, terms, counts), terms in order of appearance."""
    terms = np.empty(token_word.shape[0], np.int32)
    counts = np.empty(token_word.shape[0], np.int32)
    row_end = np.empty(token_end.shape[0], np.int64)
    position = np.full(n_terms, -1, np.int64)  # where a term stands in the row at hand
    filled = 0
    token = 0
    for document in range(token_end.shape[0]):
        row_start = filled
        while token < token_end[document]:
            term = term_of_word[token_word[token]]
            token += 1
            if term < 0:
                continue
            if position[term] >= row_start:
                counts[position[term]] += 1
            else:
                position[term] = filled
                terms[filled] = term
                counts[filled] = 1
                filled += 1
        row_end[document] = filled
    return row_end, terms[:filled].copy(), counts[:filled].copy()


@njit(cache=True, nogil=True)
def weigh_rows(
    row_end: Ints, terms: Ints, counts: Ints, column_of_term: Ints, weight_of_column: Floats
) -> tuple[Ints, Ints, Floats]:
    """Rows of count times weight, scaled to unit length; terms without a column are left out. CSR arrays."""
    n_rows = row_end.shape[0]
    indptr = np.zeros(n_rows + 1, np.int64)
    indices = np.empty(terms.shape[0], np.int32)
    data = np.empty(terms.shape[0], np.float64)
    filled = 0
    at = 0
    for row in range(n_rows):
        row_start = filled
        squares = 0.0
        while at < row_end[row]:
            column = column_of_term[terms[at]]
            if column >= 0:
                value = counts[at] * weight_of_column[column]
                indices[filled] = column
                data[filled] = value
                squares += value * value
                filled += 1
            at += 1
        if squares > 0:
            length = np.sqrt(squares)
            for entry in range(row_start, filled):
                data[entry] /= length
        indptr[row + 1] = filled
    return indptr, indices[:filled].copy(), data[:filled].copy()
