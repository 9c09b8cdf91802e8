"""The client's copy of representatives on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.index import representatives as listing
from shoal.index.client.published import Copy
from shoal.index.representatives import Representatives
from tests.index.client.conftest import NewClient
from tests.index.client.letters import BIRDS, ENGINES, corpus, texts

IDF = np.array([1.0, 2.0, 3.0])


def filled(n_pools: int) -> Representatives:
    pools = np.random.default_rng(n_pools).integers(1, 9, size=(n_pools, 3))
    made = Representatives(IDF)
    made.add(sp.csr_matrix(pools))
    return made


def test_what_is_ready_opens_as_it_was(tmp_path: Path) -> None:
    made = filled(600)
    Copy(tmp_path, IDF).keep(made)
    opened = Copy(tmp_path, IDF).open()
    query = sp.csr_matrix([[0.6, 0.0, 0.8]])
    assert opened.names == made.names
    assert (opened.pools != made.pools).nnz == 0 and opened.pools.dtype == np.int64
    assert opened.most_similar(query, 20) == made.most_similar(query, 20)
    assert opened.matching(query, 7) == made.matching(query, 7)
    assert (opened.weights(599) != made.weights(599)).nnz == 0


def test_those_that_come_later_are_found_beside_those_that_are_ready(tmp_path: Path) -> None:
    Copy(tmp_path, IDF).keep(filled(600))
    opened = Copy(tmp_path, IDF).open()
    assert opened.add(sp.csr_matrix([[0, 0, 4]])) == [600]
    assert opened.nearest(sp.csr_matrix([[0.0, 0.0, 1.0]])) == (600, 1.0)


def test_a_copy_that_is_not_whole_is_not_used(tmp_path: Path) -> None:
    Copy(tmp_path, IDF).keep(filled(600))
    (file,) = tmp_path.rglob("list_weights.npy")
    file.write_bytes(file.read_bytes()[:-8])
    assert len(Copy(tmp_path, IDF).open()) == 0


def test_a_larger_copy_replaces_the_smaller_one_and_its_pages(tmp_path: Path) -> None:
    copy = Copy(tmp_path, IDF)
    copy.keep(filled(600))
    for number in (0, 1):
        copy.keep_page(number, b"a page")
    copy.keep(filled(5_001))
    assert [path.name for path in tmp_path.glob("ready-*")] == ["ready-5001"]
    assert copy.page(0) is None and copy.page(1) == b"a page"


def test_a_client_that_comes_again_fetches_no_page_and_finds_the_same(
    new_client: NewClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "NOT_LISTED", 0)
    first = new_client("operator", "operator")
    first.create(corpus(bird=texts(BIRDS, 8), engine=texts(ENGINES, 8)), k=3)
    hits = first.search("heron marsh", by_groups=True)
    assert hits and list(tmp_path.rglob("ready-*"))
    again = new_client("operator", "operator")
    asked: list[str] = []
    get = again._connection.get
    monkeypatch.setattr(again._connection, "get", lambda path: (asked.append(path), get(path))[1])
    assert again.search("heron marsh", by_groups=True) == hits
    assert not [path for path in asked if "/pages/" in path]
