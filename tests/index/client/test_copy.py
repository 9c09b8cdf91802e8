"""The client's copy of representatives on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.client.conftest import NewClient
from tests.index.client.letters import BIRDS, ENGINES, corpus, texts


def test_a_client_that_comes_again_fetches_no_full_page_and_finds_the_same(
    new_client: NewClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("client.published", "server.routes"):
        monkeypatch.setattr(f"shoal.index.{side}.PAGE", 2)
    first = new_client("operator", "operator")
    first.create(corpus(bird=texts(BIRDS, 8), engine=texts(ENGINES, 8)), k=3)
    groups = first._index.published.groups().sizes
    kept = list(tmp_path.rglob("*.arrow"))
    assert groups and kept
    again = new_client("operator", "operator")
    asked: list[str] = []
    get = again._connection.get
    monkeypatch.setattr(again._connection, "get", lambda path: (asked.append(path), get(path))[1])
    assert again._index.published.groups().sizes == groups
    assert not [path for path in asked for page in kept if f"/pages/{page.stem}?" in path]


def test_a_page_that_was_changed_on_the_disk_is_not_used(
    new_client: NewClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("client.published", "server.routes"):
        monkeypatch.setattr(f"shoal.index.{side}.PAGE", 2)
    first = new_client("operator", "operator")
    first.create(corpus(bird=texts(BIRDS, 8), engine=texts(ENGINES, 8)), k=3)
    first.put(corpus(note=texts(BIRDS, 1)))
    page = next(iter(tmp_path.rglob("0.arrow")))
    page.write_bytes(page.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"not that of an index|do not match"):
        new_client("operator", "operator").put(corpus(more=texts(BIRDS, 1)))
