"""Attacks on sketches: by the key, by known records, and for the sketch of a record."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from shoal import InputError
from shoal.attacks.sketches.records import SketchedRecords, SketchLinkage, hits
from shoal.attacks.sketches.recovery import Expectations, KeyHolder, KnownRecords, message_passing
from shoal.kernels.grouping.spherical import csr
from shoal.kernels.sketching.recovery import believed_signs

Signs = np.ndarray


def random_signs(items: int, components: int, seed: int = 0) -> Signs:
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (items, components))


def baskets(count: int, items: int, size: int, seed: int = 1) -> sp.csr_matrix:
    random = np.random.default_rng(seed)
    drawn = np.concatenate([np.sort(random.choice(items, size, replace=False)) for _ in range(count)])
    return sp.csr_matrix((np.ones(count * size), drawn, np.arange(0, count * size + 1, size)), shape=(count, items))


def sketched(records: sp.csr_matrix, signs: Signs) -> SketchedRecords:
    """Every record by itself, with all components."""
    offsets = np.arange(records.shape[0] + 1) * signs.shape[1]
    return SketchedRecords.each_its_own(records, (records @ signs.astype(np.float64)).ravel(), offsets)


def in_crowds(records: sp.csr_matrix, groups: np.ndarray, signs: Signs) -> SketchedRecords:
    """The sums of each group, scaled to length 1."""
    member = sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    pools = normalize(sp.csr_matrix(member @ records))
    values = (pools @ signs.astype(np.float64))[groups].ravel()
    return SketchedRecords(records, values, np.arange(len(groups) + 1) * signs.shape[1], pools, groups)


# Scores


def test_as_many_items_are_named_as_the_record_has_and_ties_count_by_their_chance() -> None:
    # Two items: the first is named for sure, the second is one of three that tie for the second place.
    shares, whole = hits(np.array([[5.0, 2.0, 2.0, 2.0, 0.0]]), sp.csr_matrix([[1, 1, 0, 0, 0]]))
    assert shares.tolist() == pytest.approx([(1 + 1 / 3) / 2])
    assert whole.tolist() == pytest.approx([1 / 3])


@given(st.lists(st.integers(0, 3), min_size=4, max_size=6), st.integers(1, 15))
def test_the_chance_of_a_hit_is_the_mean_over_all_ways_to_break_ties(scores: list[int], chosen: int) -> None:
    from itertools import permutations

    own = {item for item in range(4) if chosen >> item & 1}
    shares, whole = [], []
    for order in permutations(range(len(scores))):
        named = set(sorted(order, key=lambda item: -scores[item])[: len(own)])
        shares.append(len(named & own) / len(own))
        whole.append(named == own)
    record = sp.csr_matrix([[float(item in own) for item in range(len(scores))]])
    found, found_whole = hits(np.array([scores], dtype=np.float64), record)
    assert found[0] == pytest.approx(np.mean(shares))
    assert found_whole[0] == pytest.approx(np.mean(whole))


def test_the_baseline_names_the_most_frequent_items() -> None:
    # Items 0 and 1 are in most baskets: {0, 1} is guessed whole, {0, 2} by half, {3} not at all.
    records = sp.csr_matrix([[1.0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]])
    recovered = KeyHolder().run(sketched(records, random_signs(4, 8)), random_signs(4, 8))
    assert recovered.items.baseline == (1 + 1 + 0.5 + 0) / 4
    assert recovered.whole.baseline == 2 / 4


# Whoever has the key


def test_every_basket_of_two_is_recovered_from_enough_components() -> None:
    records, signs = baskets(50, 100, 2), random_signs(100, 40)
    recovered = KeyHolder().run(sketched(records, signs), signs)
    assert recovered.items.rate == recovered.whole.rate == 1.0


def test_knowing_that_entries_are_0_or_1_recovers_most_baskets_of_ten_from_fifty_components() -> None:
    records, signs = baskets(200, 300, 10), random_signs(300, 50)
    assert KeyHolder().run(sketched(records, signs), signs).whole.rate > 0.6


def test_components_after_the_end_of_a_sketch_have_no_bearing() -> None:
    signs = random_signs(30, 24).astype(np.float32)
    record = np.zeros(30, np.float32)
    record[[3, 7]] = 1.0
    short = (record @ signs)[None, :20].copy()
    padded = np.pad(short, ((0, 0), (0, 4)))
    expected = Expectations(*(np.full(30, value, np.float32) for value in (0.1, 1.0, 0.0)))
    lengths = np.array([20])
    one = message_passing(padded, lengths, signs, expected)
    assert np.allclose(one, message_passing(short, lengths, signs[:, :20].copy(), expected), atol=1e-4)
    assert np.flatnonzero(one[0] > 0.5).tolist() == [3, 7]


# Whoever knows records


@pytest.mark.slow
def test_as_many_known_records_as_items_give_every_sign() -> None:
    # The identity and more: each sign can be read from a basket of one.
    records = sp.csr_matrix(sp.vstack([sp.identity(12), sp.identity(12), baskets(12, 12, 3)]))
    signs = random_signs(12, 16)
    curve = KnownRecords(known=[35], attacked=1).run(sketched(sp.csr_matrix(records), signs), signs)
    assert curve[0].signs == 1.0


def test_the_more_records_are_known_the_more_items_of_others_are_recovered() -> None:
    records, signs = baskets(400, 200, 8), random_signs(200, 24)
    curve = KnownRecords(known=[10, 120, 300], attacked=100).run(sketched(records, signs), signs)
    assert [point.known for point in curve] == [10, 120, 300]
    assert curve[1].signs > 0.6
    assert curve[0].strangers.items.rate < curve[1].strangers.items.rate < curve[2].strangers.items.rate
    key = KeyHolder(attacked=100).run(sketched(records, signs), signs)
    assert curve[2].strangers.items.rate == pytest.approx(key.items.rate, abs=0.05)


def test_more_components_never_help_against_who_knows_records() -> None:
    # Signs learned from crowds are wrong alike in many components: trusted blindly, more of them mislead more.
    random = np.random.default_rng(3)
    chance = 1.0 / np.arange(1, 151)
    drawn = random.random((600, 150)) < 3.0 * chance  # a few items are in most baskets, as words are in texts
    drawn[:, 100:] |= random.random((600, 50)) < 0.05
    records = sp.csr_matrix(drawn.astype(np.float64))
    records = records[np.diff(records.indptr) > 0]
    groups = np.arange(records.shape[0]) // 5
    rates = []
    for components in (32, 512):
        signs = random_signs(150, components)
        crowds = in_crowds(records, np.minimum(groups, records.shape[0] // 5 - 1), signs)
        curve = KnownRecords(known=[200], attacked=200).run(crowds, signs)
        rates.append(curve[0].strangers.items)
    assert rates[1].rate >= rates[0].rate - 0.01
    assert rates[1].rate > rates[1].baseline


def test_more_known_records_than_there_are_is_all_there_are() -> None:
    records, signs = baskets(20, 30, 3), random_signs(30, 8)
    curve = KnownRecords(known=[5, 600, 1_000], attacked=10).run(sketched(records, signs), signs)
    assert [point.known for point in curve] == [5, 10]


def test_components_that_no_known_record_has_leave_their_signs_unknown() -> None:
    records = sp.csr_matrix(np.eye(3))
    signs = random_signs(3, 4)
    table = signs.astype(np.float32)
    found = believed_signs(csr(records), 3, table, np.array([2, 2, 4]), np.full(3, 0.3))
    assert np.sign(found[:, :2]).tolist() == signs[:, :2].tolist()
    assert found[:2, 2:].tolist() == [[0, 0], [0, 0]]
    assert np.sign(found[2]).tolist() == signs[2].tolist()


# Crowds


def test_a_crowd_sketch_gives_no_more_than_the_pool() -> None:
    records, signs = baskets(300, 120, 6), random_signs(120, 256)
    crowds = in_crowds(records, np.arange(300) // 5, signs)
    attack = KeyHolder(attacked=300)
    openly = attack.openly(crowds)
    assert attack.run(crowds, signs).items.rate <= openly.items.rate + 0.005
    known = KnownRecords(known=[150], attacked=150).run(crowds, signs)[0]
    assert known.strangers.items.rate <= openly.items.rate
    # Alone, the same records are recovered whole.
    assert attack.run(sketched(records, signs), signs).whole.rate == 1.0


def test_a_published_pool_of_two_baskets_without_common_items_names_half_of_each() -> None:
    records = sp.csr_matrix([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    openly = KeyHolder().openly(in_crowds(records, np.array([0, 0]), random_signs(4, 8)))
    assert openly.items.rate == 0.5
    assert openly.whole.rate == pytest.approx(1 / 6)  # two of four items


# Whoever looks for the sketch of a record


def test_with_the_key_a_record_is_linked_to_its_own_sketch_and_copies_share_the_chance() -> None:
    records = sp.csr_matrix([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    signs = random_signs(4, 32)
    rate = SketchLinkage().with_key(sketched(records, signs), signs)
    assert rate.chances is not None
    assert rate.chances.tolist() == [0.5, 0.5, 1, 1]
    assert rate.baseline == 1 / 4


def test_in_a_crowd_of_k_a_record_is_linked_with_a_chance_of_at_most_one_in_k() -> None:
    records, signs = baskets(60, 40, 5), random_signs(40, 64)
    crowds = in_crowds(records, np.arange(60) // 3, signs)
    for rate in (SketchLinkage().with_key(crowds, signs), SketchLinkage().without_key(crowds)):
        assert rate.chances is not None
        assert rate.chances.max() <= 1 / 3


def test_without_the_key_parity_tells_baskets_apart_and_the_number_of_components_tells_more() -> None:
    # One component, so the mean square of a basket of 2 is 0 or 4, of 3 it is 1 or 9.
    records = sp.csr_matrix([[1.0, 1, 0, 0], [1, 1, 1, 0]])
    signs = np.array([[1], [1], [1], [1]], np.int8)
    rate = SketchLinkage().without_key(sketched(records, signs))
    assert rate.rate == 1.0
    same = sp.csr_matrix([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]])
    ones = np.array([[1], [1], [1]], np.int8)
    assert SketchLinkage().without_key(sketched(same, ones)).rate == pytest.approx(1 / 3)
    two = SketchedRecords.each_its_own(same, np.array([2.0, 2, 2, 2, 2]), np.array([0, 1, 2, 5]))
    assert SketchLinkage().without_key(two, np.array([1, 1, 3])).chances.tolist() == [0.5, 0.5, 1]  # type: ignore[union-attr]


# All


def test_attacks_do_not_depend_on_the_number_of_threads_and_repeat_for_a_random_state() -> None:
    records, signs = baskets(300, 80, 6), random_signs(80, 24)
    target = sketched(records, signs)

    def figures(random_state: int) -> tuple[object, ...]:
        ways = KeyHolder(attacked=150, random_state=random_state).run(target, signs)
        curve = KnownRecords(known=[40, 100], attacked=150, random_state=random_state).run(target, signs)
        linked = SketchLinkage(attacked=150, random_state=random_state)
        return ways, curve, linked.with_key(target, signs), linked.without_key(target)

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        alone = figures(7)
    finally:
        numba.set_num_threads(before)
    assert alone == figures(7)
    assert alone != figures(8)


def test_withheld_records_are_not_attacked() -> None:
    records = sp.csr_matrix([[1.0, 1, 0], [0, 0, 0], [0, 1, 1]])
    values, offsets = np.array([2.0, 0.0, 2.0, 2.0]), np.array([0, 2, 4, 4])
    assert SketchedRecords.each_its_own(records, values, offsets).filled.tolist() == [0]


def test_shapes_that_do_not_go_together_are_refused() -> None:
    records = baskets(3, 10, 2)
    with pytest.raises(InputError, match="2 sketches"):
        SketchedRecords.each_its_own(records, np.zeros(4), np.array([0, 2, 4]))
    with pytest.raises(InputError, match="signs of 9 items"):
        KeyHolder().run(sketched(records, random_signs(10, 4)), random_signs(9, 4))
    with pytest.raises(InputError, match="nothing to attack"):
        SketchedRecords.each_its_own(records, np.zeros(0), np.zeros(4, np.int64))
