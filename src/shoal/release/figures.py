"""Numbers that may be published: means on a grid that no record decides, and figures that reveal no single value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from shoal.data.files import shown, unknown_column
from shoal.data.roles import Roles
from shoal.errors import InputError
from shoal.methods.numeric import coarsened, scale_of
from shoal.methods.sketches import Sketches
from shoal.methods.sketches.sketches import dot_products
from shoal.results.summary import Distances, StatedLoss
from shoal.results.utility import Loss
from shoal.terms.vector_space import at_unit_length
from shoal.utility.vector_space import order_kept

FEW = 30  # of fewer records that moved, figures about the originals tell each of them
FEW_RECORDS = f"of fewer than {FEW} records, figures about the originals tell each of them"
SAMPLE = 2_000  # records whose pairs are looked at: two million pairs
MOST_IN_MEANING = 400  # documents whose pairs are looked at: each takes its time
BINS = 10
NOT_PUBLISHED = Distances(edges=(0.0, 1.0), before=(0.0,), after=(0.0,), pairs=0, sampled=False)


def cosine_distances(before: sp.csr_matrix, after: sp.csr_matrix, n_rows: int) -> Distances:
    """Histogram of 1 - <a, b> in tenths; the rows given are a sample of `n_rows`, or all of them."""

    def measure(X: sp.csr_matrix) -> NDArray[np.float64]:
        products = (X @ X.T).toarray()
        distances: NDArray[np.float64] = np.clip(1.0 - products[np.triu_indices(X.shape[0], 1)], 0.0, 1.0)
        return distances

    return histogram(measure(before), measure(after), n_rows, top=1.0)


def estimated_distances(before: sp.csr_matrix, after: Sketches, n_rows: int) -> Distances:
    """Histogram of 1 - the cosine in tenths, before of the rows and after by estimates; `n_rows` as above."""
    pairs = np.triu_indices(len(after), 1)
    unit = at_unit_length(before)
    products = dot_products(after, after)
    lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float64).tiny))
    cosines = (products / lengths / lengths[:, None])[pairs]
    measured = np.clip(1.0 - (unit @ unit.T).toarray()[pairs], 0.0, 1.0)
    return histogram(measured, np.maximum(1.0 - cosines, 0.0), n_rows, top=1.0)


def euclidean_distances(
    before: NDArray[np.float64], after: NDArray[np.float64], n_rows: int | None = None
) -> Distances:
    """Histogram of the distances of standardised rows; the last bin holds all that are farther. `n_rows` as above."""
    n_rows = len(before) if n_rows is None else n_rows
    rows = spread_out(len(before), SAMPLE)
    return histogram(pdist(before[rows]), pdist(after[rows]), n_rows)


def spread_out(n_rows: int, most: int) -> NDArray[np.int64]:
    """Evenly spread rows: no seed, the same sample each time."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64))


def histogram(before: Any, after: Any, n_rows: int, sample: int = SAMPLE, top: float | None = None) -> Distances:
    """Distances of pairs before and after; the last bin holds all that are farther than `top`. `n_rows` as above."""
    if top is None:  # a rounded quantile, not the maximum: that would tell how far the most unusual record is out
        top = float(f"{max(np.quantile(before, 0.95), 1e-6):.1g}") if len(before) else 1.0
    edges = np.linspace(0.0, top, BINS + 1)

    def shares(distances: NDArray[np.float64]) -> tuple[float, ...]:
        counts = np.histogram(np.minimum(distances, edges[-1]), bins=edges)[0]
        return tuple((counts / max(len(distances), 1)).round(6).tolist())

    return Distances(
        edges=tuple(edges.round(9).tolist()),
        before=shares(before),
        after=shares(after),
        pairs=len(before),
        sampled=n_rows > sample,
        order_kept=order_kept(before, after),
    )


def stated_loss(loss: Loss, publishable: bool, reason: str | None = FEW_RECORDS, digits: int = 6) -> StatedLoss:
    """The loss as it is published: as measured, in so many digits; else the tenths it lies between, and why no more."""
    if publishable:
        sse, ssa = (float(f"{part:.{digits}g}") for part in (loss.sse, loss.ssa))
        share = Loss(sse, ssa).information_loss
        return StatedLoss(share, share, sse, ssa)
    if loss.sse <= 0.0:
        return StatedLoss(0.0, 0.0)  # nothing at all
    high = min(max(math.ceil(10.0 * loss.information_loss - 1e-9), 1), 10)  # rounding may cost more than there was
    return StatedLoss((high - 1) / 10.0, high / 10.0, reason=reason)


Floats = NDArray[np.float64]

DOMINANT = 1 / 3  # of a column's squared deviations: a record with more of them decides what is said of the column
DRAWN_IN = 50  # one in so many records is drawn in at each end, and no fewer than k
MOST_DRAWN_IN = 4  # but never more than one in so many


@dataclass(frozen=True)
class Limits:
    """Where the extreme values of each column are drawn in to."""

    low: Floats
    high: Floats

    def spread(self, values: Floats) -> Floats:
        """The standard deviation of each column, extreme values drawn in; 0 where nearly all values are one.

        Gaps (NaN) do not count; a column of nothing else has no spread.
        """
        drawn_in = np.clip(values, self.low, self.high)
        spread: Floats = drawn_in.std(axis=0)
        for place in np.flatnonzero(np.isnan(spread)).tolist():
            given = drawn_in[~np.isnan(drawn_in[:, place]), place]
            spread[place] = given.std() if len(given) else 0.0
        spread[self.low == self.high] = 0.0
        return spread


