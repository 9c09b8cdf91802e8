"""The client of the index: it encrypts, counts words, chooses groups and ranks, so that the server need not know them.

with IndexClient("http://127.0.0.1:8750", token, Keys.read("key.txt")) as index:
    index.put("letters/")
    index.search("broken hip")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import MissingExtra

try:
    import httpx  # noqa: F401
    import pyrage  # noqa: F401
except ImportError:
    raise MissingExtra("service", "the client of the index") from None

from shoal.data.keys import Keys
from shoal.index.client.client import IndexClient
from shoal.index.client.results import IndexStatus, PutReport, SearchFilter, SearchHit, SyncReport

if TYPE_CHECKING:
    from shoal.index.client.published import Vocabulary

__all__ = ["IndexClient", "IndexStatus", "Keys", "PutReport", "SearchFilter", "SearchHit", "SyncReport", "Vocabulary"]


def __getattr__(name: str) -> Any:
    if name == "Vocabulary":  # loaded on first use: it takes as long as all the rest
        from shoal.index.client.published import Vocabulary

        return Vocabulary
    raise AttributeError(f"module 'shoal.index.client' has no attribute {name!r}")
