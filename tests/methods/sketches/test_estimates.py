"""Estimates over 100,000 keys: means and variances are those of the exact formulas, and not the published one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import InputError
from shoal.kernels.sketching.sketches import sign_table
from shoal.methods.sketches import (
    Sketches,
    SketchKey,
    SketchKMeans,
    SketchNeighborsClassifier,
    attributes,
    centroid,
    cosine,
    dot_product,
    euclidean_distance,
    squared_length,
)

KEYS, COMPONENTS = 100_000, 3
X = np.array([3.0, 1.0, 0.0, 2.0, 1.0])
Y = np.array([2.0, 2.0, 1.0, 0.0, 1.0])
TERMS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def sketched() -> tuple[Sketches, Sketches, np.ndarray]:
    """X and Y under every key, and the signs: (keys, terms, components)."""
    signs = np.empty((KEYS, len(TERMS), COMPONENTS))
    for seed in range(KEYS):
        key = SketchKey.from_seed(seed)
        signs[seed] = sign_table(key.hashed(TERMS), key.coefficients(0, COMPONENTS))
    offsets = np.arange(KEYS + 1) * COMPONENTS
    return *(Sketches(np.einsum("ktc,t->kc", signs, row).ravel(), offsets) for row in (X, Y)), signs


def check(estimates: np.ndarray, mean: float, variance: float) -> None:
    """Mean and variance within three standard errors."""
    assert abs(estimates.mean() - mean) <= 3 * np.sqrt(variance / KEYS)
    squares = (estimates - mean) ** 2
    assert abs(squares.mean() - variance) <= 3 * squares.std() / np.sqrt(KEYS)


@pytest.mark.slow
def test_dot_products_have_the_exact_variance_and_not_the_published_one(sketched) -> None:
    estimates = dot_product(*sketched[:2]).value
    length, other, product = X @ X, Y @ Y, X @ Y
    exact = (length * other + product**2 - 2 * np.sum(X**2 * Y**2)) / COMPONENTS
    published = (length * other - product**2) / COMPONENTS
    check(estimates, product, exact)
    squares = (estimates - product) ** 2
    assert squares.mean() > published + 20 * squares.std() / np.sqrt(KEYS)  # the printed variance is too small


def test_squared_lengths_have_the_exact_variance(sketched) -> None:
    check(squared_length(sketched[0]).value, X @ X, 2 * ((X @ X) ** 2 - np.sum(X**4)) / COMPONENTS)


def test_squared_distances_have_the_exact_variance(sketched) -> None:
    gap = X - Y
    squared = euclidean_distance(*sketched[:2]).value ** 2
    check(squared, gap @ gap, 2 * ((gap @ gap) ** 2 - np.sum(gap**4)) / COMPONENTS)


@pytest.mark.parametrize("term", range(len(TERMS)))
def test_attributes_have_the_exact_variance(sketched, term: int) -> None:
    estimates = np.mean(sketched[0].values.reshape(KEYS, COMPONENTS) * sketched[2][:, term], axis=1)
    check(estimates, X[term], (X @ X - X[term] ** 2) / COMPONENTS)


def test_the_centroid_is_the_sketch_of_the_mean(sketched) -> None:
    one, other = (side.values.reshape(KEYS, COMPONENTS) for side in sketched[:2])
    both = centroid(Sketches.of([one[0], other[0]]))
    assert both[0] == pytest.approx((one[0] + other[0]) / 2)
    mean = (X + Y) / 2
    estimates = np.mean((one + other) / 2 * sketched[2][:, 0], axis=1)
    check(estimates, mean[0], (mean @ mean - mean[0] ** 2) / COMPONENTS)


def test_attributes_are_estimated_with_the_key_only() -> None:
    key = SketchKey.draw()
    signs = key.signs(TERMS, 4000).astype(float)
    sketches = Sketches.of([X @ signs, Y @ signs])
    found = attributes(sketches, TERMS, key)
    assert np.abs(found.value - [X, Y]).max() < 5 * found.standard_error.max()
    assert found.standard_error == pytest.approx(
        np.sqrt((np.array([[15.0], [10.0]]) - np.array([X, Y]) ** 2) / 4000), rel=0.1
    )
    blind = attributes(sketches, TERMS, SketchKey.draw())
    assert np.abs(blind.value).max() < 5 * np.sqrt(15 / 4000)


def test_cosines_and_distances_of_long_sketches_are_near_the_truth() -> None:
    signs = SketchKey(bytes(32)).signs(TERMS, 4000).astype(float)
    one, other = Sketches.of([X @ signs]), Sketches.of([(Y @ signs)[:3000]])
    angle, distance = cosine(one, other), euclidean_distance(one, other)
    assert angle.value[0] == pytest.approx(X @ Y / np.sqrt(150), abs=4 * angle.standard_error[0])
    assert distance.value[0] == pytest.approx(np.linalg.norm(X - Y), abs=4 * distance.standard_error[0])


def test_standard_errors_cover_the_truth(sketched) -> None:
    """At least 68 % of the estimates lie within one standard error, on average over keys."""
    found = dot_product(sketched[0][:20_000], sketched[1][:20_000])
    assert np.mean(found.standard_error**2) >= np.mean((found.value - X @ Y) ** 2)


def test_of_a_record_that_was_withheld_nothing_is_estimated() -> None:
    sketches = Sketches.of([[1.0], None])
    with pytest.raises(InputError, match="1 of 2 records were withheld"):
        squared_length(sketches)
    with pytest.raises(InputError, match="1 of 2 records were withheld"):
        SketchNeighborsClassifier(1).fit(sketches, [0, 1])


def two_kinds(count: int) -> tuple[Sketches, np.ndarray]:
    """Records of two vocabularies with one word in common, 60 to 100 components each."""
    random = np.random.default_rng(0)
    signs = SketchKey(bytes(32)).signs([str(term) for term in range(21)], 100).astype(float)
    kinds = np.arange(count) % 2
    rows = []
    for kind in kinds:
        row = np.zeros(21)
        row[random.choice(np.arange(10) + 10 * kind, size=6, replace=False)] = 1
        row[20] = 1
        rows.append((row @ signs)[: random.integers(60, 101)])
    return Sketches.of(rows), kinds


def test_neighbours_of_sketches_tell_the_class() -> None:
    sketches, kinds = two_kinds(200)
    labels = np.array(["herring", "sprat"])[kinds]
    model = SketchNeighborsClassifier(5).fit(sketches[:100], labels[:100])
    assert np.mean(model.predict(sketches[100:]) == labels[100:]) > 0.95


def test_clusters_of_sketches_are_the_two_kinds() -> None:
    sketches, kinds = two_kinds(200)
    model = SketchKMeans(2, random_state=0).fit(sketches)
    same = np.mean(model.labels_ == kinds)
    assert max(same, 1 - same) > 0.95
    assert np.array_equal(model.predict(sketches), model.labels_)
    assert 0.5 < model.similarity_ < 1


def test_too_many_clusters_or_neighbours_are_refused() -> None:
    with pytest.raises(InputError, match="n_clusters=3 must be a whole number from 1 to 2"):
        SketchKMeans(3).fit(Sketches.of([[1.0], [2.0]]))
    with pytest.raises(InputError, match="n_neighbors=3 must be a whole number from 1 to 2"):
        SketchNeighborsClassifier(3).fit(Sketches.of([[1.0], [2.0]]), [0, 1])
