"""What leaks: who finds how many, and by which attributes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.attacks.learned.distances import plain
from shoal.attacks.learned.leakage import Leakage, _leading, learn_worst_case
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import label_columns, side_by_side
from shoal.errors import InputError
from tests.reference import measures as slow

NAMES = ["V1", "V2", "V3", "V4", "V5", "V6", "V7"]


def noisy(n_records, noise, seed=0):
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, len(noise)))
    after = before + np.array(noise) * random.normal(size=before.shape)
    return tuple(pd.DataFrame(table, columns=NAMES[: len(noise)]) for table in (before, after))


def rates(leak):
    return (leak.plain, leak.mahalanobis, leak.honest, leak.worst)


@pytest.fixture(scope="module")
def uneven():
    """7 independent columns, the noise of each 5 % of its spread more than that of the one before."""
    return Leakage(repeats=2).run(*noisy(150, [0.05 * (place + 1) for place in range(7)]))


def test_the_column_with_the_least_noise_is_named_first(uneven) -> None:
    assert uneven.attributes[0].name == "V1"
    assert uneven.attributes[0].weight == max(one.weight for one in uneven.attributes)
    assert uneven.attributes[0].shapley == max(one.shapley for one in uneven.attributes)
    alone = {one.name: one.alone for one in uneven.attributes}
    assert alone["V1"] > alone["V7"]
    without = {one.name: one.without for one in uneven.attributes}
    assert without["V1"] <= min(without.values()) + 0.01


def test_every_rate_lies_in_its_interval_and_beside_a_guess(uneven) -> None:
    for rate in rates(uneven):
        assert 0 <= rate.low <= rate.rate <= rate.high <= 1
        assert rate.baseline == 1 / 150
        assert rate.chances.mean() == pytest.approx(rate.rate)
        assert len(rate.chances) == len(rate.targets) == rate.n
        assert rate.targets.tolist() == sorted(set(rate.targets.tolist()))
    assert uneven.plain.n == uneven.mahalanobis.n == uneven.worst.n == uneven.learned_on == 150
    assert uneven.links_known == 75
    assert uneven.proof is None
    assert 75 <= uneven.honest.n <= 150


def test_who_knows_all_links_finds_no_less_than_who_knows_none(uneven) -> None:
    assert uneven.worst.rate >= max(uneven.plain.rate, uneven.mahalanobis.rate)


def test_shares_sum_to_one_and_the_measure_is_one(uneven) -> None:
    assert sorted(one.name for one in uneven.attributes) == NAMES
    assert sum(one.weight for one in uneven.attributes) == pytest.approx(1.0)
    assert sum(one.shapley for one in uneven.attributes) == pytest.approx(1.0)
    assert sorted(uneven.measured) == NAMES
    assert len(uneven.measure) == 2**7
    assert slow.is_monotone(uneven.measure)
    assert (uneven.measure[0], uneven.measure[-1]) == (0.0, 1.0)
    assert len(uneven.pairs) == 21
    strengths = [abs(pair.interaction) for pair in uneven.pairs]
    assert strengths == sorted(strengths, reverse=True)


def test_shapley_values_and_pairs_are_those_of_the_measure() -> None:
    leak = Leakage(repeats=1).run(*noisy(40, [0.2, 0.6, 1.0]))
    shares = dict(zip(leak.measured, slow.shares(leak.measure), strict=True))
    assert {one.name: one.shapley for one in leak.attributes} == pytest.approx(shares)
    for pair in leak.pairs:
        places = leak.measured.index(pair.one), leak.measured.index(pair.other)
        assert pair.interaction == pytest.approx(slow.interaction(leak.measure, *places))


def test_the_same_seed_gives_the_same_leak_and_order_changes_nothing() -> None:
    before, after = noisy(40, [0.2, 0.6, 1.0])
    attack = Leakage(repeats=1, random_state=3)
    leak = attack.run(before, after)
    rows = np.random.default_rng(1).permutation(40)
    turned = attack.run(before[["V3", "V1", "V2"]].iloc[rows], after[["V3", "V1", "V2"]].iloc[rows])
    assert turned == leak
    for one, other in zip(rates(leak), rates(turned), strict=True):
        straight = dict(zip(one.targets.tolist(), one.chances.tolist(), strict=True))
        assert dict(zip(rows[other.targets].tolist(), other.chances.tolist(), strict=True)) == straight
    assert 1 / 40 < leak.honest.rate < 1


def test_equal_rows_leave_every_attacker_a_guess() -> None:
    before = noisy(30, [0.1, 0.1, 0.1])[0]
    leak = Leakage(repeats=1).run(before, before * 0 + 1.0)
    for rate in rates(leak):
        assert rate.rate == 1 / 30
        assert set(rate.chances.tolist()) == {1 / 30}
    assert [one.alone for one in leak.attributes] == pytest.approx([1 / 30] * 3)


def test_groups_of_k_equal_rows_hold_every_attacker_below_one_in_k() -> None:
    before = noisy(40, [0.1, 0.1, 0.1])[0]
    grouped = shoal.Microaggregation(k=4).fit_transform(before)
    leak = Leakage(repeats=1).run(before, pd.DataFrame(np.asarray(grouped), columns=before.columns))
    for rate in rates(leak):
        assert rate.chances.max() <= 1 / 4
        assert rate.rate <= 1 / 4
    assert leak.worst.rate > 1 / 40
    for one in leak.attributes:
        assert one.alone <= 1 / 4 + 1e-12
        assert one.without <= 1 / 4 + 1e-12


def test_a_table_that_was_not_masked_gives_everybody_away() -> None:
    before = noisy(30, [0.1, 0.1])[0]
    leak = Leakage(repeats=1).run(before, before)
    assert [rate.rate for rate in rates(leak)] == [1.0] * 4
    assert leak.distance == "plain"


def test_one_attribute_alone_can_be_judged() -> None:
    leak = Leakage(repeats=1).run(*noisy(30, [0.01]))
    assert [(one.name, one.weight, one.shapley) for one in leak.attributes] == [("V1", 1.0, 1.0)]
    assert leak.attributes[0].without == 1 / 30
    assert leak.pairs == ()


def test_many_attributes_are_weighed_without_a_measure() -> None:
    random = np.random.default_rng(0)
    before = random.normal(size=(30, 13))
    leak = Leakage(repeats=1).run(before, before + np.r_[0.01, np.full(12, 3.0)] * random.normal(size=before.shape))
    assert leak.attributes[0].name == "column 1"
    assert {one.shapley for one in leak.attributes} == {None}
    assert (leak.measured, leak.measure, leak.pairs) == ((), (), ())
    assert [one.without is None for one in leak.attributes] == [False] * 12 + [True]


def test_labels_that_were_kept_tell_most_beside_numbers_that_were_not() -> None:
    random = np.random.default_rng(0)
    before, after = random.normal(size=(2, 40, 2))
    town = [f"town {place % 20}" for place in range(40)]
    leak = Leakage(repeats=1).run(before, after, label_columns({"town": town}, {"town": town}))
    assert leak.attributes[0].name == "town"
    # Two in each town: who knows nothing else finds one of two.
    assert leak.attributes[0].alone == pytest.approx(0.5)
    assert leak.worst.rate >= 0.5
    assert leak.worst.rate > leak.attributes[0].without


def test_labels_that_were_generalised_tell_what_they_replaced() -> None:
    kinds = {f"kind {place}": [f"kind {place}, {letter}" for letter in "abcd"] for place in range(8)}
    meaning = shoal.Hierarchy.from_pairs(
        [(leaf, kind) for kind, leaves in kinds.items() for leaf in leaves] + [(kind, "any") for kind in kinds]
    )
    before = [leaf for leaves in kinds.values() for leaf in leaves]
    after = [leaf.split(",")[0] for leaf in before]
    numbers = np.random.default_rng(0).normal(size=(2, 32, 1))
    by_name = Leakage(repeats=1).run(*numbers, label_columns({"kind": before}, {"kind": after}))
    by_meaning = Leakage(repeats=1).run(*numbers, label_columns({"kind": before}, {"kind": after}, meaning))
    alone = [{one.name: one.alone for one in leak.attributes}["kind"] for leak in (by_name, by_meaning)]
    # No label equals its generalisation, which stands for the four that it replaced, and means them.
    assert alone == [pytest.approx(1 / 4), pytest.approx(1 / 4)]
    assert by_meaning.attributes[0].name == "kind"


def test_labels_alone_can_be_judged() -> None:
    town, work = [f"town {place % 5}" for place in range(20)], [f"work {place // 5}" for place in range(20)]
    labels = label_columns({"town": town, "work": work}, {"town": town, "work": work})
    leak = Leakage(repeats=1).run(None, None, labels)
    # 5 towns and 4 kinds of work, every pair once.
    assert [rate.rate for rate in rates(leak)] == [1.0] * 4
    assert {one.name: one.alone for one in leak.attributes} == pytest.approx({"town": 1 / 4, "work": 1 / 5})


def test_a_sample_is_learned_from_and_all_are_tried() -> None:
    before, after = noisy(120, [0.02, 1.0, 1.0])
    leak = Leakage(repeats=1, sample=40).run(before, after)
    assert leak.learned_on == 40
    assert leak.links_known == 20
    assert leak.plain.n == leak.mahalanobis.n == leak.worst.n == 120
    assert leak.honest.n <= 40
    assert {rate.baseline for rate in rates(leak)} == {1 / 120}
    assert leak.attributes[0].name == "V1"
    # What who weighs all alike finds has nothing to do with the sample.
    everyone = side_by_side(before, after)
    assert leak.plain.rate == pytest.approx(chances_of(everyone, plain(3)).mean())
    assert leak.worst.rate > leak.plain.rate


def test_what_was_learned_of_few_is_not_the_worst_where_it_leads_astray() -> None:
    # The same noise everywhere: the plain distance is best, and of 12 records something else is learned.
    leak = Leakage(sample=12, repeats=1).run(*noisy(100, [0.6, 0.6, 0.6, 0.6]))
    assert leak.worst.rate >= max(leak.plain.rate, leak.mahalanobis.rate)
    assert leak.worst.about == "learned, from all links"


def test_a_proof_comes_along_when_time_is_given() -> None:
    before, after = noisy(20, [0.2, 0.8])
    proof = Leakage(repeats=1, proof_seconds=3600).run(before, after).proof
    assert proof.proved
    assert proof.distance == "weighted mean"
    assert proof.found == proof.bound <= 1.0
    assert sum(proof.parameters.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("family", "named", "parameters"),
    [
        ("owa", "OWA", {"difference 1", "difference 2"}),
        ("choquet", "Choquet", {"V1", "V2", "V1 & V2"}),
        ("bilinear", "bilinear", {"V1", "V2", "V1 & V2"}),
    ],
)
def test_a_proof_can_be_about_another_family(family, named, parameters) -> None:
    before, after = noisy(20, [0.2, 0.8])
    leak = Leakage(repeats=1, proof_seconds=3600, proof_distance=family).run(before, after)
    assert leak.proof.distance == named
    assert leak.proof.proved
    assert leak.proof.found == leak.proof.bound <= 1.0
    # The attributes have an order of their own, in which pairs are named.
    assert {" & ".join(sorted(name.split(" & "))) for name in leak.proof.parameters} == parameters
    # The best distance of the proof is tried on everybody as well.
    assert leak.worst.rate >= leak.proof.found - 1e-9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"proof_seconds": 1, "proof_distance": "mean"}, "distance='mean' is not known; use one of: weighted-mean,"),
        ({"share": 0.0}, "share=0.0 must lie between 0 and 1"),
        ({"share": 1.0}, "share=1.0 must lie between 0 and 1"),
        ({"share": float("nan")}, "share=nan must lie between 0 and 1"),
        ({"repeats": 0}, "repeats=0 must be a whole number of at least 1"),
        ({"sample": 7}, "sample=7 must be a whole number of at least 8"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(given, said) -> None:
    with pytest.raises(InputError) as refusal:
        Leakage(**given).run(*noisy(20, [0.1]))
    assert str(refusal.value).startswith(said)


def test_seven_records_are_too_few_and_eight_are_not() -> None:
    with pytest.raises(InputError, match="7 records are too few to learn from; give at least 8"):
        Leakage(repeats=1).run(*noisy(7, [0.1, 0.2]))
    assert Leakage(repeats=1).run(*noisy(8, [0.1, 0.2])).learned_on == 8


def test_one_attribute_alone_finds_what_is_nearest_in_it() -> None:
    # The first column is kept, so it finds all; the second is turned round, and nobody is nearest to their own; the
    # third is constant, so any of eight may be.
    places = np.arange(8.0)
    before, after = np.c_[places, places, places], np.c_[places, places[::-1], np.ones(8)]
    leak = Leakage(repeats=1).run(before, after)
    assert {one.name: one.alone for one in leak.attributes} == {"column 1": 1.0, "column 2": 0.0, "column 3": 0.125}


def test_a_wide_table_is_attacked_in_few_directions():
    random = np.random.default_rng(0)
    before = random.normal(size=(40, 60))
    records = side_by_side(before, before + 0.1 * random.normal(size=before.shape))
    worst = learn_worst_case(records, np.arange(40))
    assert worst.chances.mean() == 1.0
    assert _leading(records, np.eye(60)).shape == (60, 50)
