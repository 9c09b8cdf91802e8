"""Servers that are killed at any moment lose nothing, and never show a group below k."""

from __future__ import annotations

import pytest
from benchmarks.faults import kill_often


@pytest.mark.parametrize("repeats", [5])
def test_killed_servers_lose_nothing_and_never_show_a_group_below_k(address: str, repeats: int) -> None:
    servers = 2 if address.startswith("postgresql") else 1
    figures = kill_often(address, servers, repeats, 8)
    assert figures["kills"] == repeats
    assert figures["sent again"] > 0  # requests were under way when it happened
    assert {"batch", "store", "delete", "read", "sync", "bucket"} <= set(figures), figures
