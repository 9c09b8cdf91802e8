"""Two releases of a table, of which one follows the other: what can be counted from both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shoal.results.claims import Claim
from shoal.verification.certificate import CERTIFICATE
from shoal.verification.release_files import ReleaseFolder
from shoal.verification.tables import read_released_table
from shoal.verification.values import meaning_of

FOLLOWS, KEPT, DIFFERENCES = "follows", "kept rows", "differences"


def following_claims(
    release: ReleaseFolder, content: dict[str, Any], earlier: ReleaseFolder, before: dict[str, Any]
) -> Iterator[Claim]:
    """Whether the release follows the earlier one, and whether their difference shows fewer than k records anywhere."""
    stated = content["stated"].get("parameters", {}).get("after")
    if content["kind"] != "table" or before["kind"] != "table" or not isinstance(stated, dict):
        yield Claim(FOLLOWS, False, "the certificate does not say that the release follows another", CERTIFICATE)
        return
    if stated.get("seal") != before["seal"]:
        yield Claim(FOLLOWS, False, "it follows a release with another seal", CERTIFICATE)
        return
    columns = [
        [(column["name"], column["role"]) for column in side["promises"]["columns"]] for side in (content, before)
    ]
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
    confidential = [number for number, (_, role) in enumerate(shown) if role == "confidential"]
    least = before["promises"]["diversity"]["l"] or 0  # with a larger one now, groups of fewer values go as a whole
    crowd = Crowd(int(crowds[0] or 1), int(least), confidential, bool(shown))
    changes = {key: Change(then[key] - now[key], now[key] - then[key]) for key in now.keys() & then.keys()}
    claim, newcomers = _kept(now, changes, crowd, stated.get("kept"))
    yield claim
    if claim.holds:
        yield _differences(now, then, changes, crowd, newcomers)


@dataclass(frozen=True)
class Crowd:
    """What rows that vanish must be, where their values are shown."""

    k: int
    l: int  # different values of each confidential column; 0: not promised
    confidential: list[int]  # numbers of these columns among those that are shown
    shown: bool

    def flaw(self, lost: Counter[Any]) -> str | None:
        """Why the rows that a group lost show whose they were; None: they do not."""
        if not self.shown or not lost:
            return None
        if lost.total() < self.k:
            return f"a group lost {lost.total()} of its rows, which shows whose they were; k={self.k}"
        fewest = min(
            (len({meaning_of(row[number]) for row in lost} - {None}) for number in self.confidential), default=0
        )
        if self.confidential and fewest < self.l:
            return f"the rows that a group lost have {fewest} different values, which shows whose they were; l={self.l}"
        return None


@dataclass(frozen=True)
class Change:
    """What became of a row that both releases have: the other values of records that it lost, and of those it got."""

    lost: Counter[Any]
    came: Counter[Any]


def _rows(table: pa.Table, protected: list[str], shown: list[str]) -> dict[Any, Counter[Any]]:
    """By what is protected of a row: how many rows have which other values."""
    groups: dict[Any, Counter[Any]] = {}
    sides = [[table[name].to_pylist() for name in names] for names in (protected, shown)]
    keys = zip(*sides[0], strict=True)
    values = zip(*sides[1], strict=True) if shown else iter([()] * table.num_rows)
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, Counter())[value] += 1
    return groups


def _kept(now: dict[Any, Counter[Any]], changes: dict[Any, Change], crowd: Crowd, stated: Any) -> tuple[Claim, int]:
    """How many records have a row that was published before; and how many newcomers must be among them.

    Newcomers' groups may have the row of an older one by chance, as labels often do, and show as rows that it got.
    """
    kept = sum(now[key].total() for key in changes)
    joined = sum(now[key].total() for key, change in changes.items() if change.came)
    counts = f"{kept} records have a row of the earlier release, {stated} are stated to have kept theirs"
    if type(stated) is not int or not 0 < stated <= kept:
        return Claim(KEPT, False, counts), 0
    newcomers = kept - stated
    if newcomers > joined and crowd.shown:
        return Claim(KEPT, False, f"{counts}; the others would be in groups that nobody joined"), 0
    return Claim(KEPT, True, counts), newcomers


def _differences(
    now: dict[Any, Counter[Any]],
    then: dict[Any, Counter[Any]],
    changes: dict[Any, Change],
    crowd: Crowd,
    newcomers: int,
) -> Claim:
    """Rows that are in both releases keep their records but for none or at least k, and none came but in crowds.

    Where a crowd of newcomers has a row that was published before, what came and what went cannot be told apart,
    neither by us nor by an attacker. No more groups are excused than such newcomers can form, and none that got no row.
    """
    joining = sum((then[key] for key in then.keys() - changes.keys()), Counter[Any]())
    flaws = [(flaw, change) for change in changes.values() if (flaw := crowd.flaw(change.lost))]
    flaws += [
        (f"a group that had been published got {change.came.total()} more rows; k={crowd.k}", change)
        for change in changes.values()
        if change.came.total() < crowd.k and change.came - joining  # neither what is left of a group nor a crowd
    ]
    joined = sum((change.came for change in changes.values() if not change.lost), Counter[Any]())
    if newcomers == 0 and (flaw := crowd.flaw(joining - joined)):
        flaws.append((flaw, Change(joining, Counter())))
    unexcused = [flaw for flaw, change in flaws if not change.came]
    if unexcused or len(flaws) > newcomers // crowd.k:
        return Claim(DIFFERENCES, False, [*unexcused, *(flaw for flaw, _ in flaws)][0])
    fewest = min((change.lost.total() for change in changes.values() if change.lost), default=0)
    lost_rows = "none" if fewest == 0 else f"none or at least {fewest}"
    counts = f"{len(changes)} of {len(then)} published rows are still there; each lost {lost_rows} of its records"
    return Claim(DIFFERENCES, True, counts)
