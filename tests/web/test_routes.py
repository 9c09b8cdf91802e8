"""What pages answer, asked without a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from shoal.web.app import create_app
from shoal.web.workspace import Workspace

ORIGIN = "http://127.0.0.1:8760"
FAILED_JOB = "f" * 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private folder with a job that failed before the workbench was started."""
    folder = tmp_path_factory.mktemp("workbench")
    job = Workspace(folder).jobs / FAILED_JOB
    (job / "work").mkdir(parents=True)
    (job / "work" / "people.csv").write_text("age,pay\n31,5\n,6\n")
    command = {"words": ["explore", "people.csv", "-o", "exploration"], "python": ""}
    about = {"upload": "0" * 16, "choices": {"roles": {"0": "quasi", "1": "confidential"}}}
    kept = {"page": "explore", "title": "Exploration", "about": about, "command": command, "state": "failed"}
    (job / "job.json").write_text(json.dumps({**kept, "notes": ["no"], "begun": 0.0, "ended": 1.0}))
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    """A browser that was let in."""
    app = create_app(Workspace(folder), "token", 8760)
    with TestClient(app, ORIGIN, headers={"Origin": ORIGIN, "Accept": "text/html"}) as client:
        client.get("/?token=token")
        yield client


def test_a_job_that_failed_leads_back_to_its_settings_also_when_its_file_was_closed(
    client: TestClient, folder: Path
) -> None:
    address = f"/jobs/{FAILED_JOB}/change"
    assert address in client.get(f"/jobs/{FAILED_JOB}").text
    answer = client.get(address, follow_redirects=False)
    upload = Path(answer.headers["location"].partition("?")[0]).name
    assert answer.headers["location"] == f"/explore/{upload}?from={FAILED_JOB}"
    assert Workspace(folder).upload(upload).name == "people.csv"
