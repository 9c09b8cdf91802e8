"""Records recovered from their sketches: by an attacker with the key, and by one who knows some of the records.

With the key, a sketch is a system of equations in the record's items. With known records, each component is a system
of equations in the signs of the items, and no key is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shoal.attacks.rates import check_count, rate_of
from shoal.attacks.sketches.records import Floats, Ints, SketchedRecords, hits
from shoal.errors import InputError
from shoal.kernels.grouping.spherical import csr
from shoal.kernels.sketching.recovery import believed_numbers, believed_signs
from shoal.kernels.threads import side_by_side
from shoal.results.attacks import Recovered, SignsRecovered
from shoal.terms.vector_space import at_unit_length

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
    system of equations with one sparse solution, whatever the variance of each estimate is. Message passing solves it:
    it knows that numbers are 0 or 1, or near a known mean, and how frequent items are. (Orthogonal matching pursuit,
    and taking the largest estimates, recover less at every length.)

    They know how many items each record has and name as many: guessing the number recovers no more. From
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

    def run(self, sketched: SketchedRecords, signs: NDArray[np.int8]) -> Recovered:
        """Items and whole records recovered; `signs` are (items, components)."""
        rows = sketched.drawn(self.attacked, self.random_state)
        known = sketched.checked_signs(signs)
        scores = sketched.as_counts(message_passing(*sketched.table(rows), known, Expectations.of(sketched.pools)))
        return recovered("message passing", scores, sketched, rows)

    def openly(self, sketched: SketchedRecords) -> Recovered:
        """What the sums of the groups reveal of the same records when they are published as they are.

        Of items with equal sums the more frequent ones are named first, as message passing does.
        """
        rows = sketched.drawn(self.attacked, self.random_state)
        sums = sketched.as_counts(sketched.pools[sketched.group_of_row[rows]].toarray())
        # Equal sums may have been rounded differently; shares are below 1, so they only part equal ones.
        ranked = np.round(sums, DIGITS) + 0.1**DIGITS * sketched.shares * (sums > 0)
        return recovered("published sums", ranked, sketched, rows)


def recovered(name: str, scores: NDArray[np.floating], sketched: SketchedRecords, rows: Ints) -> Recovered:
    """The rates of a guess, beside those of naming the most frequent items."""
    records = sketched.records[rows]
    shares, whole = hits(scores, records)
    blind_shares, blind_whole = hits(np.broadcast_to(sketched.shares, (len(rows), records.shape[1])), records)
    return Recovered(
        rate_of(f"items recovered by {name}", shares, float(blind_shares.mean()), targets=rows),
        rate_of(f"records recovered whole by {name}", whole, float(blind_whole.mean()), targets=rows),
    )


# Variance of an equation, as a share of the mean square of a number. None has any, but beliefs that are exact for
# systems much larger than these are too sure of themselves; so, signs believed with 90 % are right in 90 %.
NOISE = 0.3
POOL_NOISE = 20.0  # times what the unknown part of a group amounts to: these parts have items in common
CAUTIONS = (1.0, 4.0, 16.0)  # from which the attacker chooses, on known records set aside: a fifth, at most so many
SET_ASIDE = 100


class KnownRecords:
    """Learn the signs from records that are known with their sketches, then recover the items of strangers.

    The attacker took part, or bought from somebody who did: of some records they know the items and which sketch is
    theirs. Each component is then a system of equations in the signs of the items, one equation per known record. Signs
    are -1 or +1, so message passing needs fewer equations than items. Where records share a sketch, an equation
    holds what is known of the group; the rest of the group is noise. The attacker sets some known records aside, tries
    on them how far the signs can be trusted, and then, with the signs as certain as they are, attacks unknown records
    as the key holder does. The baseline names the most frequent items; an attacker who would recover less than that
    does the same.

    Parameters
    ----------
    known : how many records are known, a point of the curve for each; as many as there are, where there are fewer
    attacked : int, strangers drawn at random; the same records as `KeyHolder` draws
    random_state : int
    """

    def __init__(
        self, known: Sequence[int] = (30, 100, 300, 600, 1_000), attacked: int = 1_000, random_state: int = 0
    ) -> None:
        self.known = known
        self.attacked = attacked
        self.random_state = random_state

    def run(self, sketched: SketchedRecords, signs: NDArray[np.int8]) -> tuple[SignsRecovered, ...]:
        """The curve; the true `signs` (items, components) only show how many were computed right."""
        if len(sketched.filled) < 2:
            raise InputError("1 record with a sketch leaves nobody to know it; at least 2 are needed")
        attacked = min(check_count(self.attacked, "attacked"), len(sketched.filled) // 2)
        rows = sketched.drawn(attacked, self.random_state)
        others = np.random.default_rng(self.random_state).permutation(np.setdiff1d(sketched.filled, rows))
        counts = sorted({min(check_count(count, "known"), len(others)) for count in self.known})
        truth = sketched.checked_signs(signs)
        return tuple(_point(sketched, others[:count], rows, truth) for count in counts)


def _point(sketched: SketchedRecords, known: Ints, rows: Ints, truth: Floats) -> SignsRecovered:
    expected = Expectations.of(sketched.pools)
    caution = _caution(sketched, known, expected)
    signs = _signs(sketched, known)
    strangers = _recovered(sketched, rows, signs, expected, caution, len(known))
    uses = np.sum(sketched.lengths[rows, None] > np.arange(sketched.width), axis=0) + 1e-9  # of each component
    return SignsRecovered(
        known=len(known),
        signs=_right(signs, truth, sketched.shares, uses),
        strangers=strangers,
    )


def _caution(sketched: SketchedRecords, known: Ints, expected: Expectations) -> float:
    """The caution that does best on records that the attacker knows and sets aside; the least of several as good."""
    aside = min(len(known) // 5, SET_ASIDE)
    if not aside:
        return CAUTIONS[0]
    tried, signs = known[:aside], _signs(sketched, known[aside:])
    sketches, lengths = sketched.table(tried)
    guesses = (message_passing(sketches, lengths, signs, expected, caution) for caution in CAUTIONS)
    shares = [hits(sketched.as_counts(scores), sketched.records[tried])[0].mean() for scores in guesses]
    return CAUTIONS[int(np.argmax(shares))]


def _recovered(
    sketched: SketchedRecords, rows: Ints, signs: Floats, expected: Expectations, caution: float, known: int
) -> Recovered:
    """Items of strangers; an attacker who would find less than by guessing guesses."""
    about = f"whoever knows {known:,} records"
    scores = sketched.as_counts(message_passing(*sketched.table(rows), signs, expected, caution))
    strangers = recovered(about, scores, sketched, rows)
    if strangers.items.rate >= strangers.items.baseline:
        return strangers
    return recovered(about, np.broadcast_to(sketched.shares, scores.shape), sketched, rows)


def _signs(sketched: SketchedRecords, known: Ints) -> Floats:
    """Expected signs, (items, components), from one equation per known record.

    Where records share sketches, from one per group of which records are known: their sum, as far as it goes.
    """
    if not sketched.pooled:
        rows = sp.csr_matrix(sketched.records[known])
        noise = np.full(len(known), NOISE * np.mean(rows.data**2))
    else:
        groups, first, equation_of = np.unique(sketched.group_of_row[known], return_index=True, return_inverse=True)
        shape = (len(groups), len(known))
        sums = sp.csr_matrix((np.ones(len(known)), (equation_of, np.arange(len(known)))), shape=shape)
        in_group = np.bincount(sketched.group_of_row[sketched.group_of_row >= 0])[groups]
        share = np.bincount(equation_of) / in_group  # known of each group
        # If members have nothing in common, the known part of a sum of length 1 has the length sqrt(share).
        rows = sp.csr_matrix(sp.diags(np.sqrt(share)) @ at_unit_length(sums @ sketched.records[known]))
        noise = POOL_NOISE * (1.0 - share) + NOISE * np.mean(rows.data**2)
        known = known[first]
    signs: Floats = believed_signs(csr(rows), rows.shape[1], *sketched.table(known), noise)
    return signs


def _right(signs: NDArray[np.floating], truth: Floats, shares: NDArray[np.float64], uses: NDArray[np.float64]) -> float:
    """The share of the signs that are right, items and components by how often they occur; unknown ones count 1/2."""
    right = (np.sign(signs) * truth + 1.0) / 2.0
    return float(np.average(np.average(right, axis=1, weights=uses), weights=shares))
