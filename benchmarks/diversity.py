"""Diversity: what an attacker concludes from joined groups, and what joining costs, against merging where needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, measure

K, L, ROWS = 5, 2, 3_000
QUASI = (
    ("age", "education-num", "hours-per-week"),
    ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
    ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
)

Ints = NDArray[np.int64]


def run() -> dict[str, Any]:
    rows = [row for quasi in QUASI for refine in (False, True) for row in compared(quasi, refine)]
    measure.show(f"Adult, {ROWS:,} rows, k={K}, l={L}: incomes concluded from joined groups", rows)
    return {"minimality": rows}


def compared(quasi: tuple[str, ...], refine: bool) -> list[dict[str, Any]]:
    """The plain groups, merged where needed, and with halves joined; each attacked by who knows how it was made."""
    from shoal import Microaggregation
    from shoal.assessment.minimality import evidence_of
    from shoal.attacks.minimality import MinimalityAttack
    from shoal.methods.numeric import group_means
    from shoal.promises.diversity import Distinct
    from shoal.promises.joining import distance_to_means, join_until, joins_of

    people = sorted(data.adult((*quasi, "income"))[:ROWS])
    values = np.array([row[:-1] for row in people], dtype=np.float64)
    income = np.unique([row[-1] for row in people], return_inverse=True)[1]
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    groups = Microaggregation(K, refine=refine).fit(values).groups_
    distances = distance_to_means(standard, groups)
    merged = merged_where_needed(groups, income, distances)
    joined = join_until(groups, [Distinct(income, L)], distances)
    joins = joins_of(groups, joined, [income], L, distances)
    ways = {
        "merged where needed": (merged, evidence_of_merging(groups, merged, distances)),
        "halves joined": (joined, evidence_of(groups, joins, np.arange(len(groups)))),
    }
    found = []
    for name, (released, evidence) in ways.items():
        inferred = MinimalityAttack(L).run(released, income, evidence)
        guess = inferred.guess
        found.append(
            {
                "columns": len(quasi),
                "refined": refine,
                "groups are": name,
                "groups": int(released.max()) + 1,
                "SSE": float(np.sum((standard - group_means(standard, released)[released]) ** 2)),
                "SSE without l": float(np.sum((standard - group_means(standard, groups)[groups]) ** 2)),
                "certain": inferred.certain,
                "right": inferred.right,
                "guessed": f"{guess.rate:.3f} ({guess.low:.3f} to {guess.high:.3f})",
                "by majority": f"{guess.baseline:.3f}",
            }
        )
    return found


def merged_where_needed(groups: Ints, values: Ints, distances: Any) -> Ints:
    """Each group with one value is merged with the nearest that has another; for l=2, as Shoal did it at first."""
    every = np.arange(int(groups.max()) + 1)
    cluster = every.copy()
    for group in every.tolist():
        mine = set(values[cluster[groups] == cluster[group]].tolist())
        if len(mine) >= L:
            continue
        rows = np.flatnonzero(cluster[groups] == cluster[group])
        for other in np.argsort(distances(rows, every), kind="stable").tolist():
            there = cluster[groups] == cluster[other]
            if cluster[other] != cluster[group] and not set(values[there].tolist()) <= mine:
                cluster[cluster == cluster[other]] = cluster[group]
                break
    merged: Ints = np.unique(cluster, return_inverse=True)[1][groups]
    return merged


def evidence_of_merging(groups: Ints, merged: Ints, distances: Any) -> list[Any]:
    """All of a merged group but one had one value. A group that has one left alone nearer did not look for company."""
    from shoal.attacks.minimality import Evidence

    rows = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    crowd_of = np.array([merged[mine[0]] for mine in rows])
    alone = np.flatnonzero(np.bincount(crowd_of)[crowd_of] == 1)
    found = []
    for crowd in np.flatnonzero(np.bincount(crowd_of) > 1).tolist():
        members = np.flatnonzero(crowd_of == crowd)
        idle = [
            one
            for one in members.tolist()
            if distances(rows[one], members[members != one]).min() > distances(rows[one], alone).min()
        ]
        hosts = members.tolist() if not idle else idle if len(idle) == 1 else []
        reasons = tuple(((np.concatenate([rows[one] for one in members if one != host]),),) for host in hosts)
        found.append(Evidence((np.concatenate([rows[one] for one in members]),), reasons))
    return found
