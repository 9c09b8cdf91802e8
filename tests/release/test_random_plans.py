"""Random plans on four tables: whatever is asked together, the release is verified, and slow code counts each promise.

60 plans; SHOAL_PLANS=300 tries as many as that.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from shoal import protect, verify
from shoal.errors import InputError
from tests.release.releases import quietly
from tests.release.test_treatments import RULES, holds, original_and_released

pytestmark = pytest.mark.usefixtures("without_attack")
NEAR = 1e-6
ILL = ("flu", "gout", "cold", "burn")


def survey() -> pd.DataFrame:
    """Households of two or three, with weights and a region."""
    n, random = 36, np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": random.integers(0, 90, n),
            "zip": random.choice(["110", "111", "220", "221"], n),
            "job": random.choice(["cook", "baker", "smith"], n),
            "ill": random.choice(ILL, n, p=[0.4, 0.3, 0.2, 0.1]),
            "home": [f"h{row // 3 if row < 18 else row // 2}" for row in range(n)],
            "w": random.choice([1.0, 2.0, 3.5], n),
        }
    )


def visits() -> pd.DataFrame:
    """One to three visits per patient, and records that ask for a larger crowd."""
    who = [number for number in range(18) for _ in range(1 + number % 3)]
    n, random = len(who), np.random.default_rng(2)
    return pd.DataFrame(
        {
            "who": who,
            "age": [20 + 3 * number for number in who],
            "pay": random.integers(0, 3000, n),
            "zip": random.choice(["110", "120", "220"], n),
            "ill": random.choice(ILL, n),
            "own": random.choice([1, 2, 5], n, p=[0.8, 0.1, 0.1]),
        }
    )


def numbers_with_gaps() -> pd.DataFrame:
    n, random = 40, np.random.default_rng(3)
    data = pd.DataFrame({"age": random.integers(0, 90, n), "pay": np.exp(random.normal(7, 1, n)).round(2)})
    data = data.astype(float)
    data.loc[random.choice(n, 6, replace=False), "age"] = np.nan
    data.loc[random.choice(n, 4, replace=False), "pay"] = np.nan
    return data.assign(ill=random.choice([*ILL, None], n))


def labels_of_few() -> pd.DataFrame:
    """Nearly all records alike, some rare, and a confidential number."""
    n, random = 30, np.random.default_rng(4)
    return pd.DataFrame(
        {
            "job": random.choice(["cook", "baker", "smith", "clerk"], n, p=[0.6, 0.2, 0.15, 0.05]),
            "town": random.choice(["Wick", "Deal", "Rye"], n),
            "ill": random.choice(ILL, n),
            "sum": random.integers(1, 6, n),
        }
    )


TABLES = {one.__name__: one() for one in (survey, visits, numbers_with_gaps, labels_of_few)}
QUASI = ("age", "pay", "zip", "job", "town")


@st.composite
def plans(draw: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A table, and options that need not go together."""
    data = TABLES[draw(st.sampled_from(sorted(TABLES)))]
    protected = draw(
        st.lists(st.sampled_from([name for name in QUASI if name in data]), min_size=1, max_size=4, unique=True)
    )
    treatments = st.sampled_from([None, "keep", "generalise", "blank", "average"])
    treat = {name: draw(treatments) for name in protected}
    unit = next((name for name in ("who", "home") if name in data and draw(st.booleans())), None)
    options: dict[str, Any] = {
        "quasi": protected,
        "confidential": [name for name in ("ill", "sum") if name in data],
        "k": draw(st.integers(2, 5)),
        "treat": {name: treatment for name, treatment in treat.items() if treatment is not None},
        "recode": {
            name: draw(st.sampled_from(RULES[name])) for name in protected if name in RULES and draw(st.booleans())
        },
        "kinds": {"zip": "code"} if "zip" in protected else None,
        "missing": draw(st.sampled_from(["withhold", "group"])) if data[protected].isna().any().any() else None,
        "weight": "w" if "w" in data and draw(st.booleans()) else None,
        "person": unit if unit == "who" else None,
        "household": unit if unit == "home" else None,
        "k_column": "own" if "own" in data and draw(st.booleans()) else None,
    }
    promise = draw(st.sampled_from(["none", "distinct", "entropy", "recursive"]))
    if promise != "none":
        options |= {"l": 2, "diversity": promise, "c": 3.0 if promise == "recursive" else None}
    options |= {"t": draw(st.sampled_from([None, None, 0.5])), "beta": draw(st.sampled_from([None, None, 1.5]))}
    if not {"l", "t", "beta"} & {name for name, value in options.items() if value is not None}:
        options["pseudonym"] = unit is not None and draw(st.booleans())
    return data, {name: value for name, value in options.items() if value not in (None, {}, False)}


