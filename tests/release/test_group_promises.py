"""Releases whose groups promise more than k: values, closeness, people and a record's own k, alone and together."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import (
    CategoricalMicroaggregation,
    Hierarchy,
    InputError,
    Microaggregation,
    MixedMicroaggregation,
    Roles,
    load,
    protect,
    verify,
)
from shoal.request.request import Request
from tests.release.releases import quietly

pytestmark = pytest.mark.usefixtures("without_attack")

N = 120
EVERYTHING = {"l": 2, "t": 0.5, "person": "patient", "k_column": "crowd"}
TOWNS = Hierarchy.from_pairs(
    [("Wick", "north"), ("Deal", "south"), ("Rye", "south"), ("north", "any"), ("south", "any")]
)
JOBS = Hierarchy.from_pairs([("nurse", "service"), ("cook", "service"), ("service", "any"), ("clerk", "any")])
METHODS = {
    "numbers": (("age", "pay"), Microaggregation(refine=False)),
    "labels": (("town", "job"), CategoricalMicroaggregation(ontology={"town": TOWNS, "job": JOBS})),
    "both": (("age", "town"), MixedMicroaggregation(refine=False, ontology=TOWNS)),
}


def visits() -> pd.DataFrame:
    """Every second patient came twice, and one record asks for a crowd of 15."""
    random = np.random.default_rng(1)
    patient = np.concatenate([np.arange(80), np.arange(0, 80, 2)])
    return pd.DataFrame(
        {
            "patient": [f"p-{number}" for number in patient],
            "age": random.integers(20, 80, N),
            "pay": random.integers(1000, 5000, N),
            "town": random.choice(["Wick", "Deal", "Rye"], N),
            "job": random.choice(["nurse", "cook", "clerk"], N),
            "illness": random.choice(["flu", "gout", "asthma"], N, p=[0.5, 0.3, 0.2]),
            "cost": random.integers(1, 20, N),
            "crowd": [15 if row == 40 else None if row % 2 else 1 for row in range(N)],
        }
    )


def released(folder, data=None, quasi=("age", "pay"), k=4, **asked):
    roles = Roles(quasi=quasi, confidential=("illness", "cost"))
    asked = {"method": Microaggregation(refine=False), "attack": False} | asked
    return quietly(protect, visits() if data is None else data, k, folder, roles=roles, **asked)


def members(made, data, folder):
    """For each released group the original rows in it, by the owner's private mapping."""
    mapping = pq.read_table(folder.with_name(f"{folder.name}-private") / "mapping.parquet").to_pydict()
    rows = defaultdict(list)
    for name, group in zip(mapping["id"], mapping["group"], strict=True):
        rows[group].append(int(name) - 1)
    return [data.iloc[some] for some in rows.values()]


@pytest.mark.parametrize("kind", METHODS)
def test_all_promises_hold_together_for_numbers_labels_and_both(tmp_path, kind):
    quasi, method = METHODS[kind]
    folder = tmp_path / "release"
    made = released(folder, quasi=quasi, method=method, **EVERYTHING)
    assert verify(folder)
    promises = made.certificate["promises"]
    for group in members(made, visits(), folder):
        assert group["patient"].nunique() >= max(4, group["crowd"].max())
        assert group["illness"].nunique() >= 2
    assert min(crowd["people"] for crowd in promises["crowds"]) >= 4
    assert max(crowd["own_k"] for crowd in promises["crowds"]) == 15
    assert all(column["t"] <= 0.5 for column in promises["closeness"]["columns"])


def test_the_crowds_stated_are_those_of_the_private_mapping(tmp_path):
    folder = tmp_path / "release"
    made = released(folder, **EVERYTHING)
    crowds = Counter(
        (len(group), group["patient"].nunique(), int(group["crowd"].fillna(1).max()))
        for group in members(made, visits(), folder)
    )
    stated = {
        (one["rows"], one["people"], one["own_k"]): one["groups"] for one in made.certificate["promises"]["crowds"]
    }
    assert stated == dict(crowds)


