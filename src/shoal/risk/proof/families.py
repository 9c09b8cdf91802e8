"""Distances with parameters, each linear in them: distance = features(differences) @ parameters.

A family says what its features are, which parameters are allowed, and how much nearer than the true record a rival can
be at most, whatever the parameters: the least constant that switches a record's constraint off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.risk.learned.distances import Form, LearnedDistance, Measure, Ordered, Weights
from shoal.risk.learned.measures import moebius, set_sizes, small_sets, zeta

__all__ = ["Bilinear", "Choquet", "Family", "OWA", "Simplex", "WeightedMean", "nearest_semidefinite"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_FOR_ALL_SETS = 7  # attributes: 2^n - 1 parameters
MOST_ADDITIVE = 16  # attributes for which all 2^n sets are looked through for one that breaks monotonicity
LEAST = 1e-4  # of a weight that must not be zero
WORST = 20  # broken rows to mend at a time
BROKEN = 1e-8  # ten times what the solver lets pass: a row that is written already must not be asked for again


class Family(Protocol):
    """A parametrised distance of n attributes."""

    name: str
    n: int
    size: int  # how many parameters
    lower: float  # of every parameter
    upper: float
    sums_to_one: bool
    non_negative: bool  # whether distances of the data must be shown not to be negative

    def features(self, differences: Floats) -> Floats:
        """(..., n) differences to (..., size)."""
        ...

    def plain(self) -> Floats:
        """The parameters that make it the arithmetic mean."""
        ...

    def weighted(self, weights: Floats) -> Floats | None:
        """The parameters that make it this weighted mean; None when it cannot be one."""
        ...

    def most(self, own: Floats, rival: Floats) -> Floats:
        """How much nearer the rival can be at most, from the differences of both, (..., n)."""
        ...

    def rows(self) -> Floats:
        """Rows that must not be negative: rows @ parameters >= 0."""
        ...

    def broken(self, parameters: Floats) -> Floats:
        """Further such rows that these parameters break; none when they are allowed."""
        ...

    def distance(self, parameters: Floats) -> LearnedDistance:
        """What records are compared by."""
        ...

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        """What each parameter is of, given the attributes' names."""
        ...


class _Simplex:
    """Non-negative weights that sum to 1."""

    upper, sums_to_one, non_negative = 1.0, True, False

    def __init__(self, n: int, *, positive: bool = False) -> None:
        self.n = self.size = n
        self.lower = LEAST if positive else 0.0

    def corners(self) -> Floats:
        """The weights of which all others are means."""
        return self.lower + (1.0 - self.n * self.lower) * np.eye(self.n)

    def plain(self) -> Floats:
        return np.full(self.n, 1.0 / self.n)

    def rows(self) -> Floats:
        return np.empty((0, self.n))

    def broken(self, parameters: Floats) -> Floats:
        return np.empty((0, self.n))


class WeightedMean(_Simplex):
    """A weight for each attribute."""

    name = "weighted mean"

    def features(self, differences: Floats) -> Floats:
        return differences * differences

    def distance(self, parameters: Floats) -> Weights:
        return Weights(parameters)

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def weighted(self, weights: Floats) -> Floats:
        """The weights themselves, or the nearest on the way to even ones that are large enough."""
        return self.lower + (1.0 - self.n * self.lower) * weights

    def most(self, own: Floats, rival: Floats) -> Floats:
        largest: Floats = np.max(own * own - rival * rival, axis=-1)
        return largest


class OWA(_Simplex):
    """A weight for the largest difference, for the second largest, and so on."""

    name = "OWA"

    def features(self, differences: Floats) -> Floats:
        return np.flip(np.sort(differences * differences, axis=-1), axis=-1)

    def distance(self, parameters: Floats) -> Ordered:
        return Ordered(parameters)

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        return [f"difference {place + 1}" for place in range(self.n)]

    def weighted(self, weights: Floats) -> None:
        return None

    def most(self, own: Floats, rival: Floats) -> Floats:
        largest: Floats = np.max(self.features(own) - self.features(rival), axis=-1)
        return largest


Simplex = WeightedMean | OWA


