"""Known records: an attacker who knows some of the records behind sketches computes the signs, and needs no key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import lsqr
from sklearn.preprocessing import normalize

from shoal.attacks.rates import check_count
from shoal.attacks.sketches.key_holder import Expectations, checked_signs, message_passing, recovered
from shoal.attacks.sketches.records import Floats, Ints, SketchedRecords, hits
from shoal.errors import InputError
from shoal.kernels.grouping.spherical import csr
from shoal.kernels.sketching.recovery import believed_signs
from shoal.results.attacks import Recovered, SignsRecovered

# Variance of an equation, as a share of the mean square of a number. None has any, but beliefs that are exact for
# systems much larger than these are too sure of themselves; so, signs believed with 90 % are right in 90 %.
NOISE = 0.3
POOL_NOISE = 20.0  # times what the unknown part of a group amounts to: these parts have items in common
CAUTIONS = (1.0, 4.0, 16.0)  # from which the attacker chooses, on known records set aside: a fifth, at most so many
SET_ASIDE = 100
SOLVED = 32  # components that least squares are solved for, spread over all
LSQR_STEPS = 200


class KnownRecords:
    """Learn the signs from records that are known with their sketches, then recover the items of strangers.

    The attacker took part, or bought from somebody who did: of some records they know the items and which sketch is
    theirs. Each component is then a system of equations in the signs of the items, one equation per known record. Signs
    are -1 or +1, so message passing needs fewer equations than least squares. Where records share a sketch, an equation
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
        truth = checked_signs(sketched, signs)
        return tuple(_point(sketched, others[:count], rows, truth) for count in counts)


@dataclass(frozen=True, eq=False)
class Equations:
    """Row i times the signs of a component is that component of sketch i, but for noise."""

    rows: sp.csr_matrix
    sketches: Floats
    lengths: Ints
    noise: NDArray[np.float64]  # its variance


def _point(sketched: SketchedRecords, known: Ints, rows: Ints, truth: Floats) -> SignsRecovered:
    expected = Expectations.of(sketched.pools)
    caution = _caution(sketched, known, expected)
    equations = _equations(sketched, known)
    signs = _signs(equations)
    strangers = _recovered(sketched, rows, signs, expected, caution, len(known))
    uses = np.sum(sketched.lengths[rows, None] > np.arange(sketched.width), axis=0) + 1e-9  # of each component
    solved = np.unique(np.linspace(0, sketched.width - 1, min(SOLVED, sketched.width)).astype(np.int64))
    return SignsRecovered(
        known=len(known),
        by_least_squares=_right(_least_squares(equations, solved), truth[:, solved], sketched.shares, uses[solved]),
        signs=_right(signs, truth, sketched.shares, uses),
        strangers=strangers,
    )


def _caution(sketched: SketchedRecords, known: Ints, expected: Expectations) -> float:
    """The caution that does best on records that the attacker knows and sets aside; the least of several as good."""
    aside = min(len(known) // 5, SET_ASIDE)
    if not aside:
        return CAUTIONS[0]
    tried, signs = known[:aside], _signs(_equations(sketched, known[aside:]))
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


def _signs(equations: Equations) -> Floats:
    """Expected signs, (items, components)."""
    given = equations.sketches, equations.lengths, equations.noise
    signs: Floats = believed_signs(csr(equations.rows), equations.rows.shape[1], *given)
    return signs


def _equations(sketched: SketchedRecords, known: Ints) -> Equations:
    """One per known record, or one per group of which records are known: their sum, as far as it goes."""
    if not sketched.pooled:
        rows = sp.csr_matrix(sketched.records[known])
        return Equations(rows, *sketched.table(known), np.full(len(known), NOISE * np.mean(rows.data**2)))
    groups, first, equation_of = np.unique(sketched.group_of_row[known], return_index=True, return_inverse=True)
    shape = (len(groups), len(known))
    sums = sp.csr_matrix((np.ones(len(known)), (equation_of, np.arange(len(known)))), shape=shape)
    in_group = np.bincount(sketched.group_of_row[sketched.group_of_row >= 0])[groups]
    share = np.bincount(equation_of) / in_group  # known of each group
    # If members have nothing in common, the known part of a sum of length 1 has the length sqrt(share).
    rows = sp.csr_matrix(sp.diags(np.sqrt(share)) @ normalize(sums @ sketched.records[known]))
    noise = POOL_NOISE * (1.0 - share) + NOISE * np.mean(rows.data**2)
    return Equations(rows, *sketched.table(known[first]), noise)


def _least_squares(equations: Equations, components: Ints) -> NDArray[np.float64]:
    """The shortest solution of each component."""
    solution = np.zeros((equations.rows.shape[1], len(components)))
    for column, component in enumerate(components):
        there = equations.lengths > component
        if there.any():
            result = lsqr(equations.rows[there], equations.sketches[there, component], iter_lim=LSQR_STEPS)
            solution[:, column] = result[0]
    return solution


def _right(signs: NDArray[np.floating], truth: Floats, shares: NDArray[np.float64], uses: NDArray[np.float64]) -> float:
    """The share of the signs that are right, items and components by how often they occur; unknown ones count 1/2."""
    right = (np.sign(signs) * truth + 1.0) / 2.0
    return float(np.average(np.average(right, axis=1, weights=uses), weights=shares))
