"""Nobody but the owner's browser gets in, nothing leaves the machine, and no path leads out of the private folder."""

from __future__ import annotations

import http.client
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from shoal.errors import InputError
from shoal.web.rendering import PAGES
from shoal.web.workspace import Upload, Workspace, inside, unpack_release
from tests.web.conftest import Workbench

ADDRESSES = ["/", *(f"/{address}" for address, *_ in PAGES), "/static/workbench.js", "/jobs/0123456789abcdef"]


class Visitor:
    """Requests by hand, for browsers would not send most of these."""

    def __init__(self, workbench: Workbench, cookie: str) -> None:
        self.host = workbench.origin.removeprefix("http://")
        self.own = {"Cookie": cookie, "Origin": workbench.origin}

    def ask(self, method: str, address: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.host, timeout=600)
        connection.putrequest(method, address, skip_host=True)
        given = {"Host": self.host, **self.own} | {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in given.items():
            if value:
                connection.putheader(name, value)
        connection.putheader("Content-Length", "0")
        connection.endheaders()
        return connection.getresponse()


@pytest.fixture
def visitor(workbench: Workbench, context: BrowserContext) -> Visitor:
    cookie = next(one for one in context.cookies() if one["name"].startswith("shoal-workbench"))
    return Visitor(workbench, f"{cookie['name']}={cookie['value']}")


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_page_without_the_token(visitor: Visitor, address: str) -> None:
    for cookie in ("", "shoal-workbench=guessed", visitor.own["Cookie"][:-1]):
        answer = visitor.ask("GET", address, Cookie=cookie)
        assert answer.status == 403
        assert b"does not open the workbench" in answer.read()


def test_the_token_works_once(visitor: Visitor, workbench: Workbench) -> None:
    used = workbench.address.removeprefix(workbench.origin)
    assert visitor.ask("GET", used, Cookie="").status == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", "localhost:1", ""])
def test_a_foreign_host_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.ask("GET", "/", Host=host).status in (400, 421)


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "https://127.0.0.1", "http://localhost:1"])
def test_what_changes_something_must_come_from_an_own_page(visitor: Visitor, origin: str) -> None:
    assert visitor.ask("POST", "/uploads", Origin=origin).status == 403
    assert visitor.ask("POST", "/uploads").status == 200


def test_a_foreign_page_cannot_fetch(visitor: Visitor) -> None:
    for site in ("cross-site", "same-site"):
        assert visitor.ask("GET", "/jobs/x/state", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
        assert visitor.ask("POST", "/uploads", Sec_Fetch_Site=site).status == 403


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_forbids_what_pages_do_not_need(visitor: Visitor, address: str) -> None:
    policy = visitor.ask("GET", address).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "*" not in policy


def test_the_cookie_is_of_no_use_to_scripts_and_foreign_pages(context: BrowserContext) -> None:
    cookie = next(one for one in context.cookies() if one["name"].startswith("shoal-workbench"))
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"


def test_no_request_leaves_the_machine(context: BrowserContext, workbench: Workbench) -> None:
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for address, *_ in PAGES:
        page.goto(f"{workbench.origin}/{address}")
        page.wait_for_load_state("networkidle")
    page.close()
    assert asked and all(url.startswith((workbench.origin + "/", "data:", "blob:")) for url in asked)


def test_the_private_folder_is_the_owners_alone(workbench: Workbench) -> None:
    for folder in (workbench.folder, workbench.folder / "uploads", workbench.folder / "jobs"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


PATHS = [
    "../x",
    "a/../../x",
    "/etc/passwd",
    "..%2fx",
    "a\\..\\x",
    ".hidden",
    "-rf",
    "a/\x00b",
    "x" * 300,
    "",
    "C:/x",
    "a\nb",
]


@pytest.mark.parametrize("name", PATHS)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(InputError):
        inside(folder, name)


def test_a_link_in_the_folder_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    with pytest.raises(InputError):
        inside(folder, "out/secret")


@pytest.mark.parametrize("name", ["%2e%2e%2fx", "..%2f..%2fx", "%2fetc%2fpasswd"])
def test_addresses_do_not_lead_out_either(visitor: Visitor, workbench: Workbench, name: str) -> None:
    upload = Workspace(workbench.folder).new_upload()
    assert visitor.ask("PUT", f"/uploads/{upload.id}/{name}").status in (404, 405, 422)
    assert visitor.ask("GET", f"/jobs/{upload.id}/file/{name}").status == 404
    assert visitor.ask("GET", f"/jobs/..%2f..%2fetc/file/{name}").status == 404
    assert list(upload.folder.iterdir()) == []


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "work").mkdir()
    yield tmp_path / "sent.zip"
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("name", ["../escaped", "/escaped", "release/../../escaped", "..\\escaped"])
def test_an_archive_cannot_write_elsewhere(archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("release/certificate.json", "{}")
        packed.writestr(name, "x")
    with pytest.raises(InputError, match="name of a file"):
        unpack_release(archive, archive.parent / "work")


def test_an_archive_that_holds_more_than_it_says_is_refused(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("release/certificate.json", "{}" + " " * 100_000)
    # The sizes of the central directory and of the file's own header, both made smaller.
    honest = archive.read_bytes()
    archive.write_bytes(honest.replace((100_002).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(InputError):
        unpack_release(archive, archive.parent / "work")


def test_an_upload_that_does_not_fit_is_refused_before_it_comes(tmp_path: Path) -> None:
    upload: Upload = Workspace(tmp_path / "space").new_upload()
    with pytest.raises(InputError, match="make room"), upload.receiving("big.csv", 1 << 60):
        pass
    assert list(upload.folder.iterdir()) == []


def test_an_upload_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "space")
    upload = workspace.new_upload()
    with pytest.raises(ConnectionError), upload.receiving("half.csv", None) as file:
        file.write(b"half")
        raise ConnectionError
    assert [path for path in workspace.folder.rglob("*") if path.is_file()] == []


def test_the_name_of_a_file_stays_text(page: Page, tmp_path: Path) -> None:
    hostile = tmp_path / "<img src=x onerror=document.title='out'>.zip"
    hostile.write_bytes(b"no zip")
    page.get_by_role("link", name="Verify").first.click()
    page.wait_for_load_state()  # with its script, which takes the file
    page.get_by_label("Choose a file").first.set_input_files(hostile)
    page.get_by_role("button", name="Verify").click()
    page.get_by_role("alert").first.wait_for()
    assert page.title() != "out"
    assert page.locator("img[src=x]").count() == 0
