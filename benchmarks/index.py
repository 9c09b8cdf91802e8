"""The dynamic index on Reuters R8, as in the paper: deletions to the end, and insertions of all that is left.

Normalised SSE is the mean squared cosine distance of visible documents to what is published of their group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from shoal import SphericalMicroaggregation, VectorSpace
from shoal.attacks.intersection import intersection_attack
from shoal.index import DynamicIndex
from shoal.methods.pools import pooled_counts, unit_rows
from shoal.methods.spherical import spherical_representatives

K = 5
START = 1_000
EMBARGO = 0.45
EVERY = 500  # events between two points of a curve


def run() -> dict[str, Any]:
    counts, idf = documents()
    found: dict[str, Any] = {}
    for phase, play in (("deleting", delete_all), ("inserting", insert_all)):
        paper, ours = (play(started(counts, idf, embargo), counts, idf) for embargo in (None, EMBARGO))
        found[phase] = [side_by_side(phase, *both) for both in zip(paper, ours, strict=True)]
    return found


def documents() -> tuple[sp.csr_matrix, np.ndarray]:
    """Counts of all stories, in random order, and the weights of the terms."""
    texts = data.texts("reuters_r52.jsonl.gz", "r8")
    space = VectorSpace(min_df=K)
    counted = space.count([texts[row] for row in np.random.default_rng(0).permutation(len(texts))])
    counts = space.settle([counted.tally]).count_rows(counted)
    return counts[np.diff(counts.indptr) > 0], space.idf_


def started(counts: sp.csr_matrix, idf: np.ndarray, embargo: float | None) -> DynamicIndex:
    """An index of the first documents: of plain MDAV's groups without an embargo, else of refined ones."""
    index = DynamicIndex(K, idf, embargo=embargo)
    names, first = [str(row) for row in range(START)], counts[:START]
    if embargo is not None:
        index.insert_batch(names, first)
        return index
    groups = SphericalMicroaggregation(K, refine=False).fit(unit_rows(first, idf)[0]).groups_
    members = [[names[row] for row in np.flatnonzero(groups == group)] for group in range(groups.max() + 1)]
    index.insert_groups(members, pooled_counts(first, groups))
    return index


def delete_all(index: DynamicIndex, counts: sp.csr_matrix, idf: np.ndarray) -> list[dict[str, Any]]:
    """Documents leave in random order, until no more than k are left."""
    founded: dict[Any, Any] = {}
    snapshots = [index.snapshot().members]
    points = [point(index, counts, idf, 0, founded) | {"fewest candidates": intersection_attack(snapshots, K).smallest}]
    for events, row in enumerate(np.random.default_rng(1).permutation(START)[: START - K], start=1):
        index.delete(str(row))
        snapshots.append(index.snapshot().members)
        if events % (EVERY // 5) == 0 or events == START - K:
            fewest = intersection_attack(snapshots, K).smallest
            points.append(point(index, counts, idf, events, founded) | {"fewest candidates": fewest})
    return points


def insert_all(index: DynamicIndex, counts: sp.csr_matrix, idf: np.ndarray) -> list[dict[str, Any]]:
    """All other documents come, one by one."""
    founded: dict[Any, Any] = {}
    points = [point(index, counts, idf, 0, founded)]
    for events, row in enumerate(range(START, counts.shape[0]), start=1):
        index.insert(str(row), counts[row])
        if events % EVERY == 0 or row + 1 == counts.shape[0]:
            points.append(point(index, counts, idf, events, founded))
    return points


def point(
    index: DynamicIndex, counts: sp.csr_matrix, idf: np.ndarray, events: int, founded: dict[Any, Any]
) -> dict[str, Any]:
    """The error of what is visible now, and how many wait."""
    snapshot = index.snapshot()
    rows = [np.array(sorted(map(int, members))) for members in snapshot.members.values()]
    published = unit_rows(snapshot.pools.astype(np.float64), idf)[0]
    groups = np.repeat(np.arange(len(rows)), [len(members) for members in rows])
    vectors = unit_rows(counts[np.concatenate(rows)], idf)[0]
    cosines = np.asarray(vectors.multiply(published[groups]).sum(axis=1))
    # Eq. 2: the mean of the unit vectors that a group began with, which never changes; what is published are pools.
    for group, mean in zip(snapshot.members, spherical_representatives(vectors, groups), strict=True):
        founded.setdefault(group, mean)
    means = sp.csr_matrix(sp.vstack([founded[group] for group in snapshot.members]))[groups]
    return {
        "events": events,
        "normalised SSE": float(np.mean((1 - cosines) ** 2)),
        "Eq. 2": float(np.mean((1 - np.asarray(vectors.multiply(means).sum(axis=1))) ** 2)),
        "waiting": len(index.waiting),
    }


def side_by_side(phase: str, paper: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """A row of a table: the same moment by both rules."""
    before, now = paper["normalised SSE"], ours["normalised SSE"]
    row = {phase: ours["events"], "as in the paper": round(before, 3), "refined, embargo": round(now, 3)}
    row |= {"Eq. 2, as in the paper": round(paper["Eq. 2"], 3), "Eq. 2, refined, embargo": round(ours["Eq. 2"], 3)}
    row["less by %"] = round(100 * (1 - now / before), 1)
    if phase == "inserting":
        return row | {
            "waiting": ours["waiting"],
            "waiting %": round(100 * ours["waiting"] / (START + ours["events"]), 2),
        }
    return row | {"fewest candidates": ours["fewest candidates"]}