def test_without_these_promises_the_certificate_is_as_it_was(tmp_path):
    promises = released(tmp_path / "release").certificate["promises"]
    assert "closeness" not in promises
    assert "crowds" not in promises
    assert promises["diversity"].keys() == {"l", "columns"}


def test_a_person_with_two_equal_rows_is_one_of_the_crowd(tmp_path):
    """Three people with two equal rows each, k=3: by records there are two groups of three, by people one."""
    data = pd.DataFrame({"who": list("aabbcc"), "age": [20, 20, 40, 40, 60, 60], "ill": list("xyxyxy")})
    roles = Roles(quasi=("age",), confidential=("ill",))
    quietly(protect, data, 3, tmp_path / "rows", roles=roles)
    made = quietly(protect, data, 3, tmp_path / "people", roles=roles, person="who")
    assert len(set(pq.read_table(tmp_path / "rows" / "table.parquet")["age"].to_pylist())) == 2
    assert made.certificate["promises"]["crowds"] == [{"groups": 1, "rows": 6, "people": 3, "own_k": None}]
    assert verify(tmp_path / "people")


def test_spellings_of_one_id_are_one_person(tmp_path):
    data = pd.DataFrame({"who": ["A1", "a1 ", "b2", "c3"], "age": [20, 30, 40, 50], "ill": list("xyxy")})
    made = quietly(protect, data, 3, tmp_path / "r", roles=Roles(quasi=("age",), confidential=("ill",)), person="who")
    assert made.certificate["promises"]["crowds"] == [{"groups": 1, "rows": 3, "people": 3, "own_k": None}]


def test_records_that_fewer_than_k_people_have_are_withheld_and_the_report_says_why(tmp_path):
    data = pd.DataFrame({"who": list("abcd") + ["a"] * 5, "age": [30.0, 31, 32, 33, 30, 30, 30, 30, 30]})
    made = quietly(protect, data, 3, tmp_path / "r", roles=Roles(quasi=("age",)), person="who", attack=False)
    assert made.certificate["stated"]["withheld"] == [{"reason": "more records than k people have", "count": 5}]
    assert "more records than k people have" in (tmp_path / "r" / "report.html").read_text()
    assert len(pd.read_csv(made.private / "withheld.csv")) == 5
    assert verify(tmp_path / "r")


def survey(n: int, sizes: list[float], largest: int = 0) -> pd.DataFrame:
    """Households of several sizes; each has an income of its own, which is as good as its number, and a tax class."""
    random = np.random.default_rng(5)
    size = random.choice(len(sizes), n, p=sizes) + 1
    size[0] = largest or size[0]
    of_rows = np.repeat(np.arange(n), size)
    return pd.DataFrame(
        {
            "household": of_rows,
            "rooms": random.integers(1, 7, n)[of_rows],
            "age": random.integers(0, 90, len(of_rows)),
            "income": (10_000 + random.permutation(n))[of_rows],
            "tax": random.choice(["A", "B", "C"], n, p=[0.7, 0.2, 0.1])[of_rows],
        }
    ).sample(frac=1.0, random_state=1, ignore_index=True)


@pytest.mark.parametrize("largest", [0, 40])
@pytest.mark.parametrize("confidential", ["income", "tax"])
def test_people_who_can_be_linked_by_a_confidential_value_share_their_rows_as_often(tmp_path, confidential, largest):
    """Whoever knows how many rows a household has counts how often each income comes in the rows of its crowd."""
    data, folder = survey(120, [0.3, 0.25, 0.2, 0.1, 0.1, 0.02, 0.01, 0.01, 0.01], largest), tmp_path / "release"
    asked = {"allow": ["income"]} if confidential == "income" else {"l": 2}
    roles = Roles(quasi=("rooms", "age"), confidential=(confidential,))
    made = quietly(protect, data, 4, folder, roles=roles, person="household", refine=False, attack=False, **asked)
    assert verify(folder)
    mapping = pq.read_table(made.private / "mapping.parquet").to_pandas()
    released = pq.read_table(folder / "table.parquet").to_pandas().iloc[mapping["released_row"] - 1]
    origin = mapping["id"].astype(int).to_numpy() - 1
    released = released.assign(
        household=data["household"].to_numpy()[origin], row=list(zip(released.rooms, released.age, strict=True))
    )
    rows_of = released.groupby("household")["row"].agg(lambda rows: tuple(sorted(rows)))
    for rows in set(rows_of):
        alike = rows_of.index[rows_of == rows]
        assert len(alike) >= 4
        if confidential == "tax":
            assert released.loc[released["household"].isin(alike), "tax"].nunique() >= 2


