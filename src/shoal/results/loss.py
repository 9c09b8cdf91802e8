"""What protection cost: squared errors of groups, and changes of a table's statistics."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ColumnLoss", "Loss", "PairLoss", "ProbabilisticLoss", "TableLoss"]


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
    def mean_change(self) -> float:
        """IL, in per cent: the mean of IL1 to IL5. It has no upper bound."""
        return 100.0 * (self.values + self.means + self.covariances + self.variances + self.correlations) / 5
