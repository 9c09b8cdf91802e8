"""What attacks found: rates beside what guessing gives, what a trained attacker relies on, and what sketches reveal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.language import _, fixed, in_figures, sayable

if TYPE_CHECKING:  # `verify` reads this folder and needs no arrays
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds, beside what it would be without the release."""

    about: str  # which attack, e.g. "distance-based linkage"
    rate: float  # share of attempts that succeed; ties count by their chance, never by luck
    baseline: float  # what guessing gives
    low: float  # 95 % interval of the rate
    high: float
    n: int  # attempts
    control: float | None = None  # the same attack on people who are not in the data
    control_low: float | None = None  # 95 % interval of that
    control_high: float | None = None
    chances: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)  # of each attempt to succeed
    targets: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)  # their rows; None: all in order

    @property
    def excess(self) -> float:
        """What the release adds: success beyond the control (or the guess), as a share of what is left above it."""
        without = self.baseline if self.control is None else self.control
        return max(0.0, (self.rate - without) / (1.0 - without)) if without < 1.0 else 0.0


@dataclass(frozen=True)
class Inferred:
    """What an attacker who knows how the groups were made concludes about a confidential column."""

    guess: Rate  # values guessed right; the baseline guesses the most frequent one of each released group
    joined: int  # records of groups that were joined
    certain: int  # records of which no other value seems possible
    right: int  # of those, rightly


@dataclass(frozen=True)
class Differenced:
    """How often subtracting two releases, one without a record, reveals that record's cells."""

    cells: Rate  # of all columns together; an attempt is a record
    columns: tuple[Rate, ...]  # of each column on its own

    @property
    def worst(self) -> Rate:
        """The column that is disclosed most often."""
        return max(self.columns, key=lambda column: column.rate)


@dataclass(frozen=True)
class UnmixingResult:
    """How many documents were recovered from the rows that stand for their groups."""

    exact: Rate  # all terms with their counts
    nearly: Rate  # 90 % of the terms of guess and document are in both
    tried: int  # groups that were attacked
    groups: int


@dataclass(frozen=True)
class Disclosure:
    """The disclosure risk of a masked table, by linking records and by narrowing values down."""

    interval: Rate
    euclidean: Rate
    mahalanobis: Rate
    probabilistic: Rate

    @property
    def linkage(self) -> float:
        """Mean of distance-based and probabilistic linkage; an intruder takes the distance that serves better."""
        return (max(self.euclidean.rate, self.mahalanobis.rate) + self.probabilistic.rate) / 2

    @property
    def risk(self) -> float:
        """DR, in per cent: half linkage, half interval disclosure."""
        return 100.0 * (self.linkage + self.interval.rate) / 2


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
    """What two attributes reveal together beyond what each reveals alone; below 0 when one repeats the other."""

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


@dataclass(frozen=True)
class Recovered:
    """What a guess hits: shares of items, and records with all their items and no others."""

    items: Rate
    whole: Rate


@dataclass(frozen=True)
class SignsRecovered:
    """What an attacker who knows some records learns about the signs, and through them about the other records."""

    known: int  # records
    signs: float  # share of the signs, each item weighted by how often it occurs; a guess gives 0.5
    strangers: Recovered  # records that were not known


@dataclass(frozen=True)
class SketchUtility:
    """What can still be estimated from the sketches."""

    correlation: float | None  # of estimated and true cosines of pairs; None where one side has no spread
    error: float  # mean difference of the two
    pairs: int
    neighbours: Rate  # of the nearest records, those that are among the nearest by their sketches


@dataclass(frozen=True)
class SketchAttacks:
    """One kind of sketch under every attack, and what it is good for."""

    kind: str  # "plain sketches", "delta sketches", ...
    setting: str  # its parameters, in words
    records: int
    withheld: int
    components: int  # of the median sketch
    with_key: Recovered
    knowing_records: tuple[SignsRecovered, ...]
    linked_with_key: Rate
    linked_without_key: Rate
    utility: SketchUtility
    openly: Recovered | None = None  # of shared sketches: from the sums of the groups, published as they are

    @property
    def most_known(self) -> SignsRecovered:
        """With the most records known."""
        return self.knowing_records[-1]


@dataclass(frozen=True)
class IntersectedPeople:
    """Who carries all the published rows that a person carries."""

    k: int  # people that are promised, or rows where none are
    people: int
    smallest: int  # fewest people who carry all rows of somebody
    alone: int  # people who are the only one
    exposed: Rate  # people with fewer than k; the baseline counts the people of one group
    constants: tuple[Rate, ...]  # confidential columns that are constant in people, guessed right; baseline: one group

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        if self.smallest >= self.k:
            return sayable(
                "Of {people} people, at least {smallest} carry all rows that any one of them carries.",
                people=self.people,
                smallest=self.smallest,
            )
        return _(
            "{exposed} of {people} people are among fewer than k={k} who carry all the rows that they carry, at worst "
            "{smallest}; {alone} are alone."
        ).format(
            exposed=fixed(self.exposed.rate, ".1%"),
            people=in_figures(f"{self.people:,}"),
            k=self.k,
            smallest=in_figures(f"{self.smallest:,}"),
            alone=in_figures(f"{self.alone:,}"),
        )
