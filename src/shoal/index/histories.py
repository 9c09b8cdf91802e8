"""What happens to an index, as data: documents that come and go, and what an observer sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import scipy.sparse as sp

from shoal.index.representatives import name_of_pool

if TYPE_CHECKING:
    from shoal.index.dynamic import DynamicIndex


@dataclass(frozen=True)
class Snapshot:
    """All that an observer sees at one moment: the visible groups, their representatives and their documents' ids."""

    k: int
    members: Mapping[str, frozenset[str]]  # by the name of the representative
    pools: sp.csr_matrix  # (groups, terms): their pooled counts, in the same order

    @property
    def documents(self) -> int:
        """How many documents are visible."""
        return sum(map(len, self.members.values()))


@dataclass(frozen=True)
class Insertion:
    """Documents that are added: a single one, or several as a batch."""

    documents: tuple[str, ...]
    counts: sp.csr_matrix  # one row per document


@dataclass(frozen=True)
class Deletion:
    """A document that is deleted."""

    document: str


def simulate(
    index: DynamicIndex, events: Iterable[Insertion | Deletion], *, recompute: bool = False
) -> Iterator[Snapshot]:
    """The snapshot after each event.

    `recompute` shows what leaks from an index that recomputes a representative whenever its group changes. Only this
    simulation can make that mistake.
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
    """The same groups, each with the pool of its present members."""
    members = list(snapshot.members.values())
    pools = [sum(counts_of[document] for document in sorted(group)) for group in members]
    names = [name_of_pool(pool.indices, pool.data) for pool in pools]
    stacked = sp.csr_matrix(sp.vstack(pools, format="csr")) if pools else snapshot.pools
    return replace(snapshot, members=dict(zip(names, members, strict=True)), pools=stacked)
