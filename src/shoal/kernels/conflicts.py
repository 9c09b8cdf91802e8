"""Records that cannot be found together, and how many of a set must be lost.

A record is found where all its rows are positive, a row being linear in the parameters. Rows of several records that
have zero among their weighted means cannot all be positive: their records are a conflict, and one of them is lost. If
no r - 1 records of a set meet all its conflicts, r are lost.

Sets are bits: of each word 64, by the place of a record in a list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Cones", "add_others", "certificate", "point_inside", "product", "tight_set"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

POSITIVE = 1e-9  # of rows of length 1 at a point of length 1
ZERO = 1e-11  # a mean of rows so short is zero, if what is left of it is certain to matter less than the margin
STEPS = 500
MOST_CONFLICTS = 4_000  # of one set
A_TEST = 200  # what a look for a conflict costs, of each record and parameter, in conflicts looked at


class Cones(NamedTuple):
    """Of each record the rows that must be positive; the last of the records is nobody and is never lost."""

    rows: Floats  # of length 1, sorted by record
    weight: Floats  # of each row, what one of length 1 must be when the record is found; 0 of nobody's
    starts: Ints
    reach: Floats  # of each parameter
    near: Ints  # of each record the rows that are looked at first; others are added when they are needed
    n_near: Ints


class _Listed(NamedTuple):
    """Records in a list, their place in it, and whose the rows are."""

    cones: Cones
    owner: Ints
    order: Ints
    place: Ints


@njit(cache=True, nogil=True)
def _even(products: Floats, k: int, found: Floats) -> bool:
    """Weights of the shortest point of the affine hull: products @ found = 1, summing to 1."""
    A = products[:k, :k].copy()
    found[:k] = 1.0
    for i in range(k):
        pivot = i
        for j in range(i + 1, k):
            if abs(A[j, i]) > abs(A[pivot, i]):
                pivot = j
        if abs(A[pivot, i]) < 1e-14:
            return False
        if pivot != i:
            for c in range(i, k):
                A[i, c], A[pivot, c] = A[pivot, c], A[i, c]
            found[i], found[pivot] = found[pivot], found[i]
        for j in range(i + 1, k):
            factor = A[j, i] / A[i, i]
            if factor != 0.0:
                for c in range(i + 1, k):
                    A[j, c] -= factor * A[i, c]
                found[j] -= factor * found[i]
    for i in range(k - 1, -1, -1):
        value = found[i]
        for c in range(i + 1, k):
            value -= A[i, c] * found[c]
        found[i] = value / A[i, i]
    total = found[:k].sum()
    if total == 0.0:
        return False
    found[:k] /= total
    return True


@njit(cache=True, nogil=True)
def product(a: Floats, b: Floats) -> float:
    """Of two rows."""
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t]
    return total


@njit(cache=True, nogil=True)
def _lowest(cones: Cones, some: Ints, point: Floats) -> int:
    """The row that is lowest at the point, of those looked at first."""
    lowest, which = np.inf, -1
    for i in some:
        for u in range(cones.n_near[i]):
            row = cones.near[i, u]
            value = product(cones.rows[row], point)
            if value < lowest:
                lowest, which = value, row
    return which


@njit(cache=True, nogil=True)
def add_others(cones: Cones, some: Ints, point: Floats, least: float) -> bool:
    """Whether rows are not above `least` at the point though those looked at first are; they are looked at from now."""
    added = False
    for i in some:
        lowest, which = least, -1
        for row in range(cones.starts[i], cones.starts[i + 1]):
            value = product(cones.rows[row], point)
            if value <= lowest:
                lowest, which = value, row
        if which >= 0 and cones.n_near[i] < cones.near.shape[1]:
            cones.near[i, cones.n_near[i]] = which
            cones.n_near[i] += 1
            added = True
    return added


@njit(cache=True, nogil=True)
def _shortest(cones: Cones, some: Ints, point: Floats, support: Ints, weights: Floats) -> int:
    """The shortest mean of the rows of some records (Wolfe, 1976).

    0 when all rows are positive at `point`; how many rows have zero as their mean, or -1 when that is not clear.
    """
    d = cones.rows.shape[1]
    products, found = np.empty((d + 3, d + 3)), np.empty(d + 3)
    support[0], weights[0], k = -1, 1.0, 1
    for i in some:
        if cones.n_near[i] > 0:
            support[0] = cones.near[i, 0]
            break
    if support[0] < 0:  # nothing is asked for
        point[:] = 0.0
        return 0
    point[:] = cones.rows[support[0]]
    products[0, 0] = 1.0 + product(point, point)
    for _ in range(STEPS):
        square = product(point, point)
        if square < ZERO * ZERO:
            return k
        lowest = _lowest(cones, some, point)
        least = POSITIVE * np.sqrt(square)
        if product(cones.rows[lowest], point) > least:
            if add_others(cones, some, point, least):
                continue
            return 0
        for u in range(k):
            if support[u] == lowest:
                return -1
        if k == d + 2:
            return -1
        support[k], weights[k] = lowest, 0.0
        for u in range(k + 1):
            products[u, k] = products[k, u] = 1.0 + product(cones.rows[support[u]], cones.rows[lowest])
        k += 1
        while True:
            if not _even(products, k, found):
                return -1
            step, inside = 1.0, True
            for u in range(k):
                if found[u] < 1e-13:
                    inside = False
                    if weights[u] > found[u]:
                        step = min(step, weights[u] / (weights[u] - found[u]))
            if inside:
                weights[:k] = found[:k]
                break
            left = 0  # go as far as all weights are positive, and leave out the row whose weight is zero there
            for u in range(k):
                weight = weights[u] + step * (found[u] - weights[u])
                if weight > 1e-13:
                    support[left], weights[left] = support[u], weight
                    for c in range(k):
                        products[left, c] = products[u, c]
                    for c in range(k):
                        products[c, left] = products[c, u]
                    left += 1
            if left == k:
                return -1
            k = left
        point[:] = 0.0
        for u in range(k):
            point += weights[u] * cones.rows[support[u]]
    return -1


@njit(cache=True, nogil=True)
def _members(order: Ints, inside: Words, n_words: int, nobody: int) -> Ints:
    """The records of a set, and nobody."""
    found, many = np.empty(n_words * 64 + 1, np.int64), 0
    for word in range(n_words):
        bits = inside[word]
        for bit in range(64):
            if bits >> np.uint64(bit) & np.uint64(1):
                found[many] = order[word * 64 + bit]
                many += 1
    if nobody >= 0:
        found[many] = nobody
        many += 1
    return found[:many]


@njit(cache=True, nogil=True)
def _conflict(cones: Cones, some: Ints, lost: float) -> tuple[int, Ints, Floats]:
    """Rows of some records that cannot all be positive: how many (0 when there are none, or none for certain).

    Their mean is zero but for rounding; that it cannot be as large as it is where the records are found is checked.
    """
    d = cones.rows.shape[1]
    point, support, weights = np.empty(d), np.empty(d + 3, np.int64), np.empty(d + 3)
    k = _shortest(cones, some, point, support, weights)
    if k <= 0:
        return 0, support, point
    least, most = certificate(cones, weights, support, k, lost)
    return (k if most < least else 0), support, point


@njit(cache=True, nogil=True)
def certificate(cones: Cones, weights: Floats, support: Ints, k: int, lost: float) -> tuple[float, float]:
    """What the mean of k rows is at least where their records are found, and at most with any parameters."""
    least = most = 0.0
    for u in range(k):
        least += weights[u] * cones.weight[support[u]] * lost
    for a in range(cones.rows.shape[1]):
        rest = 0.0
        for u in range(k):
            rest += weights[u] * cones.rows[support[u], a]
        most += abs(rest) * cones.reach[a]
    return least, most


@njit(cache=True, nogil=True)
def _at_least(rank: int, listed: _Listed, inside: Words, known: Words, lost: float, used: Words, work: Ints) -> bool:
    """Whether no rank - 1 records of a set meet all its conflicts. `work` is what may be done, and the conflicts known.

    A conflict's records are removed one after the other; those tried before are kept. `used` becomes the records of all
    conflicts that this needed, or the fewer records that meet them all.
    """
    cones, owner, order, place = listed.cones, listed.owner, listed.order, listed.place
    n_words, nobody = len(inside), _nobody(cones)
    removed, kept, packed = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    to_try, tried = np.zeros((rank, n_words), np.uint64), np.zeros(rank, np.int64)
    chosen = np.zeros(rank + 1, np.int64)
    depth, deeper = 0, True
    n_known = work[1]
    used[:] = 0
    while work[0] > 0:
        if deeper:
            packed[:] = removed
            many, settled = 0, False
            for c in range(n_known):  # conflicts that share no record that may be removed
                apart, open_bits = True, np.uint64(0)
                for w in range(n_words):
                    if known[c, w] & packed[w] or known[c, w] & ~inside[w]:
                        apart = False
                        break
                    open_bits |= known[c, w] & ~kept[w]
                if not apart:
                    continue
                if open_bits == 0:
                    chosen[0], many, settled = c, 1, True
                    break
                for w in range(n_words):
                    packed[w] |= known[c, w] & ~kept[w]
                chosen[many] = c
                many += 1
                if many == rank - depth:
                    settled = True
                    break
            work[0] -= n_known + 10
            if many == 0:
                some = _members(order, inside & ~removed, n_words, nobody)
                work[0] -= A_TEST * len(some) * cones.rows.shape[1]
                size, support, _ = _conflict(cones, some, lost)
                if size == 0 or n_known == len(known):
                    used[:] = removed
                    return False
                known[n_known] = 0
                for u in range(size):
                    one = owner[support[u]]
                    if one != nobody:
                        known[n_known, place[one] // 64] |= np.uint64(1) << np.uint64(place[one] % 64)
                n_known += 1
                work[1] = n_known
                continue
            for m in range(many if settled else 1):
                for w in range(n_words):
                    used[w] |= known[chosen[m], w]
            if settled:
                depth -= 1
                if depth < 0:
                    return True
            else:
                for w in range(n_words):
                    to_try[depth, w] = known[chosen[0], w] & ~kept[w]
                tried[depth] = -1
            deeper = False
        # the next record of this depth's conflict, after the one tried last
        if tried[depth] >= 0:
            word, bit = tried[depth] // 64, np.uint64(1) << np.uint64(tried[depth] % 64)
            removed[word] &= ~bit
            kept[word] |= bit
        following = tried[depth] + 1
        while following < n_words * 64 and not (
            to_try[depth, following // 64] >> np.uint64(following % 64) & np.uint64(1)
        ):
            following += 1
        if following == n_words * 64:
            for w in range(n_words):
                kept[w] &= ~to_try[depth, w]
            depth -= 1
            if depth < 0:
                return True
            continue
        tried[depth] = following
        removed[following // 64] |= np.uint64(1) << np.uint64(following % 64)
        depth, deeper = depth + 1, True
    used[:] = 0
    return False


@njit(cache=True, nogil=True)
def _size(bits: Words) -> int:
    """How many are in a set."""
    many = 0
    for word in bits:
        while word:
            word &= word - np.uint64(1)
            many += 1
    return many


@njit(cache=True, nogil=True)
def _within(inside: Words, known: Words, n_known: int) -> int:
    """Keep the conflicts that lie within a set, small ones first; how many."""
    left, sizes = 0, np.empty(n_known, np.int64)
    for c in range(n_known):
        within = True
        for w in range(len(inside)):
            if known[c, w] & ~inside[w]:
                within = False
                break
        if within:
            known[left] = known[c]
            sizes[left] = _size(known[c])
            left += 1
    known[:left] = known[np.argsort(sizes[:left], kind="mergesort")]
    return left


@njit(cache=True, nogil=True)
def _nobody(cones: Cones) -> int:
    """Who owns the rows that hold for all parameters; -1 when there are none."""
    last = len(cones.starts) - 2
    return last if cones.starts[last + 1] > cones.starts[last] else -1


@njit(cache=True, nogil=True)
def tight_set(rank: int, order: Ints, first: int, cones: Cones, owner: Ints, lost: float, budget: int) -> Ints:
    """Records of which at least `rank` are lost, as few as can be seen at once; empty when none are found.

    Records are taken in order, `first` so many, until `rank` of them are lost, then left out again, from the last,
    while that stays so. When the budget of work is used up, what is known by then is returned.
    """
    n, full = len(order), len(cones.starts)
    place = np.zeros(full, np.int64)
    for p in range(n):
        place[order[p]] = p
    everything = (n + 63) // 64
    known = np.zeros((MOST_CONFLICTS, everything), np.uint64)
    inside, used = np.zeros(everything, np.uint64), np.zeros(everything, np.uint64)
    taken, goal, n_words = 0, first, 1
    listed, work = _Listed(cones, owner, order, place), np.array([budget, 0])
    while True:
        while taken < min(goal, n):
            inside[taken // 64] |= np.uint64(1) << np.uint64(taken % 64)
            taken += 1
        n_words = (taken + 63) // 64
        shown = _at_least(rank, listed, inside[:n_words], known[:, :n_words], lost, used[:n_words], work)
        if shown:
            break
        if taken == n or work[0] <= 0:
            return np.empty(0, np.int64)
        goal = taken + max(4, taken // 5)
    inside[:] = used
    needed = np.zeros(everything, np.uint64)
    for p in range(taken - 1, -1, -1):
        if work[0] <= 0:
            break
        word, bit = p // 64, np.uint64(1) << np.uint64(p % 64)
        if not inside[word] & ~needed[word] & bit:
            continue
        work[1] = _within(inside[:n_words], known[:, :n_words], work[1])
        inside[word] &= ~bit
        shown = _at_least(rank, listed, inside[:n_words], known[:, :n_words], lost, used[:n_words], work)
        if shown:
            inside[:] = used
        else:  # as far as can be seen all others are found without this one and those few: none of these is in vain
            inside[word] |= bit
            needed[word] |= bit
            needed |= used
    return _members(order, inside, n_words, -1)


@njit(cache=True, nogil=True)
def point_inside(some: Ints, cones: Cones, lost: float) -> tuple[bool, Floats]:
    """Parameters that may find some records; not if these are in conflict for certain."""
    size, _, point = _conflict(cones, some, lost)
    return size == 0, point
