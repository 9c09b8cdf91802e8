"""Two releases of one table, the second without a record: who is found by subtracting, when it starts anew and follows.

The attacker knows every record, has both releases, knows the method, and asks who left. They repeat the second release
without each record in turn: whoever's leaving gives what they see is a candidate. One who knows the records but not the
method subtracts the sums of the two releases, and takes the nearest record. Whoever knows who left asks for their
confidential value: it is one of those that vanished. Releases as they are handed out, with all their figures, are
compared to the byte for some groups. Then what following costs, year by year.
"""

from __future__ import annotations

import warnings
from collections import Counter
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, measure

K, TRIES, YEARS, SHARE = 5, 1_000, 5, 0.05
FOLDERS = 8  # groups of which a folder is made without each member

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def run() -> dict[str, Any]:
    tables = {"Census": data.casc("census"), "made, 2 columns": made()}
    attacked = [row for name, values in tables.items() for row in attacks(name, values)]
    measure.show(f"k={K}, one record leaves, {TRIES:,} times: who is it?", attacked)
    folders = [{"table": name, **whole_folders(values)} for name, values in tables.items()]
    measure.show(f"k={K}, one record leaves, all bytes of both folders compared", folders)
    costs = [row for name, values in tables.items() for row in years(name, values)]
    measure.show(f"k={K}, each year {SHARE:.0%} leave and as many come: squared error, in per cent of all", costs)
    return {"found": attacked, "folders": folders, "cost": costs}


def made() -> Floats:
    """A thousand invented people: an age, and a pay that rises with it."""
    random = np.random.default_rng(0)
    age = random.integers(18, 90, 1_000).astype(np.float64)
    return np.column_stack([age, (30.0 * age + random.lognormal(6.5, 0.6, 1_000)).round()])


def attacks(name: str, values: Floats, tries: int = TRIES) -> list[dict[str, Any]]:
    """The share found in two releases made independently, and in one that follows the other."""
    values = values[np.lexsort(values.T[::-1])]
    groups, rows = released(values)
    chosen = np.random.default_rng(1).permutation(len(values))[:tries]
    published = rows[np.unique(groups, return_index=True)[1]]
    found = []
    vanished = [_vanished(groups, published, one) for one in chosen.tolist()]
    for name_of_second, seen, guesses, values_gone in (
        ("starts anew", partial(_seen_anew, values), [_subtracted(values, rows, one) for one in chosen.tolist()], [1]),
        ("follows", partial(_seen_following, groups, published), rows[chosen].tolist(), vanished),
    ):
        of_each = [seen(one) for one in range(len(values))]
        alike = Counter(of_each)
        chances = np.array([1.0 / alike[of_each[one]] for one in chosen.tolist()])
        nearest = [
            _nearest(values, np.array(guess)) == one for guess, one in zip(guesses, chosen.tolist(), strict=True)
        ]
        found.append(
            {
                "table": name,
                "second release": name_of_second,
                "found": float(chances.mean()),
                "at worst": float(chances.max()),
                "1/k": 1 / K,
                "by subtracting": float(np.mean(nearest)),
                "value told": float(np.mean(1.0 / np.array(values_gone))),
            }
        )
    return found


def released(values: Floats) -> tuple[Ints, Floats]:
    """Groups, and the published row of each record."""
    from shoal import Microaggregation
    from shoal.methods.numeric import group_means
    from shoal.release.figures import published_means

    groups = Microaggregation(K, refine=False).fit(values).groups_
    return groups, published_means(values, group_means(values, groups)[groups], K)


def _seen_anew(values: Floats, gone: int) -> bytes:
    """The rows of a second release that starts anew, without one record."""
    rows = released(np.delete(values, gone, axis=0))[1]
    return rows[np.lexsort(rows.T[::-1])].tobytes()


def _seen_following(groups: Ints, published: Floats, gone: int) -> tuple[int, ...]:
    """How many records the second release has of each published row, without one record."""
    from shoal.methods.following import follow

    found = follow(groups, np.arange(len(groups)) != gone, K, partial(_apart, published))
    return tuple(np.bincount(found.group[found.kept], minlength=len(published)).tolist())


