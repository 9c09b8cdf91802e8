"""shoal index, against a real server: what the commands make, print and refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from shoal.index.client import Keys
from shoal.index.client.demo import LocalServer, local_server
from tests.cli.run import PATIENCE, default_signals, run
from tests.index.client.letters import BIRDS, ENGINES, texts
from tests.index.client.proxy import proxy_to

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    with local_server(tmp_path / "shoal.db") as running:
        yield running


@pytest.fixture
def folder(server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with letters/ and more/, and an operator's settings and key."""
    write_letters(tmp_path / "letters", [*texts(BIRDS, 8), *texts(ENGINES, 8)])
    write_letters(tmp_path / "more", texts(BIRDS, 4, first=3), prefix="more-")
    monkeypatch.setenv("SHOAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SHOAL_SERVER", server.address)
    monkeypatch.setenv("SHOAL_TOKEN", server.account("operator", "operator"))
    Keys.draw().write(tmp_path / "config" / "key.txt")
    return tmp_path


def write_letters(folder: Path, letters: list[str], prefix: str = "") -> None:
    folder.mkdir()
    for number, letter in enumerate(letters):
        (folder / f"{prefix}{number}.txt").write_text(letter)


def stored(server: LocalServer) -> int:
    """How many documents the server has."""
    with server.database.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM documents")).scalar_one())


@contextmanager
def put_that_stalls(folder: Path, server: LocalServer, after: int) -> Iterator[subprocess.Popen[str]]:
    """`shoal index put many`, which has so many answers and waits for another."""
    with proxy_to(server.address) as proxy:
        proxy.answers_left, proxy.holds_back = after, True
        process = subprocess.Popen(
            [*SHOAL, "index", "put", "many"],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"SHOAL_SERVER": proxy.address},
            preexec_fn=default_signals,
        )
        assert proxy.exhausted.wait(PATIENCE)
        yield process
        process.communicate(timeout=PATIENCE)


def good(folder: Path, *command: str) -> str:
    ran = run(folder, "index", *command)
    assert ran.code == 0, ran
    return ran.out


def test_from_a_folder_of_letters_to_a_verified_snapshot(folder):
    assert "uploaded     16" in good(folder, "create", "letters", "-k", "3")
    assert "uploaded     4" in good(folder, "put", "more", "--wait", "0")
    lines = good(folder, "search", "heron", "egret", "--limit", "30").splitlines()
    assert any("  letters/0.txt  egret, heron" in line or "  letters/0.txt  heron, egret" in line for line in lines)
    assert "\\n" not in good(folder, "search", "heron", "egret", "--fetch", "1")
    best = json.loads(good(folder, "search", "heron", "egret", "--fetch", "1", "--json"))[0]
    assert good(folder, "get", best["document"]).strip() == best["text"].strip()
    good(folder, "delete", best["document"])
    assert best["document"] not in good(folder, "search", "heron", "egret", "--limit", "30")
    assert "documents    19, each in a crowd of at least 3" in good(folder, "export", "-o", "out")
    assert run(folder, "verify", "out", "--min-k", "3").code == 0
    assert json.loads(good(folder, "status", "--json"))["documents"] == 19


def test_a_file_comes_back_byte_for_byte(folder):
    good(folder, "create", "letters", "-k", "3")
    (folder / "note.txt").write_bytes("Heron, egret\r\nand ünïcode".encode())
    good(folder, "put", "note.txt", "--wait", "0")
    good(folder, "get", "note.txt", "-o", "back.txt")
    assert (folder / "back.txt").read_bytes() == (folder / "note.txt").read_bytes()


def test_keys_are_made_and_shown(folder):
    made = good(folder, "keys", "--new", "--key", "second.txt").strip()
    assert made.startswith("age1")
    assert good(folder, "keys", "--key", "second.txt").strip() == made
    assert "AGE-SECRET" not in made


