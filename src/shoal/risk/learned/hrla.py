"""HRLA: a fuzzy measure learned by gradient descent, for the Choquet integral where a proof takes too long.

The measure begins as |A| / n, the plain mean. Records are gone through block by block; where a rival comes near, the
sets that make up the true link's distance are lowered and those of the rival's raised, and the measure is made monotone
again. The best measure of all passes and starts is kept.

Source: Murillo, Abril and Torra, "Heuristic supervised approach for record linkage" (2012); their idea, with the steps
of shoal.risk.learned.smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.distances import Measure
from shoal.risk.learned.linking import nearest_rivals
from shoal.risk.learned.measures import chains, made_monotone
from shoal.risk.learned.records import Records
from shoal.risk.learned.smooth import RIVALS, STAGES, pull

__all__ = ["MOST_ATTRIBUTES", "learn_measure"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ATTRIBUTES = 10
PASSES = 6  # through all records, a stage
BLOCKS = 4
PACE = 0.04  # at the first stage; less as stages get sharper


def learn_measure(records: Records, rows: Ints, start: Floats, random_state: int = 0) -> list[Measure]:
    """Measures, from the start on, one a stage; `rows` are the records whose links are known."""
    random = np.random.default_rng(random_state)
    found, mu = [Measure(start)], start
    for smoothness in STAGES:
        rivals, counts = nearest_rivals(records, Measure(mu), rows, RIVALS)
        pairs = records.pairs(rows, np.concatenate([rows[:, None], rivals], axis=1))
        steps, sets = chains(pairs * pairs)
        for _ in range(PASSES):
            for block in np.array_split(random.permutation(len(rows)), min(BLOCKS, len(rows))):
                mu = _stepped(mu, steps[block], sets[block], counts[block], smoothness)
        found.append(Measure(mu))
    return found


def _stepped(mu: Floats, steps: Floats, sets: Ints, counts: Ints, smoothness: float) -> Floats:
    distances = np.sum(steps * mu[sets], axis=-1)
    weights = pull(distances, counts, smoothness)[..., None] * steps
    slope = np.bincount(sets.ravel(), weights=weights.ravel(), minlength=len(mu))
    slope[[0, -1]] = 0.0  # of no set and of all attributes: fixed
    length = np.sqrt(np.sum(slope * slope))
    return made_monotone(mu - PACE * np.sqrt(smoothness / STAGES[0]) * slope / length) if length > 0 else mu
