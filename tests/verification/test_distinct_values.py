"""What values tell is counted the same by the owner, by the verifier and by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Roles, verify
from shoal.promises.diversity import figures as diversity
from shoal.promises.values import facts_of, meaning
from shoal.results.claims import NOTHING_MORE
from shoal.verification.values import DistinctValues, meaning_of
from tests.release.releases import certificate_of, release_frame, reseal

pytestmark = pytest.mark.usefixtures("without_attack")

PAGE = Path(__file__).parents[2] / "docs" / "certificate.md"
SPELLINGS = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="0123456789+-.eEinfaNtyu _\u200b\u0661\uff11\u2212", max_size=8),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=False),
    st.booleans(),
    st.none(),
    st.sampled_from(
        ["NA", ".", "?", "n/a", "-NaN", "None", "Infinity", "-inf", "1e999999999", "1e9999999999", "٣", "ß", "ﬁ", "İ"]
    ),
    st.text(alphabet="flufIuо0Oеνvrnm|l1.\ue000\U000e0041\u2800\u2212-", max_size=6),
)


def by_hand():
    """The function that the documentation gives its readers."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    block = next(code for code in blocks if "def told" in code)
    namespace: dict[str, object] = {}
    exec(block[block.index("import") : block.index("# The check")], namespace)
    return namespace["told"]


TOLD = by_hand()


@given(SPELLINGS)
def test_owner_and_verifier_agree_on_what_a_value_tells(value):
    assert meaning(value) == meaning_of(value)


@given(SPELLINGS, SPELLINGS)
def test_what_is_counted_by_hand_is_what_is_counted(one, other):
    assert (TOLD(one) == TOLD(other)) == (meaning_of(one) == meaning_of(other))
    assert (TOLD(one) is None) == (meaning_of(one) is None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("flu", "fIu"),  # a capital i
        ("flu", "f1u"),
        ("no", "nо"),  # Cyrillic
        ("NO", "ΝΟ"),  # Greek
        ("van", "νan"),
        ("flu", "flu\ue000"),  # for private use
        ("flu", "flu\u0378"),  # unassigned
        ("flu", "flu\U000e0061"),  # a tag
        ("barn", "bam"),
        ("a-b", "a\u2011b"),
        ("1", "1.00000000000000000001"),
        ("0.1", "0.1000000000000000055511151231257827"),
        (1, "l"),
        ("None", "nonе"),
    ],
)
def test_what_looks_alike_is_one_value(one, other):
    assert meaning(one) == meaning(other)
    assert meaning_of(one) == meaning_of(other)
    assert TOLD(one) == TOLD(other)


@given(st.lists(st.tuples(st.integers(0, 3), SPELLINGS.map(str)), min_size=1, max_size=20))
def test_owner_and_verifier_count_the_same_values_in_groups(rows):
    groups = np.unique([group for group, _ in rows], return_inverse=True)[1]
    values = np.array([value for _, value in rows], dtype=object)
    owner = diversity("illness", facts_of(groups, {"illness": values}).values["illness"], NOTHING_MORE)
    counted = DistinctValues()
    counted.add(groups.astype(np.int64), pa.array(values.tolist()))
    distinct = np.bincount(counted.counted()[0], minlength=int(groups.max()) + 1)
    assert (min(distinct), len(distinct), len(counted.values)) == (owner.least, owner.groups, owner.values)


@pytest.mark.parametrize("sign", [".", "?", " ? ", "NA", ""])
def test_signs_for_a_missing_value_tell_nothing(sign):
    assert meaning(sign) is meaning_of(sign) is TOLD(sign) is None


def test_ids_of_18_digits_are_all_different(tmp_path):
    ids = [10**17 + row for row in range(60)]
    assert len({float(one) for one in ids}) == 5  # as doubles
    frame = pa.table({"age": [float(row % 20) for row in range(60)], "id": ids})
    folder = release_frame(
        frame, 3, tmp_path / "release", Roles(quasi=("age",), confidential=("id",)), allow=("id",)
    ).folder
    assert certificate_of(folder)["promises"]["diversity"]["columns"][0]["values"] == 60
    assert verify(folder)


@pytest.mark.parametrize("unit", ["time64[ns]", "timestamp[ns]", "duration[ns]"])
def test_moments_a_nanosecond_apart_are_different(tmp_path, unit):
    moments = pa.array(range(12), pa.int64()).cast(pa.type_for_alias(unit))
    frame = pa.table({"age": [1.0, 2.0, 3.0] * 4, "seen": moments})
    folder = release_frame(frame, 3, tmp_path / "release", Roles(quasi=("age",), confidential=("seen",))).folder
    assert certificate_of(folder)["promises"]["diversity"]["columns"][0]["values"] == 12
    assert verify(folder)


def test_a_release_of_an_older_format_is_to_be_made_anew(tmp_path):
    frame = pa.table({"age": [1.0, 2.0, 3.0] * 4, "seen": list("abcabcabcabc")})
    folder = release_frame(frame, 3, tmp_path / "release", Roles(quasi=("age",), confidential=("seen",))).folder
    content = certificate_of(folder)
    content["format"] = "shoal-certificate/1"
    reseal(folder, content)
    assert [claim.detail for claim in verify(folder).broken] == [
        "the release was made by an older version of Shoal; make it anew"
    ]
