"""Records that cannot be found together, and how many of a set must be lost.

Rows of several records that have zero among their weighted means cannot all be positive: their records are a conflict,
and one of them is lost. If no r - 1 records of a set meet all its conflicts, r are lost.

Sets are bits: of each word 64, by the position of a record in a list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats
from shoal.kernels.linking.cones import Cones, shortest

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_CONFLICTS = 4_000  # of one set
A_TEST = 200  # what a look for a conflict costs, of each record and parameter, in conflicts looked at


class _Listed(NamedTuple):
    """Records in a list, their position in it, and the owner of each row."""

    cones: Cones
    owner: Ints
    order: Ints
    position: Ints


@njit(cache=True, nogil=True)
def _members(order: Ints, inside: Words, n_words: int, nobody: int) -> Ints:
    """The records of a set, with the one that stands for none if there is one."""
    records, count = np.empty(n_words * 64 + 1, np.int64), 0
    for word in range(n_words):
        bits = inside[word]
        for bit in range(64):
            if bits >> np.uint64(bit) & np.uint64(1):
                records[count] = order[word * 64 + bit]
                count += 1
    if nobody >= 0:
        records[count] = nobody
        count += 1
    return records[:count]


@njit(cache=True, nogil=True)
def _conflict(cones: Cones, records: Ints, lost: float) -> tuple[int, Ints, Floats]:
    """Rows of some records that cannot all be positive: how many (0 when there are none, or none for certain).

    Their mean is zero but for rounding; that it cannot be as large as it is where the records are found is checked.
    """
    d = cones.rows.shape[1]
    point, support, weights = np.empty(d), np.empty(d + 3, np.int64), np.empty(d + 3)
    k = shortest(cones, records, point, support, weights)
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
def _bit(position: int) -> np.uint64:
    """The bit of a position in its word."""
    return np.uint64(1) << np.uint64(position % 64)


@njit(cache=True, nogil=True)
def _pack(known: Words, n_known: int, inside: Words, removed: Words, kept: Words, chosen: Ints) -> tuple[int, bool]:
    """Conflicts of a set that share no record that may be removed, into `chosen`, as many as fit; how many.

    Also whether that settles the matter: `chosen` is full, or a conflict has no record left that may be removed, which
    is then the only one chosen.
    """
    n_words = len(inside)
    packed, many = removed.copy(), 0
    for c in range(n_known):
        apart, open_bits = True, np.uint64(0)
        for w in range(n_words):
            if known[c, w] & packed[w] or known[c, w] & ~inside[w]:
                apart = False
                break
            open_bits |= known[c, w] & ~kept[w]
        if not apart:
            continue
        if open_bits == 0:
            chosen[0] = c
            return 1, True
        for w in range(n_words):
            packed[w] |= known[c, w] & ~kept[w]
        chosen[many] = c
        many += 1
        if many == len(chosen):
            return many, True
    return many, False


@njit(cache=True, nogil=True)
def _discover(listed: _Listed, inside: Words, known: Words, lost: float, work: Ints) -> bool:
    """Look for one more conflict of a set and write it behind those known; whether there is one, and room for it."""
    nobody, n_known = _nobody(listed.cones), work[1]
    records = _members(listed.order, inside, len(inside), nobody)
    work[0] -= A_TEST * len(records) * listed.cones.rows.shape[1]
    size, support, _ = _conflict(listed.cones, records, lost)
    if size == 0 or n_known == len(known):
        return False
    known[n_known] = 0
    for u in range(size):
        record = listed.owner[support[u]]
        if record != nobody:
            known[n_known, listed.position[record] // 64] |= _bit(listed.position[record])
    work[1] += 1
    return True


@njit(cache=True, nogil=True)
def _next_place(bits: Words, after: int) -> int:
    """The first position of a set beyond this one; behind all words when there is none."""
    position = after + 1
    while position < len(bits) * 64 and not bits[position // 64] & _bit(position):
        position += 1
    return position


@njit(cache=True, nogil=True)
def _at_least(rank: int, listed: _Listed, inside: Words, known: Words, lost: float, used: Words, work: Ints) -> bool:
    """Whether no rank - 1 records of a set meet all its conflicts. `work` is what may be done, and the conflicts known.

    A conflict's records are removed one after the other; those tried before are kept. `used` becomes the records of all
    conflicts that this needed, or the fewer records that meet them all.
    """
    n_words = len(inside)
    removed, kept = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    to_try, tried = np.zeros((rank, n_words), np.uint64), np.zeros(rank, np.int64)
    chosen = np.zeros(rank + 1, np.int64)
    depth, deeper = 0, True
    used[:] = 0
    while work[0] > 0:
        if deeper:
            many, settled = _pack(known, work[1], inside, removed, kept, chosen[: rank - depth])
            work[0] -= work[1] + 10
            if many == 0:
                if not _discover(listed, inside & ~removed, known, lost, work):
                    used[:] = removed
                    return False
                continue
            for m in range(many if settled else 1):
                used |= known[chosen[m]]
            if settled:
                depth -= 1
                if depth < 0:
                    return True
            else:
                to_try[depth] = known[chosen[0]] & ~kept
                tried[depth] = -1
            deeper = False
        # the next record of this depth's conflict, after the one tried last
        if tried[depth] >= 0:
            removed[tried[depth] // 64] &= ~_bit(tried[depth])
            kept[tried[depth] // 64] |= _bit(tried[depth])
        following = _next_place(to_try[depth], tried[depth])
        if following == n_words * 64:
            kept &= ~to_try[depth]
            depth -= 1
            if depth < 0:
                return True
            continue
        tried[depth] = following
        removed[following // 64] |= _bit(following)
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
    """The owner of the rows that hold for all parameters; -1 when there are none."""
    last = len(cones.starts) - 2
    return last if cones.starts[last + 1] > cones.starts[last] else -1


@njit(cache=True, nogil=True)
def tight_set(rank: int, order: Ints, first: int, cones: Cones, owner: Ints, lost: float, budget: int) -> Ints:
    """Records of which at least `rank` are lost, as few as can be seen at once; empty when none are found.

    Records are taken in order, `first` so many, until `rank` of them are lost, then left out again, from the last,
    while that stays so. When the budget of work is used up, what is known by then is returned.
    """
    n, full = len(order), len(cones.starts)
    position = np.zeros(full, np.int64)
    for p in range(n):
        position[order[p]] = p
    everything = (n + 63) // 64
    known = np.zeros((MOST_CONFLICTS, everything), np.uint64)
    inside, used = np.zeros(everything, np.uint64), np.zeros(everything, np.uint64)
    taken, goal, n_words = 0, first, 1
    listed, work = _Listed(cones, owner, order, position), np.array([budget, 0])
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
def point_inside(records: Ints, cones: Cones, lost: float) -> tuple[bool, Floats]:
    """Parameters that may find some records; not if these are in conflict for certain."""
    size, _, point = _conflict(cones, records, lost)
    return size == 0, point
