"""Terms by their senses and documents by their terms: distances, pairings, and what a pair becomes.

A term is a number: below `n_words` a word, whose senses are a run of `senses`; from there on a concept, which is its
own one sense. A document is its terms by falling weight. `tree` is a taxonomy: where the ancestors of each concept
begin, the ancestors, the links up to each, and the depth of every concept.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats, Ints
from shoal.kernels.taxonomy import _meet
from shoal.kernels.threads import runs, side_by_side

Matrix = NDArray[np.float32]
Tree = tuple[Ints, Ints, Ints, Ints]
Documents = tuple[Ints, Ints, Floats]  # where each document begins, the terms of all, and their weights

ABOVE_ALL = np.float32(2.0)  # more than any distance
PLACES = 20  # bits for a term's position in its document
TAKEN = 2**60  # more than any rank
SAME = np.float32(-1.0)  # a term and itself: nearer than another of the same meaning; counts as 0


@njit(cache=True, nogil=True)
def _mark(tree: Tree, sense: int, marks: Ints, step: int) -> None:
    """Note at every ancestor of a sense the links up to it, plus 1; with step 0 take the notes away."""
    indptr, ancestors, links, _ = tree
    for position in range(indptr[sense], indptr[sense + 1]):
        marks[ancestors[position]] = step * (links[position] + 1)


@njit(cache=True, nogil=True)
def _distance_to_marked(tree: Tree, sense: int, marks: Ints) -> np.float32:
    """Wu-Palmer distance of a sense to the one whose ancestors are marked: over the deepest, then the fewest links."""
    indptr, ancestors, links, depth = tree
    deepest = 0
    fewest = 0
    for position in range(indptr[sense], indptr[sense + 1]):
        up = marks[ancestors[position]]
        if up > 0:
            both = up - 1 + links[position]
            deep = depth[ancestors[position]]
            if deep > deepest or (deep == deepest and both < fewest):
                deepest = deep
                fewest = both
    return np.float32(fewest / (fewest + 2 * deepest))


def term_distances(
    tree: Tree, parent_indptr: Ints, parents: Ints, indptr: Ints, senses: Ints, column_indptr: Ints, column_senses: Ints
) -> Matrix:
    """Least distance over the senses of every term of one list with every one of another.

    From one sense to all concepts at once, parents first: the subsumers that a concept shares with the sense are those
    of its parents, one link further, unless the concept is above the sense itself.
    """
    downwards = np.argsort(tree[3], kind="stable")  # a parent is less deep than its children
    up = downwards, parent_indptr, parents
    columns = column_indptr, column_senses
    distances = np.empty((len(indptr) - 1, len(column_indptr) - 1), np.float32)
    parts = [
        (tree, up, indptr[run.start : run.stop + 1], senses, columns, distances[run]) for run in runs(len(distances), 1)
    ]
    side_by_side(_term_distances, parts)
    return distances


@njit(cache=True, nogil=True)
def _term_distances(
    tree: Tree,
    up: tuple[Ints, Ints, Ints],
    indptr: Ints,
    senses: Ints,
    columns: tuple[Ints, Ints],
    distances: Matrix,
) -> None:
    depth = tree[3]
    downwards, parent_indptr, parents = up
    column_indptr, column_senses = columns
    n_rows, n_columns = distances.shape
    marks = np.zeros(depth.shape[0], np.int32)
    deepest = np.empty(depth.shape[0], np.int32)
    fewest = np.empty(depth.shape[0], np.int32)
    nearest = np.empty(depth.shape[0], np.float32)
    for row in range(n_rows):
        nearest[:] = ABOVE_ALL
        for at in range(indptr[row], indptr[row + 1]):
            _mark(tree, senses[at], marks, 1)
            for concept in downwards:
                if marks[concept] > 0:
                    deep, few = depth[concept], marks[concept] - 1
                else:
                    deep, few = np.int32(0), np.int32(0)
                    for position in range(parent_indptr[concept], parent_indptr[concept + 1]):
                        above = parents[position]
                        if deepest[above] > deep or (deepest[above] == deep and fewest[above] + 1 < few):
                            deep, few = deepest[above], fewest[above] + 1
                deepest[concept], fewest[concept] = deep, few
                nearest[concept] = min(nearest[concept], np.float32(few / (few + 2 * deep)))
            _mark(tree, senses[at], marks, 0)
        for column in range(n_columns):
            least = ABOVE_ALL
            for at in range(column_indptr[column], column_indptr[column + 1]):
                least = min(least, nearest[column_senses[at]])
            distances[row, column] = least


@njit(cache=True, nogil=True)
def _rank(apart: Matrix, n: int, m: int, there: Ints, back: Ints) -> None:
    """Numbers that rise with the distance and, of equal ones, fall with the position: the least is to be paired.

    `there` (n, m) has them by rows and `back` (m, n) by columns. Bits of a positive float rise with it, and `SAME` is
    below them all.
    """
    codes = apart.view(np.int32)
    for i in range(n):
        for j in range(m):
            code = np.int64(codes[i, j]) << PLACES
            there[i, j] = code - j
            back[j, i] = code - i


@njit(cache=True, nogil=True)
def _pair(ranks: Ints, apart: Matrix, first: Floats, second: Floats, partner: Ints, taken: Ints) -> float:
    """Give each term of the first document, in turn, the nearest unused one of the second; what that costs.

    Of equally near ones the same term, or else the later, which is the lighter. `partner` is -1 where there is none.
    """
    n, m = first.shape[0], second.shape[0]
    taken[:m] = 0
    cost = 0.0
    for i in range(n):
        if i >= m:
            partner[i] = -1
            cost += first[i] / 2  # alone: distance 1, half the weight
            continue
        least = TAKEN
        for j in range(m):
            least = min(least, ranks[i, j] + taken[j])
        j = -least & (2**PLACES - 1)
        taken[j] = TAKEN
        partner[i] = j
        cost += max(apart[i, j], np.float32(0.0)) * ((first[i] + second[j]) / 2)
    for j in range(m):
        if taken[j] == 0:
            cost += second[j] / 2
    return cost / n


@njit(cache=True, nogil=True)
def _distance(
    apart: Matrix, first: Floats, second: Floats, there: Ints, back: Ints, partner: Ints, taken: Ints
) -> float:
    """The smaller cost of the two orders."""
    _rank(apart, first.shape[0], second.shape[0], there, back)
    cost = _pair(there, apart, first, second, partner, taken)
    return min(cost, _pair(back, apart.T, second, first, partner, taken))


def distances_from(columns: Matrix, weights: Floats, documents: Documents, rows: Ints) -> Floats:
    """The distance of one document to each of the listed ones; `columns` (terms, n) are distances to its n terms."""
    parts = [(columns, weights, documents, rows[run]) for run in runs(len(rows))]
    return np.concatenate(side_by_side(_distances_from, parts))


@njit(cache=True, nogil=True)
def _distances_from(columns: Matrix, weights: Floats, documents: Documents, rows: Ints) -> Floats:
    ends, terms, data = documents
    distances = np.empty(rows.shape[0])
    n, longest = weights.shape[0], np.max(ends[1:] - ends[:-1])
    most = max(n, longest)
    apart = np.empty((longest, n), np.float32)
    there, back = np.empty((longest, n), np.int64), np.empty((n, longest), np.int64)
    partner, taken = np.empty(most, np.int64), np.empty(most, np.int64)
    for at in range(rows.shape[0]):
        start, end = ends[rows[at]], ends[rows[at] + 1]
        for i in range(start, end):
            for j in range(n):
                apart[i - start, j] = columns[terms[i], j]
        distances[at] = _distance(apart, data[start:end], weights, there, back, partner, taken)
    return distances


@njit(cache=True, nogil=True)
def _measure(tree: Tree, indptr: Ints, senses: Ints, first: Ints, second: Ints, marks: Ints, apart: Matrix) -> None:
    """Distances of the terms of two documents from their senses; `marks` is clean before and after.

    A representative has concepts several times and few above them, so it should be the first.
    """
    n_words = indptr.shape[0] - 1
    same_as = np.empty(first.shape[0], np.int64)
    for i in range(first.shape[0]):
        same_as[i] = 0
        while first[same_as[i]] != first[i]:
            same_as[i] += 1
        apart[i, : second.shape[0]] = ABOVE_ALL
    for j in range(second.shape[0]):
        word = second[j] < n_words
        for at in range(indptr[second[j]], indptr[second[j] + 1]) if word else range(1):
            sense = senses[at] if word else second[j] - n_words
            _mark(tree, sense, marks, 1)
            for i in range(first.shape[0]):
                if same_as[i] < i:
                    continue
                if first[i] < n_words:
                    for other in range(indptr[first[i]], indptr[first[i] + 1]):
                        apart[i, j] = min(apart[i, j], _distance_to_marked(tree, senses[other], marks))
                else:
                    apart[i, j] = min(apart[i, j], _distance_to_marked(tree, first[i] - n_words, marks))
            _mark(tree, sense, marks, 0)
        for i in range(first.shape[0]):
            if first[i] == second[j]:
                apart[i, j] = SAME
    for i in range(first.shape[0]):
        if same_as[i] < i:
            apart[i, : second.shape[0]] = apart[same_as[i], : second.shape[0]]


def distances_of_pairs(
    tree: Tree, indptr: Ints, senses: Ints, first: Documents, second: Documents, first_of_second: Ints
) -> Floats:
    """The distance of every document of the second to the one of the first that is named for it."""
    parts = [
        (tree, indptr, senses, first, second, first_of_second, run.start, run.stop)
        for run in runs(len(first_of_second))
    ]
    return np.concatenate(side_by_side(_distances_of_pairs, parts))


@njit(cache=True, nogil=True)
def _distances_of_pairs(
    tree: Tree,
    indptr: Ints,
    senses: Ints,
    first: Documents,
    second: Documents,
    first_of_second: Ints,
    begin: int,
    end: int,
) -> Floats:
    a_ends, a_terms, a_weights = first
    b_ends, b_terms, b_weights = second
    distances = np.empty(end - begin)
    n = max(np.max(a_ends[1:] - a_ends[:-1]), np.max(b_ends[1:] - b_ends[:-1]))
    marks = np.zeros(tree[3].shape[0], np.int32)
    apart = np.empty((n, n), np.float32)
    there, back = np.empty((n, n), np.int64), np.empty((n, n), np.int64)
    partner, taken = np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(begin, end):
        a = first_of_second[b]
        left, right = slice(a_ends[a], a_ends[a + 1]), slice(b_ends[b], b_ends[b + 1])
        _measure(tree, indptr, senses, a_terms[left], b_terms[right], marks, apart)
        distances[b - begin] = _distance(apart, a_weights[left], b_weights[right], there, back, partner, taken)
    return distances


@njit(cache=True, nogil=True)
def _subsumer(tree: Tree, indptr: Ints, senses: Ints, a: int, b: int) -> int:
    """What two terms have in common: a word with itself the word, else the subsumer of their nearest senses.

    Of equally near pairs of senses the one listed first for both (by the sum of the places), then the lower subsumer.
    """
    if a == b:
        return a
    n_words = indptr.shape[0] - 1
    depth = tree[3]
    best = -1
    least = 2.0
    best_places = 0
    for i in range(indptr[a + 1] - indptr[a] if a < n_words else 1):
        sense_a = senses[indptr[a] + i] if a < n_words else a - n_words
        for j in range(indptr[b + 1] - indptr[b] if b < n_words else 1):
            sense_b = senses[indptr[b] + j] if b < n_words else b - n_words
            above, both = _meet(tree[0], tree[1], tree[2], depth, sense_a, sense_b)
            distance = both / (both + 2 * depth[above])
            if (
                distance < least
                or (distance == least and i + j < best_places)
                or (distance == least and i + j == best_places and above < best)
            ):
                best, least, best_places = above, distance, i + j
    return n_words + best


@njit(cache=True, nogil=True)
def pair_off(
    tree: Tree, indptr: Ints, senses: Ints, terms: Ints, owner: Ints, apart: Matrix
) -> tuple[Ints, Ints, Ints]:
    """Pairs of terms of different owners, the nearest first, of equally near ones the first by place.

    What each pair has in common, and the places of the two.
    """
    count = terms.shape[0]
    common, one, other = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    free = np.ones(count, np.bool_)
    nearest = np.empty(count, np.int64)
    least = np.empty(count, np.float32)
    for i in range(count):
        nearest[i], least[i] = _nearest_free(apart, owner, free, i)
    n = 0
    while True:
        i = int(np.argmin(least))
        if least[i] == ABOVE_ALL:
            return common[:n], one[:n], other[:n]
        j = nearest[i]
        if free[j]:
            free[i] = free[j] = False
            least[i] = least[j] = ABOVE_ALL
            common[n], one[n], other[n] = _subsumer(tree, indptr, senses, terms[i], terms[j]), i, j
            n += 1
        else:
            nearest[i], least[i] = _nearest_free(apart, owner, free, i)


@njit(cache=True, nogil=True)
def _nearest_free(apart: Matrix, owner: Ints, free: NDArray[np.bool_], i: int) -> tuple[int, np.float32]:
    """Of the later terms the nearest free one of another owner, the first of equally near ones; and how far it is."""
    nearest, least = i, ABOVE_ALL
    for j in range(i + 1, owner.shape[0]):
        if free[j] and owner[j] != owner[i] and apart[i, j] < least:
            nearest, least = j, apart[i, j]
    return nearest, least


@njit(cache=True, nogil=True)
def _sort(terms: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """By falling weight; ties by term."""
    order = np.argsort(terms, kind="mergesort")
    order = order[np.argsort(-weights[order], kind="mergesort")]
    return terms[order], weights[order]


@njit(cache=True, nogil=True)
def fold(
    tree: Tree, indptr: Ints, senses: Ints, ends: Ints, terms: Ints, weights: Floats, documents: Ints
) -> tuple[Ints, Floats]:
    """The representative of the listed documents: of the first two, then of that and the next; weights become means."""
    start, end = ends[documents[0]], ends[documents[0] + 1]
    held, mass = terms[start:end].copy(), weights[start:end].copy()
    longest = np.max(ends[1:] - ends[:-1])
    marks = np.zeros(tree[3].shape[0], np.int32)
    apart = np.empty((longest, longest), np.float32)
    ranks, ranks_back = np.empty((longest, longest), np.int64), np.empty((longest, longest), np.int64)
    there, back, taken = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    for document in documents[1:]:
        start, end = ends[document], ends[document + 1]
        new, new_mass = terms[start:end], weights[start:end]
        n, m = held.shape[0], new.shape[0]
        _measure(tree, indptr, senses, held, new, marks, apart)
        _rank(apart, n, m, ranks, ranks_back)
        cost = _pair(ranks, apart, mass, new_mass, there, taken)
        if _pair(ranks_back, apart.T, new_mass, mass, back, taken) < cost:
            there[:n] = -1
            for j in range(m):
                if back[j] >= 0:
                    there[back[j]] = j
        merged, merged_mass = np.empty(max(n, m), np.int64), np.empty(max(n, m))
        alone = np.ones(m, np.bool_)
        for i in range(n):
            if there[i] < 0:
                merged[i], merged_mass[i] = held[i], mass[i] / 2
            else:
                alone[there[i]] = False
                merged[i] = _subsumer(tree, indptr, senses, held[i], new[there[i]])
                merged_mass[i] = (mass[i] + new_mass[there[i]]) / 2
        filled = n
        for j in range(m):
            if alone[j]:
                merged[filled], merged_mass[filled] = new[j], new_mass[j] / 2
                filled += 1
        held, mass = _sort(merged, merged_mass)
    return held, mass
