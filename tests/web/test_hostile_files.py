"""Files that somebody prepared, or that are broken: refused in one line, and never at the cost of other files."""

from __future__ import annotations

import shutil
import stat
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal.errors import InputError
from shoal.request.request import Request
from shoal.web.commands import assess_command, protect_command, verify_command
from shoal.web.judging import Comparing, side_by_side
from shoal.web.workspace import ROOM_LEFT, Workspace, unpack, unpack_release


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "sent.zip"


def test_a_link_in_an_archive_becomes_a_file_that_leads_nowhere(sent: Path) -> None:
    link = zipfile.ZipInfo("release/report.html")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(sent, "w") as packed:
        packed.writestr("release/certificate.json", "{}")
        packed.writestr(link, "/etc/passwd")
    release = unpack_release(sent, sent.parent / "work")
    assert not (release / "report.html").is_symlink()
    assert (release / "report.html").read_text() == "/etc/passwd"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_whose_content_is_broken_is_refused(sent: Path, method: int) -> None:
    with zipfile.ZipFile(sent, "w", method) as packed:
        packed.writestr("release/certificate.json", "".join(map(str, range(5_000))))
    content = bytearray(sent.read_bytes())
    content[100:1100] = b"\xff" * 1000
    sent.write_bytes(content)
    with pytest.raises(InputError, match="broken"):
        unpack_release(sent, sent.parent / "work")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/b"), ("a/b", "a")])
def test_an_archive_that_names_a_file_twice_is_refused(sent: Path, names: tuple[str, str]) -> None:
    with zipfile.ZipFile(sent, "w") as packed:
        for name in names:
            packed.writestr(name, "x")
    with pytest.raises(InputError, match="broken"):
        unpack(sent, sent.parent / "work")


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_is_unpacked(
    sent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(free=ROOM_LEFT + 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros", bytes(10_000_000))
    with pytest.raises(InputError, match="make room"):
        unpack(sent, sent.parent / "work")
    assert list((sent.parent / "work").iterdir()) == []


def test_what_a_file_manager_adds_to_an_archive_is_left_out(sent: Path) -> None:
    with zipfile.ZipFile(sent, "w") as packed:
        for name in ("release/certificate.json", "release/.DS_Store", "__MACOSX/release/._certificate.json"):
            packed.writestr(name, "{}")
    release = unpack_release(sent, sent.parent / "work")
    assert [path.name for path in release.iterdir()] == ["certificate.json"]


def test_two_files_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "private")
    first, second = workspace.new_upload(), workspace.new_upload()
    with workspace.new_job() as job:
        pass
    (first.folder / "towns.csv").write_text("first")
    (second.folder / "towns.csv").write_text("second")
    workspace.lend(first, job)
    with pytest.raises(InputError, match=r"two files are named towns\.csv"):
        workspace.lend(second, job)
    assert first.path.read_text() == "first"
    lent = [workspace.lend_apart(one.path, job, part) for one, part in ((first, "a"), (second, "b"))]
    assert [(job / "work" / name).read_text() for name in lent] == ["first", "second"]


def test_closing_removes_what_is_linked_but_not_what_it_leads_to(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "private")
    with workspace.new_job() as review, workspace.new_job() as release:
        pass
    (review / "work" / "log").write_text("decided")
    (release / "work" / "review").symlink_to(review / "work")
    workspace.remove(release)
    assert not release.exists()
    assert (review / "work" / "log").read_text() == "decided"


@pytest.mark.parametrize("certificate", ["[]", "{", "7", '{"kind": []}', '{"kind": {"table": 1}}', '{"kind": "table"}'])
def test_a_release_with_an_odd_certificate_cannot_be_compared_and_says_so(tmp_path: Path, certificate: str) -> None:
    table, release = tmp_path / "table.csv", tmp_path / "release"
    table.write_text("age\n1\n2\n")
    release.mkdir()
    (release / "certificate.json").write_text(certificate)
    seen = side_by_side(table, release, None, Comparing())
    assert seen.problem or not seen.tables


HOSTILE = ["--out=x", "-q", "a=b", "a,b", "$(id)", "'"]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_somebody_types_never_becomes_an_option(name: str) -> None:
    assess = assess_command("original/a.csv", "protected/b.csv", Comparing(key=name, target=name).options)
    coarse = protect_command(Request.of("a.csv", {"coarsen": {name: 3}, "person": name}))
    for command in (assess, verify_command("release", name, None), coarse):
        for place, word in enumerate(command.words):
            if word == name:  # the value of the option before it, which takes whatever follows
                assert not name.startswith("-") and command.words[place - 1].startswith("--")
        compile(command.python, "shown", "exec")
