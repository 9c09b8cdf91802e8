"""Documents linked with the rows that were released of them: who has the originals takes the most similar row."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from shoal.errors import InputError
from shoal.results.rates import Rate
from shoal.risk.rates import check_count, rate_of, sample_rows

__all__ = ["DocumentLinkage"]

AT_ONCE = 500  # documents compared with all rows at a time
CLOSE = 1e-9  # similarities that differ by less are equal


class DocumentLinkage:
    """Look for the released row of documents that are known word by word.

    The attacker compares a document with every released row and takes the one of the largest cosine; of rows that are
    equal, or equally near, one at random. The baseline is 1 / n.

    Parameters
    ----------
    attacked : int, documents drawn at random; the rows of all are searched
    random_state : int

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from shoal.risk.texts.linkage import DocumentLinkage
    >>> documents = sp.csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.8]])
    >>> rows = sp.csr_matrix([[1.0, 0.05], [0.1, 0.9]])
    >>> DocumentLinkage().run(documents, rows, [0, 0, 1, 1]).rate
    0.5
    """

    def __init__(self, attacked: int = 2_000, random_state: int = 0) -> None:
        self.attacked = attacked
        self.random_state = random_state

    def run(self, documents: sp.csr_matrix, rows: sp.csr_matrix, groups: NDArray[np.int64]) -> Rate:
        """`rows` has one for each group, and a column for each of the documents'; `groups` is that of each document."""
        groups = np.asarray(groups, dtype=np.int64)
        if documents.shape[0] != len(groups) or documents.shape[1] != rows.shape[1]:
            raise InputError(
                f"{documents.shape[0]} documents of {documents.shape[1]} terms, groups of {len(groups)}, rows of "
                f"{rows.shape[1]} terms; give the same of all"
            )
        targets = sample_rows(len(groups), check_count(self.attacked, "attacked"), self.random_state)
        sizes = np.bincount(groups, minlength=rows.shape[0]).astype(np.float64)
        known, released = normalize(documents), sp.csr_matrix(normalize(rows).T)
        chances = np.empty(len(targets))
        for start in range(0, len(targets), AT_ONCE):
            some = targets[start : start + AT_ONCE]
            alike = (known[some] @ released).toarray()
            nearest = (alike >= alike.max(axis=1, keepdims=True) - CLOSE) & (sizes > 0)
            own = nearest[np.arange(len(some)), groups[some]]
            chances[start : start + AT_ONCE] = own / (nearest @ sizes)
        return rate_of("linkage of documents", chances, 1.0 / len(groups), targets=targets)