def test_kept_columns_have_people_with_as_many_rows_in_each_of_their_values(tmp_path):
    data = survey(120, [0.4, 0.3, 0.2, 0.06, 0.04]).drop(columns="income")
    roles = Roles(quasi=("rooms", "age"), confidential=("tax",))
    asked = {"person": "household", "treat": {"rooms": "keep"}, "refine": False, "attack": False}
    made = quietly(protect, data, 4, tmp_path / "release", roles=roles, **asked)
    assert verify(tmp_path / "release")
    mapping = pq.read_table(made.private / "mapping.parquet").to_pandas()
    households = data["household"].to_numpy()[mapping["id"].astype(int) - 1]
    rows_of = mapping["group"].groupby(households).agg(lambda groups: tuple(sorted(groups)))
    assert rows_of.value_counts().min() >= 4


def test_a_household_that_decides_a_column_is_one_however_many_rows_it_has(tmp_path):
    """Nine rows with the same income: none makes up a third of what varies, all together nearly everything."""
    usual = np.random.default_rng(3).integers(10_000, 90_000, 60)
    data = pd.DataFrame({"who": np.repeat(np.arange(60), 9), "income": np.repeat(np.append(usual[1:], 10**9), 9)})
    made = quietly(protect, data, 3, tmp_path / "r", roles=Roles(quasi=("income",)), person="who", attack=False)
    assert made.certificate["stated"]["loss_range"]["reason"].startswith("in some column one record or person makes up")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=40, max_size=40),
    st.sampled_from([{}, {"l": 2}, {"t": 0.5}, {"l": 1.5, "diversity": "entropy"}]),
)
def test_every_group_has_k_people_whoever_has_how_many_rows(tmp_path_factory, people, asked):
    folder = tmp_path_factory.mktemp("people") / "release"
    data = visits().head(40).assign(patient=people)
    if data["patient"].nunique() < 4:
        return
    try:
        made = released(folder, data, person="patient", **asked)
    except InputError as problem:
        assert "t=0.5 leaves one group" in str(problem)
        return
    assert verify(folder)
    groups = members(made, data, folder)
    assert all(group["patient"].nunique() >= 4 for group in groups)
    people_of_group = [set(group["patient"]) for group in groups]
    for person in set(people):  # whoever looks up all rows of a person finds at least k people behind all of them
        assert len(set.intersection(*(others for others in people_of_group if person in others))) >= 4


@pytest.mark.parametrize(
    "asked",
    [{"t": 0.5}, {"k_column": "crowd"}, {"l": 1.6, "diversity": "entropy"}, {"l": 2, "t": 0.4, "k_column": "crowd"}],
)
def test_a_table_in_parts_keeps_the_same_promises(tmp_path, asked):
    data = pd.concat([visits(), visits().assign(age=lambda rows: rows["age"] + 1)], ignore_index=True)
    for number in range(3):
        data.iloc[number::3].to_parquet(tmp_path / f"part-{number}.parquet")
    folder = tmp_path / "release"
    released(folder, str(tmp_path / "part-*.parquet"), method=Microaggregation(refine=False, blocks=60), **asked)
    checked = verify(folder)
    assert checked, checked.broken
    assert (folder / "table" / "part-00000.parquet").is_file()


