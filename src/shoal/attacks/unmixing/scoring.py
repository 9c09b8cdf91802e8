"""How many true members the guesses hit, beside guesses that need no taking apart: against the originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

from shoal.attacks.rates import rate_of
from shoal.attacks.unmixing.attack import Guesses, Published
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Rate, UnmixingResult
from shoal.terms.vector_space import at_unit_length

SHARES = (1.0, 0.9, 0.8, 0.65, 0.5, 0.35)  # of a row's terms, the heaviest
NEARLY = 0.9  # of the terms of guess and member together are in both
AT_A_TIME = 16  # groups that are compared with all others


def blind_guesses(published: Published, groups: Ints) -> list[list[sp.csr_matrix]]:
    """Kinds of guesses, each with one guess per group, repeated for every member.

    The heaviest terms of the row or the commonest, a share of them, each once; and the row read as if it
    were one document.
    """
    documents_with = published.documents_with()

    def heaviest(terms: Ints, counts: Floats) -> Floats:
        return counts

    def commonest(terms: Ints, counts: Floats) -> Floats:
        by_rarity: Floats = counts / np.log(published.n_documents / documents_with[terms])
        return by_rarity

    kinds = [
        [_most(published, group, share, order) for group in groups.tolist()]
        for share in SHARES
        for order in (heaviest, commonest)
    ]
    kinds.append([_even_parts(published, group) for group in groups.tolist()])
    for rounded in (np.floor, np.rint, np.ceil):
        kinds.append([_levels(published, group, rounded) for group in groups.tolist()])
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
    level, column = np.nonzero(guesses)
    return sp.csr_matrix((guesses[level, column], (level, terms[column])), shape=(size, published.rows.shape[1]))


def _repeated(published: Published, group: int, terms: Ints, counts: Floats) -> sp.csr_matrix:
    size = int(published.sizes[group])
    rows = np.repeat(np.arange(size), len(terms))
    shape = (size, published.rows.shape[1])
    return sp.csr_matrix((np.tile(counts, size), (rows, np.tile(terms, size))), shape=shape)


Hits = Callable[[sp.csr_matrix, sp.csr_matrix], Floats]


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
        chances = _chances(own, hits)
        # Who finds less by taking rows apart takes them as they are.
        chances = best if best.mean() > chances.mean() else chances
        return rate_of(about, chances, float(best.mean()), _chances(foreign, hits) if foreign else None, targets)

    return UnmixingResult(
        exact=rate("documents recovered exactly", exact_hits),
        nearly=rate("documents recovered nearly", near_hits),
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
    unit = at_unit_length(rows)
    nearest = np.empty(len(groups), dtype=np.int64)
    for start in range(0, len(groups), AT_A_TIME):
        block = groups[start : start + AT_A_TIME]
        alike = (unit @ unit[block].T).toarray()
        alike[block, np.arange(len(block))] = -1.0
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
