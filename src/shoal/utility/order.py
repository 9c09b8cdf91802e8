"""Order: of two pairs of records, is the one that was nearer still the nearer one?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["order_kept"]


def order_kept(before: NDArray[np.float64], after: NDArray[np.float64]) -> float | None:
    """Each pair is compared with one far from it in the list: how often the nearer is the nearer in both; ties half.

    None when all pairs were equally far apart. 0.5 is what chance gives.

    >>> order_kept(np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.2, 0.8]))  # of three comparisons, one ties
    0.833
    """
    step = len(before) // 3 + 1
    nearer = [np.sign(np.round(distances - np.roll(distances, step), 9)) for distances in (before, after)]
    decided = nearer[0] != 0
    if not decided.any():
        return None
    return round(float(np.mean((1.0 + nearer[0] * nearer[1])[decided]) / 2), 3)
