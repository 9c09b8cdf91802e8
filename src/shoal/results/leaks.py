"""What a trained attacker finds, and by which attributes."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.results.rates import Rate

__all__ = ["Leak", "LeakCard", "LeakingAttribute", "LeakingPair", "Learned", "Remedy"]


@dataclass(frozen=True)
class Learned:
    """The distance of a family that re-identifies the most records, and what none of the family can do better."""

    distance: str
    rate: Rate
    found: float  # share nearer to their own record than to any other by the margin
    bound: float  # no parameters find a larger share
    proved: bool  # whether found is the most there is
    parameters: dict[str, float]  # by attributes, such as "age" or "age & income"
    rounds: int
    rows: int  # constraints, rivals or sets of records that the last search wrote down
    seconds: float


@dataclass(frozen=True)
class LeakingAttribute:
    """How much of the linking one attribute carries."""

    name: str
    weight: float  # in the learned weighted mean; weights sum to 1
    shapley: float | None  # its share of the learned fuzzy measure; shares sum to 1
    alone: float  # rate of an attacker who knows this attribute only
    without: float | None  # rate of an attacker trained without it; None for the least telling of many


@dataclass(frozen=True)
class LeakingPair:
    """What two attributes tell together beyond what each tells alone; below 0 when one repeats the other."""

    one: str
    other: str
    interaction: float


@dataclass(frozen=True)
class Leak:
    """How many records can be found, by whom, and by which attributes."""

    plain: Rate
    mahalanobis: Rate
    honest: Rate  # learned from some links, tried on the others
    worst: Rate  # learned from all links: nobody can know as much
    distance: str  # what the worst case compares records by
    learned_on: int  # records
    links_known: int  # to the honest attacker, of those
    attributes: tuple[LeakingAttribute, ...]  # the most telling first
    pairs: tuple[LeakingPair, ...]  # the strongest first
    measured: tuple[str, ...]  # attributes of the measure, the first is bit 0; empty when there are too many
    measure: tuple[float, ...]  # of every set of them, numbered by bits
    proof: Learned | None = None


@dataclass(frozen=True)
class Remedy:
    """A column masked more strongly, and what an attacker trained on all links finds then: measured, not estimated."""

    column: str
    least: int  # records that share each value after coarsening
    before: Rate
    after: Rate

    @property
    def helps(self) -> bool:
        """Whether the rate falls by more than a little."""
        return self.after.rate < 0.9 * self.before.rate


@dataclass(frozen=True)
class LeakCard:
    """Who finds how many records by what, and the remedies that were tried, the best first."""

    leak: Leak
    remedies: tuple[Remedy, ...]
