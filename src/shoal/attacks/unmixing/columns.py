"""Baskets that are the rows of a table: items of one column add up to the size of every group, which ties the split.

Of each column every basket has one item. So a column's items, counted over a group, add up to its size, in all groups:
columns are found in the pools by linear algebra. What is left is which values of different columns belong together,
and other groups show that: where a group is uniform, its values go together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from shoal.attacks.unmixing.attack import Guesses, Published
from shoal.kernels import Floats, Ints

MOST_ITEMS = 400  # of more, no columns are sought
MORE_GROUPS = 5  # than items, or anything adds up
HALF = 0.5  # of the items of a record must be those of columns
MOST_MEMBERS = 50  # of a group that is taken apart
WHOLE = 0.55  # of the most items that members of a group have
PRIME = 2**31 - 1  # sums are reduced exactly, by numbers modulo a prime
SWEEPS = 5
STARTS = 3
SMOOTH = 0.5  # pseudo-counts in the odds of two items


def table_columns(pools: sp.csr_matrix, sizes: Ints) -> list[Ints]:
    """Sets of items, of two or more each, of which every basket has exactly one; none if they are the lesser part."""
    pools = sp.csr_matrix(pools)
    items = np.unique(pools.indices[pools.data > 0])
    if not 0 < len(items) <= MOST_ITEMS:
        return []
    counts = np.asarray(pools[:, items].todense()).astype(np.int64)
    # Groups with equal pools are one to the reader, with half as many items for each member or fewer.
    of_member = counts.sum(axis=1) / sizes
    single = np.flatnonzero(of_member > WHOLE * of_member.max())
    if len(single) < len(items) + MORE_GROUPS:
        return []
    some = single[np.unique(np.linspace(0, len(single) - 1, 2 * (len(items) + MORE_GROUPS)).astype(np.int64))]
    reduced, pivots = _reduced(np.column_stack([sizes, counts])[some])
    columns: list[Ints] = []
    members, taken = sizes, np.zeros(len(items), dtype=bool)
    for last in np.setdiff1d(np.arange(1, len(items) + 1), pivots).tolist():
        # The last item of a column is the size less all others: 1 for the size, -1 for each of them.
        of_size, *factors = reduced[: len(pivots), last].tolist()
        others = [pivot for pivot, factor in zip(pivots[1:], factors, strict=True) if factor]
        if pivots[0] == 0 and of_size == 1 and others and set(factors) <= {0, PRIME - 1}:
            column = np.array([*others, last]) - 1
            sums = counts[:, column].sum(axis=1)
            whole = sums.min() > 0 and (sums[single] == sizes[single]).all() and not (sizes % sums).any()
            if whole and not taken[column].any() and (not columns or np.array_equal(sums, members)):
                columns.append(column)
                members, taken[column] = sums, True
    if len(columns) < HALF * of_member.max() or (counts > members[:, None]).any():
        return []
    return [items[column] for column in columns]


def _reduced(system: Ints) -> tuple[Ints, list[int]]:
    """The reduced row echelon form modulo a prime, and the columns of its pivots."""
    matrix, pivots = system % PRIME, list[int]()
    for column in range(matrix.shape[1]):
        below = np.flatnonzero(matrix[len(pivots) :, column])
        if len(below):
            row = len(pivots)
            matrix[[row, row + below[0]]] = matrix[[row + below[0], row]]
            matrix[row] = matrix[row] * pow(int(matrix[row, column]), -1, PRIME) % PRIME
            factors = matrix[:, column].copy()
            factors[row] = 0
            rows = np.flatnonzero(factors)
            matrix[rows] = (matrix[rows] - np.outer(factors[rows], matrix[row]) % PRIME) % PRIME
            pivots.append(column)
    return matrix, pivots


def split_by_columns(published: Published, columns: list[Ints], tried: Ints, random_state: int = 0) -> Guesses:
    """The members of each group tried: one item of each column, and what else there is, where it fits best."""
    pools = published.rows
    members = np.asarray(pools[:, columns[0]].sum(axis=1)).ravel().astype(np.int64)
    repeats = published.sizes // members  # groups that have the same pool
    together = np.asarray((pools.T @ sp.diags(repeats / members) @ pools).todense())
    totals, n_rows = repeats @ pools, published.sizes.sum()
    blocks = []
    for group in tried.tolist():
        terms, counts = published.row(group)
        # As other groups show it: how often two items are together, beside what chance gives.
        both = together[np.ix_(terms, terms)] - repeats[group] * np.outer(counts, counts) / members[group]
        of_item = totals[terms] - repeats[group] * counts
        by_chance = np.outer(of_item, of_item) / max(1, n_rows - published.sizes[group])
        odds = np.zeros((len(terms) + 1, len(terms) + 1))  # the last stands for no item
        odds[:-1, :-1] = np.log((np.maximum(both, 0.0) + SMOOTH) / (by_chance + SMOOTH))
        parts = _parts(terms, counts.astype(np.int64), columns, int(members[group]))
        item_of = _arranged(parts, odds, np.random.default_rng([random_state, group]))
        member, kind = np.nonzero(item_of < len(terms))
        of_members = np.ones(len(member)), (member, terms[item_of[member, kind]])
        blocks += [sp.csr_matrix(of_members, shape=(len(item_of), pools.shape[1]))] * int(repeats[group])
    group_of_guess = np.repeat(tried, published.sizes[tried])
    return Guesses(sp.csr_matrix(sp.vstack(blocks)), group_of_guess, tried)


def _parts(terms: Ints, counts: Ints, columns: list[Ints], size: int) -> Ints:
    """The items of each column of a group, and each item of no column, once for each member: (members, parts)."""
    kinds = [np.flatnonzero(np.isin(terms, column)) for column in columns]
    kinds += [np.array([place]) for place in np.flatnonzero(~np.isin(terms, np.concatenate(columns)))]
    items = [np.repeat(kind, counts[kind]) for kind in kinds]
    return np.column_stack([np.pad(part, (0, size - len(part)), constant_values=len(terms)) for part in items])


def _arranged(parts: Ints, odds: Floats, random: np.random.Generator) -> Ints:
    """Each part given to the members anew, by how it fits their other parts, until nothing changes; the best start."""
    open_parts = np.flatnonzero((parts != parts[0]).any(axis=0))
    best, most = parts, -np.inf
    for _ in range(STARTS if len(parts) <= MOST_MEMBERS else 0):
        given = random.permuted(parts, axis=0)
        fits = odds[given].sum(axis=1)  # (members, items)
        for _ in range(SWEEPS):
            before = given.copy()
            for part in random.permutation(open_parts).tolist():
                items = given[:, part]
                fits -= odds[items]
                given[:, part] = items[linear_sum_assignment(fits[:, items], maximize=True)[1]]
                fits += odds[given[:, part]]
            if np.array_equal(given, before):
                break
        fit = float(np.take_along_axis(fits, given, axis=1).sum())
        if fit > most:
            best, most = given, fit
    return best
