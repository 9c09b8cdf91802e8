"""The client of the index: it encrypts, counts words, chooses groups and ranks, so that the server need not know them.

with IndexClient("http://127.0.0.1:8750", token, Keys.read("key.txt")) as index:
    index.put("letters/")
    index.search("broken hip")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import MissingExtra

try:
    import httpx  # noqa: F401
    import pyrage  # noqa: F401
except ImportError:
    raise MissingExtra("service", "the client of the index") from None

from shoal.data.keys import Keys
from shoal.index.client.client import IndexClient, IndexStatus

if TYPE_CHECKING:
    from shoal.index.client.published import Vocabulary
    from shoal.index.client.put import PutReport
    from shoal.index.client.search import SearchFilter, SearchHit, SyncReport

__all__ = ["IndexClient", "IndexStatus", "Keys", "PutReport", "SearchFilter", "SearchHit", "SyncReport", "Vocabulary"]


def __getattr__(name: str) -> Any:  # loaded on first use: they take longer than all the rest
    if name in __all__:
        module = {"Vocabulary": "published", "PutReport": "put"}.get(name, "search")
        return getattr(import_module(f"shoal.index.client.{module}"), name)
    raise AttributeError(f"module 'shoal.index.client' has no attribute {name!r}")
