"""Figures of the literature on numeric tables, recomputed."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from shoal import Microaggregation
from tests.reference.euclidean import least_error

PEOPLE = [[23, 25000], [18, 10000], [58, 12000], [46, 30000], [18, 10000], [23, 14000]]
PROTECTED = [[34.5, 27500], [18, 10000], [40.5, 13000], [34.5, 27500], [18, 10000], [40.5, 13000]]

# Information loss of plain MDAV in per cent at k = 3, 5, 10.
MDAV_LOSS = {
    "tarragona": (16.9326, 22.4619, 33.1929),
    "census": (5.6922, 9.0884, 14.1559),
    "eia": (0.4829, 1.6667, 3.8397),
}


def test_the_golden_example_of_mdav():
    assert Microaggregation(k=2, refine=False).fit_transform(PEOPLE).tolist() == PROTECTED


def test_the_golden_example_is_the_same_on_standardised_values():
    values = np.array(PEOPLE, dtype=float)
    Z = (values - values.mean(axis=0)) / values.std(axis=0)
    raw, standard = (Microaggregation(k=2, refine=False).fit(table).groups_.tolist() for table in (values, Z))
    assert raw == standard


def test_the_univariate_optimum_of_a_worked_example():
    """k=2: {1, 2} {8, 9, 10} {20, 21} has error 0.5 + 2 + 0.5; no other cut into runs of 2 or more has less."""
    values = [[10], [1], [21], [8], [2], [20], [9]]
    model = Microaggregation(k=2, method="ranking").fit(values)
    assert model.fit_transform(values).ravel().tolist() == [9, 1.5, 20.5, 9, 1.5, 20.5, 9]
    assert least_error(sorted(values), 2) == 3
    assert model.sse_ * np.var(values) == pytest.approx(3)


@pytest.mark.parametrize("name", MDAV_LOSS)
def test_the_loss_of_mdav_on_the_casc_reference_data(data_folder, name):
    Z = casc(data_folder / f"casc_{name}.csv.gz", name)
    found = [round(100 * Microaggregation(k=k, refine=False).fit(Z).information_loss_, 4) for k in (3, 5, 10)]
    assert found == list(MDAV_LOSS[name])


def casc(path, name):
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the data folder")
    with gzip.open(path, "rt") as lines:
        rows = list(csv.reader(lines))[1:]
    columns = [0, *range(5, 15)] if name == "eia" else range(13)
    return np.array([[float(row[column]) for column in columns] for row in rows])
