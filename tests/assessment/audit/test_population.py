"""Models of the population, on populations of which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.assessment.audit.key_columns import KeyColumns
from shoal.assessment.audit.population import (
    PITMAN,
    SNB,
    ZAYATZ,
    log_linear,
    pitman,
    population_uniques,
    slide_negative_binomial,
    zayatz,
)


def sampled(columns, fraction, seed=0):
    """A sample, and how many of all people are one of a kind, in the population and among unique records."""
    draw = np.random.default_rng(seed)
    n = len(columns[0])
    rows = np.sort(draw.choice(n, int(fraction * n), replace=False))
    names = tuple(str(number) for number in range(len(columns)))
    everybody = KeyColumns(names, tuple(columns)).frequencies()
    keys = KeyColumns(names, tuple(column[rows] for column in columns))
    both = int(np.count_nonzero((everybody[rows] == 1) & (keys.frequencies() == 1)))
    return keys, int(np.count_nonzero(everybody == 1)), both


def skewed(n, n_values, draw):
    return (draw.pareto(1.2, n) * 3).astype(np.int64).clip(0, n_values - 1) + 1


@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_the_log_linear_model_finds_the_uniques_of_independent_columns(fraction) -> None:
    draw = np.random.default_rng(3)
    columns = [skewed(30_000, 60, draw), skewed(30_000, 40, draw), skewed(30_000, 12, draw)]
    keys, truth, both = sampled(columns, fraction)
    expected = log_linear(keys.codes, keys.frequencies(), fraction)
    assert expected == pytest.approx(both, rel=0.15)
    assert expected / fraction == pytest.approx(truth, rel=0.15)


def test_the_log_linear_model_notices_columns_that_depend_on_each_other() -> None:
    """The third column repeats the first for 19 of 20 people: if all were independent, more would be unique."""
    draw = np.random.default_rng(4)
    first, second = skewed(30_000, 60, draw), skewed(30_000, 60, draw)
    third = np.where(draw.random(30_000) < 0.05, skewed(30_000, 60, draw), first)
    keys, truth, _ = sampled([first, second, third], 0.1)
    means = np.prod([np.bincount(column)[column] / 3_000 for column in keys.codes], axis=0) * 3_000
    if_independent = np.exp(-9 * means[keys.frequencies() == 1]).sum() / 0.1
    estimate = log_linear(keys.codes, keys.frequencies(), 0.1) / 0.1
    assert if_independent > 1.6 * truth
    assert estimate < 1.4 * truth


def test_the_slide_negative_binomial_finds_the_parameters_behind_exact_moments() -> None:
    """α = 0.5 and β = 0.1: a key has 1 + 0.5 · 0.9 / 0.1 = 5.5 people; 1/5 of them are sampled."""
    n_keys, unseen = 10_000_000, (0.1 / 0.28) ** 0.5
    seen = n_keys * (1 - 0.8 * unseen)
    once = n_keys * 0.2 * unseen * (1 + 0.8 * 0.5 * 0.9 / 0.28)
    sampled_people = n_keys * 5.5 / 5
    sizes = np.array([1, (sampled_people - once) / (seen - once)])
    found = slide_negative_binomial(sizes, np.array([once, seen - once]), n_keys * 11 // 2)
    assert found == pytest.approx(n_keys * 0.1**0.5, rel=1e-3)


def test_pitman_finds_the_uniques_of_a_population_that_grows_as_its_formula_says() -> None:
    """A newcomer starts a key with a chance of (θ + α keys) / (θ + people); else they join one by its size less α."""
    draw = np.random.default_rng(6)
    theta, alpha, sizes, key_of = 20.0, 0.6, [1], [0]
    for people in range(1, 12_000):
        key = len(sizes)
        if draw.random() >= (theta + alpha * len(sizes)) / (theta + people):
            key = key_of[int(draw.integers(people))]
            while draw.random() < alpha / sizes[key]:
                key = key_of[int(draw.integers(people))]
            sizes[key] += 1
        else:
            sizes.append(1)
        key_of.append(key)
    everybody = [np.array(key_of, dtype=np.int64) + 1]
    estimates = []
    for seed in range(10):
        keys, truth, _ = sampled(everybody, 0.1, seed)
        estimates.append(pitman(*np.unique(keys.keys().count, return_counts=True), len(key_of)))
    assert np.mean(estimates) == pytest.approx(truth, rel=0.15)


def test_zayatz_by_hand() -> None:
    """Of 10 people 5 are sampled: 3 keys of one record, 1 of two. A unique is seen with a chance of 1/2, one of two
    with 2 · 5 · 5 / (10 · 9) = 5/9. So 3/2 of 3/2 + 5/9 are right, of 3 records, for every 1/2 of the people."""
    found = zayatz(np.array([1, 2]), np.array([3, 1]), 10)
    assert found == pytest.approx(1.5 / (1.5 + 5 / 9) * 3 * 2)
    assert zayatz(np.array([2, 3]), np.array([3, 1]), 18) == 0.0
    assert slide_negative_binomial(np.array([2]), np.array([3]), 18) == 0.0


def test_dankars_rule_names_pitman_for_small_fractions() -> None:
    draw = np.random.default_rng(7)
    columns = [skewed(4_000, 60, draw), skewed(4_000, 40, draw)]
    keys, _, _ = sampled(columns, 0.5)
    for size, allowed in ((40_000, {PITMAN}), (4_000, {ZAYATZ, SNB})):
        found = population_uniques(keys, keys.keys().count, keys.frequencies(), size)
        assert found.dankar in allowed
        assert found.uniques(found.chosen) == pytest.approx(found.of_sample_uniques / found.fraction)


def test_no_model_finds_more_uniques_than_people() -> None:
    sizes, n_keys = np.array([1]), np.array([1500])
    for model in (zayatz, slide_negative_binomial, pitman):
        assert model(sizes, n_keys, 1_848_626) <= 1_848_626