def test_a_second_recipient_reads_what_the_first_put(folder, monkeypatch):
    friend = good(folder, "keys", "--new", "--key", "friend.txt").strip()
    good(folder, "create", "letters", "-k", "3", "--recipient", friend)
    first = good(folder, "get", "0.txt")
    assert good(folder, "get", "0.txt", "--key", "friend.txt") == first


def test_settings_come_from_a_file_of_ones_own(folder, monkeypatch):
    settings = folder / "config" / "index.toml"
    settings.write_text(f'server = "{os.environ["SHOAL_SERVER"]}"\ntoken = "{os.environ["SHOAL_TOKEN"]}"\n')
    settings.chmod(0o600)
    monkeypatch.delenv("SHOAL_SERVER")
    monkeypatch.delenv("SHOAL_TOKEN")
    good(folder, "create", "letters", "-k", "3")
    settings.chmod(0o640)
    ran = run(folder, "index", "status")
    assert ran.code == 2 and "chmod 600" in ran.err


REFUSED = {
    "no such document": (("get", "nothing.txt"), "is unknown"),
    "an id that is not there": (("get", "0" * 32), "no such document"),
    "a path for an id": (("delete", "../accounts"), "is unknown"),
    "no such input": (("put", "nowhere"), "does not exist"),
    "a table without texts": (("put", "table.csv"), "--text-column"),
    "a folder without documents": (("put", "empty"), "is an empty folder"),
    "a key that is not there": (("put", "more", "--key", "none.txt"), "make a key with"),
    "a recipient that is none": (("put", "more", "--recipient", "bob"), "is no public key"),
    "a wait below zero": (("put", "more", "--wait", "-1"), "number of days"),
    "a wrong token": (("status", "--token", "shoal_0_0"), "set SHOAL_TOKEN"),
    "a port that is no number": (("status", "--server", "http://127.0.0.1:abc"), "is not the address of a server"),
    "half an address": (("status", "--server", "http://[::1"), "is not the address of a server"),
    "a name that looks like this machine": (("status", "--server", "http://127.evil.example"), "use https://"),
    "a folder that is not there": (
        ("get", "0.txt", "-o", "nowhere/0.txt"),
        "(No such file or directory); name another",
    ),
    "one unknown name of three": (("delete", "0.txt", "nothing.txt", "1.txt"), "nothing.txt is unknown"),
    "one unknown id of three": (("delete", "2.txt", "0" * 32, "3.txt"), "1 deleted, but 000000"),
    "a token of two lines": (("status", "--token", "a\nb"), "is not a token of a Shoal server"),
    "an address without a scheme": (("status", "--server", "localhost"), "is not the address of a server"),
    "an address far away in the clear": (("status", "--server", "http://example.org"), "use https://"),
    "an address where nobody answers": (("status", "--server", "http://127.0.0.1:9"), "no server answers"),
    "an existing folder": (("export", "-o", "letters"), "exists"),
    "an existing file": (("get", "0.txt", "-o", "table.csv"), "exists"),
    "no limit": (("search", "heron", "--limit", "0"), "at least 1"),
    "an embargo above one": (("create", "letters", "--embargo", "1.5"), "must be a similarity"),
    "k and a release": (("create", "letters", "-k", "3", "--from", "out"), "leave it out"),
    "nothing to start with": (("create",), "nothing to start with"),
    "no release": (("create", "letters", "--from", "letters"), "not a release"),
    "another start": (("create", "more", "-k", "3"), "has an index already"),
    "a lock without a key": (("keys", "--passphrase"), "add --new"),
    "a key in the place of another": (("keys", "--new"), "cannot be made again"),
}


def test_bad_input_is_one_line_each(folder, monkeypatch):
    monkeypatch.setattr("shoal.index.client.connection.PAUSE", 0.0)
    good(folder, "create", "letters", "-k", "3")
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "empty").mkdir()
    for case, (command, said) in REFUSED.items():
        ran = run(folder, "index", *command)
        assert (ran.code, ran.out, len(ran.complaints)) == (2, "", 1), (case, ran)
        assert said in ran.err, (case, ran.err)
    assert json.loads(good(folder, "status", "--json"))["mine"] == 15  # 2.txt alone is gone


