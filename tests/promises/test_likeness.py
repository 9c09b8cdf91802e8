"""β-likeness: how much more frequent a confidential value may be in a group than among all records."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.promises.likeness import Like
from shoal.release.writing import dump


def allowed(shares: dict[str, float], group: list[str], beta: float) -> bool:
    """The definition, a value at a time: q <= p (1 + min(β, -ln p))."""
    counts = Counter(group)
    return all(
        count / len(group) <= shares[value] * (1 + min(beta, -math.log(shares[value]))) + 1e-9
        for value, count in counts.items()
    )


def test_a_group_may_have_a_value_as_often_as_the_definition_says() -> None:
    # 8 of 16 records are "a": p = .5, -ln p = .69, so that with β = 1 a group has at most .5 * 1.69 = .847 of it.
    overall = np.array([8, 8])
    like = Like(np.array([0, 0, 0, 0, 0, 1]), 1.0, overall)
    assert like.met(np.arange(6))  # 5 of 6 = .833
    assert not like.met(np.arange(5))  # all
    assert Like(np.array([0, 0, 1, -1]), 0.1, overall).met(np.array([0, 2, 3]))  # a missing value counts for nothing


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**31), st.sampled_from([0.5, 1.0, 2.0]))
def test_every_group_of_a_release_has_it(tmp_path_factory: pytest.TempPathFactory, seed: int, beta: float) -> None:
    random = np.random.RandomState(seed)
    table = pd.DataFrame(
        {
            "age": random.randint(18, 90, 120),
            "income": random.randint(10, 90, 120) * 100,
            "illness": random.choice(["flu", "gout", "asthma", "angina"], 120, p=[0.5, 0.25, 0.15, 0.1]),
        }
    )
    folder = tmp_path_factory.mktemp("beta") / "release"
    roles = shoal.Roles(quasi=("age", "income"), confidential=("illness",))
    made = shoal.protect(table, 3, folder, roles=roles, beta=beta, attack=False, refine=False)
    assert shoal.verify(folder).holds
    released = shoal.load(folder).table.to_pandas()
    shares = released["illness"].value_counts(normalize=True).to_dict()
    groups = released.groupby(["age", "income"])["illness"].apply(list)
    assert all(allowed(shares, group, beta) for group in groups)
    gain = max(n / len(group) / shares[value] - 1 for group in groups for value, n in Counter(group).items())
    assert made.certificate["promises"]["likeness"] == {
        "bound": beta,
        "columns": [{"column": "illness", "gain": pytest.approx(gain, abs=1e-4)}],
    }


def test_a_bound_that_does_not_hold_is_refused_and_so_is_another_gain(tmp_path: Path) -> None:
    random = np.random.RandomState(1)
    table = pd.DataFrame(
        {"age": random.randint(18, 90, 90), "illness": random.choice(["flu", "gout", "asthma"], 90, p=[0.6, 0.3, 0.1])}
    )
    roles = shoal.Roles(quasi=("age",), confidential=("illness",))
    shoal.protect(table, 3, tmp_path / "release", roles=roles, beta=2.0, attack=False, refine=False)
    path = tmp_path / "release" / "certificate.json"
    honest = json.loads(path.read_text())
    for change in ({"bound": 0.01}, {"columns": [{"column": "illness", "gain": 0.5}]}, {"columns": []}):
        forged = json.loads(json.dumps(honest))
        forged["promises"]["likeness"] |= change
        path.write_bytes(dump(_sealed(forged)))
        broken = [claim.promise for claim in shoal.verify(tmp_path / "release").claims if not claim.holds]
        assert broken == ["β-likeness"]


def _sealed(content: dict[str, object]) -> dict[str, object]:
    import hashlib

    without = {name: value for name, value in content.items() if name != "seal"}
    return without | {"seal": hashlib.sha256(dump(without)).hexdigest()}
