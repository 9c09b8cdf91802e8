"""The commands of the server, as people type them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
from typer.testing import CliRunner, Result

from shoal.cli import app
from tests.cli.run import run
from tests.index.server.processes import servers


def shoal(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_a_token_is_printed_once_and_opens_the_server_until_it_is_revoked(sqlite: str, tmp_path: Path) -> None:
    made = shoal("token", "make", "admin", "--role", "operator", "--database", sqlite)
    token = made.stdout.strip()
    listed = shoal("token", "list", "--json", "--database", sqlite)
    [account] = json.loads(listed.stdout)
    assert account["name"] == "admin" and account["role"] == "operator" and token not in listed.stdout
    with servers(1, sqlite, tmp_path) as [server]:
        url, headers = server.url(), {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}/v1/index", headers=headers).status_code == 404  # let in, and there is no index yet
        assert shoal("token", "revoke", account["id"], "--database", sqlite).exit_code == 0
        assert httpx.get(f"{url}/v1/index", headers=headers).status_code == 401
        assert server.end(signal.SIGTERM) == 143
        lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
        assert [line["status"] for line in lines] == [404, 401]
        assert token not in server.log
    assert "revoked" in shoal("token", "list", "--database", sqlite).stdout


def test_a_backup_is_made_and_restored_by_commands(sqlite: str, tmp_path: Path) -> None:
    shoal("token", "make", "archive", "--database", sqlite)
    assert shoal("backup", "-o", str(tmp_path / "b"), "--database", sqlite).exit_code == 0
    assert shoal("restore", str(tmp_path / "b"), "--database", str(tmp_path / "new.db")).exit_code == 0
    assert "archive" in shoal("token", "list", "--database", str(tmp_path / "new.db")).stdout


def test_commands_that_look_at_a_database_do_not_make_it(sqlite: str, tmp_path: Path) -> None:
    out = str(tmp_path / "b")
    for words in (["backup", "-o", out], ["token", "list"], ["token", "revoke", "0f1e2d3c4b5a6978"]):
        done = shoal(*words, "--database", sqlite)
        assert done.exit_code != 0 and "there is no database" in str(done.exception)
        assert list(tmp_path.iterdir()) == []
    Path(sqlite).touch()  # a database without tables, as an older version's without the newest
    for words in (["backup", "-o", out], ["token", "list"]):
        done = shoal(*words, "--database", sqlite)
        assert done.exit_code != 0 and "no tables of this version" in str(done.exception)


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    letters = tmp_path / "letters.jsonl"
    letters.write_text('{"text": "a letter"}\n', encoding="utf-8")
    letters.chmod(0o644)
    done = shoal("serve", "--database", str(letters))
    assert done.exit_code != 0 and "is not a database" in str(done.exception)
    assert letters.stat().st_mode & 0o777 == 0o644 and letters.read_text(encoding="utf-8").startswith("{")


def test_mistakes_are_one_line_and_exit_code_2(sqlite: str, tmp_path: Path) -> None:
    shoal("token", "make", "admin", "--database", sqlite)
    for words in (
        ["serve", "--host", "0.0.0.0", "--database", sqlite],
        ["serve", "--port", "99999", "--database", sqlite],
        ["serve", "--database", "postgresql://nobody@127.0.0.1:9/none"],
        ["serve", "--database", str(tmp_path / "no" / "folder.db")],
        ["token", "make", "two\nlines", "--database", sqlite],
        ["token", "revoke", "nobody", "--database", sqlite],
        ["token", "list", "--database", str(tmp_path / "nowhere.db")],
        ["restore", str(tmp_path / "nothing"), "--database", sqlite],
        ["backup", "-o", str(tmp_path / "no" / "folder"), "--database", sqlite],
    ):
        done = run(tmp_path, *words)
        assert done.code == 2, words
        assert done.err.startswith("shoal: ") and done.err.count("\n") == 1, done.err


def test_without_the_extra_the_commands_name_it_and_the_others_work(tmp_path: Path) -> None:
    block = "import sys; sys.modules.update(dict.fromkeys(['sqlalchemy', 'fastapi', 'uvicorn', 'pyrage']))\n"
    script = block + "from shoal.cli import main; main()"
    missing = subprocess.run([sys.executable, "-c", script, "serve"], capture_output=True, text=True, cwd=tmp_path)
    assert missing.returncode == 2 and "shoal[service]" in missing.stderr and missing.stderr.count("\n") == 1
    assert subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True).returncode == 0