def test_people_need_one_file_because_their_rows_may_lie_in_several_parts(tmp_path):
    visits().to_parquet(tmp_path / "part-0.parquet")
    visits().to_parquet(tmp_path / "part-1.parquet")
    with pytest.raises(InputError, match="person needs one file"):
        released(tmp_path / "release", str(tmp_path / "part-*.parquet"), method=Microaggregation(), person="patient")


def households(n: int) -> pd.DataFrame:
    """Members of households of one to five under one roof each; one of them is the head."""
    random = np.random.default_rng(2)
    size = random.integers(1, 6, n)
    member = np.concatenate([np.arange(count) for count in size])
    return pd.DataFrame(
        {
            "household": np.repeat(np.arange(n), size),
            "roof": np.repeat(random.choice(["tile", "tin", "straw"], n, p=[0.6, 0.3, 0.1]), size),
            "rooms": np.repeat(random.integers(1, 7, n), size),
            "age": np.where(member < 2, random.integers(25, 75, len(member)), random.integers(0, 25, len(member))),
            "relation": np.array(["head", "spouse", "child", "child", "child"])[member],
            "illness": random.choice(["flu", "gout", "asthma", "none"], len(member)),
        }
    )


@pytest.mark.parametrize("asked", [{}, {"l": 2}])
def test_households_stay_whole_under_one_roof(tmp_path, asked):
    data, folder = households(120), tmp_path / "release"
    roles = Roles(quasi=("roof", "rooms", "age", "relation"), confidential=("illness",))
    categories = ["roof", "relation"]
    made = quietly(
        protect, data, 4, folder, roles=roles, categorical=categories, person="household", refine=False, **asked
    )
    assert verify(folder)
    mapping = pq.read_table(made.private / "mapping.parquet").to_pandas()
    released = pq.read_table(folder / "table.parquet").to_pandas().iloc[mapping["released_row"] - 1]
    released = released.assign(household=data["household"].to_numpy()[mapping["id"].astype(int) - 1])
    for _, rows in released.groupby("household"):
        assert rows["roof"].nunique() == 1
        assert rows["rooms"].nunique() == 1
    for _, group in released.groupby(["roof", "rooms", "age", "relation"]):
        assert group["household"].nunique() >= 4
        assert group["illness"].nunique() >= asked.get("l", 1)


def test_many_rows_of_one_person_have_no_weight_in_a_mean(tmp_path):
    """a has nine rows and the others one each: the mean is that of one row per person."""
    data = pd.DataFrame({"who": list("abc") + ["a"] * 8, "age": [90.0, 30, 30] + [90] * 8})
    quietly(protect, data, 3, tmp_path / "r", roles=Roles(quasi=("age",)), person="who")
    assert set(pq.read_table(tmp_path / "r" / "table.parquet")["age"].to_pylist()) == {50.0}


def test_documents_promise_closeness_of_their_labels(tmp_path):
    from tests.release.releases import release_letters

    made = release_letters(tmp_path, t=0.5)
    assert verify(made.folder)
    assert made.certificate["promises"]["closeness"]["t"] == 0.5


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"t": 0.001}, "t=0.001 leaves one group of all 120 records; raise it, or name fewer confidential columns"),
        ({"l": 4}, "l=4 needs 4 different values, column illness has 3; lower l"),
        ({"l": 2.9, "diversity": "entropy"}, "l=2.9 by entropy is more than column illness has in all"),
        ({"l": 3, "diversity": "recursive", "c": 0.1}, "c=0.1 with l=3 is less than column illness has in all"),
        ({"person": "patient", "k": 81}, "k=81 needs at least 81 people, column patient has 80; lower k or add people"),
        ({"person": "illness"}, "column illness is for person and would be released, too"),
        ({"person": "pateint"}, "did you mean patient"),
        ({"k_column": "town"}, "column town is .*string, and a crowd is a whole number"),
        ({"k_column": "patient", "person": "patient"}, "column patient is named for two things"),
    ],
)
def test_what_the_table_cannot_give_is_refused_in_one_line(tmp_path, asked, message):
    with pytest.raises(InputError, match=message):
        released(tmp_path / "release", **asked)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([500] + [1] * (N - 1), "column crowd asks for a crowd of 500, and there are 120 records; lower it to 120"),
        ([2.5] + [1] * (N - 1), "column crowd: 1 value no whole number from 1 to .* .first in row 1"),
        ([0] + [1] * (N - 1), "column crowd: 1 value no whole number"),
    ],
)
def test_an_own_k_that_cannot_be_is_refused(tmp_path, column, message):
    with pytest.raises(InputError, match=message):
        released(tmp_path / "release", visits().assign(crowd=column), k_column="crowd")


