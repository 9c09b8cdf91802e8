"""Records on one scale: numbers, labels, and an order that does not depend on the one they came in."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.attacks.learned.records import label_columns, side_by_side
from shoal.errors import InputError

ANIMALS = shoal.Hierarchy.from_pairs(
    [("poodle", "dog"), ("beagle", "dog"), ("siamese", "cat"), ("dog", "animal"), ("cat", "animal")]
)


def test_each_table_has_mean_0_and_deviation_1() -> None:
    # 1, 3 has mean 2 and deviation 1; 10, 30 mean 20 and deviation 10; a constant column is 0.
    records = side_by_side([[1.0, 5.0], [3.0, 5.0]], [[30.0, 7.0], [10.0, 8.0]])
    moving, still = records.names.index("column 1"), records.names.index("column 2")
    order = np.argsort(records.order)
    assert records.before[order][:, moving].tolist() == [-1.0, 1.0]
    assert records.after[order][:, moving].tolist() == [1.0, -1.0]
    assert records.before[order][:, still].tolist() == [0.0, 0.0]
    assert records.after[order][:, still].tolist() == [-1.0, 1.0]
    # From the first original to both masked records: 2 and 0 apart in the first column.
    apart = records.differences(np.flatnonzero(records.order == 0))[0][order]
    assert apart[:, moving].tolist() == [-2.0, 0.0]


def test_the_order_is_that_of_the_content() -> None:
    random = np.random.default_rng(0)
    before, after = random.normal(size=(2, 9, 3)).round(1)
    rows, columns = random.permutation(9), [2, 0, 1]
    one, other = side_by_side(before, after), side_by_side(before[rows][:, columns], after[rows][:, columns])
    assert one.before.tolist() == other.before.tolist()
    assert one.after.tolist() == other.after.tolist()
    assert rows[other.order].tolist() == one.order.tolist()


def test_each_row_can_have_masked_records_of_its_own() -> None:
    random = np.random.default_rng(1)
    town = random.choice(["x", "y", "z"], 6).tolist()
    records = side_by_side(*random.normal(size=(2, 6, 2)), label_columns({"town": town}, {"town": town[::-1]}))
    rows, others = np.array([4, 0]), np.array([[1, 5, 2], [0, 0, 3]])
    everything = records.differences(np.arange(6))
    assert records.differences(rows, others).tolist() == [
        everything[4, [1, 5, 2]].tolist(),
        everything[0, [0, 0, 3]].tolist(),
    ]
    assert records.differences(rows, np.array([3])).tolist() == everything[[4, 0]][:, [3]].tolist()


def test_labels_are_as_far_apart_as_numbers_are_on_average() -> None:
    # Of a, a, b, b against a, b, b, b half of all pairs differ; 2 is the mean square of numbers, so these are 2 apart.
    column = label_columns({"kind": list("aabb")}, {"kind": list("abbb")})[0]
    assert column.apart.tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert column.before.tolist() == [0, 0, 1, 1]
    assert column.after.tolist() == [0, 1, 1, 1]
    # Nothing differs: nothing to scale.
    assert label_columns({"kind": ["a", "a"]}, {"kind": ["a", "a"]})[0].apart.tolist() == [[0.0]]


def test_an_ontology_says_which_labels_are_near() -> None:
    were, are = ["poodle", "beagle", "siamese", "rock"], ["dog", "dog", "cat", "rock"]
    column = label_columns({"kind": were}, {"kind": are}, {"kind": ANIMALS})[0]
    squares = dict(zip(sorted(were), (column.apart**2).tolist(), strict=True))
    to_cat, to_dog, to_rock = range(3)
    # Wu and Palmer: poodle and dog 2 * 2 / (1 + 0 + 2 * 2) alike, so 1/5 apart; poodle and cat 2 / (2 + 1 + 2), 3/5.
    assert squares["poodle"][to_cat] == pytest.approx(3 * squares["poodle"][to_dog])
    assert squares["siamese"][to_dog] == pytest.approx(3 * squares["siamese"][to_cat])
    # What the ontology does not know is equal or not: 0 or 1 apart, five times as far as poodle and dog.
    assert squares["rock"][to_rock] == 0.0
    assert squares["rock"][to_dog] == pytest.approx(5 * squares["poodle"][to_dog])
    # 12 of 16 pairs differ by equality; here the mean square is 2 all the same.
    assert np.mean(column.apart[column.before][:, column.after] ** 2) == pytest.approx(2.0)


def test_one_ontology_serves_all_columns_or_each_has_its_own() -> None:
    values = {"kind": ["poodle", "siamese"], "town": ["dog", "cat"]}
    for_all = label_columns(values, values, ANIMALS)
    for_one = label_columns(values, values, {"kind": ANIMALS})
    assert for_all[0].apart.tolist() == for_one[0].apart.tolist()
    # Of two towns half of all pairs differ by equality, whatever their names mean.
    assert for_one[1].apart.tolist() == [[0.0, 2.0], [2.0, 0.0]]


def test_masked_records_that_are_equal_in_numbers_and_labels_are_one_class() -> None:
    numbers = [[1.0], [1.0], [1.0], [2.0]]
    labels = label_columns({"kind": list("aaab")}, {"kind": list("aaba")})
    records = side_by_side(numbers, numbers, labels)
    classes = records.crowds.of_record[np.argsort(records.order)]
    assert classes[0] == classes[1]
    assert len({classes[0], classes[2], classes[3]}) == 3


def test_an_attribute_can_be_left_out() -> None:
    random = np.random.default_rng(2)
    labels = label_columns({"kind": list("abca")}, {"kind": list("abba")})
    records = side_by_side(*random.normal(size=(2, 4, 2)), labels)
    assert set(records.names) == {"column 1", "column 2", "kind"}
    everything = records.differences(np.arange(4))
    for name in records.names:
        rest, place = records.without(name), records.names.index(name)
        kept = [one for one in range(3) if one != place]
        assert rest.names == tuple(records.names[one] for one in kept)
        assert rest.differences(np.arange(4)).tolist() == everything[..., kept].tolist()


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        side_by_side(None, None)
    with pytest.raises(InputError, match="3 rows and the protected table 2"):
        side_by_side(np.ones((3, 1)), np.ones((2, 1)))
