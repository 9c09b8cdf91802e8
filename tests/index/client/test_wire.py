"""What reaches the server, recorded on the way: ciphertexts and names of groups, and nothing about a text."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest

from shoal.index.client.put import as_terms
from tests.index.client.letters import BIRDS, BREAD, ENGINES, STARS, corpus, texts
from tests.index.client.proxy import proxy_to

START = {"bird": texts(BIRDS, 8), "engine": texts(ENGINES, 8), "bread": texts(BREAD, 8), "star": texts(STARS, 8)}
NEW = {"bird": texts(BIRDS, 4, first=3), "note": ["a heron in the marsh, and bread for the egret"]}
REQUESTS = (
    r"GET /v1/(index|groups|vocabulary/\w+|representatives/pages/\d+\?index=\w+"
    r"|records\?after=\d+|buckets/\d+/\d+\?after=\w*) HTTP/1.1",
    r"POST /v1/batches HTTP/1.1",
    r"DELETE /v1/documents/\w+ HTTP/1.1",
)


@pytest.fixture
def index(operator):
    operator.create(corpus(**START), k=3)
    return operator


def test_no_text_no_word_no_vector_and_no_query_reaches_the_server(index, new_client, server):
    with proxy_to(server.address) as proxy:
        client = new_client("writer", address=proxy.address)
        client.put(corpus(**NEW), wait=0)
        hits = client.search("heron in the marsh, egret and bread", 40)
        client.get("note-0")
        client.delete("note-0")
        client.status()
    assert any(hit.name == "note-0" for hit in hits)
    assert len(proxy.requests) > 10
    for word in {*BIRDS, *BREAD, *ENGINES, "note", "bird"}:
        assert not any(word.encode() in sent.lower() for sent in proxy.recorded)
    for line, body in proxy.requests:
        assert any(re.fullmatch(known, line) for known in REQUESTS), line
        first, _, sealed = body.partition(b"\n")
        assert sealed.startswith(b"age-encryption.org/v1\n") if line.startswith("POST") else body == b""
        for document in json.loads(first)["documents"] if first else ():
            assert set(document) == {"bytes", "record", "representative"}


def test_of_documents_that_waited_the_server_sees_the_sum_of_k_alone(index, new_client, server):
    for number in range(8):
        index.delete(f"star-{number}")
    starry = texts(STARS, 6)
    with proxy_to(server.address) as proxy:
        client = new_client("writer", address=proxy.address)
        client.put(corpus(star=starry))
    groups = [
        group
        for line, body in proxy.requests
        if line.startswith("POST /v1/groups")
        for group in json.loads(body)["groups"]
    ]
    assert groups
    space = index._index.space
    counts = space.count_rows(space.count(starry))
    sums = [as_terms(counts[list(rows)].sum(axis=0)) for rows in combinations(range(6), 3)]
    for group in groups:
        assert len(group["documents"]) >= 3
        assert group["pool"] in sums
