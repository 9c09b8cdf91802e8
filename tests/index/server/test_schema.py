"""schemathesis over the whole API: whatever is sent, no fault of the server and no answer that is not documented."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from shoal.index.client.demo import local_server
from shoal.index.server.gate import Limits
from tests.index.server.api import Api

OPTIONS = ["--generation-database", "none", "--seed", "1", "--no-color", "--warnings", "off"]
# It takes every body that the schema allows for a good one; that terms and weights are as many, no schema can say.
WITHOUT = ["--exclude-checks", "positive_data_acceptance"]


@pytest.fixture
def served(sqlite: str) -> Iterator[tuple[str, str]]:
    """The address of a server that has an index with two groups, and an operator's token."""
    with local_server(sqlite, Limits(rate=1e9, burst=10**9, failures=10**9)) as server:
        token = server.account("operator", "operator")
        with httpx.Client(base_url=server.address, timeout=600) as client:
            api = Api(client, {"operator": token, "user": token})
            api.create()
            api.group()
        yield server.address, token


@pytest.mark.parametrize("with_token", [True, False], ids=["with a token", "without a token"])
def test_every_answer_is_documented_and_none_is_a_fault(
    served: tuple[str, str], tmp_path: Path, with_token: bool
) -> None:
    url, token = served
    header = ["--header", f"Authorization: Bearer {token}"] if with_token else []
    examples = ["--max-examples", "4" if with_token else "1"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"]
    done = subprocess.run(
        [*command, *header, *examples, *OPTIONS, *WITHOUT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert "Stateful" in done.stdout and "14/14" in done.stdout  # every operation, and links from one to the next
