"""Numbers and labels together: the loop is MDAV, scales make columns equal, and what is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import CategoricalMicroaggregation, Hierarchy, InputError, Microaggregation, MixedMicroaggregation
from shoal.data.frames import columns_of
from shoal.kernels.grouping.group_errors import Problem
from shoal.methods.items import equal_rows, grouped_items
from shoal.methods.label_columns import ColumnReading, label_column, pack
from shoal.methods.mdav import numbered_by_first_row
from tests.reference import categorical as twin
from tests.reference import mdav as reference
from tests.reference.taxonomy import links
from tests.terms.hierarchies import hierarchies, hierarchy_of

SPORTS = Hierarchy.from_pairs(
    [
        ("soccer", "football"),
        ("rugby", "football"),
        ("football", "sport"),
        ("swimming", "water"),
        ("surfing", "water"),
        ("water", "sport"),
    ]
)
PEOPLE = pd.DataFrame(
    {
        "age": [20, 22, 24, 61, 63, 65, 40, 41],
        "sport": ["soccer", "rugby", "soccer", "surfing", "swimming", "surfing", None, "soccer"],
        "hours": [1.0, 2.0, 1.0, 8.0, 9.0, 8.0, 4.0, 5.0],
    },
    index=list("abcdefgh"),
)


def plain(k=2, **parameters):
    return MixedMicroaggregation(k, refine=False, **({"ontology": SPORTS} | parameters))


# The loop


@st.composite
def mixed_tables(draw):
    """A hierarchy for each of up to two labels, and rows of up to two whole numbers and these labels."""
    parents = [draw(hierarchies()) for _ in range(draw(st.integers(1, 2)))]
    labels = [st.sampled_from(draw(st.lists(st.sampled_from(sorted(one)), min_size=1, max_size=5))) for one in parents]
    numbers = [st.integers(-3, 3)] * draw(st.integers(0, 2))
    rows = draw(st.lists(st.tuples(st.tuples(*numbers), st.tuples(*labels)), min_size=4, max_size=30))
    return parents, rows


@given(mixed_tables(), st.integers(2, 4))
def test_items_are_grouped_as_by_brute_force(table, k):
    """Whole numbers, and as square of a distance the links between two concepts by way of the root: no rounding."""
    parents, rows = table
    labels = []
    squares = []
    for place, one in enumerate(parents):
        column = columns_of(pl.DataFrame({"x": [row[1][place] for row in rows]}), ["x"])[0]
        labels.append(label_column(ColumnReading("x", hierarchy_of(one)), column, 1))
        names = [labels[-1].reading.ontology.label(concept) for concept in labels[-1].concepts]
        values = [names[own] for own in labels[-1].concept_of_value]
        squares.append([[apart(one, a, b) for b in values] for a in names])
    table = pack(labels)
    packed = np.zeros((len(parents), table.depth.shape[1], table.distance.shape[1]))
    for place, square in enumerate(squares):
        packed[place, : len(square), : len(square[0])] = square
    numbers = np.array([row[0] for row in rows], dtype=float).reshape(len(rows), -1)
    codes = np.column_stack([one.codes for one in labels])

    meanings = [twin.Meaning(one) for one in parents]

    def distance(a, b):
        by_number = sum((x - y) ** 2 for x, y in zip(a[0], b[0], strict=True))
        return by_number + sum(apart(one, y, x) for one, x, y in zip(parents, a[1], b[1], strict=True))

    def centre(some):
        means = tuple(sum(column) / len(some) for column in zip(*(row[0] for row in some), strict=True))
        return means, twin.centroid(meanings, Counter(row[1] for row in some))

    items, item_of_row = equal_rows(numbers, codes)
    assert [rows[item_of_row.tolist().index(item)] for item in range(len(items.counts))] == list(Counter(rows))
    found = grouped_items(Problem(items, table, packed, of_mean=False), k)
    expected = reference.item_groups(Counter(rows), k, distance, centre(rows))
    assert found.tolist() == numbered_by_first_row(np.array(expected)).tolist()


def apart(parents, a, b):
    root = next(concept for concept, above in parents.items() if not above)
    return 0 if a == b else links(parents, a, root) + links(parents, b, root)


def test_numbers_alone_are_grouped_about_as_well_as_in_a_numeric_table():
    X = np.random.default_rng(0).normal(size=(60, 3))
    mixed, numeric = MixedMicroaggregation(4, refine=False).fit(X), Microaggregation(4, refine=False).fit(X)
    assert np.bincount(mixed.groups_).min() >= 4
    assert mixed.sse_ == pytest.approx(numeric.sse_, rel=0.15)


@given(st.lists(st.sampled_from(["soccer", "rugby", "surfing", None]), min_size=4, max_size=20))
def test_labels_alone_get_the_centroid_of_the_categorical_method(sports):
    rows = pd.DataFrame({"sport": pd.Series(sports, dtype=object)})
    mixed = plain(len(sports)).fit(rows)
    assert (
        mixed.representatives_.tolist()
        == CategoricalMicroaggregation(len(sports), ontology=SPORTS).fit(rows).representatives_.tolist()
    )


# Scales and weights


def test_every_column_has_mean_square_one_to_the_centre_of_the_table():
    """One group of all: the loss of a column is then its weight a row."""
    for weights in (None, {"sport": 4.0, "age": 0.5}):
        model = MixedMicroaggregation(len(PEOPLE), ontology=SPORTS, weights=weights).fit(PEOPLE)
        expected = 3.0 if weights is None else 4.0 + 0.5 + 1.0
        assert model.sse_ / len(PEOPLE) == pytest.approx(expected)
        assert model.information_loss_ == 1.0


def test_a_heavy_column_decides_the_groups():
    rows = pd.DataFrame({"age": [20, 60, 21, 61], "sport": ["soccer", "soccer", "surfing", "surfing"]})
    by_age = plain(weights={"age": 100}).fit(rows).groups_
    by_sport = plain(weights={"sport": 100}).fit(rows).groups_
    assert by_age[0] == by_age[2] != by_age[1] == by_age[3]
    assert by_sport[0] == by_sport[1] != by_sport[2] == by_sport[3]


def test_the_representative_has_the_mean_of_the_numbers_and_the_centroid_of_the_labels():
    masked = plain(3).fit_transform(PEOPLE[:6])
    assert masked.loc["a"].tolist() == [22.0, "soccer", pytest.approx(4 / 3)]
    assert masked.loc[["a", "b", "c"]].drop_duplicates().shape == (1, 3)


# What comes in and what goes out


def test_what_comes_out_is_of_the_kind_that_came_in():
    masked = plain().fit_transform(PEOPLE)
    assert masked.index.tolist() == list("abcdefgh")
    assert masked["age"].dtype == np.float64
    polars = plain().fit_transform(pl.from_pandas(PEOPLE.reset_index(drop=True)))
    assert polars.schema == {"age": pl.Float64, "sport": pl.String, "hours": pl.Float64}
    assert polars.rows() == [tuple(row) for row in masked.replace({np.nan: None}).values.tolist()]


@given(mixed_tables(), st.integers(2, 4), st.booleans())
def test_every_released_row_is_shared_by_k(table, k, refine):
    parents, rows = table
    frame = pl.DataFrame(
        {f"n{place}": [row[0][place] for row in rows] for place in range(len(rows[0][0]))}
        | {f"l{place}": [row[1][place] for row in rows] for place in range(len(parents))}
    )
    ontology = {f"l{place}": hierarchy_of(one) for place, one in enumerate(parents)}
    model = MixedMicroaggregation(k, ontology=ontology, refine=refine, time_budget=0.005)
    masked = model.fit_transform(frame)
    assert min(Counter(masked.rows()).values()) >= k
    assert np.bincount(model.groups_).min() >= k


def test_roles_turn_numbers_into_labels():
    by_type = plain().fit(PEOPLE)
    assert by_type.kinds_ == ["numeric", "categorical", "numeric"]
    assert plain(roles=["sport", "hours"]).fit(PEOPLE).kinds_ == ["numeric", "categorical", "categorical"]
    model = plain(roles={"hours": "categorical"}).fit(PEOPLE)
    assert set(model.representatives_[:, 2]) <= {*PEOPLE["hours"], None}


def test_transform_gives_new_rows_the_nearest_representative():
    model = plain(3).fit(PEOPLE[:6])
    new = pd.DataFrame({"age": [19, 70], "sport": ["football", "water"], "hours": [1.0, 9.0]})
    assert model.transform(new)["sport"].tolist() == ["soccer", "surfing"]
    assert model.transform(new)["age"].tolist() == [22.0, 63.0]


def test_other_groups_for_the_same_rows_have_their_own_representatives():
    model = plain(3).fit(PEOPLE)
    distance = model.distance_to_groups(PEOPLE)
    every = np.arange(len(model.representatives_))
    for group in every:
        assert distance(np.flatnonzero(model.groups_ == group), every).argmin() == group
    model.fit_groups(PEOPLE, np.zeros(len(PEOPLE), dtype=np.int64))
    assert model.representatives_.shape == (1, 3)
    assert model.information_loss_ == 1.0


# What is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 9}, "k=9 needs at least 9 rows, got 8"),
        ({"roles": "sport"}, "roles must be a dict"),
        ({"roles": {"sprot": "categorical"}}, "roles names sprot, which is not a column"),
        ({"roles": {"sport": "label"}}, "the role 'label'; use 'numeric' or 'categorical'"),
        ({"roles": {"sport": "numeric"}}, "column sport is .*string, not numbers; make it categorical in roles"),
        ({"weights": [1, 2]}, "weights must be a dict"),
        ({"weights": {"age": 0}}, "weights gives column age 0; give a number above 0"),
        ({"weights": {"aeg": 1}}, "weights names aeg, which is not a column"),
        ({"time_budget": 0}, "time_budget=0"),
    ],
)
def test_impossible_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        plain(**parameters).fit(PEOPLE)


def test_missing_numbers_are_refused_and_missing_labels_are_not():
    people = PEOPLE.assign(age=[20, None, 24, 61, 63, 65, 40, 41])
    with pytest.raises(InputError, match=r"column age: 1 missing \(NaN\) or infinite value \(first in row 2\)"):
        plain().fit(people)
    assert plain(roles={"age": "categorical"}).fit(people).k_anonymous_
