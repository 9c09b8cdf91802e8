"""The chance that a record is found: by three attackers, one by one from weights, and with its household.

Sources: El Emam (2013) for prosecutor, journalist and marketer; Benedetti and Franconi (1998), Polettini (2003) for the
individual risk; Templ (2017) for households.
"""

from __future__ import annotations

import numpy as np
from scipy.special import hyp2f1

from shoal.assessment.audit.key_columns import Floats, Ints
from shoal.results.audit import Attacker, ExpectedRisk

LARGE, TERMS = 30.0, 25  # crowds from this size on are summed up; the terms left out are below 1e-15
BANDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)


def individual_risks(frequencies: Floats, population: Floats | None) -> Floats:
    """The chance that each record is found by its key.

    `population` estimates how many people have the key, of whom `frequencies` are in the table; what is not in the
    table is negative binomial. None: those in the table are all that is known.
    """
    if population is None:
        return 1.0 / frequencies
    pairs, pair_of_row = np.unique(np.column_stack((frequencies, population)), axis=0, return_inverse=True)
    f = pairs[:, 0]
    p = np.minimum(f / pairs[:, 1], 1.0)
    # p^f / f · 2F1(f, f; f + 1; 1 - p), by Euler's transformation: no power of p underflows.
    risks: Floats = (
        p / f * np.where(f < LARGE, hyp2f1(1.0, 1.0, np.minimum(f, LARGE) + 1.0, 1.0 - p), _series(f, 1.0 - p))
    )
    return risks[pair_of_row.ravel()]


def _series(f: Floats, z: Floats) -> Floats:
    """2F1(1, 1; f + 1; z) for large f, where scipy's overflows and few terms are exact."""
    total, term = np.ones(len(f)), np.ones(len(f))
    for number in range(1, TERMS):
        term = term * number * z / (f + number)
        total = total + term
    return total


def household_risks(risks: Floats, household: Ints) -> Floats:
    """The chance that a member of the household is found, the same for each of them."""
    with np.errstate(divide="ignore"):
        nobody = np.exp(np.bincount(household, np.log1p(-risks)))
    return np.subtract(1.0, nobody, dtype=np.float64)[household]


def riskiest(risks: Floats, person: Ints) -> Floats:
    """The largest risk among each person's records."""
    largest = np.zeros(int(person.max()) + 1)
    np.maximum.at(largest, person, risks)
    return largest[np.unique(person)]


def summed_up(risks: Floats, threshold: float) -> ExpectedRisk:
    """Expected re-identifications, and how many records have which risk."""
    counts, _ = np.histogram(risks, BANDS)
    bands = tuple(zip(BANDS[:-1], BANDS[1:], counts.tolist(), strict=True))
    above = int(np.count_nonzero(risks > threshold))
    return ExpectedRisk(float(risks.sum()), float(risks.mean()), float(risks.max()), above, bands)


def attackers(frequencies: Floats, population: Floats | None, threshold: float) -> tuple[Attacker, ...]:
    """The prosecutor knows that the target is in the table, the journalist does not, the marketer tries all."""
    found = [_attacker("prosecutor", 1.0 / frequencies, threshold)]
    if population is not None:
        found.append(_attacker("journalist", 1.0 / np.maximum(frequencies, population), threshold))
    return (*found, Attacker("marketer", found[0].average))  # the chances add up to the number of keys


def _attacker(name: str, chances: Floats, threshold: float) -> Attacker:
    above = int(np.count_nonzero(chances > threshold))
    return Attacker(name, float(chances.mean()), float(chances.max()), above)
