"""The tree of concepts in a report: what stands below what, and what must not be told."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy
from shoal.release.tables.labels import concept_tree
from shoal.release.tables.rows import MISSING

SPORT = Hierarchy.from_pairs(
    [
        ("contact sport", "sport"),
        ("water sport", "sport"),
        ("boxing", "contact sport"),
        ("football", "contact sport"),
        ("soccer", "football"),
        ("rugby", "football"),
        ("surfing", "water sport"),
        ("swimming", "water sport"),
    ]
)
LABELS = dict(enumerate(SPORT.taxonomy.names))


def concepts(*names: str | None) -> np.ndarray:
    return np.array([-1 if name is None else SPORT.concept(name) for name in names])


def tree(before: np.ndarray, after: np.ndarray, k: int) -> tuple[list[tuple], int]:
    lines, unnamed = concept_tree(SPORT.taxonomy, LABELS, before, after, k)
    return [(one.label, one.level, one.before, one.after) for one in lines], unnamed


def test_a_label_stands_below_what_it_became() -> None:
    before = concepts("soccer", "soccer", "soccer", "rugby", "rugby", "surfing", "surfing")
    after = concepts("football", "football", "football", "football", "football", "surfing", "surfing")
    lines, unnamed = tree(before, after, 2)
    assert lines == [
        ("sport", 0, 0, 0),  # where the branches meet
        ("football", 1, 0, 5),
        ("rugby", 2, 2, 0),
        ("soccer", 2, 4, 0),  # 3, to the nearest multiple of k
        ("surfing", 1, 2, 2),
    ]
    assert unnamed == 0


def test_a_label_of_few_is_not_named_and_cannot_be_found_by_subtraction() -> None:
    before = concepts("soccer", "soccer", "soccer", "rugby", "surfing", "surfing", "surfing", "surfing")
    after = concepts("football", "football", "football", "football", "surfing", "surfing", "surfing", "surfing")
    lines, unnamed = tree(before, after, 3)
    assert all(label != "rugby" for label, *_ in lines)
    # 8 records, 4 of them surfing: were the 3 soccer players told, 1 would be left.
    assert ("soccer", 1, None, 0) not in lines
    assert [line for line in lines if line[2]] == [("surfing", 1, 3, 4)]  # 4 surfing before, to the multiple of 3
    assert unnamed == 3  # of 4


def test_a_record_more_changes_a_count_before_one_time_in_k() -> None:
    counts = []
    for surfing in range(10, 20):
        lines, _ = tree(concepts(*["surfing"] * surfing), concepts(*["surfing"] * surfing), 5)
        counts.append(lines[0][2])
    assert counts == [10, 10, 10, 15, 15, 15, 15, 15, 20, 20]


def test_missing_values_have_a_line_of_their_own() -> None:
    before = after = concepts(None, None, "boxing", "boxing")
    assert tree(before, after, 2)[0] == [("boxing", 0, 2, 2), (MISSING, 0, 2, 2)]


@given(st.lists(st.integers(0, len(LABELS) - 1), min_size=4, max_size=40), st.integers(2, 5), st.integers(0, 2**16))
def test_no_count_below_k_is_told_nor_left(rows: list[int], k: int, seed: int) -> None:
    before = np.array(rows)
    after = np.random.default_rng(seed).permutation(before)
    lines, unnamed = concept_tree(SPORT.taxonomy, LABELS, before, after, k)
    assert all(one.before is None or one.before == 0 or one.before >= k for one in lines)
    assert unnamed == 0 or unnamed >= k
    assert all((one.before or 0) % k == 0 for one in lines) and unnamed % k == 0
    counted = [one.before for one in lines if one.before] + [unnamed]
    assert abs(sum(counted) - len(rows)) <= len(counted) * k
    assert sum(one.after for one in lines) == len(rows)
