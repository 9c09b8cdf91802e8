"""An attacker with the key solves for the records: a sketch with known signs is a system of equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shoal.attacks.rates import rate_of
from shoal.attacks.sketches.records import Floats, Ints, SketchedRecords, hits
from shoal.errors import InputError
from shoal.kernels.sketching.recovery import believed_numbers, pursue
from shoal.kernels.threads import side_by_side
from shoal.results.attacks import Recovered

BLOCK = 64  # rows at a time, the same on any number of cores: products of other shapes are rounded otherwise
STEPS = 30
STEP = 0.7  # share of each step that is taken: whole steps swing
LEAST_NOISE = 1e-4  # of a component, in squares; below that all is explained
LEAST_SHARE = 1e-5  # of rows that have an item; none is impossible
FEW = 10  # rows with an item that count as much for its numbers as all items together
DIGITS = 6  # of sums of which equal ones were rounded otherwise


@dataclass(frozen=True, eq=False)
class Expectations:
    """What the attacker expects of numbers before seeing a sketch: how often items occur, and how large numbers are."""

    shares: Floats  # of each item, the share of rows that have it
    means: Floats  # of each item, of the numbers that are there
    variances: Floats  # of these; 0: all are equal, as in baskets without repetitions

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Expectations:
        """From many rows; of a rare item, mostly what all numbers are like."""
        n_items = rows.shape[1]
        counts, mean = np.bincount(rows.indices, minlength=n_items), rows.data.mean()
        sums = np.bincount(rows.indices, weights=rows.data, minlength=n_items)
        means = (sums + FEW * mean) / (counts + FEW)
        squares = np.bincount(rows.indices, weights=(rows.data - means[rows.indices]) ** 2, minlength=n_items)
        variances = (squares + FEW * rows.data.var()) / (counts + FEW)
        shares = np.clip(counts / rows.shape[0], LEAST_SHARE, 1.0 - LEAST_SHARE)
        return cls(*(figure.astype(np.float32) for figure in (shares, means, variances)))


def largest_estimates(sketches: Floats, signs: Floats) -> Floats:
    """The usual estimate of every number, up to a factor: (rows, items)."""
    return sketches @ signs.T


def matching_pursuit(sketches: Floats, lengths: Ints, signs: Floats, counts: Ints) -> Floats:
    """Orthogonal matching pursuit for counts[row] items: 1 for those taken, else 0."""
    items = pursue(sketches, lengths, signs, counts)
    taken = np.zeros((len(sketches), len(signs)), np.float32)
    row, step = np.nonzero(items >= 0)
    taken[row, items[row, step]] = 1.0
    return taken


def message_passing(
    sketches: Floats, lengths: Ints, signs: Floats, expected: Expectations, caution: float = 1.0
) -> Floats:
    """The numbers expected, given the sketch: approximate message passing.

    Numbers are 0 or near their mean, and exactly 0 or 1 in baskets. `signs` may lie between -1 and 1: an uncertain
    sign counts less. `caution` multiplies the noise that is reckoned with: signs that were computed are wrong alike in
    many components, which then agree on something that is not there.
    """
    beliefs = np.empty((len(sketches), len(signs)), np.float32)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(sketches), BLOCK)]
    squares = np.square(signs)
    with threadpool_limits(1, "blas"):  # blocks run side by side
        parts = [(sketches[b], lengths[b], signs, squares, expected, caution, beliefs[b]) for b in blocks]
        side_by_side(_pass, parts)
    return beliefs


def _pass(
    sketches: Floats,
    lengths: Ints,
    signs: Floats,
    squares: Floats,
    expected: Expectations,
    caution: float,
    beliefs: Floats,
) -> None:
    """Fill in the beliefs of a few rows."""
    there = (np.arange(sketches.shape[1]) < lengths[:, None]).astype(np.float32)
    weights = np.maximum(there @ squares.T, 1e-3)
    odds = np.log(expected.shares / (1.0 - expected.shares))
    beliefs[:] = expected.shares * expected.means
    left = (sketches - beliefs @ signs) * there
    least = LEAST_NOISE * float(np.average(expected.means**2 + expected.variances, weights=expected.shares))
    for _ in range(STEPS):
        noise = np.square(left).sum(axis=1) / lengths + least
        estimates = beliefs + (left @ signs.T) / weights
        posterior, spread = believed_numbers(
            estimates, weights, caution * noise, odds, expected.means, expected.variances
        )
        beliefs += STEP * (posterior - beliefs)
        # Beliefs were drawn from what was left: part of it is taken off, or they would confirm themselves.
        own = np.minimum(spread / lengths / noise, 3.0).astype(np.float32)
        left += STEP * ((sketches - beliefs @ signs) * there + own[:, None] * left - left)


class KeyHolder:
    """Recover the items of records from their sketches and the signs.

    The attacker has the key: an insider, or somebody the key leaked to. A short record and enough components are a
    system of equations with one sparse solution, whatever the variance of each estimate is. They try three ways: the
    items with the largest estimates; orthogonal matching pursuit; and message passing, which knows that numbers are 0
    or 1, or near a known mean, and how frequent items are.

    They know how many items each record has and name as many: an attacker who has to guess that recovers no more. From
    a shared sketch they recover the sums of the group, and name the items with the largest. The baseline names the most
    frequent items of the collection.

    Parameters
    ----------
    attacked : int, records drawn at random; fewer where items and components are many
    random_state : int
    """

    def __init__(self, attacked: int = 1_000, random_state: int = 0) -> None:
        self.attacked = attacked
        self.random_state = random_state

    def run(self, sketched: SketchedRecords, signs: NDArray[np.int8]) -> tuple[Recovered, ...]:
        """Items and whole records recovered by each way; `signs` are (items, components)."""
        rows = sketched.drawn(self.attacked, self.random_state)
        known = checked_signs(sketched, signs)
        sketches, lengths = sketched.table(rows)
        expected = Expectations.of(sketched.pools)
        guesses = {
            "largest estimates": largest_estimates(sketches, known),
            "matching pursuit": matching_pursuit(sketches, lengths, known, sketched.sizes[rows]),
            "message passing": sketched.as_counts(message_passing(sketches, lengths, known, expected)),
        }
        return tuple(recovered(name, scores, sketched, rows) for name, scores in guesses.items())

    def openly(self, sketched: SketchedRecords) -> Recovered:
        """What the sums of the groups reveal of the same records when they are published as they are.

        Of items with equal sums the more frequent ones are named first, as message passing does.
        """
        rows = sketched.drawn(self.attacked, self.random_state)
        sums = sketched.as_counts(sketched.pools[sketched.group_of_row[rows]].toarray())
        # Equal sums may have been rounded differently; shares are below 1, so they only part equal ones.
        ranked = np.round(sums, DIGITS) + 0.1**DIGITS * sketched.shares * (sums > 0)
        return recovered("published sums", ranked, sketched, rows)


def checked_signs(sketched: SketchedRecords, signs: NDArray[np.int8]) -> Floats:
    """The signs of the components that are attacked, as numbers to compute with."""
    n_items = sketched.records.shape[1]
    if signs.shape[0] != n_items or signs.shape[1] < sketched.width:
        raise InputError(
            f"signs of {signs.shape[0]} items in {signs.shape[1]} components, and there are {n_items} items in "
            f"{sketched.width}; give the sign of each item in each component"
        )
    return signs[:, : sketched.width].astype(np.float32)


def recovered(name: str, scores: NDArray[np.floating], sketched: SketchedRecords, rows: Ints) -> Recovered:
    """The rates of a guess, beside those of naming the most frequent items."""
    records = sketched.records[rows]
    shares, whole = hits(scores, records)
    blind_shares, blind_whole = hits(np.broadcast_to(sketched.shares, (len(rows), records.shape[1])), records)
    return Recovered(
        rate_of(f"items recovered by {name}", shares, float(blind_shares.mean()), targets=rows),
        rate_of(f"records recovered whole by {name}", whole, float(blind_whole.mean()), targets=rows),
    )
