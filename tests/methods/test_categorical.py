"""Tables of labels: groups are those of the twin, k holds, and what comes out is of the kind that came in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.label_baselines import BASELINES, LabelBaseline
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from shoal import CategoricalMicroaggregation, Hierarchy, InputError
from shoal.methods.label_columns import ABSENT, ColumnReading
from tests.reference import categorical as twin
from tests.terms.hierarchies import hierarchies, hierarchy_of

SPORTS = Hierarchy.from_pairs(
    [
        ("contact_sport", "sport"),
        ("boxing", "contact_sport"),
        ("football", "contact_sport"),
        ("soccer", "football"),
        ("rugby", "football"),
        ("water_sport", "sport"),
        ("swimming", "water_sport"),
        ("surfing", "water_sport"),
    ]
)
COUNTRIES = Hierarchy.from_pairs(
    [("Spain", "Europe"), ("France", "Europe"), ("Japan", "Asia"), ("Europe", "World"), ("Asia", "World")]
)
PEOPLE = pd.DataFrame(
    {
        "sport": ["soccer", "rugby", "surfing", None, "boxing", "surfing", "swimming", "soccer"],
        "country": ["Spain", "Spain", "France", "Japan", "Japan", "France", "France", "Spain"],
    },
    index=list("abcdefgh"),
)
BOTH = {"sport": SPORTS, "country": COUNTRIES}


@st.composite
def tables(draw, most_columns=2, most_rows=24):
    """A hierarchy a column, and rows of its concepts or missing values; few different ones, so that they repeat."""
    parents = [draw(hierarchies()) for _ in range(draw(st.integers(1, most_columns)))]
    cells = [
        st.sampled_from([*draw(st.lists(st.sampled_from(sorted(one)), min_size=1, max_size=6)), None])
        for one in parents
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=4, max_size=most_rows))
    return parents, rows


def model(parents, k, method=None, **parameters):
    """SA-MDAV, or the baseline of that name."""
    ontology = {str(place): hierarchy_of(one) for place, one in enumerate(parents)}
    if method is None:
        return CategoricalMicroaggregation(k, ontology=ontology, **parameters)
    return LabelBaseline(k, method=method, ontology=ontology, **parameters)


def frame(rows):
    return pl.DataFrame(
        {str(place): list(column) for place, column in enumerate(zip(*rows, strict=True))}, strict=False
    ).with_columns(pl.all().cast(pl.String))


def groups_found(fitted, rows):
    """Each group as the count of its tuples, missing values as the twin writes them."""
    found = {}
    for group, row in zip(fitted.groups_.tolist(), rows, strict=True):
        found.setdefault(group, Counter())[tuple(cell or "" for cell in row)] += 1
    return [dict(found[group]) for group in sorted(found)]


def written(label):
    return "" if label is None else label


# The twin


@given(tables(), st.integers(2, 5), st.sampled_from([None, "sa-mdav-static"]))
def test_the_adaptive_methods_group_as_their_twin_does(table, k, method):
    parents, rows = table
    k = min(k, len(rows))
    fitted = model(parents, k, method=method).fit(frame(rows))
    meanings = [twin.Meaning(one) for one in parents]
    counts = Counter(tuple(cell or "" for cell in row) for row in rows)
    expected = twin.sa_mdav(meanings, counts, k, static=method == "sa-mdav-static")
    assert groups_found(fitted, rows) == expected
    for group, representative in zip(expected, fitted.representatives_, strict=True):
        assert tuple(map(written, representative)) == twin.centroid(meanings, Counter(group))
    assert fitted.sse_ == pytest.approx(loss_of_twin(meanings, expected))


@given(tables(), st.integers(2, 5), st.sampled_from(["s-mdav", "mdav-lcs", "mdav-mode"]))
def test_the_methods_with_groups_of_k_group_as_their_twin_does(table, k, method):
    parents, rows = table
    k = min(k, len(rows))
    fitted = model(parents, k, method=method).fit(frame(rows))
    kinds = {"s-mdav": twin.Meaning, "mdav-lcs": twin.Generalised, "mdav-mode": lambda _: twin.Equality()}
    meanings = [kinds[method](one) for one in parents]
    named = [tuple(cell or "" for cell in row) for row in rows]
    expected = twin.fixed_mdav(meanings, named, k, weighted=method == "s-mdav", whole=method == "mdav-mode")
    assert fitted.groups_.tolist() == expected
    for group, representative in enumerate(fitted.representatives_):
        members = Counter(row for row, its_group in zip(named, expected, strict=True) if its_group == group)
        assert tuple(map(written, representative)) == twin.centroid(meanings, members)


@given(tables(most_columns=1))
def test_the_centroid_is_the_cheapest_of_its_candidates(table):
    """One group of all rows: nothing on a path up to the least common subsumer is nearer to them."""
    parents, rows = table
    fitted = model(parents, len(rows)).fit(frame(rows))
    meaning = twin.Meaning(parents[0])
    counts = Counter(row[0] or "" for row in rows)
    costs = {one: meaning.cost(one, counts) for one in meaning.candidates(frozenset(counts))}
    assert costs[written(fitted.representatives_[0, 0])] == min(costs.values())
    assert fitted.information_loss_ in (0.0, 1.0)


def loss_of_twin(meanings, groups):
    errors = (twin.error(meanings, group, twin.centroid(meanings, Counter(group))) for group in groups)
    return float(sum(errors))


# k and order


@given(tables(most_columns=3), st.integers(2, 6), st.sampled_from([None, *BASELINES]))
def test_every_group_has_k_rows_and_every_released_row_is_shared_by_k(table, k, method):
    parents, rows = table
    k = min(k, len(rows))
    fitted = model(parents, k, method=method)
    masked = fitted.fit_transform(frame(rows))
    assert np.bincount(fitted.groups_).min() >= k
    assert min(Counter(masked.rows()).values()) >= k


@given(tables(), st.randoms(use_true_random=False), st.sampled_from([None, "sa-mdav-static"]))
def test_the_order_of_rows_does_not_matter(table, random, method):
    parents, rows = table
    shuffled = random.sample(rows, len(rows))
    one, two = (model(parents, 2, method=method) for _ in range(2))
    masked = Counter(zip(rows, one.fit_transform(frame(rows)).rows(), strict=True))
    assert masked == Counter(zip(shuffled, two.fit_transform(frame(shuffled)).rows(), strict=True))
    assert one.sse_ == pytest.approx(two.sse_)


def test_rows_given_twice_make_the_same_groups():
    """Counts double, and k with them: the same tuples go together."""
    once = CategoricalMicroaggregation(2, ontology=BOTH).fit(PEOPLE)
    twice = CategoricalMicroaggregation(4, ontology=BOTH).fit(pd.concat([PEOPLE, PEOPLE]))
    assert twice.groups_.tolist() == [*once.groups_.tolist(), *once.groups_.tolist()]


# What comes in and what goes out


def test_values_with_the_same_meaning_are_one_value():
    people = pd.DataFrame({"sport": ["soccer", "Soccer", "footie", "boxing", "boxing", "boxing"]})
    fitted = CategoricalMicroaggregation(3, ontology=SPORTS, mapping={"footie": "soccer"})
    assert fitted.fit_transform(people)["sport"].tolist() == ["soccer"] * 3 + ["boxing"] * 3


def test_a_spelling_goes_out_only_if_k_rows_have_it():
    """Two rows say kick-about, one says soccer: the release says so with k=2, and what the ontology says with k=3."""
    people = pd.DataFrame({"sport": ["kick-about", "kick-about", "soccer"]})
    mapping = {"kick-about": "soccer"}
    spelt = [
        CategoricalMicroaggregation(k, ontology=SPORTS, mapping=mapping).fit_transform(people)["sport"].tolist()
        for k in (2, 3)
    ]
    assert spelt == [["kick-about"] * 3, ["soccer"] * 3]


def test_a_missing_value_is_a_value_of_its_own_and_stays_missing():
    people = pd.DataFrame({"sport": ["soccer", None, "", "NA", "soccer", "soccer"]})
    masked = CategoricalMicroaggregation(3, ontology=SPORTS).fit_transform(people)
    assert masked["sport"].isna().tolist() == [False, True, True, True, False, False]


def test_what_is_far_from_everything_is_far_from_a_missing_value_too():
    """A missing value is right below the root, as water_sport is: 2 links apart, so 2 / (2 + 2)."""
    people = pd.DataFrame({"sport": ["water_sport", "water_sport", None, None]})
    fitted = CategoricalMicroaggregation(4, ontology=SPORTS).fit(people)
    # Ties go to the deeper and then to the smaller name: both are at depth 2, and the missing value has no name.
    assert fitted.representatives_.tolist() == [[None]]
    assert fitted.sse_ == pytest.approx(2 * 0.5**2)


@pytest.mark.parametrize(
    "convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"]
)
def test_what_comes_out_is_of_the_kind_that_came_in(convert):
    people = PEOPLE.reset_index(drop=True)
    masked = CategoricalMicroaggregation(2, ontology=BOTH).fit_transform(convert(people))
    assert type(masked) is type(convert(people))
    expected = CategoricalMicroaggregation(2, ontology=BOTH).fit_transform(PEOPLE)
    back = masked if isinstance(masked, pd.DataFrame) else masked.to_pandas()
    assert back.replace({np.nan: None}).values.tolist() == expected.replace({np.nan: None}).values.tolist()


def test_pandas_keeps_its_row_labels_and_takes_categories():
    masked = CategoricalMicroaggregation(2, ontology=BOTH).fit_transform(PEOPLE.astype("category"))
    assert masked.index.tolist() == list("abcdefgh")
    assert masked.columns.tolist() == ["sport", "country"]


def test_arrays_and_lists_work_as_well():
    rows = [["soccer"], ["soccer"], ["boxing"], ["boxing"]]
    for X in (rows, np.array(rows), np.array(rows, dtype=object)):
        masked = CategoricalMicroaggregation(2, ontology=SPORTS).fit_transform(X)
        assert masked.dtype == object
        assert masked.tolist() == rows


def test_numbers_are_labels_without_structure():
    """4 rows of 7 and one of 9: the mode stands for them. Of three alike, none does: the root, which is any number."""
    one = CategoricalMicroaggregation(5).fit_transform(np.array([[7.0], [7.0], [9.0], [7.0], [7.0]]))
    assert one.tolist() == [[7.0]] * 5
    many = CategoricalMicroaggregation(4).fit_transform(np.array([[1], [2], [3], [4]]))
    assert np.isnan(many).all()


def test_numbers_may_have_a_hierarchy_of_their_own():
    ages = Hierarchy.from_pairs([("21", "young"), ("22", "young"), ("61", "old"), ("old", "any"), ("young", "any")])
    people = pd.DataFrame({"age": [21, 22, 61, 61]})
    masked = CategoricalMicroaggregation(2, ontology={"age": ages}).fit_transform(people)
    assert masked["age"].tolist() == ["21", "21", "61", "61"]


def test_transform_gives_new_rows_the_nearest_representative():
    fitted = CategoricalMicroaggregation(2, ontology=BOTH).fit(PEOPLE)
    new = pd.DataFrame({"sport": ["football", "water_sport"], "country": ["Spain", "Europe"]})
    assert fitted.transform(new).values.tolist() == [["soccer", "Spain"], ["surfing", "France"]]
    assert set(map(tuple, fitted.transform(PEOPLE).values)) <= set(map(tuple, fitted.representatives_))


def test_other_groups_for_the_same_rows_have_their_own_representatives():
    fitted = CategoricalMicroaggregation(2, ontology=BOTH).fit(PEOPLE)
    every = np.arange(len(fitted.representatives_))
    to_groups = fitted.distance_to_groups(PEOPLE)(np.arange(len(PEOPLE)), every)
    assert to_groups.shape == every.shape
    fitted.fit_groups(PEOPLE, np.zeros(len(PEOPLE), dtype=np.int64))
    assert len(fitted.representatives_) == 1
    assert fitted.information_loss_ == 1.0


# What is refused


@pytest.mark.parametrize("k", [1, 0, 9, 2.5, True, "3"])
def test_an_impossible_k_is_refused(k):
    with pytest.raises(InputError, match="k="):
        CategoricalMicroaggregation(k, ontology=BOTH).fit(PEOPLE)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="method='mode' is not known; use one of: sa-mdav-static"):
        LabelBaseline(2, method="mode", ontology=BOTH).fit(PEOPLE)


def test_unknown_values_are_counted_and_never_quoted():
    people = pd.DataFrame({"sport": ["soccer", "quidditch", "quidditch", "secret", "soccer"]})
    with pytest.raises(InputError) as refused:
        CategoricalMicroaggregation(2, ontology=SPORTS).fit(people)
    assert str(refused.value) == (
        "column sport: 2 values not in the hierarchy; take all as plain categories (categorical='sport'), map them "
        "with `shoal map INPUT sport -o mapping.csv`, or give a hierarchy of your own with ontology"
    )


def test_unknown_values_in_new_rows_are_refused():
    fitted = CategoricalMicroaggregation(2, ontology=BOTH).fit(PEOPLE)
    with pytest.raises(InputError, match="column sport: 1 value not in the hierarchy"):
        fitted.transform(pd.DataFrame({"sport": ["quidditch"], "country": ["Spain"]}))


def test_a_mapping_to_a_concept_that_is_not_there_is_refused_without_quoting_it():
    with pytest.raises(
        InputError, match="column sport: the mapping gives 1 value a concept that the hierarchy has not"
    ):
        CategoricalMicroaggregation(2, ontology=BOTH, mapping={"sport": {"soccer": "quidditch"}}).fit(PEOPLE)


def test_cells_of_several_types_are_refused():
    people = pd.DataFrame({"sport": ["soccer", 3, "soccer"]})
    with pytest.raises(InputError, match="column sport mixes text and numbers"):
        CategoricalMicroaggregation(2, ontology=SPORTS).fit(people)


def test_a_column_with_too_many_values_is_refused():
    with pytest.raises(InputError, match="column 0: 12000 different values are too many to compare"):
        CategoricalMicroaggregation(2).fit(np.arange(12000.0)[:, None])


def test_an_ontology_for_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="ontology names 1 column that is not there: sprot"):
        CategoricalMicroaggregation(2, ontology={"sprot": SPORTS}).fit(PEOPLE)


def test_parameters_survive_cloning():
    fitted = CategoricalMicroaggregation(2, ontology=BOTH, mapping={"sport": {"a": "soccer"}}).fit(PEOPLE)
    assert clone(fitted).get_params() == fitted.get_params()


# Refinement


@given(tables(), st.integers(2, 4), st.sampled_from([None, "sa-mdav-static"]))
def test_refinement_never_raises_the_loss_and_keeps_tuples_whole(table, k, method):
    parents, rows = table
    k = min(k, len(rows))
    plain = model(parents, k, method=method).fit(frame(rows))
    refined = model(parents, k, method=method, refine=True, time_budget=0.005).fit(frame(rows))
    assert refined.sse_ <= plain.sse_ + 1e-12
    assert np.bincount(refined.groups_).min() >= k
    group_of = {}
    for row, group in zip(rows, refined.groups_.tolist(), strict=True):
        assert group_of.setdefault(row, group) == group


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_to_refinement(table, random):
    parents, rows = table
    shuffled = random.sample(rows, len(rows))
    one, two = (model(parents, 2, refine=True, time_budget=0.005, random_state=3) for _ in range(2))
    masked = Counter(zip(rows, one.fit_transform(frame(rows)).rows(), strict=True))
    assert masked == Counter(zip(shuffled, two.fit_transform(frame(shuffled)).rows(), strict=True))


def test_groups_that_split_tuples_are_not_refined():
    with pytest.raises(InputError, match="refine=True is for sa-mdav-static; leave it out for 'mdav-lcs'"):
        LabelBaseline(2, method="mdav-lcs", ontology=BOTH, refine=True).fit(PEOPLE)


# A column on its own


@given(hierarchies())
def test_a_missing_value_is_as_far_as_a_concept_right_below_the_root(parents):
    reading = ColumnReading("x", hierarchy_of(parents))
    names = sorted(parents)
    numbers = np.array([reading.ontology.concept(name) for name in names])
    meaning = twin.Meaning(parents)
    found = reading.distances(np.append(numbers, ABSENT), np.array([ABSENT]))
    assert found[:, 0].tolist() == [float(meaning.distance(name, "")) for name in [*names, ""]]


def test_methods_of_the_benchmarks_are_not_methods_of_the_estimator() -> None:
    with pytest.raises(InputError, match="method='s-mdav' is not known; use 'sa-mdav'"):
        CategoricalMicroaggregation(2, method="s-mdav", ontology=BOTH).fit(PEOPLE)