def _vanished(groups: Ints, published: Floats, gone: int) -> int:
    """How many confidential values are in the first release only, if one record leaves."""
    from shoal.methods.following import ReleasedValues, follow

    shown = ReleasedValues(np.zeros(len(groups), dtype=bool))
    found = follow(groups, np.arange(len(groups)) != gone, K, partial(_apart, published), shown=shown)
    return int((~found.kept).sum())


def _apart(published: Floats, one: int, others: Ints) -> Floats:
    squares: Floats = np.sum((published[others] - published[one]) ** 2, axis=1)
    return squares


def whole_folders(values: Floats) -> dict[str, Any]:
    """The chance to name who left for whoever makes the second folder without each record in turn."""
    import pandas as pd

    from shoal import Microaggregation, Roles, protect

    table = pd.DataFrame(values, columns=[f"column {place}" for place in range(values.shape[1])])
    roles = Roles(quasi=tuple(table.columns))
    table["who"] = [f"{row:05d}" for row in range(len(table))]
    options: dict[str, Any] = {"roles": roles, "method": Microaggregation(refine=False), "id_column": "who"}
    options["attack"] = False
    with TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = protect(table, K, f"{place}/first", **options)
        mapping = pd.read_parquet(first.private / "mapping.parquet")
        groups = [crowd["record"].tolist() for _, crowd in mapping.groupby("group")]
        chances = []
        for crowd in groups[:: max(1, len(groups) // FOLDERS)]:
            seen = []
            for one in crowd:
                second = protect(
                    table[table["who"] != one], K, f"{place}/second", after=first.folder, force=True, **options
                )
                seen.append(tuple(sorted(path.read_bytes() for path in second.folder.iterdir())))
            chances += [1.0 / seen.count(one) for one in seen]
    return {"tries": len(chances), "found": float(np.mean(chances)), "at worst": max(chances), "1/k": 1 / K}


def _subtracted(values: Floats, rows: Floats, gone: int) -> list[float]:
    from shoal.attacks.differencing import subtracted

    guess: list[float] = subtracted(rows, released(np.delete(values, gone, axis=0))[1]).tolist()
    return guess


def _nearest(values: Floats, guess: Floats) -> int:
    return int(np.argmin(np.sum(((values - guess) / values.std(axis=0)) ** 2, axis=1)))


def years(name: str, values: Floats) -> list[dict[str, Any]]:
    """The error of releases that follow one another and of such that start anew, on the scale of all records."""
    from shoal.methods.following import follow

    random = np.random.default_rng(2)
    scale = values.std(axis=0)
    order = random.permutation(len(values))
    waiting = order[: len(order) // 3].tolist()
    here = np.sort(order[len(order) // 3 :])
    row_of = dict(zip(here.tolist(), released(values[here])[1], strict=True))
    found = []
    for year in range(1, YEARS + 1):
        records = np.array(list(row_of))
        published, groups = np.unique(np.array(list(row_of.values())), axis=0, return_inverse=True)
        many = int(SHARE * len(records))
        stays = ~np.isin(records, random.permutation(records)[:many])
        standard = published / scale
        kept = follow(groups.ravel(), stays, K, lambda a, b, rows=standard: np.sum((rows[b] - rows[a]) ** 2, axis=1))
        row_of = {int(one): published[kept.group[at]] for at, one in enumerate(records.tolist()) if kept.kept[at]}
        new, waiting = np.array(waiting[:many]), waiting[many:]
        row_of |= dict(zip(new.tolist(), released(values[new])[1], strict=True))
        now = np.array(sorted(row_of))
        after, anew = np.array([row_of[one] for one in now.tolist()]), released(values[now])[1]
        total = float(np.sum(((values[now] - values[now].mean(axis=0)) / scale) ** 2))
        errors = [100 * float(np.sum(((values[now] - side) / scale) ** 2)) / total for side in (after, anew)]
        found.append({"table": name, "year": year, "records": len(now), "follows": errors[0], "anew": errors[1]})
    return found