class Choquet:
    """A weight for every set of attributes, by the Moebius transform of a fuzzy measure.

    With `additive` k only sets of up to k attributes have a parameter of their own. A submodular measure makes the
    distance a metric.
    """

    sums_to_one, non_negative = True, False

    def __init__(self, n: int, *, additive: int | None = None, submodular: bool = False) -> None:
        largest = n if additive is None else additive
        if additive is None and n > MOST_FOR_ALL_SETS:
            raise InputError(
                f"the Choquet integral of {n} attributes has {2**n - 1} parameters; give up to {MOST_FOR_ALL_SETS} "
                "attributes, or use choquet-2-additive or choquet-3-additive"
            )
        if additive is not None and (additive not in (1, 2, 3) or n > MOST_ADDITIVE):
            raise InputError(
                f"a {additive}-additive measure of {n} attributes is not supported; "
                f"additive is 1, 2 or 3, and attributes are up to {MOST_ADDITIVE}"
            )
        self.n, self.additive, self.submodular = n, additive, submodular
        self.sets = small_sets(n, largest)
        self.size = len(self.sets)
        self.lower, self.upper = -(2.0 ** (min(n, largest) - 1)), 2.0 ** (min(n, largest) - 1)
        kind = "" if additive is None or additive >= n else f"{additive}-additive "
        self.name = f"{kind}Choquet" + (", submodular" if submodular else "")

    def features(self, differences: Floats) -> Floats:
        squares = differences * differences
        found = np.empty((*squares.shape[:-1], self.size))
        place_of = {int(one): place for place, one in enumerate(self.sets)}
        for place, one in enumerate(self.sets.tolist()):
            top = one.bit_length() - 1
            rest = one ^ (1 << top)
            if rest == 0:
                found[..., place] = squares[..., top]
            else:  # the least of a set is the less of its last attribute and the rest, which came before
                np.minimum(found[..., place_of[rest]], squares[..., top], out=found[..., place])
        return found

    def plain(self) -> Floats:
        return self.weighted(np.full(self.n, 1.0 / self.n))

    def weighted(self, weights: Floats) -> Floats:
        parameters = np.zeros(self.size)
        parameters[: self.n] = weights
        return parameters

    def ordered(self, weights: Floats) -> Floats | None:
        """The parameters that make it this OWA; None when so few sets cannot express it."""
        if self.size < 2**self.n - 1 or (self.submodular and np.any(np.diff(weights) > 0)):
            return None
        mu = np.concatenate([[0.0], np.cumsum(weights)])[set_sizes(self.n)]
        return moebius(mu)[self.sets]

    def most(self, own: Floats, rival: Floats) -> Floats:
        # Monotone, and adding to all attributes adds as much to the integral: no measure does more than one attribute.
        largest: Floats = np.max(own * own - rival * rival, axis=-1)
        return largest

    def measure(self, parameters: Floats) -> Floats:
        """The fuzzy measure, (2^n,)."""
        m = np.zeros(2**self.n)
        m[self.sets] = parameters
        return zeta(m)

    def distance(self, parameters: Floats) -> Measure:
        return Measure(self.measure(parameters))

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        return [" & ".join(names[i] for i in range(self.n) if one >> i & 1) for one in self.sets.tolist()]

    def rows(self) -> Floats:
        """All that monotonicity and submodularity ask for, where that is not too much."""
        if self.n > MOST_FOR_ALL_SETS:
            return np.concatenate([self._growth(1 << one, np.array([0])) for one in range(self.n)])
        return np.concatenate([self._all_growth, self._all_submodular])

    def broken(self, parameters: Floats) -> Floats:
        if self.n <= MOST_FOR_ALL_SETS:
            return np.empty((0, self.size))
        mu, numbers = self.measure(parameters), np.arange(2**self.n)
        found = [np.empty((0, self.size))]
        for bit in (1 << one for one in range(self.n)):
            without = numbers[numbers & bit == 0]
            growth = mu[without | bit] - mu[without]
            worst = np.argsort(growth, kind="stable")[:WORST]
            found.append(self._growth(bit, without[worst[growth[worst] < -BROKEN]]))
        if self.submodular:
            for i, j in self._pairs:
                without = numbers[numbers & (i | j) == 0]
                excess = mu[without | i | j] + mu[without] - mu[without | i] - mu[without | j]
                worst = np.argsort(-excess, kind="stable")[:2]
                found.append(self._concavity(i, j, without[worst[excess[worst] > BROKEN]]))
        return np.concatenate(found)

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(1 << one, 1 << other) for one in range(self.n) for other in range(one + 1, self.n)]

    @cached_property
    def _all_growth(self) -> Floats:
        numbers = np.arange(2**self.n)
        bits = [1 << one for one in range(self.n)]
        return np.concatenate([self._growth(bit, numbers[numbers & bit == 0]) for bit in bits])

    @cached_property
    def _all_submodular(self) -> Floats:
        if not self.submodular or self.n < 2:
            return np.empty((0, self.size))
        numbers = np.arange(2**self.n)
        return np.concatenate([self._concavity(i, j, numbers[numbers & (i | j) == 0]) for i, j in self._pairs])

    def _growth(self, bit: int, without: Ints) -> Floats:
        """What joining the attribute adds to each set: the sum over the sets that have it and else are inside."""
        inside = self.sets[None, :] & ~(without[:, None] | bit) == 0
        those: Floats = (inside & (self.sets & bit > 0)).astype(np.float64)
        return those

    def _concavity(self, i: int, j: int, without: Ints) -> Floats:
        """Both must not add more together than each alone: minus the sum over the sets that have both."""
        inside = self.sets[None, :] & ~(without[:, None] | i | j) == 0
        both: Floats = (inside & (self.sets & i > 0) & (self.sets & j > 0)).astype(np.float64)
        return -both


