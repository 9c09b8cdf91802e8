"""Families of distances: what they compute, and which parameters they allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.learned.distances import moebius
from shoal.attacks.proof.families import OWA, Bilinear, Choquet, WeightedMean, nearest_semidefinite
from tests.reference import measures as slow

FAMILIES = {
    "weighted mean": WeightedMean,
    "OWA": OWA,
    "Choquet": Choquet,
    "submodular": lambda n: Choquet(n, submodular=True),
    "bilinear": Bilinear,
    "bilinear, not negative": lambda n: Bilinear(n, non_negative=True),
}
DIFFERENCE = st.integers(-3, 3).map(float) | st.floats(-5, 5, allow_subnormal=False)


@st.composite
def eighths(draw, n):
    """A number for each set, in eighths: sums of a few are exact. Sometimes monotone, sometimes submodular."""
    kind = draw(st.sampled_from(["any", "monotone", "capped"]))
    if kind == "capped":  # a sum, capped at 1: concave, so submodular
        weights = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
        weights[0] += max(0, 8 - sum(weights))
        total = [sum(weights[i] for i in range(n) if one >> i & 1) for one in range(2**n)]
        return np.minimum(np.array(total) / 8, 1.0)
    drawn = draw(st.lists(st.integers(0, 8), min_size=2**n, max_size=2**n))
    if kind == "monotone":
        drawn = [max(drawn[small] for small in range(2**n) if small & one == small) for one in range(2**n)]
    mu = np.array(drawn) / 8
    mu[0], mu[-1] = 0.0, 1.0
    return mu


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
def test_plain_is_the_mean_of_squared_differences_whatever_the_family(make) -> None:
    differences = np.array([[3.0, -1.0, 2.0], [0.0, 0.5, -4.0]])
    family = make(3)
    # (9 + 1 + 4) / 3 and (0 + 0.25 + 16) / 3; of a matrix only the direction counts, and its largest entry is 1.
    scale = 3.0 if isinstance(family, Bilinear) else 1.0
    found = family.features(differences) @ family.plain()
    assert found == pytest.approx(np.array([14.0, 16.25]) / 3 * scale)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "OWA"])
def test_every_family_but_owa_holds_the_weighted_means(name) -> None:
    family = FAMILIES[name](3)
    parameters = family.weighted(np.array([0.2, 0.5, 0.3]))
    # 0.2 * 9 + 0.5 * 1 + 0.3 * 4 = 3.5; the matrix has 1 where the largest weight was.
    scale = 2.0 if isinstance(family, Bilinear) else 1.0
    assert family.features(np.array([3.0, -1.0, 2.0])) @ parameters == pytest.approx(3.5 * scale)


def test_features_by_hand() -> None:
    differences = np.array([3.0, -1.0, 2.0])
    assert WeightedMean(3).features(differences).tolist() == [9.0, 1.0, 4.0]
    assert OWA(3).features(differences).tolist() == [9.0, 4.0, 1.0]
    # a, b, c, then the lesser of ab, ac, bc, then the least of all.
    assert Choquet(3).features(differences).tolist() == [9.0, 1.0, 4.0, 1.0, 4.0, 1.0, 1.0]
    # The matrix row by row above its diagonal: 9, 2 * 3 * -1, 2 * 3 * 2, 1, 2 * -1 * 2, 4.
    assert Bilinear(3).features(differences).tolist() == [9.0, -6.0, 12.0, 1.0, -4.0, 4.0]


def test_a_bilinear_distance_is_the_form_of_its_matrix() -> None:
    family, differences = Bilinear(2), np.array([1.0, -2.0])
    parameters = np.array([0.5, -0.25, 1.0])
    assert family.matrix(parameters).tolist() == [[0.5, -0.25], [-0.25, 1.0]]
    # 0.5 * 1 + 2 * -0.25 * -2 + 1 * 4
    assert family.features(differences) @ parameters == pytest.approx(5.5)
    assert family.parameters(family.matrix(parameters)).tolist() == parameters.tolist()
    assert family.parameters(4 * family.matrix(parameters)).tolist() == parameters.tolist()


@given(st.data())
def test_a_choquet_distance_is_the_integral_of_squares_with_its_measure(data) -> None:
    n = data.draw(st.integers(1, 4))
    family = Choquet(n)
    mu = data.draw(eighths(n))
    differences = np.array(data.draw(st.lists(DIFFERENCE, min_size=n, max_size=n)))
    parameters = moebius(mu)[family.sets]
    assert family.measure(parameters).tolist() == mu.tolist()
    expected = slow.integral(mu, differences * differences)
    assert family.features(differences) @ parameters == pytest.approx(expected, abs=1e-9)


def test_choquet_holds_the_owas_that_are_submodular_if_it_must_be() -> None:
    differences, falling, rising = np.array([3.0, -1.0, 2.0]), np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    # 0.5 * 9 + 0.3 * 4 + 0.2 * 1 and 0.2 * 9 + 0.3 * 4 + 0.5 * 1
    family = Choquet(3)
    assert family.features(differences) @ family.ordered(falling) == pytest.approx(5.9)
    assert family.features(differences) @ family.ordered(rising) == pytest.approx(3.5)
    submodular = Choquet(3, submodular=True)
    assert submodular.features(differences) @ submodular.ordered(falling) == pytest.approx(5.9)
    assert submodular.ordered(rising) is None


@given(st.data())
def test_choquet_allows_exactly_the_monotone_and_the_submodular_measures(data) -> None:
    n = data.draw(st.integers(1, 4))
    mu = data.draw(eighths(n))
    any_measure, submodular = Choquet(n), Choquet(n, submodular=True)
    parameters = moebius(mu)[any_measure.sets]
    monotone = slow.is_monotone(mu)
    assert bool(np.all(any_measure.rows() @ parameters >= 0)) == monotone
    assert bool(np.all(submodular.rows() @ parameters >= 0)) == (monotone and slow.is_submodular(mu))
    if monotone:
        assert np.all(np.abs(parameters) <= any_measure.upper)
        assert any_measure.lower == -any_measure.upper


def test_sets_come_by_size_then_by_number() -> None:
    assert Choquet(4).sets.tolist() == [1, 2, 4, 8, 3, 5, 6, 9, 10, 12, 7, 11, 13, 14, 15]


def test_families_say_what_they_are() -> None:
    names = [make(4).name for make in FAMILIES.values()]
    assert names == [
        "weighted mean",
        "OWA",
        "Choquet",
        "Choquet, submodular",
        "bilinear",
        "bilinear, not negative",
    ]


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_nearest_semidefinite_matrix_has_no_negative_eigenvalue(n, seed) -> None:
    drawn = np.random.default_rng(seed).normal(size=(n, n))
    symmetric = drawn + drawn.T
    found = nearest_semidefinite(symmetric)
    assert found == pytest.approx(found.T)
    assert np.linalg.eigvalsh(found).min() >= -1e-12
    # Nearest: as far as the negative eigenvalues are long, and no farther.
    lost = np.minimum(np.linalg.eigvalsh(symmetric), 0.0)
    assert np.linalg.norm(found - symmetric) == pytest.approx(np.linalg.norm(lost), abs=1e-9)
    form = drawn @ drawn.T
    assert nearest_semidefinite(form) == pytest.approx(form, abs=1e-9)


def test_the_nearest_semidefinite_matrix_by_hand() -> None:
    # Eigenvalues 3 along (1, 1) and -1 along (1, -1): the second is left out.
    found = nearest_semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert found == pytest.approx(np.array([[1.5, 1.5], [1.5, 1.5]]))
