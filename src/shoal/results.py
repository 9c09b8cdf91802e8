"""Results that cross folders: small frozen values, each a measured thing with what it is measured against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `verify` reads this module and needs no arrays
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Claim",
    "Closeness",
    "ColumnLoss",
    "Differenced",
    "Disclosure",
    "Diversity",
    "Inferred",
    "Leak",
    "LeakingAttribute",
    "LeakingPair",
    "Learned",
    "Loss",
    "PairLoss",
    "ProbabilisticLoss",
    "Rate",
    "Remedy",
    "TableLoss",
    "UnmixingResult",
    "Withheld",
]


@dataclass(frozen=True)
class Loss:
    """Within-group error, between-group error, and the share of information lost."""

    sse: float
    ssa: float

    @property
    def information_loss(self) -> float:
        """SSE / (SSE + SSA): 0 nothing was lost, 1 all records became one."""
        total = self.sse + self.ssa
        return self.sse / total if total > 0 else 0.0


@dataclass(frozen=True)
class Diversity:
    """How many different values of a confidential column the records of a group have."""

    column: str
    least: int  # fewest distinct values in any group (distinct-l)
    single_valued_groups: int  # groups whose members all share one value: membership tells it
    groups: int
    values: int  # distinct values in the whole release


@dataclass(frozen=True)
class Closeness:
    """How far, at most, a group's values of a confidential column are from those of all records (t-closeness)."""

    column: str
    t: float  # 0: every group is like the whole, 1: some group has nothing in common with it
    ordered: bool  # numbers: moving a value farther counts more; else any two values are equally far apart


@dataclass(frozen=True)
class Withheld:
    """Records that are not in the release, and why."""

    reason: str
    count: int


@dataclass(frozen=True)
class Claim:
    """One promise of a certificate, and whether it was found to hold."""

    promise: str  # what is promised, e.g. "k-anonymity"
    holds: bool
    detail: str  # what was found, in a sentence
    file: str | None = None  # the file that shows it


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
    targets: NDArray[np.int64] | None = field(
        default=None, repr=False, compare=False
    )  # their rows; None: all, in order

    @property
    def excess(self) -> float:
        """What the release adds: success beyond the control (or the guess), as a share of what is left above it."""
        without = self.baseline if self.control is None else self.control
        return max(0.0, (self.rate - without) / (1.0 - without)) if without < 1.0 else 0.0


@dataclass(frozen=True)
class Inferred:
    """What an attacker concludes about a confidential column who knows how the groups were made."""

    guess: Rate  # values guessed right; the baseline guesses the most frequent one of each released group
    joined: int  # records of groups that were joined
    certain: int  # records of which no other value seems possible
    right: int  # of those, rightly


@dataclass(frozen=True)
class Differenced:
    """How often two releases, one without a record, tell that record's cells when they are subtracted."""

    cells: Rate  # of all columns together; an attempt is a record
    columns: tuple[Rate, ...]  # of each column on its own

    @property
    def worst(self) -> Rate:
        """The column that is told most often."""
        return max(self.columns, key=lambda column: column.rate)


@dataclass(frozen=True)
class UnmixingResult:
    """How many documents could be told from the rows that stand for their groups."""

    exact: Rate  # all terms with their counts
    nearly: Rate  # 90 % of the terms of guess and document are in both
    form: str  # what the attacker took the weights for
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

    def score(self, loss: TableLoss) -> float:
        """Half the information loss, half the disclosure risk, in per cent: less is better."""
        return (loss.information_loss + self.risk) / 2


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
    alone: float  # rate of who knows this attribute only
    without: float | None  # rate of who learns without it; None for the least telling of many


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
    """A column masked more strongly, and what that does to who learns from all links; measured, not estimated."""

    column: str
    least: int  # records that share each value after coarsening
    before: Rate
    after: Rate


@dataclass(frozen=True)
class ColumnLoss:
    """How far one column moved, relative to itself."""

    column: str
    values: float
    mean: float
    variance: float


@dataclass(frozen=True)
class PairLoss:
    """What became of the covariance and the correlation of two columns."""

    one: str
    other: str
    covariance: float  # relative change
    correlation: float  # relative change
    before: float  # the correlation in the original
    after: float


@dataclass(frozen=True)
class ProbabilisticLoss:
    """PIL: how surely each statistic is seen to have changed; 0 not at all, 1 beyond doubt."""

    means: float
    variances: float
    covariances: float
    correlations: float
    quantiles: float

    @property
    def mean(self) -> float:
        return (self.means + self.variances + self.covariances + self.correlations + self.quantiles) / 5


@dataclass(frozen=True)
class TableLoss:
    """What masking cost a numeric table: mean relative changes (IL1 to IL5), PIL, and the squared error."""

    values: float  # IL1
    means: float  # IL2
    covariances: float  # IL3
    variances: float  # IL4
    correlations: float  # IL5
    by_scale: int  # relative changes whose denominator was zero, and the scale of the attribute was taken
    probabilistic: ProbabilisticLoss
    squared: Loss
    columns: tuple[ColumnLoss, ...] = field(repr=False)
    pairs: tuple[PairLoss, ...] = field(repr=False)

    @property
    def information_loss(self) -> float:
        """IL in per cent: the mean of IL1 to IL5. It has no upper bound."""
        return 100.0 * (self.values + self.means + self.covariances + self.variances + self.correlations) / 5
