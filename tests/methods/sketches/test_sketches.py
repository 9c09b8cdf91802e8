"""Sketches of records: sums of signs, in any order, with any company."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, SphericalMicroaggregation
from shoal.data.baskets import count_baskets
from shoal.methods.sketches import (
    CrowdSketch,
    DeltaSketch,
    KVarianceSketch,
    Sketches,
    SketchKey,
    SketchKMeans,
    SketchNeighborsClassifier,
)
from shoal.methods.sketches.k_variance import _blocks, _rows_per_entry
from shoal.methods.sketches.sketches import SketchedRows
from tests.reference import sketching as slow

KEY = SketchKey(bytes(range(32)))
ITEMS = ["bread", "milk", "tea", "rice", "salt", "oil", "jam", "egg"]
baskets = st.dictionaries(st.sampled_from(ITEMS), st.integers(1, 9), min_size=2, max_size=6)


@given(st.lists(baskets, min_size=1, max_size=6))
def test_a_sketch_is_the_sum_of_counts_times_signs(records: list[dict[str, int]]) -> None:
    sketches = DeltaSketch(0.5, max_components=7, key=KEY).fit_transform(records)
    signs = {term: KEY.signs([term], 7)[0].tolist() for term in ITEMS}
    for row, record in enumerate(records):
        assert sketches[row].tolist() == slow.sketch(record, signs, int(sketches.lengths[row]))


@given(baskets, baskets)
def test_the_sketch_of_a_sum_is_the_sum_of_the_sketches(one: dict[str, int], other: dict[str, int]) -> None:
    both = {term: one.get(term, 0) + other.get(term, 0) for term in {*one, *other}}
    model = DeltaSketch(1e-3, max_components=16, key=KEY)
    assert np.array_equal(model.one(both), model.one(one) + model.one(other))


@given(
    st.lists(st.sampled_from(ITEMS), min_size=2, max_size=12).filter(lambda items: len(set(items)) > 1), st.randoms()
)
def test_the_order_of_items_is_irrelevant(items: list[str], random) -> None:
    shuffled = random.sample(items, len(items))
    model = DeltaSketch(0.01, key=KEY)
    assert np.array_equal(model.one(items), model.one(shuffled))


def test_a_record_has_the_same_sketch_alone_in_company_and_as_a_row_of_a_matrix() -> None:
    records = [["milk", "tea", "tea"], ["zebra", "aloe", "milk"]]
    together = DeltaSketch(0.1, max_components=30, key=KEY).fit_transform(records)
    alone = DeltaSketch(0.1, max_components=30, key=KEY).one(records[0])
    matrix = sp.csr_matrix([[2.0, 0.0, 1.0]])
    row = DeltaSketch(0.1, max_components=30, key=KEY, terms=["tea", "rice", "milk"]).fit_transform(matrix)
    assert np.array_equal(together[0], alone)
    assert np.array_equal(row[0], alone)


def test_long_sketches_are_made_in_pieces_with_the_same_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [["milk", "tea"], ["rice", "oil", "jam"]]
    whole = DeltaSketch(0.01, max_components=100, key=KEY).fit_transform(records)
    monkeypatch.setattr("shoal.methods.sketches.sketches.TABLE", 64)
    pieces = DeltaSketch(0.01, max_components=100, key=KEY).fit_transform(records)
    assert whole.values.tobytes() == pieces.values.tobytes()
    assert whole.lengths.tolist() == [100, 100]


def test_delta_allows_the_most_components_that_keep_the_variance() -> None:
    # |x|² - max = 2, 1 and 0: with delta 0.3 at most 6, 3 and 0 components.
    sketches = DeltaSketch(0.3, key=KEY).fit_transform([["a", "b", "c"], ["a", "b"], ["a"]])
    assert sketches.lengths.tolist() == [6, 3, 0]
    assert sketches.withheld.tolist() == [False, False, True]
    assert DeltaSketch(0.3, max_components=4, key=KEY).fit_transform([["a", "b", "c"]]).lengths.tolist() == [4]


@given(st.lists(baskets, min_size=1, max_size=8), st.floats(0.01, 20.0))
def test_every_attribute_keeps_its_variance(records: list[dict[str, int]], delta: float) -> None:
    lengths = DeltaSketch(delta, max_components=50, key=KEY).fit_transform(records).lengths
    for record, length in zip(records, lengths, strict=True):
        squares = sorted(value * value for value in record.values())
        rest = sum(squares[:-1])
        assert length == 0 or rest / length >= delta
        assert length == 50 or rest / (length + 1) < delta


def unlike(records: list[dict[str, int]]) -> bool:
    """No two neighbours of a record are equally near: who is nearest is then beyond doubt."""
    for row, record in enumerate(records):
        cosines = sorted(slow.cosine(record, other) for place, other in enumerate(records) if place != row)
        if any(b - a < 1e-6 for a, b in pairwise(cosines)):
            return False
    return True


@given(st.lists(baskets, min_size=4, max_size=7).filter(unlike), st.integers(1, 3))
def test_every_pair_of_k_variance_holds(records: list[dict[str, int]], k: int) -> None:
    model = KVarianceSketch(k, max_components=40, key=KEY).fit(records)
    lengths = model.sketches_.lengths
    nearest = slow.neighbours(records, k)
    assert model.neighbours_.tolist() == nearest
    for row, others in enumerate(nearest):
        for other in others:
            assert slow.pair_holds(records[row], records[other], int(min(lengths[row], lengths[other])))


@given(st.lists(baskets, min_size=4, max_size=7).filter(unlike))
def test_no_record_could_have_a_component_more(records: list[dict[str, int]]) -> None:
    lengths = KVarianceSketch(2, max_components=40, key=KEY).fit_transform(records).lengths
    nearest = slow.neighbours(records, 2)
    pairs = {(row, other) for row, others in enumerate(nearest) for other in others}
    for row in np.flatnonzero(lengths < 40):
        more = lengths.copy()
        more[row] += 1
        held = [slow.pair_holds(records[a], records[b], int(min(more[a], more[b]))) for a, b in pairs]
        assert not all(held)


def test_pairs_hold_for_all_true_neighbours_when_neighbours_are_searched_for_in_blocks() -> None:
    random = np.random.default_rng(1)
    names = [str(item) for item in range(30)]
    records = [dict.fromkeys(random.choice(names, size=random.integers(3, 9), replace=False), 1) for _ in range(120)]
    model = KVarianceSketch(3, max_components=40, blocks=20, key=KEY).fit(records)
    exact = slow.neighbours(records, 3)
    assert model.neighbours_.tolist() != exact  # some were missed
    lengths = model.sketches_.lengths
    assert lengths.max() > 1
    for row, others in enumerate(exact):
        for other in others:
            assert slow.pair_holds(records[row], records[other], int(min(lengths[row], lengths[other])))


def test_blocks_are_cut_until_an_item_is_in_a_thousand_records_of_a_block_on_average() -> None:
    # 4,000 rows: an item that all have, and one of 100. An entry is compared with (4,000² + 100 · 40²) / 8,000 rows.
    columns = np.column_stack((np.zeros(4_000, dtype=np.int64), 1 + np.arange(4_000) % 100)).ravel()
    unit = sp.csr_matrix((np.full(8_000, 0.5**0.5), columns, np.arange(0, 8_001, 2)), shape=(4_000, 101))
    assert _rows_per_entry(unit) == 2_020
    blocks = _blocks(unit, 3_000, 6)
    assert len(blocks) > 2
    assert all(_rows_per_entry(unit[rows]) <= 1_000 for rows in blocks)
    assert np.array_equal(np.sort(np.concatenate(blocks)), np.arange(4_000))


def test_a_crowd_shares_its_sketch_to_the_last_bit() -> None:
    random = np.random.default_rng(0)
    records = [random.choice(ITEMS, size=4, replace=False).tolist() for _ in range(23)]
    model = CrowdSketch(5, components=16, key=KEY, random_state=0).fit([*records, []])
    rows = [model.sketches_[row].tobytes() for row in range(23)]
    assert min(rows.count(row) for row in rows) >= 5
    assert model.groups_[23] == -1
    assert len(model.group_sketches_) == model.groups_.max() + 1
    assert model.sketches_[7].tobytes() == model.group_sketches_[model.groups_[7]].tobytes()
    assert model.sketches_.withheld.tolist() == [False] * 23 + [True]


def test_the_sketch_of_a_crowd_is_that_of_its_pooled_counts() -> None:
    model = CrowdSketch(2, components=8, key=KEY).fit(
        [{"milk": 3, "tea": 1}, {"milk": 1, "tea": 0, "jam": 5}, {"tea": 2}]
    )
    signs = KEY.signs(["milk", "tea"], 8).astype(float)  # only one record has jam
    assert model.sketches_[0] == pytest.approx((4 * signs[0] + 3 * signs[1]) / 5)


def test_a_method_that_does_not_keep_k_is_refused() -> None:
    class Alone(SphericalMicroaggregation):
        def fit(self, X, y=None):
            self.groups_ = np.arange(X.shape[0])
            return self

    with pytest.raises(InputError, match="the method made a group of 1, and k=2"):
        CrowdSketch(2, method=Alone(), key=KEY).fit([["a", "b"], ["a", "b"]])


def test_a_key_from_a_seed_comes_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="can be guessed"):
        model = DeltaSketch(0.1, random_state=7).fit([["a", "b"]])
    assert model.key_ == SketchKey.from_seed(7)


def test_numbers_are_names_of_items_wherever_they_stand() -> None:
    model = DeltaSketch(0.2, key=KEY)
    alone = model.one([1, 2, 3])
    assert np.array_equal(alone, model.one(["1", "2", "3"]))
    assert np.array_equal(alone, model.transform([["z", "y"], [1, 2, 3]])[1])


def test_weights_whose_products_vanish_do_no_harm() -> None:
    # 1e-200 squared is 0: rows that share a column are then as far apart as strangers.
    model = KVarianceSketch(1, max_components=4, key=KEY).fit(np.full((4, 300), 1e-200))
    assert model.neighbours_.shape == (4, 1)


def test_a_term_is_the_same_however_its_letters_are_composed() -> None:
    assert np.array_equal(KEY.signs(["caf\u00e9"], 20), KEY.signs(["cafe\u0301"], 20))


def test_the_same_key_gives_the_same_bytes_and_a_drawn_one_others() -> None:
    records = [["milk", "tea"], ["rice", "oil", "jam"]]
    same = [DeltaSketch(0.1, key=KEY).fit_transform(records).values.tobytes() for _ in range(2)]
    drawn = [DeltaSketch(0.1).fit_transform(records).values.tobytes() for _ in range(2)]
    assert same[0] == same[1]
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(
    ("model", "X", "says"),
    [
        (DeltaSketch(0), [["a", "b"]], "delta=0 must be a number above 0"),
        (DeltaSketch(float("nan")), [["a", "b"]], "must be a number above 0"),
        (DeltaSketch(max_components=0), [["a", "b"]], "max_components=0 must be a whole number from 1"),
        (DeltaSketch(key=b"secret"), [["a", "b"]], "key must be a SketchKey, got bytes"),
        (DeltaSketch(), ["a text"], "record 1: neither a list of items nor a mapping"),
        (DeltaSketch(), [[1.5, 2.5]], "record 1: an item is neither text nor a whole number"),
        (DeltaSketch(), [[True]], "record 1: an item is neither text"),
        (DeltaSketch(), [[["a"]]], "record 1: an item is neither text"),
        (DeltaSketch(), [["\ud800"]], "record 1: an item has control characters"),
        (CrowdSketch(2), np.array([[0.5, 1.0], [1.0, 1.0]]), "crowd sketches need whole numbers"),
        (DeltaSketch(), [["a\x07", "b"]], "record 1: an item has control characters"),
        (DeltaSketch(), [["a"], [""]], "record 2: an item is empty or has more than 1,000 letters"),
        (DeltaSketch(), [{"a": -1}], "record 1: a count is not a number from 0"),
        (DeltaSketch(), [{"a": 1e300}], "record 1: a count is not a number from 0"),
        (DeltaSketch(), np.array([[1.0, -2.0]]), "Negative values in data, the least -2"),
        (DeltaSketch(terms=["a"]), np.array([[1.0, 2.0]]), "1 terms for 2 columns"),
        (KVarianceSketch(0), [["a"], ["b"]], "k=0 must be a whole number"),
        (KVarianceSketch(2), [["a"], ["b"], []], "k=2 needs at least 3 records with items, got 2"),
        (CrowdSketch(5), [["a"], ["a"]], "k=5 needs at least 5 rows, got 2"),
        (CrowdSketch(2, components=1.5), [["a"], ["a"]], "components=1.5 must be a whole number"),
    ],
)
def test_bad_input_is_one_clear_line(model, X, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        model.fit(X)
    assert "\n" not in str(error.value)


def test_rows_are_taken_by_number_slice_mask_and_list() -> None:
    sketches = Sketches.of([[1.0, 2.0], None, [3.0]])
    assert len(sketches) == 3
    assert sketches[-1].tolist() == [3.0]
    assert sketches[~sketches.withheld].values.tolist() == [1.0, 2.0, 3.0]
    assert sketches[[2, 0]].values.tolist() == [3.0, 1.0, 2.0]
    assert sketches[:2].lengths.tolist() == [2, 0]


@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=1, max_size=30),
    st.lists(st.integers(0, 20), min_size=30, max_size=30),
)
def test_sketches_are_sorted_as_lists_of_numbers_are(baskets, lengths):
    X, items = count_baskets(baskets)
    rows = SketchedRows(X, KEY.hashed(items), KEY, np.array(lengths[: len(baskets)]), decimals=3)
    lists = [row.tolist() for row in map(rows.all().__getitem__, range(len(baskets)))]
    different, place = rows.sorted()
    expected = sorted(set(map(tuple, lists)))
    assert [tuple(different.all()[row]) for row in range(len(different))] == expected
    assert [expected[row] for row in place] == [tuple(row) for row in lists]
    assert rows.take(np.array([0]))[0].tolist() == lists[0]


def test_a_text_is_no_list_of_items() -> None:
    with pytest.raises(InputError, match="neither a list of items nor a mapping"):
        DeltaSketch(0.5, key=KEY).one("abc")


def test_estimators_of_sketches_take_sketches_only() -> None:
    for model in (SketchKMeans(2), SketchNeighborsClassifier(1)):
        with pytest.raises(InputError, match="got ndarray; give Sketches"):
            model.fit(np.eye(3), [0, 1, 0])


def test_numbers_that_are_not_finite_are_no_sketch() -> None:
    with pytest.raises(InputError, match="not finite"):
        Sketches.of([[1.0, np.nan]])


def test_sketches_are_an_array_with_nothing_behind_their_last_component() -> None:
    sketches = Sketches.of([[1.0, 2.0], None, [3.0]])
    assert sketches.shape == (3, 2)
    np.testing.assert_array_equal(np.asarray(sketches), [[1.0, 2.0], [np.nan, np.nan], [3.0, np.nan]])


def test_a_dataframe_may_bring_new_columns_and_a_matrix_must_have_those_it_was_fitted_to() -> None:
    model = DeltaSketch(0.1, key=KEY).fit(pd.DataFrame({"tea": [1, 2], "rice": [2, 1]}))
    wider = model.transform(pd.DataFrame({"rice": [1], "tea": [2], "milk": [0]}))
    assert np.array_equal(wider[0], model.sketches_[1])
    assert model.feature_names_in_.tolist() == ["tea", "rice"]  # as fitted
    with pytest.raises(ValueError, match="X has 3 features, but DeltaSketch is expecting 2"):
        model.transform(np.ones((1, 3)))