def test_without_a_token_one_line_says_so(folder, monkeypatch):
    monkeypatch.delenv("SHOAL_TOKEN")
    ran = run(folder, "index", "status")
    assert ran.code == 2 and "set SHOAL_TOKEN" in ran.err


def test_a_wrong_passphrase_is_one_line(folder, monkeypatch):
    monkeypatch.setenv("SHOAL_PASSPHRASE", "right")
    good(folder, "keys", "--new", "--passphrase", "--key", "locked.txt")
    monkeypatch.setenv("SHOAL_PASSPHRASE", "wrong")
    ran = run(folder, "index", "keys", "--key", "locked.txt")
    assert (ran.code, ran.out, len(ran.complaints)) == (2, "", 1)
    assert "the passphrase does not open" in ran.err and "wrong" not in ran.err


def test_an_empty_passphrase_makes_no_key(folder, monkeypatch):
    monkeypatch.setenv("SHOAL_PASSPHRASE", "")
    ran = run(folder, "index", "keys", "--new", "--passphrase", "--key", "locked.txt")
    assert ran.code == 2 and "SHOAL_PASSPHRASE is empty" in ran.err
    assert not (folder / "locked.txt").exists()


def test_a_changed_file_is_put_with_a_note_on_how_to_remove_the_earlier_text(folder):
    good(folder, "create", "letters", "-k", "3")
    (folder / "letters" / "0.txt").write_text("heron and egret in the marsh")
    ran = run(folder, "index", "put", "letters", "--wait", "0")
    assert ran.code == 0 and "uploaded     1" in ran.out
    (note,) = [line for line in ran.err.splitlines() if "the earlier text of letters/0.txt stays" in line]
    good(folder, "delete", note.split()[-1])
    assert good(folder, "get", "0.txt").strip() == "heron and egret in the marsh"


def test_a_missing_extra_is_named_in_one_line(tmp_path):
    without = "import sys; sys.modules['pyrage'] = None; from shoal.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", without, "index", "keys"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "pip install 'shoal[service]'" in done.stderr


def test_commands_that_read_no_text_start_without_the_libraries_that_compute(folder):
    """These take seconds to load; pandas comes with scikit-learn."""
    heavy = ("numpy", "pyarrow", "scipy", "sklearn", "numba", "pandas")
    good(folder, "create", "letters", "-k", "3")
    loaded = (
        "import sys\nfrom shoal.cli import main\ntry:\n    main()\nfinally:\n"
        f"    print([name for name in {heavy!r} if name in sys.modules])"
    )
    for command in (("status",), ("get", "0.txt"), ("delete", "0.txt"), ("keys",), ("--help",)):
        started = [sys.executable, "-c", loaded, "index", *command]
        done = subprocess.run(started, cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), (command, done)


def test_a_put_that_is_killed_goes_on_and_stores_each_file_once(folder, server):
    good(folder, "create", "letters", "-k", "3")
    write_letters(folder / "many", texts(BIRDS, 2_000), prefix="many-")
    with put_that_stalls(folder, server, after=1) as process:
        process.send_signal(signal.SIGKILL)
    assert 16 + 256 <= stored(server) < 16 + 2_000
    good(folder, "put", "many")
    assert stored(server) == 16 + 2_000
    assert "of which 2,000 were put before" in good(folder, "put", "many")


def test_ctrl_c_says_how_to_go_on(folder, server):
    good(folder, "create", "letters", "-k", "3")
    write_letters(folder / "many", texts(BIRDS, 1_000), prefix="many-")
    with put_that_stalls(folder, server, after=1) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1] == (
        "shoal: interrupted; what was stored so far stays; run the same command again to go on"
    )
    assert "nothing unfinished" not in said
