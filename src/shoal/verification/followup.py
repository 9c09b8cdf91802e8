"""Two releases of a table, of which one follows the other: what can be counted from both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.results.claims import Claim
from shoal.verification.certificate import CERTIFICATE
from shoal.verification.tables import read_released_table
from shoal.verification.values import meaning_of

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
    shown = [(name, role) for name, role in columns[0] if role != "quasi"]
    now, then = (
        _rows(read_released_table(folder, side["promises"]["columns"]), protected, [name for name, _ in shown])
        for folder, side in ((release, content), (earlier, before))
    )
    kept = sum(now[key].total() for key in now.keys() & then.keys())
    claim = _kept(kept, stated.get("kept"))
    yield claim
    if claim.holds:
        confidential = [place for place, (_, role) in enumerate(shown) if role == "confidential"]
        least = before["promises"]["diversity"]["l"] or 0  # with a larger one now, groups of fewer values go as a whole
        crowd = Crowd(int(crowds[0] or 1), int(least), confidential, bool(shown))
        yield _differences(now, then, crowd, kept - stated["kept"])


@dataclass(frozen=True)
class Crowd:
    """What rows that vanish must be, where their values are shown."""

    k: int
    l: int  # different values of each confidential column; 0: not promised
    confidential: list[int]  # places of these columns among those that are shown
    shown: bool

    def flaw(self, lost: Counter[Any]) -> str | None:
        """Why the rows that a group lost show whose they were; None: they do not."""
        if not self.shown or not lost:
            return None
        if lost.total() < self.k:
            return f"a group lost {lost.total()} of its rows, which shows whose they were; k={self.k}"
        fewest = min((len({meaning_of(row[place]) for row in lost} - {None}) for place in self.confidential), default=0)
        if self.confidential and fewest < self.l:
            return f"the rows that a group lost have {fewest} different values, which shows whose they were; l={self.l}"
        return None


def _rows(table: pa.Table, protected: list[str], shown: list[str]) -> dict[Any, Counter[Any]]:
    """By what is protected of a row: how many rows have which other values."""
    groups: dict[Any, Counter[Any]] = {}
    sides = [[table[name].to_pylist() for name in names] for names in (protected, shown)]
    keys = zip(*sides[0], strict=True)
    values = zip(*sides[1], strict=True) if shown else iter([()] * table.num_rows)
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, Counter())[value] += 1
    return groups


def _kept(kept: int, stated: Any) -> Claim:
    """How many records have a row that was published before; with none, the release follows nothing."""
    found = f"{kept} records have a row of the earlier release, {stated} are stated to have kept theirs"
    # Newcomers' groups may have the row of an older one by chance, so there may be more.
    return Claim(KEPT, isinstance(stated, int) and 0 < stated <= kept, found)


def _differences(now: dict[Any, Counter[Any]], then: dict[Any, Counter[Any]], crowd: Crowd, alike: int) -> Claim:
    """Rows that are in both releases keep their records but for none or at least k, and none came but in crowds.

    `alike` newcomers have a row that was published before, at least k of them the same. How many records such a row
    lost cannot be counted, neither by us nor by an attacker.
    """
    both = now.keys() & then.keys()
    joining = sum((then[key] for key in then.keys() - both), Counter[Any]())
    lost = {key: then[key] - now[key] for key in both}
    came = {key: now[key] - then[key] for key in both}
    flaws = [flaw for rows in lost.values() if (flaw := crowd.flaw(rows))]
    flaws += [
        f"a group that had been published got {rows.total()} more rows; k={crowd.k}"
        for rows in came.values()
        if rows.total() < crowd.k and rows - joining  # neither what is left of a group nor a crowd of newcomers
    ]
    joined = sum((rows for key, rows in came.items() if not lost[key]), Counter[Any]())
    if alike == 0 and (flaw := crowd.flaw(joining - joined)):
        flaws.append(flaw)
    if len(flaws) > alike // crowd.k:
        return Claim(DIFFERENCES, False, flaws[0])
    fewest = min((rows.total() for rows in lost.values() if rows), default=0)
    lost_rows = "none" if fewest == 0 else f"none or at least {fewest}"
    found = f"{len(both)} of {len(then)} published rows are still there; each lost {lost_rows} of its records"
    return Claim(DIFFERENCES, True, found)
