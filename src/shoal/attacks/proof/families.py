"""Distances with parameters, each linear in them: distance = features(differences) @ parameters.

A family of distances of n attributes has `size` parameters between `lower` and `upper`. It says

    features         of differences (..., n), (..., size)
    plain, weighted  the parameters that make it the arithmetic mean, and a weighted one
    rows, allows     which parameters are allowed: rows @ parameters >= 0, and what more is asked for
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
MOST_ADDITIVE = 16  # attributes for which all 2^n sets are looked through for one that breaks monotonicity
LEAST = 1e-4  # of a weight that must not be zero
BROKEN = 1e-8  # what must grow may shrink by so much, which is rounding


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
        return [f"difference {rank + 1}" for rank in range(self.n)]


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
        of_size = (_sets_of(n, size) for size in range(1, min(largest, n) + 1))
        self.sets: Ints = np.array([number for numbers in of_size for number in numbers], dtype=np.int64)
        self.size = len(self.sets)
        self.lower, self.upper = -(2.0 ** (min(n, largest) - 1)), 2.0 ** (min(n, largest) - 1)
        kind = "" if additive is None or additive >= n else f"{additive}-additive "
        self.name = f"{kind}Choquet" + (", submodular" if submodular else "")

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
        """The parameters that make it this OWA; None when so few sets cannot express it."""
        if self.size < 2**self.n - 1 or (self.submodular and np.any(np.diff(weights) > 0)):
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


def _sets_of(n: int, size: int) -> list[int]:
    """The sets of this size, by number."""
    return sorted(sum(1 << attribute for attribute in chosen) for chosen in combinations(range(n), size))


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

    def allows(self, parameters: Floats) -> bool:
        return True

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
    "choquet-2-additive": lambda n: Choquet(n, additive=2),
    "choquet-3-additive": lambda n: Choquet(n, additive=3),
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
