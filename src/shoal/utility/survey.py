"""Estimates of a population from a sample, with standard errors for the design of the survey.

A statistic θ is a function of the weights; its influence u_i = ∂θ/∂w_i makes it a total, whose variance is that of the
totals of the clusters within their strata (Taylor linearisation, clusters drawn with replacement):
V = Σ_h n_h / (n_h - 1) · Σ_c (z_hc - z̄_h)², z_hc = Σ_{i in c} w_i·u_i. Without a design every record is a cluster, and
all are in one stratum. A stratum of a single cluster counts by its distance from the mean of all clusters.

Sources: Särndal, Swensson and Wretman, "Model Assisted Survey Sampling" (1992); Binder (1983) for models; Woodruff
(1952) for quantiles; Langel and Tillé (2013) for the Gini index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import Floats, Ints
from shoal.results.survey import TWO_SIDED_95, Estimate

STEPS = 50  # of the search for a logistic model; one that is not found then has none
CLOSE = 1e-10  # when no coefficient moves more, in its own size, the model is found
DEPENDENT = 1e-9  # a column of predictors that the earlier ones leave less of, as a share of itself, repeats them


@dataclass(frozen=True)
class Design:
    """The weight of each record, and the stratum and the cluster that it was drawn in."""

    weights: Floats  # (n,)
    strata: Ints | None = None
    clusters: Ints | None = None

    def within(self, rows: NDArray[np.bool_]) -> Design:
        """The same sample; records outside the domain weigh nothing and stay in their clusters."""
        return replace(self, weights=np.where(rows, self.weights, 0.0))

    def covariance(self, influence: Floats) -> Floats:
        """Of the totals of influences, (n, p) to (p, p)."""
        totals = self.weights[:, None] * influence
        n_rows = len(totals)
        strata = np.zeros(n_rows, np.int64) if self.strata is None else self.strata
        if self.clusters is not None:  # numbered within strata: one number in two strata is two clusters
            keys = np.column_stack([strata, self.clusters])
            _, first, of_row = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            summed = np.zeros((len(first), totals.shape[1]))
            np.add.at(summed, of_row.ravel(), totals)
            totals, strata = summed, strata[first]
        _, stratum = np.unique(strata, return_inverse=True)
        sizes = np.bincount(stratum)
        means = np.column_stack([np.bincount(stratum, column) for column in totals.T]) / sizes[:, None]
        alone = (sizes == 1)[stratum]
        centre = np.where(alone[:, None], totals.mean(axis=0), means[stratum])
        scale = np.where(alone, 1.0, sizes[stratum] / np.maximum(sizes[stratum] - 1, 1))
        apart = (totals - centre) * np.sqrt(scale)[:, None]
        covariance: Floats = apart.T @ apart
        return covariance

    def error(self, influence: Floats) -> float:
        """The standard error of a statistic."""
        return float(np.sqrt(self.covariance(influence[:, None])[0, 0]))


def total(values: Floats, design: Design) -> Estimate:
    """The sum over the population; missing values (NaN) count nothing."""
    known = np.nan_to_num(values, nan=0.0)
    return Estimate(float(design.weights @ known), design.error(known))


def mean(values: Floats, design: Design) -> Estimate | None:
    """The mean of those that have a value; None where nobody has."""
    return _ratio(np.nan_to_num(values, nan=0.0), design.within(~np.isnan(values)))


def share(inside: NDArray[Any], known: NDArray[np.bool_], design: Design) -> Estimate | None:
    """The share that lies inside, of those of whom it is known; a record may lie inside in part."""
    return _ratio(inside.astype(np.float64), design.within(known))


def _ratio(values: Floats, design: Design) -> Estimate | None:
    size = design.weights.sum()
    if not size > 0:
        return None
    middle = float(design.weights @ values / size)
    return Estimate(middle, design.error((values - middle) / size))


def quantile(values: Floats, p: float, design: Design) -> Estimate | None:
    """The smallest value up to which a share of at least p lies; its interval is that of the share (Woodruff)."""
    known = ~np.isnan(values)
    domain = design.within(known)
    order = np.argsort(np.where(known, values, np.inf), kind="stable")
    ranked, reached = values[order], np.cumsum(domain.weights[order])
    if not reached[-1] > 0:
        return None
    reached, last = reached / reached[-1], int(np.count_nonzero(known)) - 1

    def at(level: float) -> float:
        return float(ranked[min(int(np.searchsorted(reached, level - 1e-12)), last)])

    middle = at(p)
    below = _ratio((np.nan_to_num(values, nan=np.inf) <= middle).astype(np.float64), domain)
    assert below is not None
    reach = TWO_SIDED_95 * below.error
    return Estimate(middle, (at(min(p + reach, 1.0)) - at(max(p - reach, 0.0))) / (2 * TWO_SIDED_95))


def gini(values: Floats, design: Design) -> Estimate | None:
    """The Gini index of values that are not negative; None of others, or where all are 0."""
    known = ~np.isnan(values)
    weights = design.within(known).weights
    y = np.where(known, values, 0.0)
    if (y < 0).any() or not weights @ y > 0:
        return None
    order = np.argsort(y, kind="stable")
    w, y = weights[order], y[order]
    size, whole = w.sum(), w @ y
    rank, below = np.cumsum(w), np.cumsum(w * y)  # weight, and total, up to each record
    index = float((w * (2 * rank - w)) @ y / (size * whole)) - 1.0
    influence = np.empty(len(y))
    influence[order] = 2 * (rank * y - below) + whole - size * y - index * (whole + y * size)
    influence = np.where(known, influence / (size * whole), 0.0)
    return Estimate(index, design.within(known).error(influence))


def linear(y: Floats, X: Floats, design: Design) -> list[Estimate | None]:
    """Coefficients of a weighted linear model; None for those that the columns before leave nothing of."""
    used = _independent(X, design.weights)
    Z = X[:, used]
    inverse = np.linalg.inv(Z.T @ (design.weights[:, None] * Z))
    coefficients = inverse @ (Z.T @ (design.weights * y))
    return _estimates(coefficients, (Z * (y - Z @ coefficients)[:, None]) @ inverse, used, X.shape[1], design)


def logistic(y: Floats, X: Floats, design: Design) -> list[Estimate | None]:
    """Coefficients of a weighted logistic model of y, 0 or 1; None for all where predictors separate the two."""
    used = _independent(X, design.weights)
    Z, weights = X[:, used], design.weights
    coefficients = np.zeros(Z.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(Z @ coefficients, -35, 35)))
        information = Z.T @ ((weights * p * (1 - p))[:, None] * Z)
        try:
            inverse = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            break
        step = inverse @ (Z.T @ (weights * (y - p)))
        coefficients = coefficients + step
        if np.all(np.abs(step) <= CLOSE * (1 + np.abs(coefficients))):
            return _estimates(coefficients, (Z * (y - p)[:, None]) @ inverse, used, X.shape[1], design)
    return [None] * X.shape[1]


def _estimates(
    coefficients: Floats, influence: Floats, used: Sequence[int], n_columns: int, design: Design
) -> list[Estimate | None]:
    errors = np.sqrt(np.diag(design.covariance(influence)))
    estimates: list[Estimate | None] = [None] * n_columns
    for column, value, error in zip(used, coefficients, errors, strict=True):
        estimates[column] = Estimate(float(value), float(error))
    return estimates


def _independent(X: Floats, weights: Floats) -> list[int]:
    """The columns that the columns before them do not repeat."""
    scaled = X * np.sqrt(weights)[:, None]
    left = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    return np.flatnonzero(left > DEPENDENT * np.maximum(np.linalg.norm(scaled, axis=0), 1e-300)).tolist()
