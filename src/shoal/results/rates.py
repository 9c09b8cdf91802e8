"""How often attacks succeed, each beside what guessing gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.results.loss import TableLoss

if TYPE_CHECKING:  # `verify` reads this folder and needs no arrays
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Differenced", "Disclosure", "Inferred", "Rate", "UnmixingResult"]


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
    """What an attacker who knows how the groups were made concludes about a confidential column."""

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
        """The column that is disclosed most often."""
        return max(self.columns, key=lambda column: column.rate)


@dataclass(frozen=True)
class UnmixingResult:
    """How many documents were recovered from the rows that stand for their groups."""

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
        """Half the change of statistics (IL), half the disclosure risk (DR), in per cent: less is better."""
        return (loss.mean_change + self.risk) / 2
