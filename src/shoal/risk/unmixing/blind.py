"""What a published row gives away as it is: guesses of a member that need no taking apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.risk.unmixing.frequencies import Frequencies
from shoal.risk.unmixing.published import Published

__all__ = ["blind_guesses"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARES = (1.0, 0.9, 0.8, 0.65, 0.5, 0.35)  # of a row's terms, the heaviest


def blind_guesses(published: Published, groups: Ints) -> list[list[sp.csr_matrix]]:
    """Kinds of guesses, each with one guess per group, repeated for every member.

    The heaviest terms of the row or the commonest, a share of them, each once; and the row read as if it
    were one document.
    """
    frequencies = Frequencies.of(published)
    kinds = [
        [_most(published, group, share, order) for group in groups.tolist()]
        for share in SHARES
        for order in (_weights, partial(_quotients, frequencies))
    ]
    if published.pooled:
        kinds.append([_even_parts(published, group) for group in groups.tolist()])
        for rounded in (np.floor, np.rint, np.ceil):
            kinds.append([_levels(published, group, rounded) for group in groups.tolist()])
    else:
        kinds.append([_as_one(published, frequencies, group) for group in groups.tolist()])
    return kinds


def _most(published: Published, group: int, share: float, order: Callable[[Ints, Floats], Floats]) -> sp.csr_matrix:
    terms, weights = published.row(group)
    most = max(1, round(share * len(terms)))
    chosen = terms[np.argsort(-order(terms, weights), kind="stable")[:most]]
    return _repeated(published, group, chosen, np.ones(len(chosen)))


def _even_parts(published: Published, group: int) -> sp.csr_matrix:
    """Everybody has what the pool has for each of them, rounded."""
    terms, counts = published.row(group)
    even = np.rint(counts / published.sizes[group])
    return _repeated(published, group, terms[even > 0], even[even > 0])


def _levels(published: Published, group: int, rounded: Any) -> sp.csr_matrix:
    """One guess for every level: the terms that the pool has so often or more, in even parts."""
    terms, counts = published.row(group)
    size = int(published.sizes[group])
    even = np.maximum(rounded(counts / size), 1.0)
    levels = np.arange(1, size + 1)[:, None]
    guesses = np.where(counts >= levels, even, 0.0)
    place, column = np.nonzero(guesses)
    return sp.csr_matrix((guesses[place, column], (place, terms[column])), shape=(size, published.rows.shape[1]))


def _as_one(published: Published, frequencies: Frequencies, group: int) -> sp.csr_matrix:
    """Counts in proportion to weight / idf, the least of them 1."""
    terms, weights = published.row(group)
    if not len(terms):
        return _repeated(published, group, terms, weights)
    quotients = _quotients(frequencies, terms, weights)
    return _repeated(published, group, terms, np.maximum(1.0, np.round(quotients / quotients.min())))


def _weights(terms: Ints, weights: Floats) -> Floats:
    return weights


def _quotients(frequencies: Frequencies, terms: Ints, weights: Floats) -> Floats:
    """Weight / idf, with what the release tells of the df at first sight."""
    middle = np.sqrt(frequencies.low[terms] * frequencies.high[terms])
    found: Floats = weights / np.log(frequencies.n_documents / middle)
    return found


def _repeated(published: Published, group: int, terms: Ints, counts: Floats) -> sp.csr_matrix:
    size = int(published.sizes[group])
    rows = np.repeat(np.arange(size), len(terms))
    shape = (size, published.rows.shape[1])
    return sp.csr_matrix((np.tile(counts, size), (rows, np.tile(terms, size))), shape=shape)
