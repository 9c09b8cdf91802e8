"""What pages answer, asked without a browser."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from shoal.web.app import create_app
from shoal.web.wording import for_people
from shoal.web.worker_process import WorkerProcess
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
    (job / "work" / "plan.toml").write_text('[source]\nfile = "people.csv"\n[columns]\nage = { role = "protect" }\n')
    command = {"words": ["explore", "plan.toml", "-o", "exploration"], "python": ""}
    about = {"upload": "0" * 16}
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
    upload = Workspace(folder).upload(Path(answer.headers["location"]).name)
    assert answer.headers["location"] == f"/explore/{upload.id}"
    assert upload.name == "people.csv" and 'role = "protect"' in upload.plan.read_text()


def upload_of(client: TestClient, name: str, content: bytes) -> str:
    upload: str = client.post("/uploads").json()["id"]
    client.put(f"/uploads/{upload}/{name}", content=content)
    return upload


def test_closing_a_job_removes_the_files_it_was_given_unless_another_job_has_them(
    client: TestClient, folder: Path
) -> None:
    original, protected = (upload_of(client, "people.csv", b"age\n1\n2\n") for _ in range(2))
    given = {"original": original, "protected": protected}
    jobs = [client.post("/assess/pair", data=given, follow_redirects=False).headers["location"] for _ in range(2)]
    client.post(f"{jobs[0]}/close")
    assert Workspace(folder).upload(original).name == "people.csv"
    client.post(f"{jobs[1]}/close")
    assert not any((folder / "uploads" / one).exists() for one in given.values())


def test_a_zip_that_is_refused_does_not_stay(client: TestClient, folder: Path) -> None:
    upload = upload_of(client, "release.zip", b"no zip")
    answer = client.post("/verify", data={"upload": upload})
    assert answer.status_code == 422
    assert "release.zip is no zip" in answer.text
    assert not (folder / "uploads" / upload).exists()


def test_a_least_crowd_that_is_no_number_is_said_on_the_page_and_leaves_no_job(
    client: TestClient, folder: Path
) -> None:
    upload = upload_of(client, "release.zip", b"PK")
    before = sorted((folder / "jobs").iterdir())
    answer = client.post("/verify", data={"upload": upload, "min_k": "<b>", "expect": "5ea1"})
    assert answer.status_code == 422
    assert "least crowd &#39;&lt;b&gt;&#39; must be a whole number of at least 2" in answer.text
    assert "release.zip is here" in answer.text and 'value="5ea1"' in answer.text
    assert sorted((folder / "jobs").iterdir()) == before


@pytest.mark.parametrize(
    ("name", "address"),
    [("sent.ZIP", "/verify?upload={}"), ("letter.pdf", "/review?upload={}"), ("a.sav", "/protect/{}")],
)
def test_a_file_that_was_loaded_leads_to_the_page_it_is_for(client: TestClient, name: str, address: str) -> None:
    upload = upload_of(client, name, b"PK")
    assert f'href="{address.format(upload)}"' in client.get("/").text
    client.post(f"/uploads/{upload}/remove")


def test_a_file_that_no_page_reads_is_not_listed_and_can_be_removed(client: TestClient, folder: Path) -> None:
    upload = upload_of(client, "picture.png", b"PNG")
    shown = client.get("/").text
    assert "picture.png" not in shown and "Remove 1 file that no page reads" in shown
    assert "picture.png is an image" in client.get(f"/protect/{upload}").text
    client.post("/uploads/unread/remove")
    assert not (folder / "uploads" / upload).exists() and "that no page reads" not in client.get("/").text


async def _at_once(_: WorkerProcess, function: Any, *given: Any) -> Any:
    """Instead of aside, in a process that would first have to be started."""
    return function(*given)


def test_a_file_that_cannot_be_read_offers_how_else_it_could_be(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerProcess, "call", _at_once)
    upload = upload_of(client, "odd.csv", "age;Küche\n1;2\n3;4\n".encode("cp850"))
    refused = client.get(f"/protect/{upload}")
    assert refused.status_code == 422 and "This file cannot be read" in refused.text
    assert 'name="encoding"' in refused.text and "--" not in refused.text.partition("<main")[2]
    read = client.get(f"/protect/{upload}?encoding=cp850&delimiter=semicolon")
    assert read.status_code == 200 and '<th scope="col">Küche</th>' in read.text
    sent = {"role-0": "quasi", "role-1": "quasi", "k": "2"}
    assert client.post(f"/plan/{upload}/curve", data=sent).json()["records"] == 2
    assert client.get(f"/plan/{upload}/groups/1").json()["column"] == "Küche"
    explored = client.get(f"/explore/{upload}")  # the plan says how the file is read
    assert explored.status_code == 200 and "--encoding cp850" in explored.text
    picture = upload_of(client, "picture.png", b"PNG")
    assert "This cannot be done" in client.get(f"/protect/{picture}").text


def test_the_place_to_drop_a_table_names_what_is_read(client: TestClient) -> None:
    for address in ("/protect", "/explore"):
        said = client.get(address).text
        assert all(name in said for name in ("CSV", "xlsx", "SPSS", "Stata", "SAS", "Parquet", "Feather", "JSONL"))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("column pay: 2 missing values; fill them, drop the rows, or pass --missing group or withhold", "under More"),
        ("/a b/uploads/0123456789abcdef/x-private is not there; give the private folder with --private", "x-private"),
        ("no column is a quasi-identifier; name at least 1 (--quasi)", "; name at least 1"),
        ("column area holds few numbers; if they are codes, pass --categorical area", "say so beside the column"),
        ("column a is a code, which Noise would average; choose another, or say --kind a=number", "amounts"),
        ("column 'x' holds no value at all; drop it (--drop)", "choose Drop for it"),
        ("a.csv is read as X; if that is wrong, give --delimiter, --decimal or --encoding", "How the file is read"),
        ("nr is averaged; if it names the record, drop it: --drop nr", "choose Drop for it"),
        ("pain is compared; for the median of each group give its order: --order pain=low<…", "in that order"),
        ("column b: 2 values not in WordNet; take all as plain categories (--categorical b), map them", "WordNet; map"),
    ],
)
def test_no_page_speaks_of_options_or_of_places_in_the_private_folder(said: str, shown: str) -> None:
    words = for_people(said)
    assert shown in words
    assert "--" not in words and "/" not in words


@pytest.mark.parametrize("kind", ["protect", "explore", "audit"])
def test_the_first_rows_are_read_as_the_columns_are(client: TestClient, kind: str) -> None:
    rows = "".join(f"{20 + row % 9};{'Köln' if row % 2 else 'Düren'};{row},5\n" for row in range(30))
    upload = upload_of(client, "people.csv", f"Alter;Größe;Höhe\n{rows}".encode("latin-1"))
    shown = client.get(f"/{kind}/{upload}").text
    assert "<td>Köln</td>" in shown and "<td>0.5</td>" in shown and "<legend>Größe</legend>" in shown


def test_a_page_of_300_columns_is_made_in_150_ms(client: TestClient) -> None:
    rows = "\n".join(",".join(str(1 + row * column % 5) for column in range(300)) for row in range(40))
    upload = upload_of(client, "wide.csv", f"{','.join(f'q{column}' for column in range(300))}\n{rows}\n".encode())
    assert client.get(f"/protect/{upload}").text.count("<fieldset") == 300
    begun = time.process_time()  # of this process, in which the page is made; columns were inspected in another
    client.get(f"/protect/{upload}")
    assert time.process_time() - begun < 0.15


def test_a_file_without_rows_is_not_offered_on_the_start_page(client: TestClient) -> None:
    for name, content in (("nothing.csv", b""), ("header.csv", b"age,pay\n"), ("rows.csv", b"age,pay\n1,2\n")):
        upload_of(client, name, content)
    start = client.get("/").text
    assert "rows.csv</b>" in start and "nothing.csv" not in start and "header.csv" not in start
