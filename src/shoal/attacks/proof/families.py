"""Distances with parameters, each linear in them: distance = features(differences) @ parameters.

A family of distances of n attributes has `size` parameters between `lower` and `upper`. It says

    features         of differences (..., n), (..., size)
    plain, weighted  the parameters that make it the arithmetic mean, and a weighted one
    rows             which parameters are allowed: rows @ parameters >= 0
    sums_to_one      whether parameters sum to 1
    non_negative     whether distances of the data must be shown not to be negative
    distance         what records are compared by
    parameter_names  what each parameter is of, given the attributes' names
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from shoal.attacks.learned.distances import BilinearForm, Measure, Ordered, Weights, moebius, zeta
from shoal.errors import InputError
from shoal.kernels import Floats, Ints

MOST_FOR_ALL_SETS = 7  # attributes: 2^n - 1 parameters
LEAST = 1e-4  # of a weight that must not be zero


class _Simplex:
    """Non-negative weights that sum to 1."""

    upper, sums_to_one, non_negative = 1.0, True, False

    def __init__(self, n: int, *, positive: bool = False) -> None:
        self.n = self.size = n
        self.lower = LEAST if positive else 0.0

    def plain(self) -> Floats:
        return np.full(self.n, 1.0 / self.n)

    def rows(self) -> Floats:
        return np.eye(self.n) - self.lower


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
        return [f"difference {rank + 1}" for rank in range(self.n)]


class Choquet:
    """A weight for every set of attributes, by the Moebius transform of a fuzzy measure.

    A submodular measure makes the distance a metric.
    """

    sums_to_one, non_negative = True, False

    def __init__(self, n: int, *, submodular: bool = False) -> None:
        if n > MOST_FOR_ALL_SETS:
            raise InputError(
                f"the Choquet integral of {n} attributes has {2**n - 1} parameters; give up to {MOST_FOR_ALL_SETS} "
                "attributes, or use weighted-mean or owa"
            )
        self.n, self.submodular = n, submodular
        numbers = range(1, 2**n)
        self.sets: Ints = np.array(sorted(numbers, key=lambda number: (number.bit_count(), number)), dtype=np.int64)
        self.size = len(self.sets)
        self.lower, self.upper = -(2.0 ** (n - 1)), 2.0 ** (n - 1)
        self.name = "Choquet, submodular" if submodular else "Choquet"

    def features(self, differences: Floats) -> Floats:
        squares = differences * differences
        features = np.empty((*squares.shape[:-1], self.size))
        column_of = {int(attributes): column for column, attributes in enumerate(self.sets)}
        for column, attributes in enumerate(self.sets.tolist()):
            top = attributes.bit_length() - 1
            rest = attributes ^ (1 << top)
            if rest == 0:
                features[..., column] = squares[..., top]
            else:  # the least of a set is the less of its last attribute and the rest, which came before
                np.minimum(features[..., column_of[rest]], squares[..., top], out=features[..., column])
        return features

    def plain(self) -> Floats:
        return self.weighted(np.full(self.n, 1.0 / self.n))

    def weighted(self, weights: Floats) -> Floats:
        parameters = np.zeros(self.size)
        parameters[: self.n] = weights
        return parameters

    def ordered(self, weights: Floats) -> Floats | None:
        """The parameters that make it this OWA; None when it is not submodular and should be."""
        if self.submodular and np.any(np.diff(weights) > 0):
            return None
        return moebius(Ordered(weights).mu)[self.sets]

    def measure(self, parameters: Floats) -> Floats:
        """The fuzzy measure, (2^n,)."""
        m = np.zeros(2**self.n)
        m[self.sets] = parameters
        return zeta(m)

    def distance(self, parameters: Floats) -> Measure:
        return Measure(self.measure(parameters))

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        return [" & ".join(names[i] for i in range(self.n) if attributes >> i & 1) for attributes in self.sets.tolist()]

    def rows(self) -> Floats:
        """What monotonicity and submodularity ask for."""
        numbers = np.arange(2**self.n)
        bits = (1 << np.arange(self.n)).tolist()
        rows = [self._added(bit, numbers[numbers & bit == 0]) for bit in bits]
        if self.submodular:
            rows += [-self._added(i | j, numbers[numbers & (i | j) == 0]) for i, j in combinations(bits, 2)]
        return np.concatenate(rows)

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
        rows, columns = np.triu_indices(self.n)
        twice = np.where(rows == columns, 1.0, 2.0)
        return differences[..., rows] * differences[..., columns] * twice

    def plain(self) -> Floats:
        return self.parameters(np.eye(self.n))

    def weighted(self, weights: Floats) -> Floats:
        return self.parameters(np.diag(weights))

    def rows(self) -> Floats:
        return np.empty((0, self.size))

    def distance(self, parameters: Floats) -> BilinearForm:
        return BilinearForm(self.matrix(parameters))

    def parameter_names(self, names: Sequence[str]) -> list[str]:
        rows, columns = (index.tolist() for index in np.triu_indices(self.n))
        return [names[i] if i == j else f"{names[i]} & {names[j]}" for i, j in zip(rows, columns, strict=True)]

    def matrix(self, parameters: Floats) -> Floats:
        """The symmetric matrix of the parameters."""
        upper = np.zeros((self.n, self.n))
        upper[np.triu_indices(self.n)] = parameters
        return upper + np.triu(upper, 1).T

    def parameters(self, matrix: Floats) -> Floats:
        """The parameters of a symmetric matrix, its largest entry 1."""
        entries: Floats = matrix[np.triu_indices(self.n)]
        largest = np.abs(entries).max()
        return entries / largest if largest > 0 else entries


Family = WeightedMean | OWA | Choquet | Bilinear


def nearest_semidefinite(matrix: Floats) -> Floats:
    """The nearest matrix without negative eigenvalues, in the Frobenius norm (Higham, 1988)."""
    roots, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    nearest: Floats = (vectors * np.maximum(roots, 0.0)) @ vectors.T
    return nearest


DISTANCES: Mapping[str, Callable[[int], Family]] = {
    "weighted-mean": WeightedMean,
    "weighted-mean-positive": lambda n: WeightedMean(n, positive=True),
    "owa": OWA,
    "bilinear": Bilinear,
    "bilinear-non-negative": lambda n: Bilinear(n, non_negative=True),
    "bilinear-semidefinite": Bilinear,
    "choquet": Choquet,
    "choquet-submodular": lambda n: Choquet(n, submodular=True),
}


def check_distance(distance: str, n_attributes: int = 1, with_labels: bool = False) -> None:
    """Refuse a family that is not known, or not made for these attributes."""
    if distance not in DISTANCES:
        raise InputError(f"distance={distance!r} is not known; use one of: {', '.join(DISTANCES)}")
    family = DISTANCES[distance](n_attributes)
    if with_labels and isinstance(family, Bilinear):
        raise InputError(
            f"distance={distance!r} takes numbers only, and labels are compared, too; choose columns of numbers, or "
            "use weighted-mean, owa or choquet"
        )
