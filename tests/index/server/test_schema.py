"""schemathesis over the whole API: whatever is sent, no fault of the server and no answer that is not documented."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from shoal.index.server.accounts import make_account, token_of
from shoal.index.server.database import Database
from tests.index.server.api import Api
from tests.index.server.processes import servers

OPTIONS = ["--generation-database", "none", "--seed", "1", "--no-color", "--warnings", "off"]
# It takes every body that the schema allows for a good one; that terms and weights are as many, no schema can say.
WITHOUT = ["--exclude-checks", "positive_data_acceptance"]


@pytest.fixture
def served(sqlite: str, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a server that has an index with two groups, and an operator's token."""
    database = Database(sqlite)
    database.migrate()
    with database.writing() as connection:
        secret = secrets.token_bytes(32)
        token = token_of(make_account(connection, "operator", "operator", secret).id, secret)
    database.close()
    with servers(1, sqlite, tmp_path / "key", "--rate", "1000000") as [server]:
        with httpx.Client(base_url=server.url(), timeout=600) as client:
            api = Api(client, {"operator": token, "user": token})
            api.create()
            api.group()
        yield server.url(), token


@pytest.mark.parametrize("with_token", [True, False], ids=["with a token", "without a token"])
def test_every_answer_is_documented_and_none_is_a_fault(
    served: tuple[str, str], tmp_path: Path, with_token: bool
) -> None:
    url, token = served
    header = ["--header", f"Authorization: Bearer {token}"] if with_token else []
    examples = ["--max-examples", "8" if with_token else "1"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"]
    done = subprocess.run(
        [*command, *header, *examples, *OPTIONS, *WITHOUT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert "Stateful" in done.stdout and "27/27" in done.stdout  # every operation, and links from one to the next
