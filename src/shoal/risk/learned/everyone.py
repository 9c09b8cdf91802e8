"""Link all records of a large table with a distance that was learned from some of them, in bounded memory.

Each original is linked to the nearest masked record. Its own masked record is known here, so one that is nearer settles
the matter, and only where there is none the equally near are counted: a search through boxes of near records, exact.

Records with labels are compared with all others, block by block; where that is too much, `rows` chooses who is tried.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.linking import choquet_rivals as integral_kernel
from shoal.kernels.linking import nearer_rivals as kernel
from shoal.risk.learned.linking import ABSOLUTE, RELATIVE, Distance, chances_by
from shoal.risk.learned.measures import choquet, shapley
from shoal.risk.learned.records import Records

__all__ = ["MOST_WITH_LABELS", "chances_of_matrix", "chances_of_measure", "chances_of_turn", "chances_of_weights"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WITH_LABELS = 20_000  # records that are all compared with all
NOTHING = 1e-15  # of the largest: an eigenvalue that is rounding
FINEST = 2.0**-20  # of the share of an attribute, when records are put into boxes
SLACK = (RELATIVE, 0.0, ABSOLUTE)


def chances_of_weights(records: Records, weights: Floats, rows: Ints | None = None) -> Floats:
    """With what chance each record is found by the weighted sum of squared differences.

    `rows` are the records to try, all by default; each is compared with all masked records.
    """
    _expect(records, weights, (records.n_attributes,))
    if records.labels:
        return _among_all(records, lambda apart: (apart * apart) @ weights, rows)
    return _by_squares(records, np.eye(len(weights)), weights, rows)


def chances_of_matrix(records: Records, matrix: Floats, rows: Ints | None = None) -> Floats:
    """With what chance each record is found by the form d' matrix d of the differences d; it may come out negative.

    The more of it is negative, the less boxes can rule out.
    """
    _expect(records, matrix, (records.n_attributes, records.n_attributes))
    if records.labels:
        return _among_all(records, lambda apart: np.sum((apart @ matrix) * apart, axis=-1), rows)
    roots, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    roots[np.abs(roots) <= NOTHING * np.abs(roots).max(initial=0.0)] = 0.0
    return _by_squares(records, vectors, roots, rows)


def chances_of_turn(records: Records, turn: Floats, rows: Ints | None = None) -> Floats:
    """With what chance each record is found by Euclidean distance after `values @ turn`, as by Mahalanobis distance."""
    _expect(records, turn, (records.n_attributes, turn.shape[-1]))
    if records.labels:
        return _among_all(records, lambda apart: np.sum((apart @ turn) ** 2, axis=-1), rows)
    return _by_squares(records, turn, np.ones(turn.shape[1]), rows)


def chances_of_measure(records: Records, mu: Floats, rows: Ints | None = None) -> Floats:
    """With what chance each record is found by the Choquet integral of squared differences; `mu` has 2^n weights.

    An OWA is one, with a measure that only looks at the size of a set. Monotone measures are fast; one that says little
    of single attributes, such as an OWA of the smaller differences, less so.
    """
    _expect(records, mu, (2**records.n_attributes,))
    weights = np.maximum(mu, 0.0)  # a solver may leave a little less than 0
    if records.labels:
        return _among_all(records, lambda apart: choquet(weights, apart * apart), rows)
    if records.n_attributes > integral_kernel.COLUMNS:
        raise InputError(
            f"a measure of {records.n_attributes} attributes has too many sets; "
            f"give at most {integral_kernel.COLUMNS}, or use weights"
        )
    below = _least_of_supersets(weights)
    shares = shapley(below)
    # Attributes that weigh more are cut more finely. Powers of two are undone without rounding.
    scale = 2.0 ** np.round(np.log2(np.maximum(shares, FINEST * max(shares.max(), FINEST))) / 2)
    weighing = (1.0 / scale, weights, below, _additive_below(below, shares))
    queries, masked, own, home, order = _at_home(records, np.diag(scale), rows)
    return kernel.chances_of_ties(integral_kernel.ties_by_integral(masked, queries, own, weighing, home, order, SLACK))


def _by_squares(records: Records, turn: Floats, weights: Floats, rows: Ints | None) -> Floats:
    """By the weighted sum of squares after the turn; weights may be negative."""
    added, taken = np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)
    kept = np.concatenate([added, taken])
    if len(kept) == 0:  # nothing tells the records apart
        return np.full(len(records if rows is None else rows), 1.0 / len(records))
    turn = turn[:, kept] * np.sqrt(np.abs(weights[kept]))
    queries, masked, own, home, order = _at_home(records, turn, rows)
    return kernel.chances_of_ties(kernel.ties_by_squares(masked, queries, own, len(added), home, order, SLACK))


def _at_home(
    records: Records, turn: Floats, rows: Ints | None
) -> tuple[Floats, kernel.Table, Floats, NDArray[np.int64], Ints]:
    """Queries, masked records in boxes, each query's own, the group it lies in, and an order of work, all turned."""
    after = np.ascontiguousarray(records.after @ turn)
    queries = np.ascontiguousarray((records.before if rows is None else records.before[rows]) @ turn)
    crowds = records.crowds
    table, home, order = kernel.in_boxes(after[crowds.first], crowds.sizes, queries)
    return queries, table, after if rows is None else after[rows], home, order


def _among_all(records: Records, distance: Distance, rows: Ints | None) -> Floats:
    """By comparing with all masked records, block by block."""
    if rows is None and len(records) > MOST_WITH_LABELS:
        raise InputError(
            f"{len(records)} records with labels cannot all be compared with all, at most {MOST_WITH_LABELS} can; "
            "give rows, a sample of them"
        )
    return chances_by(records, distance, rows)


def _least_of_supersets(mu: Floats) -> Floats:
    """The largest monotone measure that is nowhere above this one."""
    found = mu.copy()
    step = 1
    while step < len(found):
        halves = found.reshape(-1, 2, step)
        np.minimum(halves[:, 0], halves[:, 1], out=halves[:, 0])
        step *= 2
    return found


def _additive_below(mu: Floats, shares: Floats) -> Floats:
    """Weights whose sum over any set is nowhere above the measure: as much of the shares as fits, then what is left."""
    members = np.arange(1, len(mu))[:, None] >> np.arange(len(shares)) & 1  # (sets but the empty one, attributes)
    weights: Floats = np.minimum(shares, mu[1 << np.arange(len(shares))])
    total = members @ weights
    weights *= np.min(mu[1:][total > 0] / total[total > 0], initial=1.0)
    for one in range(len(weights)):
        left = mu[1:] - members @ weights
        weights[one] += max(0.0, float(left[members[:, one] == 1].min()))
    return weights


def _expect(records: Records, parameters: Floats, shape: tuple[int, ...]) -> None:
    if parameters.shape != shape:
        raise InputError(
            f"{records.n_attributes} attributes need parameters of shape {shape}, got {parameters.shape}; "
            "give those of the same attributes"
        )
