"""Promises of groups beside k: counted by hand, and found out where a release does not keep them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Roles, verify
from shoal.promises.closeness import figures as closeness
from shoal.verification.values import DistinctValues, farthest, least_even, most_dominant
from tests.release.releases import TABLE_MDAV, certificate_of, copy_of, quietly, reseal

ROLES = Roles(quasi=("age", "pay"), confidential=("illness", "cost"))
ASKED = {
    "entropy": {"l": 1.7, "diversity": "entropy"},
    "recursive": {"l": 2, "diversity": "recursive", "c": 3.0},
    "closeness": {"t": 0.35},
    "people": {"person": "patient"},
    "own k": {"k_column": "crowd"},
}


def patients() -> pd.DataFrame:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "patient": random.integers(0, 48, 60),
            "age": random.integers(20, 80, 60),
            "pay": random.integers(1000, 5000, 60),
            "illness": random.choice(["flu", "gout", "asthma"], 60, p=[0.5, 0.3, 0.2]),
            "cost": random.integers(1, 9, 60),
            "crowd": np.where(np.arange(60) == 17, 12, 1),
        }
    )


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    from shoal import protect

    made = {}
    for name, asked in ASKED.items():
        folder = tmp_path_factory.mktemp("promised") / "release"
        quietly(protect, patients(), 3, folder, roles=ROLES, method=TABLE_MDAV, attack=False, **asked)
        assert verify(folder)
        made[name] = folder
    return made


def broken(release):
    return {claim.promise for claim in verify(release).broken}


def tampered(original, folder, change):
    """A copy with other promises, sealed anew."""
    copy = copy_of(original, folder)
    content = certificate_of(copy)
    change(content["promises"])
    reseal(copy, content)
    return copy


def with_figure(name, value):
    def change(promises):
        promises["diversity"]["columns"][0][name] = value

    return change


def harder(promises):
    promises["diversity"]["l"] = 2.9


def stricter(promises):
    promises["diversity"]["c"] = 0.5


def nearer(promises):
    promises["closeness"]["t"] = 0.01


def other_column(promises):
    promises["closeness"]["columns"].pop()


def nearer_figure(promises):
    promises["closeness"]["columns"][0]["t"] = 0.001


def fewer_people(promises):
    promises["crowds"][0]["people"] = 2


def more_people_than_rows(promises):
    promises["crowds"][0]["people"] = promises["crowds"][0]["rows"] + 1


def uncounted_people(promises):
    promises["crowds"][0]["people"] = None


def other_sizes(promises):
    promises["crowds"][0]["rows"] += 1


def one_more_group(promises):
    promises["crowds"][0]["groups"] += 1


def larger_k_than_group(promises):
    promises["crowds"][-1]["own_k"] = promises["crowds"][-1]["rows"] + 1


def nothing_promised(promises):
    for crowd in promises["crowds"]:
        crowd["own_k"] = None


@pytest.mark.parametrize(
    ("name", "change", "promise"),
    [
        ("entropy", harder, "l-diversity"),
        ("entropy", with_figure("equally_frequent", 2.9), "l-diversity"),
        ("recursive", stricter, "l-diversity"),
        ("recursive", with_figure("ratio", 0.2), "l-diversity"),
        ("recursive", lambda promises: promises["diversity"].pop("c"), "l-diversity"),
        ("closeness", nearer, "t-closeness"),
        ("closeness", other_column, "t-closeness"),
        ("closeness", nearer_figure, "t-closeness"),
        ("people", fewer_people, "people"),
        ("people", more_people_than_rows, "people"),
        ("people", uncounted_people, "people"),
        ("people", other_sizes, "people"),
        ("people", one_more_group, "people"),
        ("own k", other_sizes, "own k"),
        ("own k", larger_k_than_group, "own k"),
        ("own k", nothing_promised, "crowds"),
    ],
)
def test_a_promise_that_the_rows_do_not_keep_is_found_out(releases, tmp_path, name, change, promise):
    assert broken(tampered(releases[name], tmp_path / "copy", change)) == {promise}


@pytest.mark.parametrize("name", ["entropy", "recursive", "closeness"])
def test_values_made_equal_in_a_group_break_what_was_promised_of_them(releases, tmp_path, name):
    import pyarrow.parquet as pq

    copy = copy_of(releases[name], tmp_path / "copy")
    rows = pq.read_table(copy / "table.parquet").to_pandas()
    first = (rows[["age", "pay"]] == rows.loc[0, ["age", "pay"]]).all(axis=1)
    rows.loc[first, "illness"] = "flu"
    rows = rows.sort_values(list(rows.columns), kind="stable")
    schema = pq.read_schema(copy / "table.parquet")
    table = pa.Table.from_pandas(rows, schema=schema, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, copy / "table.parquet", compression="zstd", row_group_size=1 << 17)
    reseal(copy)
    assert {"l-diversity" if name != "closeness" else "t-closeness"} <= broken(copy)


def test_neither_people_nor_their_own_k_are_in_the_release(releases):
    for name in ("people", "own k"):
        content = certificate_of(releases[name])
        assert [column["name"] for column in content["promises"]["columns"]] == ["age", "pay", "illness", "cost"]
        for path in releases[name].iterdir():
            if path.suffix in (".html", ".md", ".json"):
                assert "patient" not in path.read_text(encoding="utf-8")


def counted(groups, values):
    found = DistinctValues()
    half = len(groups) // 2  # in two batches, as row groups come
    for part in (slice(0, half), slice(half, None)):
        found.add(np.array(groups[part], dtype=np.int64), pa.array(values[part]))
    return found


def test_the_figures_of_groups_are_those_worked_by_hand():
    """Group 0 has 3 : 1, e to the power of 0.5623 = 1.7548 equally frequent values; group 1 has 2 : 1 : 1."""
    found = counted([0, 0, 0, 0, 1, 1, 1, 1], ["a", "a", "a", "b", "a", "a", "b", "c"])
    group, _, rows = found.counted()
    assert least_even(group, rows, 2) == pytest.approx(1.7548, abs=1e-4)
    assert most_dominant(group, rows, 2, 2) == 3.0
    assert most_dominant(group, rows, 2, 3) == np.inf, "group 0 has no third value"
    # a, b, c are 5, 2, 1 of 8. Group 0 has 6, 2, 0 eighths: one too many of a. Group 1 has 4, 2, 2: one of c.
    assert farthest(found, 2) == (pytest.approx(1 / 8), False)


def test_closeness_of_numbers_is_that_of_the_paper_which_defined_it():
    """Li, Li and Venkatasubramanian (2007): {3, 4, 5} of 3 to 11 is 0.375 from all; here it is the farthest group."""
    found = counted([0, 0, 0, 1, 1, 1, 2, 2, 2], [3, 4, 5, 6, 8, 11, 7, 9, 10])
    assert farthest(found, 3) == (pytest.approx(0.375), True)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 1, 2, 2.5, 7, 30])), min_size=1, max_size=30))
def test_verify_and_the_owner_count_the_same_distance_with_code_of_their_own(pairs):
    groups = np.unique([group for group, _ in pairs], return_inverse=True)[1].tolist()
    values = [value for _, value in pairs]
    if all(value is None for value in values):
        return
    by_group = defaultdict(lambda: defaultdict(int))
    for group, value in zip(groups, values, strict=True):
        by_group[group]  # a group may have missing values only
        if value is not None:
            by_group[group][str(value)] += 1
    mine, ordered = farthest(counted(groups, values), max(groups) + 1)
    theirs = closeness("cost", list(by_group.values()))
    assert (round(mine, 4), ordered) == (pytest.approx(theirs.t, abs=1.01e-4), theirs.ordered)


def test_values_are_counted_in_every_part_for_a_reader_can_tell_parts_apart(tmp_path):
    """Part 0 is all flu and part 1 all gout: together every group has two values, in its part none has."""
    import pyarrow.parquet as pq

    from tests.release.releases import release_frame

    frame = pd.DataFrame({"age": [1.0] * 6 + [9.0] * 6, "illness": ["flu", "gout"] * 6})
    folder = release_frame(frame, 3, tmp_path / "release", Roles(quasi=("age",), confidential=("illness",)), l=2).folder
    schema = pq.read_schema(folder / "table.parquet")
    (folder / "table").mkdir()
    (folder / "table.parquet").unlink()
    for part, illness in enumerate(["flu", "gout"]):
        table = pa.table({"age": [1.0] * 3 + [9.0] * 3, "illness": [illness] * 6}).cast(schema)
        pq.write_table(table, folder / "table" / f"part-0000{part}.parquet", compression="zstd")
    content = certificate_of(folder)
    content["promises"]["anonymity"]["smallest_group"] = 3
    reseal(folder, content)
    found = verify(folder).broken
    assert [claim.promise for claim in found] == ["l-diversity"]
    assert "a group has 1 value(s)" in found[0].detail
