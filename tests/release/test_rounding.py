"""Published means lie on a grid: coarse enough to hide a record, fine enough to cost next to nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Hierarchy, Microaggregation, MixedMicroaggregation, Noise, Roles, load, protect, verify
from shoal.release.figures import on_grid, published_means, round_step
from tests.release.releases import quietly, release_frame, rows_of, smallest_class, steps_of

pytestmark = pytest.mark.usefixtures("without_attack")

MDAV = Microaggregation(refine=False)
columns = st.lists(st.floats(-1e9, 1e9, width=32), min_size=12, max_size=60)


@given(st.floats(1e-280, 1e280))
def test_a_step_is_1_2_or_5_times_a_power_of_ten_and_no_coarser_than_allowed(most):
    step = round_step(most)
    assert f"{step:.6e}"[0] in "125"
    assert f"{step:.6e}"[1:8] == ".000000"
    assert most / 2.5 * (1 - 1e-12) <= step <= most


def test_rounded_numbers_are_the_decimals_they_stand_for():
    means = np.array([[0.1 + 0.2, 1234.0], [0.349, -40.0]])
    assert on_grid(means, np.array([0.1, 100.0])).tolist() == [[0.3, 1200.0], [0.3, 0.0]]
    assert str(on_grid(np.array([[-0.04]]), np.array([0.1]))[0, 0]) == "0.0"


@settings(max_examples=100)
@given(columns, st.integers(2, 5))
def test_rounding_adds_at_most_a_hundredth_of_the_squared_error(column, k):
    values = np.array(column)[:, None]
    means = Microaggregation(k, method="ranking").fit_transform(values)
    published = published_means(values, means, k)
    error, with_rounding = (float(np.sum((values - part) ** 2)) for part in (means, published))
    assert with_rounding <= error * (1.01 + 1e-9) + 1e-9 * float(np.abs(values).max()) ** 2


@settings(max_examples=25, deadline=None)
@given(columns, st.integers(2, 4))
def test_equal_rows_stay_equal_and_k_holds(column, k):
    frame = pd.DataFrame({"pay": column, "age": range(len(column))})
    with tempfile.TemporaryDirectory() as folder:
        made = quietly(
            protect, frame, k, Path(folder) / "release", method=MDAV, kinds={"pay": "number", "age": "number"}
        )
        assert smallest_class(rows_of(made.folder / "table.parquet"), ["pay", "age"]) >= k
        assert verify(made.folder)


def test_one_enormous_value_does_not_make_the_grid_of_the_others_coarser():
    random = np.random.default_rng(1)
    usual = random.uniform(1e4, 1e5, 500)
    steps = []
    for largest in (2e5, 1e9):
        values = np.append(usual, largest)[:, None]
        means = Microaggregation(5, refine=False).fit_transform(values)
        released = published_means(values, means, 5).ravel().astype(np.int64)
        steps.append(int(np.gcd.reduce(released)))
    assert steps[1] <= 20_000  # a fifth of the range; by the standard deviation it would be millions
    assert steps[0] > 0


def test_a_constant_column_is_released_as_it_is_and_changes_nothing_else(tmp_path):
    """The mean of nine times 0.1 is not 0.1; that used to hide the loss and the columns of the whole report."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"age": random.integers(18, 90, 90), "always": 0.1})
    made = release_frame(frame, 9, tmp_path / "release")
    assert set(load(made.folder).table["always"].to_pylist()) == {0.1}
    assert made.certificate["stated"]["loss_range"] is None
    assert made.certificate["stated"]["information_loss"] > 0
    assert list(steps_of(made)) == ["age"]


def test_a_column_in_which_nearly_all_have_one_value_is_not_rounded(tmp_path):
    frame = pd.DataFrame({"age": np.arange(100) % 60, "debt": [0.0] * 98 + [17.0, 31.0]})
    assert list(steps_of(release_frame(frame, 3, tmp_path / "release"))) == ["age"]


def test_numbers_beside_labels_are_rounded_too(tmp_path):
    random = np.random.default_rng(3)
    towns = Hierarchy.from_pairs([("Deal", "Kent"), ("Dover", "Kent")])
    frame = pd.DataFrame({"pay": random.lognormal(8, 1, 80), "town": ["Deal", "Dover"] * 40})
    method = MixedMicroaggregation(ontology={"town": towns}, refine=False)
    made = release_frame(frame, 4, tmp_path / "release", Roles(quasi=("pay", "town")), method=method)
    step = steps_of(made)["pay"]
    released = np.array(load(made.folder).table["pay"].to_pylist())
    assert np.array_equal(released, step * np.rint(released / step))
    assert verify(made.folder)


def test_values_that_are_not_averaged_are_not_rounded(tmp_path):
    frame = pd.DataFrame({"pay": np.random.default_rng(4).lognormal(8, 1, 80)})
    made = release_frame(frame, 4, tmp_path / "release", method=Noise(10.0))
    assert "rounded_to" not in made.certificate["stated"]["parameters"]


def test_the_report_says_that_averages_are_rounded_and_to_what(tmp_path):
    frame = pd.DataFrame({"pay": np.random.default_rng(4).uniform(1_000, 9_000, 80).round()})
    made = release_frame(frame, 4, tmp_path / "release")
    step = steps_of(made)["pay"]
    assert "Averages are rounded" in (made.folder / "report.html").read_text(encoding="utf-8")
    assert f"`pay` was protected, to multiples of {step:g}: median" in (made.folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize("k", [3, 5])
def test_sums_of_a_release_are_not_those_of_the_table(tmp_path, k):
    frame = pd.DataFrame({"pay": np.random.default_rng(6).uniform(1_000, 9_000, 300).round()})
    made = release_frame(frame, k, tmp_path / "release")
    assert abs(sum(load(made.folder).table["pay"].to_pylist()) - frame["pay"].sum()) > 1.0


def test_numbers_whose_squares_vanish_are_averaged_all_the_same(tmp_path):
    """Their deviation comes out as 0, and yet they are no constant that could be released as it is."""
    frame = pd.DataFrame({"charge": [number * 1e-310 for number in range(6)]})
    made = release_frame(frame, 3, tmp_path / "release")
    assert smallest_class(rows_of(made.folder / "table.parquet"), ["charge"]) == 3
    assert verify(made.folder)
