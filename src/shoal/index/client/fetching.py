"""Fetching a document without showing which: with all others whose ids begin with the same bits.

Ids are random, so a bucket says nothing about the subject of what was read. Buckets are nested: somebody who sees many
of them being fetched over time is left with the smallest, which has k documents or more.
"""

from __future__ import annotations

import json

from shoal.errors import InputError
from shoal.index.client.opened import OpenedIndex

ID_BITS = 128


def fetch_hidden(index: OpenedIndex, document: str) -> bytes:
    """The ciphertext of a document, out of a bucket of at least k; of all documents, if there are so few."""
    # On average this many and up to twice as many: fewer than k come up once in 50,000 times, at the cost of a fetch.
    wanted = 2 * index.k + 8
    bits = max(index.visible // wanted, 1).bit_length() - 1
    while True:
        contents = _bucket(index, bits, int(document, 16) >> (ID_BITS - bits))
        if len(contents) >= index.k or bits == 0:
            break
        bits -= 1
    if document not in contents:
        raise InputError("the server has no such document, or you may not see it; was it deleted?")
    return contents[document]


def _bucket(index: OpenedIndex, bits: int, number: int) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    after = ""
    while True:
        line, _, rest = index.connection.get(f"/v1/buckets/{bits}/{number}?after={after}").partition(b"\n")
        try:
            page = [(str(document["id"]), int(document["bytes"])) for document in json.loads(line)["documents"]]
        except (ValueError, KeyError, TypeError):
            raise InputError("the server's answer is not that of an index; is this the address of an index?") from None
        if not page:
            return contents
        start = 0
        for after, length in page:
            contents[after] = rest[start : start + length]
            start += length
