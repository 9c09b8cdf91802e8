"""A release of documents taken apart by its owner, before anybody else tries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.attacks.unmixing.attack import Published, Unmixing
from shoal.attacks.unmixing.columns import split_by_columns, table_columns
from shoal.attacks.unmixing.scoring import score
from shoal.results.attacks import Rate

GROUPS_TRIED = 100  # drawn at random
FEWEST_COLUMNS = 2  # of a table

Ints = NDArray[np.int64]


def taken_apart(
    rows: sp.csr_matrix,
    row_terms: NDArray[Any],
    counts: sp.csr_matrix,
    terms: NDArray[Any],
    groups: Ints,
    min_df: int,
    *,
    n_documents: int | None = None,
    tried: int = GROUPS_TRIED,
) -> tuple[Rate, ...]:
    """How many documents are recovered exactly, and nearly, from what is published of their groups.

    `rows` (groups, row_terms) are pooled counts; `counts` (documents, terms) the truth. A word that became part of a
    concept is in `terms` only, and an attacker cannot name it.
    """
    both = np.union1d(row_terms, terms)
    sizes = np.bincount(groups, minlength=rows.shape[0]).astype(np.int64)
    n_rows = len(groups) if n_documents is None else n_documents
    published = Published(_in_columns(rows, row_terms, both), sizes, n_rows, min_df)
    members, guesses = _in_columns(counts, terms, both), Unmixing(groups=tried).run(published)
    found = score(guesses, published, members, groups)
    columns = table_columns(published.rows, sizes)
    if len(columns) >= FEWEST_COLUMNS:
        by_columns = score(split_by_columns(published, columns, guesses.tried), published, members, groups)
        found = max(found, by_columns, key=lambda result: result.exact.rate)
    return found.exact, found.nearly


def is_table(pools: sp.csr_matrix, groups: Ints) -> bool:
    """Whether the records of pooled groups are rows of a table: each has one item of every column."""
    return len(table_columns(pools, np.bincount(groups, minlength=pools.shape[0]))) >= FEWEST_COLUMNS


def _in_columns(rows: sp.csr_matrix, terms: NDArray[Any], all_terms: NDArray[Any]) -> sp.csr_matrix:
    """The same rows with a column for each of more terms."""
    columns = np.searchsorted(all_terms, terms).astype(np.int32)[rows.indices]
    shape = (rows.shape[0], len(all_terms))
    return sp.csr_matrix((rows.data, columns, rows.indptr), shape=shape)
