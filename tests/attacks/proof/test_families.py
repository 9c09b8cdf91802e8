"""Families of distances: what they compute, and which parameters they allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.learned.distances import moebius
from shoal.attacks.proof.families import OWA, Bilinear, Choquet, WeightedMean, nearest_semidefinite
from shoal.errors import InputError
from tests.reference import measures as slow

FAMILIES = {
    "weighted mean": WeightedMean,
    "OWA": OWA,
    "Choquet": Choquet,
    "submodular": lambda n: Choquet(n, submodular=True),
    "2-additive": lambda n: Choquet(n, additive=2),
    "3-additive": lambda n: Choquet(n, additive=3),
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


def test_choquet_holds_the_owas_it_has_the_sets_for() -> None:
    differences, falling, rising = np.array([3.0, -1.0, 2.0]), np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    # 0.5 * 9 + 0.3 * 4 + 0.2 * 1 and 0.2 * 9 + 0.3 * 4 + 0.5 * 1
    for family in (Choquet(3), Choquet(3, additive=3)):
        assert family.features(differences) @ family.ordered(falling) == pytest.approx(5.9)
        assert family.features(differences) @ family.ordered(rising) == pytest.approx(3.5)
    submodular = Choquet(3, submodular=True)
    assert submodular.features(differences) @ submodular.ordered(falling) == pytest.approx(5.9)
    assert submodular.ordered(rising) is None
    assert Choquet(3, additive=2).ordered(falling) is None


@given(st.data())
def test_choquet_allows_exactly_the_monotone_and_the_submodular_measures(data) -> None:
    n = data.draw(st.integers(1, 4))
    mu = data.draw(eighths(n))
    any_measure, submodular = Choquet(n), Choquet(n, submodular=True)
    parameters = moebius(mu)[any_measure.sets]
    monotone = slow.is_monotone(mu)
    assert bool(np.all(any_measure.rows() @ parameters >= 0)) == monotone
    assert bool(np.all(submodular.rows() @ parameters >= 0)) == (monotone and slow.is_submodular(mu))
    assert any_measure.allows(parameters) == monotone
    assert submodular.allows(parameters) == (monotone and slow.is_submodular(mu))
    if monotone:
        assert np.all(np.abs(parameters) <= any_measure.upper)
        assert any_measure.lower == -any_measure.upper


def two_additive_of_nine(weights, pairs):
    """The parameters of these single attributes and pairs, and their family."""
    family = Choquet(9, additive=2)
    place_of = {one: place for place, one in enumerate(family.sets.tolist())}
    parameters = np.zeros(family.size)
    parameters[:9] = weights
    for (one, other), value in pairs.items():
        parameters[place_of[1 << one | 1 << other]] = value
    return family, parameters


def test_what_many_attributes_break_is_found_set_by_set() -> None:
    # The first attribute weighs 0.1 alone, and loses 0.06 beside the second and 0.06 beside the third: fine with one
    # of them, not with both.
    weights = np.array([0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.22])
    family, parameters = two_additive_of_nine(weights, {(0, 1): -0.06, (0, 2): -0.06})
    assert parameters.sum() == pytest.approx(1.0)
    assert not slow_growth_is_fine(family, parameters)
    assert np.all(family.rows() @ parameters >= 0)  # what is asked for at first does not show it
    assert not family.allows(parameters)
    # With one of the two it is fine.
    family, parameters = two_additive_of_nine(weights, {(0, 1): -0.06, (3, 8): -0.06})
    assert slow_growth_is_fine(family, parameters)
    assert family.allows(parameters)


def slow_growth_is_fine(family, parameters):
    mu = family.measure(parameters)
    numbers = np.arange(len(mu))
    return all(np.all(mu[numbers | 1 << one] >= mu[numbers] - 1e-12) for one in range(family.n))


def test_pairs_that_tell_more_together_break_submodularity_of_many_attributes() -> None:
    parameters = two_additive_of_nine(np.full(9, 0.1), {(2, 7): 0.1})[1]
    family = Choquet(9, additive=2, submodular=True)
    assert not family.allows(parameters)
    assert Choquet(9, additive=2).allows(parameters)
    less_together = two_additive_of_nine(np.full(9, 0.125), {(2, 7): -0.125})[1]
    assert family.allows(less_together)


def test_sets_come_by_size_then_by_number() -> None:
    assert Choquet(4, additive=2).sets.tolist() == [1, 2, 4, 8, 3, 5, 6, 9, 10, 12]
    assert Choquet(2, additive=3).sets.tolist() == [1, 2, 3]
    assert sorted(Choquet(4).sets.tolist()) == list(range(1, 16))


def test_a_k_additive_measure_has_no_parameters_of_larger_sets() -> None:
    for n, largest, size in ((5, 1, 5), (5, 2, 5 + 10), (9, 3, 9 + 36 + 84), (2, 3, 3)):
        family = Choquet(n, additive=largest)
        assert family.size == len(family.sets) == size
        assert max(int(one).bit_count() for one in family.sets) == min(n, largest)
    # The measure has all sets nonetheless: of 0.5, 0.3 and 0.4 that lose 0.1, 0 and 0.1 in pairs.
    mu = Choquet(3, additive=2).measure(np.array([0.5, 0.3, 0.4, -0.1, 0.0, -0.1]))
    assert mu == pytest.approx([0.0, 0.5, 0.3, 0.7, 0.4, 0.9, 0.6, 1.0])


def test_families_say_what_they_are() -> None:
    names = [make(4).name for make in FAMILIES.values()]
    assert names == [
        "weighted mean",
        "OWA",
        "Choquet",
        "Choquet, submodular",
        "2-additive Choquet",
        "3-additive Choquet",
        "bilinear",
        "bilinear, not negative",
    ]


@pytest.mark.parametrize("make", [lambda: Choquet(8), lambda: Choquet(17, additive=2), lambda: Choquet(5, additive=4)])
def test_too_many_sets_are_refused_with_a_remedy(make) -> None:
    with pytest.raises(InputError, match="attributes") as refusal:
        make()
    assert "additive" in str(refusal.value)
    assert "\n" not in str(refusal.value)


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
