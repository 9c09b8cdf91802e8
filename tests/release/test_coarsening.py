"""Releases with coarsened columns: k and l are kept, every figure is that of what is handed out, and it is said."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import (
    Hierarchy,
    InputError,
    Microaggregation,
    MixedMicroaggregation,
    Noise,
    RankSwap,
    Roles,
    SphericalMicroaggregation,
    load,
    protect,
    verify,
)
from shoal.attacks.disclosure import IntervalDisclosure
from shoal.attacks.distance import DistanceLinkage
from shoal.methods.numeric import coarsened
from tests.release.releases import (
    LETTERS,
    certificate_of,
    fewest_values,
    files_of,
    quietly,
    release_frame,
    release_table,
    rows_of,
    smallest_class,
    steps_of,
)

pytestmark = pytest.mark.usefixtures("without_attack")

QUASI = ["age", "pay"]
MDAV = Microaggregation(refine=False)
METHODS = [
    MDAV,
    Microaggregation(method="z-scores"),
    Microaggregation(method="principal-component"),
    Microaggregation(method="ranking"),
    Microaggregation(refine=False, attribute_groups=1),
    RankSwap(20.0),
    Noise(20.0),
    Noise(20.0, correlated=True),
]


def people(n: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, n),
            "pay": np.round(random.lognormal(8.0, 1.0, n), 2),
            "illness": [("flu", "gout", "asthma")[row % 3] for row in range(n)],
        }
    )


def released(frame: pd.DataFrame, folder: Path, k: int = 3, **more: Any) -> Any:
    roles = Roles(quasi=tuple(QUASI), confidential=("illness",))
    return release_frame(frame, k, folder / "release", roles, **more)


def shared_by(rows: list[dict[str, Any]], column: str) -> int:
    return smallest_class(rows, [column])


# What is promised holds


@settings(max_examples=30)
@given(
    st.integers(2, 4),
    st.integers(2, 14),
    st.integers(2, 14),
    st.lists(st.tuples(st.integers(0, 9), st.floats(-1e6, 1e6, width=32)), min_size=14, max_size=40),
)
def test_k_is_kept_and_each_value_of_a_coarsened_column_is_shared_by_its_own_number(k, age, pay, rows):
    frame = pd.DataFrame(rows, columns=QUASI)
    with tempfile.TemporaryDirectory() as folder:
        asked = {"kinds": dict.fromkeys(QUASI, "number"), "coarsen": {"age": age, "pay": pay}}
        made = quietly(protect, frame, k, Path(folder) / "release", method=MDAV, force=True, **asked)
        found = rows_of(made.folder / "table.parquet")
        assert verify(made.folder)
    assert smallest_class(found, QUASI) >= k
    assert shared_by(found, "age") >= max(k, age)
    assert shared_by(found, "pay") >= max(k, pay)


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda one: "-".join(map(str, [type(one).__name__, *vars(one).values()]))
)
def test_any_masking_of_numbers_can_be_coarsened_and_still_verifies(tmp_path, method):
    made = released(people(), tmp_path, method=method, coarsen={"pay": 12})
    rows = rows_of(made.folder / "table.parquet")
    assert shared_by(rows, "pay") >= 12
    assert len({row["age"] for row in rows}) > 6
    assert made.certificate["stated"]["parameters"]["coarsen"] == {"pay": 12}
    assert verify(made.folder)


@pytest.mark.parametrize("l", [2, 3])
def test_l_holds_after_coarsening(tmp_path, l):
    made = released(people(), tmp_path, l=l, coarsen={"pay": 12, "age": 9})
    rows = rows_of(made.folder / "table.parquet")
    assert fewest_values(rows, QUASI, "illness") >= l
    assert made.certificate["promises"]["diversity"]["columns"][0]["groups"] == len(
        {(row["age"], row["pay"]) for row in rows}
    )
    assert verify(made.folder)


def test_the_release_is_the_same_whatever_the_order_of_rows_and_of_the_request(tmp_path):
    frame = people()
    one = released(frame, tmp_path / "one", coarsen={"age": 8, "pay": 20})
    other = released(frame.sample(frac=1.0, random_state=5), tmp_path / "other", coarsen={"pay": 20, "age": 8})
    assert files_of(one.folder) == files_of(other.folder)


def test_the_masked_values_are_those_without_coarsening_aggregated_once_more(tmp_path):
    frame = people().sort_values([*QUASI, "illness"], ignore_index=True)
    means = MDAV.set_params(k=3).fit_transform(frame[QUASI].astype(float))
    made = released(people(), tmp_path, coarsen={"pay": 20})
    steps = steps_of(made)
    expected = frame.assign(age=means["age"], pay=coarsened(means["pay"], 20))
    expected = expected.assign(**{name: steps[name] * np.rint(expected[name] / steps[name]) for name in QUASI})
    expected = expected.sort_values([*QUASI, "illness"], ignore_index=True)
    pd.testing.assert_frame_equal(load(made.folder).table.to_pandas(), expected)


# What is stated is true of what is handed out


def test_loss_attacks_and_columns_are_those_of_the_coarsened_release(tmp_path):
    frame = people()
    made = released(frame, tmp_path, coarsen={"pay": 20})
    plain = released(frame, tmp_path / "plain")
    ordered = frame.sort_values(["age", "pay"], ignore_index=True)
    values = ordered[QUASI].to_numpy(float)
    masked = Microaggregation(3, refine=False).fit_transform(values)
    masked[:, 1] = coarsened(masked[:, 1], 20)
    steps = np.array(list(steps_of(made).values()))
    masked = steps * np.rint(masked / steps)
    standard, standard_masked = ((one - values.mean(0)) / values.std(0) for one in (values, masked))
    stated = made.certificate["stated"]
    assert stated["sse"] == pytest.approx(np.sum((standard - standard_masked) ** 2), rel=5e-3)
    assert stated["ssa"] == pytest.approx(np.sum(standard_masked**2), rel=5e-3)
    assert stated["information_loss"] > plain.certificate["stated"]["information_loss"]
    attacks = [DistanceLinkage().run(values, masked), DistanceLinkage("mahalanobis").run(values, masked)]
    attacks.append(IntervalDisclosure().run(values, masked))
    assert [one["rate"] for one in stated["attacks"]] == [round(one.rate, 4) for one in attacks]
    low, high = np.sort(values[:, 1])[[3, 56]]  # three of sixty are drawn in at each end
    after = float(f"{np.clip(masked[:, 1], low, high).std():.3g}")
    assert f"{after:.4g}" in (made.folder / "README.md").read_text(encoding="utf-8").replace(",", "")


def test_how_far_from_the_best_groups_is_not_stated_of_a_coarsened_release(tmp_path):
    method = Microaggregation(time_budget=0.1)
    plain, made = (
        released(people(), tmp_path / str(n), method=method, coarsen=c) for n, c in enumerate(({}, {"pay": 9}))
    )
    assert plain.certificate["stated"]["above_optimum"] is not None
    assert made.certificate["stated"]["above_optimum"] is None
    assert "coarsen" not in plain.certificate["stated"]["parameters"]


def test_the_report_and_the_readme_say_what_was_done(tmp_path):
    made = released(people(), tmp_path, coarsen={"pay": 12})
    report = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "then coarsened: pay (12 or more)" in report
    assert "Each value of <b>pay</b> is now shared by at least 12 records." in report
    assert "`pay` was then coarsened: each of its values is the mean of a class of at least 12 records." in (
        made.folder / "README.md"
    ).read_text(encoding="utf-8")
    plain = released(people(), tmp_path / "plain")
    assert "coarsened" not in (plain.folder / "report.html").read_text(encoding="utf-8")


def test_it_is_said_even_where_few_records_moved_and_their_figures_are_left_out(tmp_path):
    made = release_table(tmp_path, coarsen={"pay": 4})  # eight people
    assert "Each value of <b>pay</b>" in (made.folder / "report.html").read_text(encoding="utf-8")
    assert verify(made.folder)


# Numbers beside labels

TOWNS = Hierarchy.from_pairs(
    [("Deal", "Kent"), ("Dover", "Kent"), ("Crail", "Fife"), ("Leven", "Fife")], root="Britain"
)
MIXED = MixedMicroaggregation(ontology={"town": TOWNS}, refine=False)


def mixed(towns: list[str]) -> pd.DataFrame:
    return people().assign(town=[towns[row % len(towns)] for row in range(60)])[["town", "age", "pay"]]


def test_numbers_beside_labels_are_coarsened_and_the_labels_stay(tmp_path):
    frame = mixed(["Deal", "Dover", "Crail", "Leven"])
    roles = Roles(quasi=("town", "age", "pay"))
    plain = release_frame(frame, 3, tmp_path / "plain", roles, method=MIXED)
    made = release_frame(frame, 3, tmp_path / "made", roles, method=MIXED, coarsen={"pay": 15})
    rows = rows_of(made.folder / "table.parquet")
    assert shared_by(rows, "pay") >= 15
    assert smallest_class(rows, ["town", "age", "pay"]) >= 3
    unchanged = (
        sorted((row["town"], row["age"]) for row in rows_of(one.folder / "table.parquet")) for one in (plain, made)
    )
    assert next(unchanged) == next(unchanged)
    assert verify(made.folder)


def test_the_loss_beside_labels_that_are_all_equal_is_that_of_the_numbers(tmp_path):
    frame = mixed(["Deal"])
    made = release_frame(
        frame, 3, tmp_path / "mixed", Roles(quasi=("town", "age", "pay")), method=MIXED, coarsen={"pay": 15}
    )
    numbers = release_frame(
        frame.drop(columns="town"), 3, tmp_path / "numbers", Roles(quasi=("age", "pay")), coarsen={"pay": 15}
    )
    for figure in ("sse", "ssa", "information_loss"):
        assert made.certificate["stated"][figure] == pytest.approx(numbers.certificate["stated"][figure], rel=0.1)


def test_numbers_that_are_taken_for_labels_are_not_coarsened(tmp_path):
    method = MixedMicroaggregation(ontology={"town": TOWNS}, refine=False, roles={"age": "categorical"})
    with pytest.raises(InputError, match="coarsen age=9: the column holds labels, not numbers; leave it out"):
        release_frame(
            mixed(["Deal", "Crail"]),
            3,
            tmp_path / "release",
            Roles(quasi=("town", "age", "pay")),
            method=method,
            coarsen={"age": 9},
        )


def test_the_certificate_of_a_file_has_the_coarsening_too(tmp_path):
    made = release_table(tmp_path, coarsen={"pay": np.int64(4)})
    assert certificate_of(made.folder)["stated"]["parameters"]["coarsen"] == {"pay": 4}


# What is refused


@pytest.mark.parametrize(
    ("coarsen", "says"),
    [
        ({"income": 3}, r"coarsen income=3: the table has no column income, only: .*pay"),
        ({"illness": 3}, r"coarsen illness=3: the column is not protected; name it in quasi, or leave it out"),
        ({"name": 3}, r"coarsen name=3: the column is not protected"),
        ({"pay": 9}, r"coarsen pay=9 needs at least 9 rows, got 8; lower it or add rows"),
        ({"pay": 1}, r"coarsen pay=1 must be a whole number of at least 2"),
        ({"pay": True}, r"coarsen pay=True must be a whole number of at least 2"),
        ({"pay": "3"}, r"coarsen pay='3' must be a whole number of at least 2"),
        ([("pay", 3)], r"coarsen=.* must be a dict of columns, such as"),
    ],
)
def test_what_cannot_be_coarsened_is_refused_and_nothing_is_written(tmp_path, coarsen, says):
    with pytest.raises(InputError, match=says):
        release_table(tmp_path, coarsen=coarsen)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_documents_are_not_coarsened(tmp_path):
    texts = [text for _, text, _ in LETTERS]
    with pytest.raises(InputError, match="coarsen is for tables, and this is a collection of documents; leave it out"):
        protect(texts, 3, tmp_path / "release", method=SphericalMicroaggregation(refine=False), coarsen={"pay": 3})
    assert not (tmp_path / "release").exists()
