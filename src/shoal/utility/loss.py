"""What masking cost a numeric table: IL1 to IL5, the probabilistic PIL, and the squared error.

Sources: Domingo-Ferrer and Torra, "Disclosure control methods and information loss for microdata" (2001), for IL;
Mateo-Sanz, Domingo-Ferrer and Sebé, "Probabilistic information loss measures in confidentiality protection of
continuous microdata" (2005), for PIL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from shoal.data.pairs import NumericPair, numeric_pair
from shoal.kernels import Floats
from shoal.results.utility import ColumnLoss, Loss, PairLoss, ProbabilisticLoss, TableLoss

ZERO = 1e-9  # a denominator below this share of its scale counts as zero
QUANTILES = np.arange(0.05, 0.96, 0.05)


def table_loss(original: Any, protected: Any) -> TableLoss:
    """Compare two numeric tables, row by row and statistic by statistic.

    Examples
    --------
    >>> from shoal.utility.loss import table_loss
    >>> loss = table_loss([[1, 1], [2, 4], [3, 1], [4, 4]], [[1.5, 1], [1.5, 4], [3.5, 1], [3.5, 4]])
    >>> round(loss.values, 4), round(loss.means, 4), round(loss.variances, 4)
    (0.1302, 0.0, 0.1)
    """
    pair = numeric_pair(original, protected)
    before, after = _moments(pair.original), _moments(pair.protected)
    i, j = np.triu_indices(len(pair.names), 1)
    scale = before.scale

    values, zero_values = _relative(pair.original, pair.protected, scale)
    means, zero_means = _relative(before.mean, after.mean, scale)
    covariances, zero_covariances = _relative(before.covariance, after.covariance, np.outer(scale, scale))
    variances = np.diag(covariances)
    correlations, zero_correlations = _relative(before.correlation, after.correlation, np.ones((len(scale),) * 2))
    upper = np.triu_indices(len(scale))  # i <= j: variances too
    return TableLoss(
        values=float(values.mean()),
        means=float(means.mean()),
        covariances=float(covariances[upper].mean()),
        variances=float(variances.mean()),
        correlations=_mean(correlations[i, j]),
        by_scale=int(
            zero_values.sum()
            + zero_means.sum()
            + zero_covariances[upper].sum()
            + np.diag(zero_covariances).sum()
            + zero_correlations[i, j].sum()
        ),
        probabilistic=_probabilistic(pair, before, after),
        squared=_squared(pair, before),
        columns=tuple(
            ColumnLoss(name, float(values[:, column].mean()), float(means[column]), float(variances[column]))
            for column, name in enumerate(pair.names)
        ),
        pairs=tuple(
            PairLoss(
                pair.names[first],
                pair.names[second],
                float(covariances[first, second]),
                float(correlations[first, second]),
                float(before.correlation[first, second]),
                float(after.correlation[first, second]),
            )
            for first, second in zip(i, j, strict=True)
        ),
    )


@dataclass(frozen=True)
class _Moments:
    """What a table's rows have together; a constant attribute has variance, covariances and correlations of 0."""

    mean: Floats  # (d,)
    deviation: Floats  # (d,)
    covariance: Floats  # (d, d)
    correlation: Floats  # (d, d)
    scores: Floats  # (n, d): standardised values

    @property
    def scale(self) -> Floats:
        """What a difference is measured by where there is nothing to divide by; of a constant attribute its size."""
        size = np.where(self.mean != 0.0, np.abs(self.mean), 1.0)
        return np.where(self.deviation > 0.0, self.deviation, size)


def _moments(values: Floats) -> _Moments:
    mean = values.mean(axis=0)
    deviation = values.std(axis=0)
    constant = deviation <= 1e-12 * np.abs(values).max(axis=0)  # rounding noise of a constant included
    deviation[constant] = 0.0
    scores = (values - mean) / np.where(constant, 1.0, deviation)
    scores[:, constant] = 0.0
    correlation = scores.T @ scores / len(values)
    return _Moments(mean, deviation, correlation * np.outer(deviation, deviation), correlation, scores)


