"""How many true members the guesses hit: against the originals, which the attacker does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_bipartite_matching
from sklearn.preprocessing import normalize

from shoal.errors import InputError
from shoal.results.rates import Rate, UnmixingResult
from shoal.risk.rates import rate_of
from shoal.risk.unmixing.blind import blind_guesses
from shoal.risk.unmixing.published import Guesses, Published

__all__ = ["exact_hits", "near_hits", "score"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Hits = Callable[[sp.csr_matrix, sp.csr_matrix], Floats]

NEARLY = 0.9  # of the terms of guess and member together are in both
AT_A_TIME = 16  # groups that are compared with all others


def score(guesses: Guesses, published: Published, members: sp.csr_matrix, group_of_row: Ints) -> UnmixingResult:
    """The share of documents, of the groups tried, that a guess has exactly or nearly.

    `members` are the counts of the true documents, in the columns of the published rows; `group_of_row` the group of
    each. A guess counts for one document at most. The baseline takes the row as it is: the best of a few guesses that
    need no taking apart; an attacker who does worse than that makes these guesses. The control are the documents of the
    nearest other group.
    """
    group_of_row = np.asarray(group_of_row, dtype=np.int64)
    if not len(guesses.tried):
        raise InputError("0 groups were tried; there is nothing to score")
    if members.shape != (len(group_of_row), published.rows.shape[1]):
        raise InputError(
            f"members of shape {members.shape} with {len(group_of_row)} groups and {published.rows.shape[1]} terms; "
            "pass one row per document in the columns of the published rows"
        )
    guesses_of = {
        group: guesses.counts[np.flatnonzero(guesses.group_of_guess == group)] for group in guesses.tried.tolist()
    }
    others = nearest_other(published.rows, guesses.tried)
    looked_at = {*guesses.tried.tolist(), *others.tolist()}
    rows_of = {group: np.flatnonzero(group_of_row == group) for group in looked_at}
    members_of = {group: _plain(members[rows]) for group, rows in rows_of.items()}
    own = [(guesses_of[group], members_of[group]) for group in guesses.tried.tolist()]
    foreign = [
        (guesses_of[group], members_of[other])
        for group, other in zip(guesses.tried.tolist(), others.tolist(), strict=True)
        if other >= 0
    ]
    blind = [
        [(guess, truth) for guess, (_, truth) in zip(kind, own, strict=True)]
        for kind in blind_guesses(published, guesses.tried)
    ]
    targets = np.concatenate([np.empty(0, np.int64), *(rows_of[group] for group in guesses.tried.tolist())])

    def rate(about: str, hits: Hits) -> Rate:
        best = max((_chances(pairs, hits) for pairs in blind), key=lambda chances: float(chances.mean()))
        found = _chances(own, hits)
        # Who finds less by taking rows apart takes them as they are.
        found = best if best.mean() > found.mean() else found
        return rate_of(about, found, float(best.mean()), _chances(foreign, hits) if foreign else None, targets)

    return UnmixingResult(
        exact=rate("documents recovered exactly", exact_hits),
        nearly=rate("documents recovered nearly", near_hits),
        form=guesses.form,
        tried=len(guesses.tried),
        groups=published.rows.shape[0],
    )


def exact_hits(guessed: sp.csr_matrix, members: sp.csr_matrix) -> Floats:
    """1 for each member that has a guess of its own with the same counts."""
    left = Counter(_contents(guessed))
    hit = np.zeros(members.shape[0])
    for row, content in enumerate(_contents(members)):
        if left[content]:
            left[content] -= 1
            hit[row] = 1.0
    return hit


def near_hits(guessed: sp.csr_matrix, members: sp.csr_matrix) -> Floats:
    """1 for each member that, in the best matching, has a guess with nearly the same terms."""
    hit = np.zeros(members.shape[0])
    if guessed.shape[0]:
        first, second = (sp.csr_matrix(part != 0, dtype=np.float64) for part in (guessed, members))
        both = (first @ second.T).toarray()
        either = first.sum(axis=1) + second.sum(axis=1).T - both
        near = sp.csr_matrix(np.asarray(both >= NEARLY * either) & np.asarray(both > 0))
        hit[maximum_bipartite_matching(near, perm_type="row") >= 0] = 1.0
    return hit


def nearest_other(rows: sp.csr_matrix, groups: Ints) -> Ints:
    """The group whose row is most like that of each of some groups, but not itself; -1 if there is no other."""
    if rows.shape[0] < 2:
        return np.full(len(groups), -1)
    unit = normalize(rows)
    nearest = np.empty(len(groups), dtype=np.int64)
    for start in range(0, len(groups), AT_A_TIME):
        some = groups[start : start + AT_A_TIME]
        alike = (unit @ unit[some].T).toarray()
        alike[some, np.arange(len(some))] = -1.0
        nearest[start : start + AT_A_TIME] = alike.argmax(axis=0)
    return nearest


def _chances(pairs: list[tuple[sp.csr_matrix, sp.csr_matrix]], hits: Hits) -> Floats:
    return np.concatenate([hits(guessed, members) for guessed, members in pairs])


def _contents(counts: sp.csr_matrix) -> list[tuple[bytes, bytes]]:
    counts = _plain(counts)
    parts = [slice(counts.indptr[row], counts.indptr[row + 1]) for row in range(counts.shape[0])]
    return [(counts.indices[part].astype(np.int64).tobytes(), counts.data[part].tobytes()) for part in parts]


def _plain(counts: sp.csr_matrix) -> sp.csr_matrix:
    """The same numbers, written in one way."""
    plain = sp.csr_matrix(counts, dtype=np.float64, copy=True)
    plain.eliminate_zeros()
    plain.sort_indices()
    return plain