Group = list[tuple[dict[str, Any], dict[str, Any]]]


def groups_of(pairs: Group, protected: list[str]) -> list[Group]:
    groups: dict[tuple[str, ...], Group] = {}
    for before, row in pairs:
        groups.setdefault(tuple(repr(row[name]) for name in protected), []).append((before, row))
    return list(groups.values())


def plain(value: Any) -> Any:
    """Whole numbers without a point, as a release writes them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_true(shown: Any, value: Any) -> bool:
    """Also of a set of bands, such as 14 to 25 | (missing)."""
    return any(holds(part, value) for part in (shown.split(" | ") if isinstance(shown, str) else [shown]))


def known(group: Group, column: str) -> Counter[Any]:
    return Counter(row[column] for _, row in group if row[column] is not None)


def promises_kept(counts: Counter[Any], overall: Counter[Any], options: dict[str, Any]) -> list[str]:
    """The promises about one confidential column that a group does not keep."""
    if not overall or not counts:
        return ["l"] if "l" in options and not counts else []
    shares = sorted((count / counts.total() for count in counts.values()), reverse=True)
    kind, least, broken = options.get("diversity"), options.get("l", 0), []
    if kind == "distinct" and len(shares) < least:
        broken.append("distinct")
    if kind == "entropy" and math.exp(-sum(share * math.log(share) for share in shares)) < least - NEAR:
        broken.append("entropy")
    if kind == "recursive" and not shares[0] < options["c"] * sum(shares[least - 1 :]):
        broken.append("recursive")
    everywhere = {value: count / overall.total() for value, count in overall.items()}
    if "t" in options:
        moved = {value: counts[value] / counts.total() - share for value, share in everywhere.items()}
        far = sum(map(abs, moved.values())) / 2
        if not isinstance(next(iter(overall)), str):  # numbers: the mean of the distances of the distribution functions
            steps = [sum(moved[value] for value in sorted(moved) if value <= end) for end in sorted(moved)]
            far = sum(map(abs, steps)) / max(len(steps) - 1, 1)
        broken += ["t"] if far > options["t"] + NEAR else []
    for value, share in everywhere.items():
        most = share * (1 + min(options.get("beta", math.inf), -math.log(share)))
        if "beta" in options and counts[value] / counts.total() > most + NEAR:
            broken.append("beta")
    return broken


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=int(os.environ.get("SHOAL_PLANS", "30")),
    phases=[Phase.generate],
)
@given(plan=plans())
def test_whatever_is_asked_together_is_refused_or_kept(
    plan: tuple[pd.DataFrame, dict[str, Any]], tmp_path: Path
) -> None:
    data, options = plan
    try:
        made = quietly(protect, data, out=tmp_path / "release", force=True, refine=False, attack=False, **options)
    except InputError as refused:
        assert "\n" not in str(refused)
        event("refused")
        return
    event("released")
    check_kept(data, made, options)


def check_kept(data: pd.DataFrame, made: Any, options: dict[str, Any]) -> None:
    """Whatever the options promise is counted, slowly."""
    assert verify(made.folder), verify(made.folder).broken
    pairs, protected = original_and_released(data, made), options["quasi"]
    promised = made.certificate["promises"]
    withheld = sum(reason["count"] for reason in made.certificate["stated"]["withheld"])
    assert len(pairs) == promised["rows"] == len(data) - withheld
    groups = groups_of(pairs, protected)
    assert min(map(len, groups)) == promised["anonymity"]["smallest_group"] >= options["k"]
    unit = options.get("household", options.get("person"))
    for group in groups:
        people = len({before[unit] for before, _ in group}) if unit else len(group)
        assert people >= max(
            [options["k"], *(before[options["k_column"]] for before, _ in group if "k_column" in options)]
        )
        for column in options["confidential"]:
            assert not promises_kept(known(group, column), known(pairs, column), options), column
    if options.get("pseudonym"):
        carried: dict[int, list[str]] = {}
        for _, row in pairs:
            carried.setdefault(row[unit], []).append(repr([row[name] for name in protected]))
        assert min(Counter(tuple(sorted(rows)) for rows in carried.values()).values()) >= options["k"]
        assert len({(before[unit], row[unit]) for before, row in pairs}) == len(carried)
    recode = {name: rule.split()[0] for name, rule in options.get("recode", {}).items()}
    for name, treatment in options.get("treat", {}).items():
        if treatment != "average" and recode.get(name) not in ("top", "bottom", "round", "prefix"):
            there = [(plain(before[name]), row[name]) for before, row in pairs if before[name] == before[name]]
            assert not [(value, shown) for value, shown in there if not is_true(shown, value)], name
            if treatment == "keep" and name not in recode:
                assert not [(value, shown) for value, shown in there if str(value) != str(plain(shown))], name
