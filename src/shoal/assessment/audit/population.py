"""How many people are one of a kind in the population from which the table was drawn.

Sources: Zayatz (1991); slide negative binomial, Chen and McNulty (1998); Pitman's sampling formula, Hoshino (2001);
which of the three to trust, Dankar et al. (2012); Poisson log-linear, Skinner and Holmes (1998).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize, root
from scipy.special import expit, gammaln

from shoal.assessment.audit.key_columns import Floats, Ints, KeyColumns
from shoal.results.audit import ModelEstimate, PopulationUniques

ZAYATZ, SNB, PITMAN, LOG_LINEAR = "Zayatz", "SNB", "Pitman", "Poisson log-linear"
SMALL_FRACTION = 0.1  # of the population: up to here Dankar's rule trusts Pitman's model
DRAWS = 200_000  # cells drawn to add up over a table of all possible keys


def population_uniques(keys: KeyColumns, key_sizes: Ints, frequencies: Floats, size: int) -> PopulationUniques:
    """By all models; `key_sizes` are the records of each key, `frequencies` those of each row, `size` all people."""
    fraction = len(frequencies) / size
    sizes, n_keys = np.unique(key_sizes, return_counts=True)
    estimates = {
        ZAYATZ: zayatz(sizes, n_keys, size),
        SNB: slide_negative_binomial(sizes, n_keys, size),
        PITMAN: pitman(sizes, n_keys, size),
    }
    expected = log_linear(keys.codes, frequencies, fraction)
    dankar = _dankar(estimates, fraction)
    estimates[LOG_LINEAR] = expected / fraction
    # Measured on samples of Adult, the log-linear model is nearer to the truth than what the rule names.
    listed = tuple(ModelEstimate(model, uniques) for model, uniques in estimates.items())
    return PopulationUniques(size, fraction, listed, dankar, LOG_LINEAR, expected)


def _dankar(estimates: dict[str, float | None], fraction: float) -> str:
    snb, zayatz_uniques = estimates[SNB], estimates[ZAYATZ]
    if fraction <= SMALL_FRACTION:
        return PITMAN if estimates[PITMAN] is not None else ZAYATZ
    return SNB if snb is not None and zayatz_uniques is not None and snb <= zayatz_uniques else ZAYATZ


def zayatz(sizes: Ints, n_keys: Ints, size: int) -> float | None:
    """Keys have the same sizes in the population as in the table, and are sampled without replacement."""
    if sizes[0] != 1:
        return 0.0
    from scipy.stats import hypergeom  # only here, and it takes a while to load

    n = int(sizes @ n_keys)
    seen_once = n_keys * hypergeom.pmf(1, size, sizes, n)
    return float(n_keys[0] * seen_once[0] / seen_once.sum() * size / n)


def slide_negative_binomial(sizes: Ints, n_keys: Ints, size: int) -> float | None:
    """A key has 1 + a negative binomial number of people: what gives the keys and uniques that the table has."""
    if sizes[0] != 1:
        return 0.0
    n, seen, seen_once = int(sizes @ n_keys), int(n_keys.sum()), int(n_keys[0])
    fraction = n / size

    def moments(parameters: Floats) -> tuple[float, float, float]:
        alpha, beta = np.exp(parameters[0]), expit(parameters[1])
        more = alpha * (1 - beta) / beta  # people of a key beside the first
        of_population = size / (1 + more)
        left = 1 - (1 - beta) * (1 - fraction)
        unseen = (beta / left) ** alpha
        keys = of_population * (1 - (1 - fraction) * unseen)
        once = of_population * fraction * unseen * (1 + (1 - fraction) * alpha * (1 - beta) / left)
        return keys, once, of_population * beta**alpha

    def misfit(parameters: Floats) -> list[float]:
        keys, once, _ = moments(parameters)
        return [math.log(keys / seen), math.log(once / seen_once)]

    for start in ((0, 0), (-2, -2), (-4, -4), (1, -3), (-1, -6), (-5, -8)):
        try:
            with np.errstate(all="ignore"):
                solved = root(misfit, start)
        except ValueError:  # it left the range of the model
            continue
        if solved.success and np.abs(solved.fun).max() < 1e-6:
            return float(moments(solved.x)[2])
    return None


def pitman(sizes: Ints, n_keys: Ints, size: int) -> float | None:
    """Pitman's sampling formula with the most likely parameters, extended to the population."""
    n, seen = int(sizes @ n_keys), int(n_keys.sum())

    def misfit(parameters: Floats) -> float:
        alpha, theta = float(expit(parameters[0])), float(np.exp(parameters[1]))
        of_keys = (seen - 1) * math.log(alpha) + gammaln(theta / alpha + seen) - gammaln(theta / alpha + 1)
        of_sizes = n_keys @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return -float(of_keys + of_sizes - gammaln(theta + n) + gammaln(theta + 1))

    exact = {"xatol": 1e-7, "fatol": 1e-7, "maxiter": 4000}
    tried = []
    for start in ((0.0, math.log(seen)), (-2.0, math.log(seen)), (1.0, 0.0)):
        with np.errstate(all="ignore"):
            tried.append(minimize(misfit, start, method="Nelder-Mead", options=exact, bounds=((-30, 30), (-30, 30))))
    best = min(tried, key=lambda one: one.fun)
    alpha, theta = float(expit(best.x[0])), float(np.exp(best.x[1]))
    log = math.log(size) + gammaln(theta + 1) - gammaln(theta + alpha)
    uniques = float(np.exp(log + gammaln(theta + alpha + size - 1) - gammaln(theta + size)))
    # Of a table of uniques alone theta has no bound, and the difference of large logarithms few digits.
    return min(uniques, float(size)) if best.success and math.isfinite(uniques) else None


def log_linear(codes: Sequence[Ints], frequencies: Floats, fraction: float) -> float:
    """Records unique in the table that are expected to be so in the population, too.

    A key has a Poisson number of people, whose mean is that of independent columns times a gamma variable of mean 1.
    Its variance says how far keys are from independence; it is estimated from keys so rare that one person may have
    them, for these decide: a key counts by 1 / (1 + people outside the table)².
    """
    n, unseen = len(frequencies), (1 - fraction) / fraction  # people outside the table for each one in it
    shares = [np.bincount(column)[column] / n for column in codes]
    means = n * np.prod(shares, axis=0)
    uniques = means[frequencies == 1]
    # Pairs of records with equal keys, beside what they would be if columns were independent: as if all were shuffled.
    draw = np.random.default_rng(0)
    shuffled = np.concatenate(
        [n * np.prod([draw.permutation(column) for column in shares], axis=0) for _ in range(-(-DRAWS // n))]
    )
    pairs = float(np.sum((frequencies - 1) / (1 + unseen * means) ** 2))
    variance = pairs / (n * float(np.mean(shuffled / (1 + unseen * shuffled) ** 2))) - 1
    if variance <= 1e-6:
        return float(np.sum(np.exp(-unseen * uniques)))
    rate = 1 / (variance * uniques) + 1
    return float(np.sum((rate / (rate + unseen)) ** (1 / variance + 1)))
