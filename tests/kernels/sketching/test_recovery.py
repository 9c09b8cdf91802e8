"""Kernels of attacks on sketches against what their definitions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking.nearest import nearest_sketches
from shoal.kernels.sketching.recovery import believed_numbers

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 8), st.booleans())
def test_the_chance_is_one_in_so_many_nearest_sketches(seed: int, n_sketches: int, lengths_known: bool) -> None:
    random = np.random.default_rng(seed)
    sketches = [random.integers(-1, 2, random.integers(1, 4)).astype(np.float64) for _ in range(n_sketches)]
    targets = random.integers(-1, 2, (n_sketches, 3)).astype(np.float64)
    lengths = np.array([len(sketch) for sketch in sketches]) if lengths_known else np.full(n_sketches, -1)
    offsets = np.concatenate(([0], np.cumsum([len(sketch) for sketch in sketches])))
    chances = nearest_sketches(targets, np.arange(n_sketches), lengths, offsets, np.concatenate(sketches))
    for row in range(n_sketches):
        possible = [n for n in range(n_sketches) if lengths[row] in (-1, len(sketches[n]))]
        apart = {n: round(float(np.mean((targets[row, : len(sketches[n])] - sketches[n]) ** 2)), 9) for n in possible}
        nearest = [n for n in possible if apart[n] == min(apart.values())]
        assert chances[row] == (1 / len(nearest) if row in nearest else 0)


def test_a_belief_is_the_expectation_of_0_or_1_given_a_noisy_estimate() -> None:
    # Odds of 1 : 3, an estimate of 0.75 with variance 1/4: likelihoods are exp(-(0.25²) / 0.5) and exp(-(0.75²) / 0.5).
    of = {name: np.array(value, np.float32) for name, value in (("estimate", [[0.75]]), ("weight", [[4.0]]))}
    beliefs, spread = believed_numbers(
        of["estimate"], of["weight"], np.array([1.0]), np.log(np.array([1 / 3])), np.array([1.0]), np.array([0.0])
    )
    there, not_there = 0.25 * np.exp(-(0.25**2) / 0.5), 0.75 * np.exp(-(0.75**2) / 0.5)
    expected = there / (there + not_there)
    assert np.isclose(beliefs[0, 0], expected)
    assert np.isclose(spread[0], 4.0 * expected * (1 - expected))
