"""A cluster that the tests of this folder share: each of its workers is a process that loads everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def workers() -> Iterator[Any]:
    """Two worker processes of Dask."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def cluster(workers: Any) -> Any:
    """The cluster with both its workers: one that a test before has killed is started anew."""
    from distributed import Client

    with Client(workers) as client:
        client.wait_for_workers(2, timeout=600)  # the machine may be busy
    return workers
