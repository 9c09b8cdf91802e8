"""assess repeats a release's protection without a record, and subtracts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shoal import InputError, Microaggregation, RankSwap, Roles, assess
from shoal.assessment.several_releases import protection_of
from tests.release.releases import quietly, release_frame, rows_of

pytestmark = pytest.mark.usefixtures("without_attack")

QUASI = ["age", "pay", "rent"]


def people(n_rows: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(9)
    pay = random.lognormal(8.0, 0.5, n_rows).round()
    return pd.DataFrame({"age": random.integers(18, 90, n_rows), "pay": pay, "rent": (pay / 3).round()})


def test_the_repeated_protection_gives_the_rows_of_the_release(tmp_path):
    made = release_frame(people(), 3, tmp_path / "release", coarsen={"pay": 12})
    released = np.array([[row[name] for name in QUASI] for row in rows_of(made.folder / "table.parquet")])
    again = protection_of(made.folder, tuple(QUASI))(people().to_numpy(float))
    assert sorted(again.tolist()) == sorted(released.tolist())


def test_assess_tells_how_many_cells_a_second_release_gives_away(tmp_path):
    made = release_frame(people(), 3, tmp_path / "release")
    found = quietly(assess, people(), made.folder, tmp_path / "assessment", differencing=10)
    assert found.differencing.cells.n == 10
    assert [rate.about for rate in found.differencing.columns] == [f"differencing of {name}" for name in QUASI]
    assert found.data()["differencing"]["cells"]["attempts"] == 10
    assert "<b>Differencing</b>" in (tmp_path / "assessment" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("more", [{"method": RankSwap(10.0)}, {"l": 2}])
def test_a_protection_that_cannot_be_repeated_is_refused(tmp_path, more):
    frame = people().assign(illness=["flu", "gout", "asthma"] * 20)
    roles = Roles(quasi=tuple(QUASI), confidential=("illness",))
    made = release_frame(frame, 3, tmp_path / "release", roles, **more)
    with pytest.raises(InputError, match=r"differencing repeats the protection, .*; leave it out"):
        assess(frame, made.folder, differencing=5)


def test_a_table_without_a_certificate_is_refused():
    masked = Microaggregation(3, refine=False).fit_transform(people().astype(float))
    with pytest.raises(InputError, match="differencing repeats the protection"):
        assess(people(), masked, differencing=5)


@pytest.mark.parametrize("records", [-1, 2.5, True])
def test_a_number_of_records_that_makes_no_sense_is_refused(records):
    with pytest.raises(InputError, match=r"differencing=.* must be a whole number of at least 1"):
        assess(people(), people(), differencing=records)
