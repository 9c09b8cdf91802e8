"""Published groups that go on: rows stay, remainders join as a whole, and nobody is left without a crowd."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.attacks.intersection import intersection_attack
from shoal.methods.following import Followed, ReleasedValues, follow

ROWS = np.array([10.0, 21.0, 30.0, 90.0])


def apart(one: int, others: np.ndarray) -> np.ndarray:
    return np.abs(ROWS[others] - ROWS[one])


def followed(groups: list[int], gone: set[int], k: int = 2, **more: object) -> Followed:
    stays = np.array([row not in gone for row in range(len(groups))])
    return follow(np.array(groups), stays, k, apart, **more)


def unchanged(n: int, **more: object) -> ReleasedValues:
    return ReleasedValues(np.zeros(n, dtype=bool), **more)


def test_what_is_left_of_a_group_takes_the_nearest_row_as_a_whole() -> None:
    # The worked case of the dynamic index: r6 leaves, and r5 becomes 21.
    found = followed([0, 0, 1, 1, 2, 2], {5})
    assert ROWS[found.group[4]] == 21.0
    assert found.kept.tolist() == [True] * 5 + [False]
    assert not found.withheld.any()


def test_a_group_that_stays_large_enough_keeps_its_row() -> None:
    found = followed([0, 0, 0, 1, 1], {0})
    assert found.group.tolist() == [0, 0, 0, 1, 1]


def test_fewer_than_k_of_all_are_not_published() -> None:
    found = followed([0, 0, 1, 1], {0, 2, 3})
    assert not found.kept.any()


def test_two_remainders_join_where_no_whole_group_is_left() -> None:
    found = followed([0, 0, 1, 1, 3, 3], {0, 2, 4, 5})
    assert found.kept.tolist() == [False, True, False, True, False, False]
    assert found.group[1] == found.group[3]


def test_where_values_are_shown_a_group_loses_nobody_or_k() -> None:
    found = followed([0] * 5 + [1] * 3, {0}, k=2, shown=unchanged(8), random=np.random.default_rng(0))
    assert (~found.kept).sum() == 2
    assert found.withheld.sum() == 1
    assert not found.kept[0]
    assert found.kept[5:].all()


def test_those_who_left_are_withheld_with_others_until_their_values_differ() -> None:
    values = np.array([7, 7, 7, 7, 8, 9])
    found = followed(
        [0, 0, 0, 0, 0, 0],
        {0, 1},
        shown=unchanged(6, enough=lambda some: len(set(values[some].tolist())) >= 2, companions=2),
        random=np.random.default_rng(1),
    )
    gone = values[~found.kept].tolist()
    assert len(set(gone)) >= 2


def test_how_many_are_withheld_does_not_tell_the_values_of_those_who_left() -> None:
    """Drawn until values differ, one more than k would tell that the first k, and so whoever left, are alike."""
    values = np.array([7] * 12 + [8])
    differ = unchanged(16, enough=lambda some: len(set(values[some[:13]].tolist())) >= 2, companions=2)
    for leaving in (0, 12):
        random = np.random.default_rng(0)
        runs = [followed([0] * 13 + [1] * 3, {leaving}, 3, shown=differ, random=random) for _ in range(40)]
        assert {int((~found.kept).sum()) for found in runs} == {3}
        assert all(not found.kept[12] for found in runs)


def test_any_of_a_group_may_be_drawn_beside_those_who_left() -> None:
    runs = [followed([0] * 4 + [1] * 2, {0}, shown=unchanged(6)) for _ in range(60)]
    assert {tuple(np.flatnonzero(found.withheld).tolist()) for found in runs} == {(1,), (2,), (3,)}


def test_a_crowd_with_other_values_stays_in_place_and_fewer_are_withheld_for_good() -> None:
    groups = [0] * 5 + [1] * 3
    found = followed(groups, set(), 3, shown=ReleasedValues(np.array([True] * 3 + [False] * 5)))
    assert found.kept.all()
    assert found.group.tolist() == groups
    cancelling = ReleasedValues(np.array([True] * 3 + [False] * 5), in_place=lambda left, changed: False)
    assert not followed(groups, set(), 3, shown=cancelling).kept[:3].any()
    found = followed(groups, set(), 2, shown=ReleasedValues(np.array([True] + [False] * 7)))
    assert not found.kept[0]
    assert found.withheld.sum() == 2


def test_an_attacker_who_repeats_both_releases_never_has_fewer_than_k_who_may_have_left() -> None:
    """The small version of the benchmark: of a release that starts anew, nearly everybody is found."""
    from benchmarks.following import K, attacks, made

    anew, after = attacks("made", made()[:120], tries=120)
    assert anew["found"] > 0.5
    assert anew["at worst"] == 1.0
    assert after["at worst"] <= 1 / K
    assert after["found"] <= 1 / K + 1e-12


histories = st.lists(st.lists(st.integers(0, 39), max_size=8), min_size=1, max_size=6)


@given(
    st.integers(2, 4),
    st.lists(st.integers(0, 3), min_size=16, max_size=24),
    histories,
    st.sampled_from([None, 0.0, 0.1, 0.6]),
    st.integers(0, 9),
)
def test_any_history_keeps_every_visible_row_shared_by_k_and_every_candidate_set_at_least_k(
    k: int, drawn: list[int], history: list[list[int]], changing: float | None, seed: int
) -> None:
    """Newcomers come k at a time and more, in groups of their own, as a release has them.

    `changing` is the share of records whose values that are shown change each time; None: no values are shown.
    """
    random = np.random.default_rng(seed)
    sizes = np.bincount(drawn, minlength=4)
    members = {f"{one}": f"row {group}" for one, group in enumerate(np.repeat(np.arange(4), np.maximum(sizes, k)))}
    place = {f"row {group}": float(value) for group, value in enumerate(ROWS)}
    snapshots = [_snapshot(members)]
    for step, leaving in enumerate(history):
        names, rows = list(members), sorted(set(members.values()))
        gone = {names[one % len(names)] for one in leaving} if names else set()
        groups = np.array([rows.index(members[name]) for name in names], dtype=np.int64)
        values = np.array([place[row] for row in rows])
        stays = np.array([name not in gone for name in names], dtype=bool)
        shown = None if changing is None else ReleasedValues(stays & (random.random(len(names)) < changing))
        found = follow(groups, stays, k, lambda a, b, v=values: np.abs(v[b] - v[a]), shown=shown, random=random)
        if shown is not None:
            lost = np.bincount(groups[~found.kept | shown.changed], minlength=len(rows))
            assert not any(0 < one < k for one in lost.tolist())
        members = {name: rows[found.group[one]] for one, name in enumerate(names) if found.kept[one]}
        if step % 2:  # newcomers
            members |= {f"{step}-{one}": f"row of {step}" for one in range(k + step)}
            place[f"row of {step}"] = float(random.normal(40, 30))
        assert all(len(sharing) >= k for sharing in _snapshot(members).values())
        snapshots.append(_snapshot(members))
    if any(snapshots):
        assert intersection_attack(snapshots, k).smallest >= k


def _snapshot(members: dict[str, str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, row in members.items():
        found.setdefault(row, set()).add(name)
    return {row: frozenset(names) for row, names in found.items()}
