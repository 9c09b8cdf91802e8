"""Whoever has the key solves for the records: a sketch with known signs is a system of equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.results.sketch_attacks import Recovered
from shoal.risk.rates import rate_of
from shoal.risk.sketches.guesses import Expectations, largest_estimates, matching_pursuit, message_passing
from shoal.risk.sketches.scoring import hits
from shoal.risk.sketches.sketched import Floats, Ints, SketchedRecords

__all__ = ["KeyHolder"]

DIGITS = 6  # of sums of which equal ones were rounded otherwise


class KeyHolder:
    """Recover the items of records from their sketches and the signs.

    The attacker has the key: an insider, or whoever the key leaked to. A short record and enough components are a
    system of equations with one sparse solution, whatever the variance of each estimate is. They try three ways: the
    items with the largest estimates; orthogonal matching pursuit; and message passing, which knows that numbers are 0
    or 1, or near a known mean, and how frequent items are.

    They are told how many items each record has and name as many: whoever has to guess that recovers no more. From a
    shared sketch they recover the sums of the group, and name the items with the largest. The baseline names the most
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
        """What the sums of the groups tell of the same records when they are published as they are.

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
