"""Distances with parameters, each linear in them: distance = features(differences) @ parameters.

A family says what its features are, and which parameters are allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
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
BROKEN = 1e-8  # what must grow may shrink by so much, which is rounding


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

    def rows(self) -> Floats:
        """Rows that must not be negative: rows @ parameters >= 0."""
        ...

    def allows(self, parameters: Floats) -> bool:
        """Whether these are allowed, also where more is asked for than there are rows."""
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
        return np.eye(self.n) - self.lower

    def allows(self, parameters: Floats) -> bool:
        return True


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
        numbers = np.arange(2**self.n if self.n <= MOST_FOR_ALL_SETS else 1)
        rows = [self._added(bit, numbers[numbers & bit == 0]) for bit in 1 << np.arange(self.n)]
        if self.submodular and self.n <= MOST_FOR_ALL_SETS:
            rows += [-self._added(i | j, numbers[numbers & (i | j) == 0]) for i, j in self._pairs]
        return np.concatenate(rows)

    def allows(self, parameters: Floats) -> bool:
        mu, numbers = self.measure(parameters), np.arange(2**self.n)
        for bit in 1 << np.arange(self.n):
            without = numbers[numbers & bit == 0]
            if np.any(mu[without | bit] - mu[without] < -BROKEN):
                return False
        for i, j in self._pairs if self.submodular else ():
            without = numbers[numbers & (i | j) == 0]
            if np.any(mu[without | i | j] + mu[without] - mu[without | i] - mu[without | j] > BROKEN):
                return False
        return True

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations((1 << np.arange(self.n)).tolist(), 2))

    def _added(self, joining: int, sets: Ints) -> Floats:
        """What attributes that join each of some sets add beyond what fewer of them would: sums of parameters.

        Those of the sets that have all who join and else are inside.
        """
        inside = self.sets[None, :] & ~(sets[:, None] | joining) == 0
        those: Floats = (inside & (self.sets & joining == joining)).astype(np.float64)
        return those


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

    def rows(self) -> Floats:
        return np.empty((0, self.size))

    def allows(self, parameters: Floats) -> bool:
        return True

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
