"""What masking cost columns of labels: values, tables of one and two columns, and the share of information lost.

Sources: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata" (2001), for
measures based on contingency tables; Martínez, Sánchez and Valls (2012) for the share of information lost, L.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import Floats, Ints
from shoal.results.utility import LabelColumnLoss, LabelLoss, Loss

CLASSES = 5  # into which numbers are cut for tables, by the original's quantiles
Column = tuple[NDArray[np.object_], NDArray[np.object_]]  # before and after


def label_loss(
    labels: Mapping[str, Column], moved: Mapping[str, Floats], spread: Mapping[str, Floats], numbers: Sequence[Column]
) -> LabelLoss:
    """Compare columns of labels.

    Parameters
    ----------
    labels : columns by name, before and after
    moved : how far each record's label moved, 0 to 1, by column
    spread : how far each record's label was from the column's most central one
    numbers : columns of numbers, before and after, which are tabulated with the labels
    """
    coded = [_codes(np.concatenate(sides)) for sides in labels.values()]
    one_way = [_tables_apart(codes) for codes in coded]
    classes = [_classes(*sides) for sides in numbers]
    pairs = [*combinations(coded, 2), *((one, other) for one in coded for other in classes)]
    two_way = [_tables_apart(_codes(one * (int(other.max()) + 1) + other)) for one, other in pairs]
    moves, spreads = (np.mean(list(columns.values()), axis=0) for columns in (moved, spread))
    sse, sst = float(np.sum(moves**2)), float(np.sum(spreads**2))
    return LabelLoss(
        values=float(moves.mean()),
        one_way=float(np.mean(one_way)),
        two_way=float(np.mean(two_way)) if two_way else float(np.mean(one_way)),
        squared=Loss(sse, max(sst - sse, 0.0)),
        columns=tuple(
            LabelColumnLoss(name, float(moved[name].mean()), apart) for name, apart in zip(labels, one_way, strict=True)
        ),
    )


def _codes(values: NDArray[np.generic]) -> Ints:
    """Numbers for the values, one after the other."""
    texts = values.astype(str) if values.dtype == object else values
    codes: Ints = np.unique(texts, return_inverse=True)[1].astype(np.int64)
    return codes


def _classes(before: NDArray[np.generic], after: NDArray[np.generic]) -> Ints:
    ends = np.quantile(before.astype(np.float64), np.arange(1, CLASSES) / CLASSES)
    return np.searchsorted(ends, np.concatenate([before, after]).astype(np.float64)).astype(np.int64)


def _tables_apart(codes: Ints) -> float:
    """Half the sum of differences of two tables of shares: the first half of the codes, and the second."""
    n_rows = len(codes) // 2
    before, after = (np.bincount(side, minlength=int(codes.max()) + 1) for side in (codes[:n_rows], codes[n_rows:]))
    return float(np.abs(before - after).sum()) / (2 * n_rows)