def _relative(before: Floats, after: Floats, scale: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """|after - before| / |before|, by `scale` where that is zero; and where it was."""
    zero = np.abs(before) <= ZERO * scale
    return np.abs(after - before) / np.where(zero, scale, np.abs(before)), zero


def _probabilistic(pair: NumericPair, before: _Moments, after: _Moments) -> ProbabilisticLoss:
    """The chance 2·P(0 <= Z <= |z|) of each statistic, z its change in standard errors of a sample of n."""
    n, d = pair.original.shape
    i, j = np.triu_indices(d, 1)
    Z, r = before.scores, before.correlation
    squares = Z * Z
    # Standard errors by the delta method, in standardised units: the mean square of each statistic's influence.
    error_of_variances = np.sqrt(((squares - 1.0) ** 2).mean(axis=0) / n)
    error_of_covariances = np.empty(len(i))
    error_of_correlations = np.empty(len(i))
    for number, (first, second) in enumerate(zip(i, j, strict=True)):
        product = Z[:, first] * Z[:, second] - r[first, second]
        error_of_covariances[number] = np.sqrt((product**2).mean() / n)
        tilt = product + r[first, second] * (1.0 - (squares[:, first] + squares[:, second]) / 2)
        error_of_correlations[number] = np.sqrt((tilt**2).mean() / n)
    scale = before.scale
    sizes = np.outer(scale, scale)
    moved = (after.covariance - before.covariance) / sizes
    spread_out = np.where(before.deviation > 0.0, 1.0, 0.0) / np.sqrt(n)
    return ProbabilisticLoss(
        means=_certainty((after.mean - before.mean) / scale, spread_out),
        variances=_certainty(np.diag(moved), np.where(before.deviation > 0.0, error_of_variances, 0.0)),
        covariances=_certainty(moved[i, j], error_of_covariances),
        correlations=_certainty((after.correlation - r)[i, j], error_of_correlations),
        quantiles=float(
            np.mean([_quantiles_moved(x, y) for x, y in zip(pair.original.T, pair.protected.T, strict=True)])
        ),
    )


def _quantiles_moved(x: Floats, y: Floats) -> float:
    """Certainty that the quantiles moved, measured in ranks: where the new quantile stands among the original values.

    Equivalent for large n to the standard error q(1-q) / (n f²) in values, without an estimate of the density f.
    """
    ranked = np.sort(x)
    old = np.quantile(x, QUANTILES, method="inverted_cdf")
    new = np.quantile(y, QUANTILES, method="inverted_cdf")

    def place(value: Floats) -> Floats:
        both = np.searchsorted(ranked, value, "left") + np.searchsorted(ranked, value, "right")
        return np.asarray(both / (2 * len(x)))

    return _certainty(place(new) - place(old), np.sqrt(QUANTILES * (1 - QUANTILES) / len(x)))


def _certainty(change: Floats, error: Floats) -> float:
    """Mean of 2·P(0 <= Z <= |change / error|); a statistic that cannot vary is either the same or surely changed."""
    change = np.where(np.abs(change) <= 1e-12, 0.0, np.abs(change))
    z = np.divide(change, error, out=np.where(change > 0.0, np.inf, 0.0), where=error > 0.0)
    return _mean(erf(z / np.sqrt(2.0)))


def _squared(pair: NumericPair, before: _Moments) -> Loss:
    """On standardised values: rows to their masked versions (SSE), and these to the mean of all (SSA)."""
    masked = (pair.protected - before.mean) / np.where(before.deviation > 0.0, before.deviation, 1.0)
    return Loss(sse=float(np.sum((before.scores - masked) ** 2)), ssa=float(np.sum(masked**2)))


def _mean(values: Floats) -> float:
    """0 for no values: a single attribute has no pairs that could have moved."""
    return float(values.mean()) if values.size else 0.0
