"""The dynamic index: a k-anonymous vector space over documents that come and go.
A representative never changes once it was published, so two snapshots cannot be subtracted from each other.

This is the data structure alone. `shoal.IndexClient` has the verbs of `shoal index` for an index on a server: create,
put, get, delete, search, export and status.
"""

from __future__ import annotations

from shoal.index.changes import Changes
from shoal.index.dynamic import DynamicIndex, Hit, Placement
from shoal.index.histories import Deletion, Insertion, simulate
from shoal.index.snapshot import Snapshot

__all__ = ["Changes", "Deletion", "DynamicIndex", "Hit", "Insertion", "Placement", "Snapshot", "simulate"]
