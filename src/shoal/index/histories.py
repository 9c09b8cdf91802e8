"""Histories: what an observer sees of an index while documents come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import scipy.sparse as sp

from shoal.index.dynamic import DynamicIndex
from shoal.index.representatives import name_of_pool
from shoal.index.snapshot import Snapshot

__all__ = ["Deletion", "Insertion", "simulate"]


@dataclass(frozen=True)
class Insertion:
    """Documents that come: one alone, or several as a batch."""

    documents: tuple[str, ...]
    counts: sp.csr_matrix  # one row per document


@dataclass(frozen=True)
class Deletion:
    """A document that goes."""

    document: str


def simulate(
    index: DynamicIndex, events: Iterable[Insertion | Deletion], *, recompute: bool = False
) -> Iterator[Snapshot]:
    """The snapshots after each event.

    `recompute` shows what an index gives away that makes its representatives anew whenever a group changes. It is a
    mistake that only this simulation can make.
    """
    counts_of: dict[str, sp.csr_matrix] = {}
    for event in events:
        if isinstance(event, Deletion):
            index.delete(event.document)
        elif len(event.documents) == 1:
            index.insert(event.documents[0], event.counts)
        else:
            index.insert_batch(event.documents, event.counts)
        if isinstance(event, Insertion):
            counts_of.update(zip(event.documents, event.counts, strict=True))
        yield _recomputed(index.snapshot(), counts_of) if recompute else index.snapshot()


def _recomputed(snapshot: Snapshot, counts_of: dict[str, sp.csr_matrix]) -> Snapshot:
    """The same groups, each with the pool of those that are in it now."""
    members = list(snapshot.members.values())
    pools = [sum(counts_of[document] for document in sorted(group)) for group in members]
    names = [name_of_pool(pool.indices, pool.data) for pool in pools]
    stacked = sp.csr_matrix(sp.vstack(pools, format="csr")) if pools else snapshot.pools
    return replace(snapshot, members=dict(zip(names, members, strict=True)), pools=stacked)