class Bilinear:
    """A symmetric matrix: a weight for each attribute and for each pair of them.

    Its entries lie between -1 and 1, which bounds the scale and nothing else. Distances may come out negative unless
    `non_negative` asks that those of the data do not.
    """

    lower, upper, sums_to_one = -1.0, 1.0, False

    def __init__(self, n: int, *, non_negative: bool = False) -> None:
        self.n, self.non_negative = n, non_negative
        self.size = n * (n + 1) // 2
        self.name = "bilinear, not negative" if non_negative else "bilinear"

    def features(self, differences: Floats) -> Floats:
        one, other = np.triu_indices(self.n)
        twice = np.where(one == other, 1.0, 2.0)
        return differences[..., one] * differences[..., other] * twice

    def plain(self) -> Floats:
        return self.parameters(np.eye(self.n))

    def weighted(self, weights: Floats) -> Floats:
        return self.parameters(np.diag(weights))

    def most(self, own: Floats, rival: Floats) -> Floats:
        largest: Floats = np.sum(np.abs(self.features(own) - self.features(rival)), axis=-1)
        return largest

    def rows(self) -> Floats:
        return np.empty((0, self.size))

    def broken(self, parameters: Floats) -> Floats:
        return np.empty((0, self.size))

    def distance(self, parameters: Floats) -> Form:
        return Form(self.matrix(parameters))

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        one, other = (places.tolist() for places in np.triu_indices(self.n))
        return [names[i] if i == j else f"{names[i]} & {names[j]}" for i, j in zip(one, other, strict=True)]

    def matrix(self, parameters: Floats) -> Floats:
        """The symmetric matrix of the parameters."""
        found = np.zeros((self.n, self.n))
        found[np.triu_indices(self.n)] = parameters
        return found + np.triu(found, 1).T

    def parameters(self, matrix: Floats) -> Floats:
        """The parameters of a symmetric matrix, its largest entry 1."""
        found: Floats = matrix[np.triu_indices(self.n)]
        largest = np.abs(found).max()
        return found / largest if largest > 0 else found


def nearest_semidefinite(matrix: Floats) -> Floats:
    """The nearest matrix without negative eigenvalues, in the Frobenius norm (Higham, 1988)."""
    roots, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Floats = (vectors * np.maximum(roots, 0.0)) @ vectors.T
    return found
