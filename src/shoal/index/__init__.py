"""The dynamic index: a k-anonymous vector space over documents that are added and deleted.
A representative never changes once it is published, so nothing can be learned by subtracting one snapshot from another.

This is the data structure alone. `shoal.IndexClient` has the verbs of `shoal index` for an index on a server: create,
put, get, delete, search, export and status.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Deletion", "DynamicIndex", "Hit", "Insertion", "Placement", "Snapshot", "simulate"]

if TYPE_CHECKING:
    from shoal.index.dynamic import DynamicIndex, Hit, Placement
    from shoal.index.histories import Deletion, Insertion, Snapshot, simulate


def __getattr__(name: str) -> Any:  # loaded on first use: the client needs none of it
    if name in __all__:
        module = "dynamic" if name in ("DynamicIndex", "Hit", "Placement") else "histories"
        return getattr(import_module(f"shoal.index.{module}"), name)
    raise AttributeError(f"module 'shoal.index' has no attribute {name!r}")
