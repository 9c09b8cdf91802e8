"""Placing: the client chooses the group of a document by itself, and holds back those that are like no group.

The same rules as `shoal.index.DynamicIndex`, on the owner's side: the server sees which group was chosen, and of those
that waited the pool of k or more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from shoal.index.waiting import Waiting
from shoal.microaggregation.words.pooling import unit_rows
from shoal.service.client.groups import Groups

__all__ = ["Placing"]


class Placing:
    """The groups as they were last seen, and the documents that wait here.

    Parameters
    ----------
    fetch : function
        Gives the groups as they are now.
    waiting : Waiting
        The documents of the owner that wait.
    embargo : float or None
        A document less similar than this to every group waits. None: none does, once there are groups.
    """

    def __init__(self, fetch: Callable[[], Groups], waiting: Waiting, embargo: float | None) -> None:
        self._fetch = fetch
        self._waiting = waiting
        self._least = embargo or -1.0
        self.groups = fetch()

    def refresh(self) -> None:
        """See the groups as they are now."""
        self.groups = self._fetch()

    def chosen(self, counts: sp.csr_matrix) -> str | None:
        """The name of the nearest group's representative; None if the document waits."""
        return self._nearest(counts, self._least)

    def nearest(self, counts: sp.csr_matrix) -> str | None:
        """The same, whatever the embargo; None while there is no group."""
        return self._nearest(counts, -1.0)

    def wait(self, document: str, counts: sp.csr_matrix) -> tuple[list[str], sp.csr_matrix] | None:
        """Hold a document back. The group that it completes, if it does: its documents, and the pool of k of them."""
        self._waiting.add(document, counts)
        return self._waiting.group_around(document, self._least if len(self.groups) else -1.0, self._least)

    def _nearest(self, counts: sp.csr_matrix, least: float) -> str | None:
        if not len(self.groups):
            return None
        representatives = self.groups.representatives
        number, similarity = representatives.nearest(unit_rows(counts.astype(np.float64), representatives.idf)[0])
        return representatives.names[number] if similarity >= least else None