def test_rows_of_nobody_are_refused(tmp_path):
    with pytest.raises(InputError, match="column patient: 1 value missing"):
        released(tmp_path / "release", visits().assign(patient=["a", "b", None] + ["c"] * (N - 3)), person="patient")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"l": 1.5}, "l=1.5 must be a whole number of at least 2"),
        ({"l": 1, "diversity": "entropy"}, "l=1 must be .* with entropy a number above 1"),
        ({"diversity": "entropy"}, "diversity='entropy' needs l"),
        ({"l": 2, "diversity": "recursive"}, "diversity='recursive' needs c"),
        ({"l": 2, "c": 3}, "c=3 is for diversity='recursive'"),
        ({"l": 2, "diversity": "some"}, "diversity='some' is not known; use one of distinct, entropy, recursive"),
        ({"l": 2, "diversity": "recursive", "c": -1}, "c=-1 must be a number above 0"),
        ({"t": 0}, "t=0 must be a number above 0 and at most 1"),
        ({"t": 1.1}, "t=1.1 must be a number above 0 and at most 1"),
        ({"t": float("nan")}, "t=nan must be"),
        ({"t": True}, "t=True must be"),
        ({"person": " "}, "person=' ' names no column"),
    ],
)
def test_promises_that_cannot_be_are_refused_before_anything_is_read(asked, message):
    with pytest.raises(InputError, match=message):
        Request.of(None, asked)


@pytest.mark.parametrize(("asked", "option"), [({"t": 0.3}, "t=0.3"), ({"person": "patient"}, "person='patient'")])
def test_masking_without_groups_cannot_promise_anything_of_them(tmp_path, asked, option):
    from shoal import RankSwap

    with pytest.raises(InputError, match=f"{option} needs groups, and rank swapping makes none; leave it out"):
        released(tmp_path / "release", method=RankSwap(5), **asked)


def test_households_stay_under_one_roof_with_one_head_whatever_is_withheld(tmp_path: Path) -> None:
    random, rows = np.random.default_rng(5), []
    for home in range(90):
        roof, size = random.choice(["tile", "tin", "slate"]), 9 if home == 0 else 1 + int(random.integers(0, 4))
        for member in range(size):
            relation = "head" if member == 0 else random.choice(["spouse", "child", "parent"])
            rows.append((home, roof, relation, int(random.integers(0, 80)), random.choice(["f", "m"])))
    data = pd.DataFrame(rows, columns=["home", "roof", "relation", "age", "sex"])
    data = data.sample(frac=1.0, random_state=1)
    data.to_csv(tmp_path / "homes.csv", index=False)
    quasi = ["roof", "relation", "age", "sex"]
    made = quietly(protect, tmp_path / "homes.csv", 4, tmp_path / "release", quasi=quasi, household="home")
    assert verify(made.folder)
    pairs = pq.read_table(made.private / "mapping.parquet").to_pandas()
    assert len(pairs) < len(data)  # the household of nine has rows withheld, and not its head
    released = load(made.folder).table.to_pandas().iloc[pairs["released_row"] - 1]
    homes = released.groupby(data["home"].to_numpy()[pairs["id"] - 1])
    assert homes.ngroups == 90
    assert (homes["roof"].nunique() == 1).all()
    assert homes["relation"].apply(lambda shown: (shown == "head").sum() == 1).all()