def limits_of(values: Floats, k: int) -> Limits:
    """Of columns whose lowest and highest records, k and a fiftieth of them at least, shall decide nothing."""
    n_rows = len(values)
    drawn_in = min(max(k, n_rows // DRAWN_IN), n_rows // MOST_DRAWN_IN)
    ranked = np.sort(values, axis=0)
    return Limits(ranked[drawn_in], ranked[n_rows - 1 - drawn_in])


ADDED = 0.01  # of the squared error, that rounding may add
ROUND = (5, 2, 1)  # times a power of ten: steps that read well
TRIES = 10
LEAST, MOST = 1e-290, 1e290  # beyond, powers of ten leave the range of numbers


def chosen_steps(error: float, n_rows: int, spread: Floats, added: Callable[[Floats], float]) -> Floats:
    """The step of each column's grid; 0 for a column whose spread is 0, which is not rounded.

    `error` is the squared error of the means over all rows and columns, each column on the scale of its standard
    deviation; `added` what rounding to given steps adds to it. `spread` is at most that deviation.
    """
    # An error spread evenly over a step has the mean square step² / 12.
    share = float(np.sqrt(12.0 * ADDED * error / (n_rows * max(len(spread), 1))))
    for halvings in range(TRIES):
        steps = np.array([round_step(width) for width in (share / 2**halvings * spread).tolist()], dtype=np.float64)
        if not steps.any() or added(steps) <= ADDED * error:  # errors need not be even: those of halves are not
            return steps
    return np.zeros_like(spread)  # what was lost is rounding noise already


def round_step(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`; 0 for nothing.

    >>> round_step(0.37), round_step(1999.0), round_step(0.0)
    (0.2, 1000.0, 0.0)
    """
    if not LEAST <= most <= MOST:
        return 0.0
    exponent = int(np.floor(np.log10(most)))
    candidates = (float(f"{digit}e{power}") for power in (exponent + 1, exponent, exponent - 1) for digit in ROUND)
    return next(step for step in candidates if step <= most)


def on_grid(means: Floats, steps: Floats) -> Floats:
    """The means (rows, columns), each the nearest multiple of its column's step; as they are where the step is 0."""
    rounded = means.copy()
    for column in np.flatnonzero(steps).tolist():
        step = float(steps[column])
        digit, power = (int(part) for part in f"{step:.0e}".split("e"))
        multiples = np.rint(means[:, column] / step) * digit
        # Dividing by a power of ten gives the number nearest to the decimal: 0.3, not 0.30000000000000004.
        rounded[:, column] = multiples / 10.0**-power if power < 0 else multiples * 10.0**power
    return rounded + 0.0  # no negative zeros: equal numbers are written alike


def check_coarsened_columns(
    coarsen: Mapping[str, int], columns: Sequence[str], roles: Roles, numbers: Sequence[str], n_rows: int
) -> None:
    """Refuse columns that are not there, not protected or not averaged, and classes of more rows than there are."""
    for name, least in coarsen.items():
        if name not in columns:
            raise InputError(f"coarsen {shown(name)}={least}: {unknown_column(name, columns, 'the table')}")
        if name not in roles.quasi:
            raise InputError(
                f"coarsen {shown(name)}={least}: the column is not protected; name it in {{option}}, or leave it out",
                "quasi",
            )
        if name not in numbers:
            raise InputError(f"coarsen {shown(name)}={least}: the column holds labels, not numbers; leave it out")
        if least > n_rows:
            raise InputError(
                f"coarsen {shown(name)}={least} needs at least {least} rows, got {n_rows}; lower it or add rows"
            )


def coarsened_columns(names: Sequence[str], masked: Floats, coarsen: Mapping[str, int]) -> Floats:
    """The masked numbers (rows, columns), those of the columns asked for aggregated once more."""
    coarser = masked.copy()
    for place, name in enumerate(names):
        if name in coarsen:
            coarser[:, place] = coarsened(masked[:, place], coarsen[name])
    return coarser


FEW_MOVED = f"fewer than {FEW} records changed, and figures about so few tell each of them"
TELLS_WHO_LEFT = "compared with those of the release before, such figures would tell who left"
DOMINATED = "one record or person makes up more than a third of what varies, and such figures would tell it"
NO_VALUE = "no group shows a value"
DIGITS = 3  # of the loss: more would tell, of two releases, what one record adds to it
UNMOVED = 1e-12  # relative: a mean of equal values may differ from them by a rounding


def moved_records(values: Floats, means: Floats) -> NDArray[np.int64]:
    """How many records of each column are not the mean of their group."""
    moved: NDArray[np.int64] = np.sum(np.abs(values - means) > UNMOVED * np.abs(values), axis=0)
    return moved


def published_means(values: Floats, means: Floats, k: int) -> Floats:
    """Each row's mean of its group, rounded: what a release of these rows alone has."""
    scale = scale_of(values.std(axis=0), np.abs(values).max(axis=0, initial=0.0))

    def added(steps: Floats) -> float:
        return float(np.sum(((on_grid(means, steps) - means) / scale) ** 2))

    error = float(np.sum(((values - means) / scale) ** 2))
    steps = chosen_steps(error, len(values), limits_of(values, k).spread(values), added)
    constant = values.max(axis=0) == values.min(axis=0)
    # The mean of equal values may differ from them by a rounding; and no negative zeros.
    return np.where(constant, values, on_grid(means, steps)) + 0.0
