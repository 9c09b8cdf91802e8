"""Singling out, linkability and inference: four rows by hand, and releases that hide nothing or everything."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal import InputError, Microaggregation, Noise, RankSwap
from shoal.attacks.gdpr import AttributeInference, Linkability, SinglingOut, _isolates

PEOPLE = [[20.0, 1.0], [30.0, 2.0], [40.0, 3.0], [50.0, 4.0]]
PAIRED = [[25.0, 1.5], [25.0, 1.5], [45.0, 3.5], [45.0, 3.5]]


def population(n: int, seed: int) -> np.ndarray:
    """Four attributes of which two follow from the other two, and noise."""
    random = np.random.default_rng(seed)
    one, two = random.normal(size=(2, n))
    return np.column_stack([one, two, one + two + 0.5 * random.normal(size=n), one - two + 0.5 * random.normal(size=n)])


def test_singling_out_by_one_attribute_by_hand():
    # Unmasked: each of the eight values is there once, and so are the smallest and the largest of both columns.
    rate = SinglingOut().run(PEOPLE, PEOPLE)
    assert (rate.rate, rate.n) == (1.0, 12)
    assert sorted(set(rate.targets.tolist())) == [0, 1, 2, 3]
    # In pairs no value is there once; "up to 25", "from 45", "up to 1.5" and "from 3.5" remain. 20 is the only age up
    # to 25, and so on: the edges of so small a table give people away.
    paired = SinglingOut().run(PEOPLE, PAIRED)
    assert (paired.n, paired.rate) == (4, 1.0)


def test_singling_out_by_two_attributes_by_hand():
    # Corners at the four records: the outer two fit only themselves, the inner two fit an outer one as well.
    rate = SinglingOut(attributes=2, attacks=100).run(PEOPLE, PEOPLE)
    assert (rate.n, rate.rate) == (2, 1.0)
    assert sorted(rate.targets.tolist()) == [0, 3]
    # In pairs every corner fits two released records, but one original is up to (25, 1.5) and one from (45, 3.5).
    assert SinglingOut(attributes=2, attacks=100).run(PEOPLE, PAIRED).targets.tolist() == [0, 3]


def test_a_swapped_table_is_singled_out_by_its_values_and_noise_is_not():
    X = population(300, 0)
    assert SinglingOut().run(X, RankSwap(20, random_state=0).fit_transform(X)).rate == 1
    assert SinglingOut().run(X, Noise(20, random_state=0).fit_transform(X)).rate < 0.05


def test_isolating_one_of_fewer_records_is_counted_by_chance():
    # Two of four records fit; of two drawn at random exactly one does in 4 of 6 draws.
    assert _isolates(np.array([0, 1, 2, 4]), 4, 2) == pytest.approx([0, 1 / 2, 4 / 6, 0])
    assert _isolates(np.array([0, 1, 2]), 4, 4).tolist() == [0, 1, 0]


def test_a_description_of_one_in_n_isolates_in_37_of_100_crowds():
    counts = np.random.default_rng(0).binomial(1000, 1 / 1000, size=20_000)
    assert _isolates(counts, 1000, 1000).mean() == pytest.approx(1 / math.e, abs=0.01)


@pytest.mark.parametrize("attributes", [1, 3])
def test_people_who_are_not_in_the_data_are_isolated_as_often_as_luck_has_it(attributes):
    X, others = population(400, 0), population(400, 1)
    unmasked = SinglingOut(attributes, attacks=300).run(X, X, others)
    assert unmasked.rate > 0.9
    assert unmasked.control < 0.5
    assert unmasked.excess > 0.8
    elsewhere = SinglingOut(attributes, attacks=300).run(X, population(400, 2), others)
    assert abs(elsewhere.rate - elsewhere.control) < 0.1


def test_linkability_by_hand():
    # Unmasked, both halves lead to the person's own record. In pairs each half leads to one of two: one half.
    assert Linkability().run(PEOPLE, PEOPLE).rate == 1
    paired = Linkability().run(PEOPLE, PAIRED)
    assert paired.chances.tolist() == [0.5] * 4
    assert paired.baseline == 0.25


def test_linkability_of_rows_that_are_all_equal_is_the_baseline():
    rate = Linkability().run(PEOPLE, [[1.0, 2.0]] * 4)
    assert rate.rate == rate.baseline == 0.25


def test_linkability_is_told_from_what_holds_for_everybody():
    X, others = population(500, 0), population(500, 1)
    whole = Linkability().run(X, X, others)
    assert whole.rate == 1
    assert whole.control < 0.2
    masked = Linkability().run(X, Microaggregation(5, refine=False).fit_transform(X), others)
    assert masked.rate <= 0.2
    assert masked.rate < whole.rate


def test_inference_by_hand():
    # The deviation of 1, 2, 3, 4 is 1.118. Unmasked, the nearest record by age tells the other value exactly. In pairs
    # it tells 1.5 or 3.5, off by a half: wrong within 0.1 deviations, right within 0.5.
    assert AttributeInference().run(PEOPLE, PEOPLE)[1].rate == 1
    assert AttributeInference().run(PEOPLE, PAIRED)[1].rate == 0
    _, paired = AttributeInference(tolerance=0.5).run(PEOPLE, PAIRED)
    assert paired.rate == 1
    assert paired.baseline == 0.5  # 1.5 or 3.5 is right, within 0.56, for two of the four


def test_ties_tell_by_chance():
    # Two released records of age 20, with 1 and with 9: the guess is right for one of two.
    released = [[20.0, 1.0], [20.0, 9.0], [40.0, 3.0], [50.0, 4.0]]
    people = [[20.0, 1.0], [20.0, 9.0], [40.0, 3.0], [50.0, 4.0]]
    _, rate = AttributeInference().run(people, released)
    assert rate.chances.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_what_follows_from_other_attributes_is_guessed_of_everybody():
    X, others = population(600, 0), population(600, 1)
    rates = AttributeInference(tolerance=0.3).run(X, X, others)
    assert [one.about for one in rates] == [f"inference of column {column}" for column in (1, 2, 3, 4)]
    assert all(one.rate == 1 and one.control < 0.6 for one in rates)
    hidden = AttributeInference(tolerance=0.3).run(X, Noise(200, random_state=0).fit_transform(X), others)
    assert all(abs(one.rate - one.control) < 0.1 for one in hidden)


def test_targets_are_drawn_by_the_seed():
    X = population(300, 0)
    one = Linkability(attacks=50, random_state=3).run(X, X)
    assert one.n == len(one.targets) == 50
    assert one.targets.tolist() == Linkability(attacks=50, random_state=3).run(X, X).targets.tolist()
    assert one.targets.tolist() != Linkability(attacks=50, random_state=4).run(X, X).targets.tolist()


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        (SinglingOut(attributes=3), "attributes=3 but the table has 2"),
        (SinglingOut(attacks=0), "attacks=0 must be a whole number of at least 1"),
        (AttributeInference(tolerance=-1), "tolerance=-1 must be at least 0"),
    ],
)
def test_what_cannot_be_used_is_refused(attack, said):
    with pytest.raises(InputError, match=said):
        attack.run(PEOPLE, PAIRED)


def test_a_single_column_cannot_be_joined_or_inferred():
    for attack in (Linkability(), AttributeInference()):
        with pytest.raises(InputError, match="got 1"):
            attack.run([[1.0], [2.0]], [[1.0], [2.0]])


def test_control_records_must_have_the_same_columns():
    with pytest.raises(InputError, match="the control table has 1 columns and the original 2"):
        Linkability().run(PEOPLE, PAIRED, [[1.0]])
    with pytest.raises(InputError, match="the control table"):
        Linkability().run(PEOPLE, PAIRED, np.empty((0, 2)))
