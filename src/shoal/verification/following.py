"""Two releases of a table, of which one follows the other: what can be counted from both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.results.claims import Claim
from shoal.verification.forms.certificate import CERTIFICATE
from shoal.verification.tables import read_released_table

__all__ = ["FOLLOWS", "following_claims"]

FOLLOWS, KEPT, DIFFERENCES = "follows", "kept rows", "differences"


def following_claims(release: Path, content: dict[str, Any], earlier: Path, before: dict[str, Any]) -> Iterator[Claim]:
    """Whether the release follows the earlier one, and whether their difference shows fewer than k records anywhere."""
    stated = content["stated"].get("parameters", {}).get("after")
    if content["kind"] != "table" or before["kind"] != "table" or not isinstance(stated, dict):
        yield Claim(FOLLOWS, False, "the certificate does not say that the release follows another", CERTIFICATE)
        return
    if stated.get("seal") != before["seal"]:
        yield Claim(FOLLOWS, False, "it follows a release with another seal", CERTIFICATE)
        return
    columns = [[(one["name"], one["role"]) for one in side["promises"]["columns"]] for side in (content, before)]
    crowds = [side["promises"]["anonymity"]["k"] for side in (content, before)]
    if sorted(columns[0]) != sorted(columns[1]) or crowds[0] != crowds[1]:
        yield Claim(FOLLOWS, False, "the two releases have other columns, or another k", CERTIFICATE)
        return
    yield Claim(FOLLOWS, True, f"it follows the release sealed {before['seal'][:12]}…", CERTIFICATE)
    protected = [name for name, role in columns[0] if role == "quasi"]
    shown = [name for name, role in columns[0] if role != "quasi"]
    now, then = (
        _rows(read_released_table(folder, side["promises"]["columns"]), protected, shown)
        for folder, side in ((release, content), (earlier, before))
    )
    yield _kept(now, then, stated.get("kept"))
    yield _differences(now, then, int(crowds[0] or 1), bool(shown))


def _rows(table: pa.Table, protected: list[str], shown: list[str]) -> dict[Any, Counter[Any]]:
    """By what is protected of a row: how many rows have which other values."""
    groups: dict[Any, Counter[Any]] = {}
    sides = [[table[name].to_pylist() for name in names] for names in (protected, shown)]
    keys = zip(*sides[0], strict=True)
    values = zip(*sides[1], strict=True) if shown else iter([()] * table.num_rows)
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, Counter())[value] += 1
    return groups


def _kept(now: dict[Any, Counter[Any]], then: dict[Any, Counter[Any]], stated: Any) -> Claim:
    """How many records have a row that was published before; with none, the release follows nothing."""
    kept = sum(sum(now[key].values()) for key in now.keys() & then.keys())
    found = f"{kept} records have a row of the earlier release, {stated} are stated to have kept theirs"
    # Newcomers' groups may have the row of an older one by chance, so there may be more.
    return Claim(KEPT, isinstance(stated, int) and 0 < stated <= kept, found)


def _differences(now: dict[Any, Counter[Any]], then: dict[Any, Counter[Any]], k: int, shown: bool) -> Claim:
    """Rows that are in both releases keep their records but for none or at least k, and none came but whole groups."""
    both = now.keys() & then.keys()
    left = [sum((then[key] - now[key]).values()) for key in both]
    merged = sum((then[key] for key in then.keys() - both), Counter[Any]())
    for came in (now[key] - then[key] for key in both):
        many = sum(came.values())
        if 0 < many < k and came - merged:  # neither what is left of a group nor a crowd of newcomers
            return Claim(DIFFERENCES, False, f"a group that had been published got {many} more rows; k={k}")
    fewest = min((many for many in left if many), default=0)
    if shown and 0 < fewest < k:
        return Claim(DIFFERENCES, False, f"a group lost {fewest} of its rows, which shows whose they were; k={k}")
    lost = "none" if fewest == 0 else f"none or at least {fewest}"
    return Claim(
        DIFFERENCES, True, f"{len(both)} of {len(then)} published rows are still there; each lost {lost} of its records"
    )
