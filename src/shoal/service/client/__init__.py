"""The client of the index: it encrypts, counts words, chooses groups and ranks, so that the server need not know.

with IndexClient("http://127.0.0.1:8750", token, Keys.read("key.txt")) as index:
    index.put("letters/")
    index.search("broken hip")
"""

from __future__ import annotations

from shoal.errors import MissingExtra

try:
    import httpx  # noqa: F401
    import pyrage  # noqa: F401
except ImportError:
    raise MissingExtra("service", "the client of the index") from None

from shoal.io.sealing.keys import Keys
from shoal.service.client.client import IndexClient
from shoal.service.client.put import PutReport
from shoal.service.client.search import SearchHit
from shoal.service.client.vocabulary import Vocabulary

__all__ = ["IndexClient", "Keys", "PutReport", "SearchHit", "Vocabulary"]
