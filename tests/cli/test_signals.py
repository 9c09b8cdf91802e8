"""Signals, sent to real processes: a command ends, says so in one line, and leaves nothing unfinished behind."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import shoal
from tests.cli.run import PATIENCE, SHOAL, default_signals, run, snapshot

# Kinds are stated, so that no doubt about a column adds a note to what is printed.
STATED = ["--quasi", "a,b,c", "--kind", "a=whole,b=whole,c=whole", "--time-budget", "300"]
PARTS = ["protect", "parts/*.csv", "-o", "new/out", *STATED]
TABLE = ["protect", "people.csv", "-o", "out", *STATED, "--no-attack"]
SETTLED = 0.2  # seconds after which a step that was announced is most likely under way; it passes if it is not


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{n * 7919 % 10007},{n * 104729 % 9973},{n * 31 % 1009}\n" for n in range(4_000)]
    (tmp_path / "parts").mkdir()
    for part in range(2):
        (tmp_path / f"parts/{part}.csv").write_text("a,b,c\n" + "".join(lines[part::2]))
    (tmp_path / "people.csv").write_text("a,b,c\n" + "".join(lines[:400]))
    return tmp_path


def start(folder: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [SHOAL, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=default_signals,
    )


def wait_for(pattern: str, folder: Path, process: subprocess.Popen[str]) -> None:
    """Until a file or folder of that name is there, while the process is at work."""
    until = time.monotonic() + PATIENCE
    while not list(folder.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, f"{pattern} never came"
        time.sleep(0.01)


def at_work(session: int) -> list[int]:
    """The processes of a session; those that have ended and that nobody asked about are not at work."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # gone by now
            state, _, _, their_session, *_ = path.read_text().rpartition(")")[2].split()
            if int(their_session) == session and state != "Z":
                found.append(int(path.parent.name))
    return found


class Watched:
    """A command whose stderr is a terminal, on which it shows how far it is."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process, self.shown, self._terminal = process, b"", terminal

    def wait_for(self, marker: bytes) -> None:
        while marker not in self.shown:
            assert self._read(), f"{marker!r} never came: {self.shown!r}"

    def ended(self) -> int:
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        try:
            part = os.read(self._terminal, 4096)
        except OSError:  # the other end has closed
            part = b""
        self.shown += part
        return bool(part)


@contextmanager
def watched(folder: Path, *command: str) -> Iterator[Watched]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [SHOAL, *command],
        cwd=folder,
        env={**os.environ, "SHOAL_PROGRESS": ""},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        preexec_fn=default_signals,
    )
    os.close(theirs)
    try:
        yield Watched(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_signal_ends_the_work_on_all_threads_and_leaves_nothing(folder: Path) -> None:
    before = snapshot(folder)
    started = start(folder, *PARTS)
    wait_for("new/.out-unfinished-*", folder, started)
    started.send_signal(signal.SIGTERM)
    out, err = started.communicate(timeout=PATIENCE)
    assert (started.returncode, out) == (143, ""), err
    assert err == "shoal: ended by SIGTERM; nothing unfinished is left behind\n"
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    "command, sent, code", [(TABLE, signal.SIGTERM, 143), (PARTS, signal.SIGHUP, 129)], ids=["whole", "in parts"]
)
def test_a_signal_during_the_search_never_writes_a_release(
    command: list[str], sent: signal.Signals, code: int, folder: Path
) -> None:
    before = snapshot(folder)
    with watched(folder, *command) as running:
        running.wait_for(b"refining")
        time.sleep(SETTLED)
        running.process.send_signal(sent)
        assert running.ended() == code
        assert f"shoal: ended by {sent.name}; nothing unfinished is left behind".encode() in running.shown
    assert snapshot(folder) == before


def test_the_first_interrupt_stops_the_search_says_so_and_makes_the_release(folder: Path) -> None:
    with watched(folder, *TABLE) as running:
        running.wait_for(b"refining")
        time.sleep(SETTLED)
        running.process.send_signal(signal.SIGINT)
        running.wait_for(b"press Ctrl-C again to end without a release")
        assert running.ended() == 0
    assert shoal.verify(folder / "out")


# The command line, interrupted the first time that each of these steps begins, one after the other.
INTERRUPTED = """
import os, signal, sys
import shoal.cli
from shoal import progress

moments, told = sys.argv.pop(1).split(","), progress.step

def step(name, *count):
    if moments and name == moments[0]:
        moments.pop(0)
        os.kill(os.getpid(), signal.SIGINT)
    told(name, *count)

progress.step = step
shoal.cli.main()
"""


@pytest.mark.parametrize(
    ("moments", "command"),
    [
        ("grouping", TABLE),
        ("refining,writing", TABLE),
        ("refining,writing", PARTS),
    ],
    ids=["grouping", "the search, then writing", "the search in parts, then writing"],
)
def test_an_interrupt_of_anything_but_the_search_leaves_nothing(moments: str, command: list[str], folder: Path) -> None:
    before = snapshot(folder)
    child = [sys.executable, "-c", INTERRUPTED, moments, *command]
    ended = subprocess.run(child, cwd=folder, capture_output=True, text=True, preexec_fn=default_signals)
    assert (ended.returncode, ended.stdout) == (130, ""), ended.stderr
    *earlier, last = ended.stderr.splitlines()
    assert last == "shoal: interrupted; nothing unfinished is left behind"
    assert ["press Ctrl-C again to end without a release" in line for line in earlier] == [True] * moments.count(",")
    assert snapshot(folder) == before


def test_a_signal_that_a_module_makes_an_import_error_of_still_ends_the_command() -> None:
    """As compiled modules do that are being loaded when it comes."""
    code = """if True:
        import os, signal, sys
        import shoal.cli

        cli = sys.modules["shoal.cli.app"]

        def command(standalone_mode):  # in place of the one that is named
            try:
                os.kill(os.getpid(), signal.SIGINT)
                signal.pause()
            except BaseException:
                raise ImportError("cannot import name") from None

        cli._named_alone = lambda arguments: command
        cli.main()
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=default_signals)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "shoal: interrupted; nothing unfinished is left behind\n"


def test_a_signal_ends_demo_and_assess_and_leaves_nothing(folder: Path) -> None:
    shutil.copy(folder / "people.csv", folder / "masked.csv")
    before = snapshot(folder)
    for command, marker in (
        (["demo"], b"refining"),
        (["assess", "people.csv", "masked.csv", "-o", "out"], b"linking records"),
    ):
        with watched(folder, *command) as running:
            running.wait_for(marker)
            running.process.send_signal(signal.SIGTERM)
            assert running.ended() == 143
        assert snapshot(folder) == before


def test_a_signal_ends_an_exploration_with_its_workers_and_keeps_what_was_tried(folder: Path) -> None:
    started = start(folder, "explore", "people.csv", "-o", "explored", "--quasi", "a,b,c")
    wait_for("explored/runs.json", folder, started)
    started.send_signal(signal.SIGTERM)
    _, err = started.communicate(timeout=PATIENCE)
    assert started.returncode == 143
    assert err.splitlines() == [
        "shoal: note: what was tried so far is kept: the same command goes on from there",
        "shoal: ended by SIGTERM; nothing unfinished is left behind",
    ]
    assert [path.name for path in (folder / "explored").iterdir()] == ["runs.json"]
    until = time.monotonic() + PATIENCE
    while at_work(started.pid):
        assert time.monotonic() < until, "its workers go on"
        time.sleep(0.1)


def test_what_nohup_started_goes_on_after_a_hangup(folder: Path) -> None:
    """It ends by the signal that comes next, and not by the hangup."""
    command = ["nohup", str(SHOAL), *PARTS]
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for("new/.out-unfinished-*", folder, started)
    started.send_signal(signal.SIGHUP)
    started.send_signal(signal.SIGTERM)
    _, err = started.communicate(timeout=PATIENCE)
    assert (started.returncode, "ended by SIGTERM" in err) == (143, True), err


def test_after_kill_9_the_next_run_names_what_was_left_and_how_to_remove_it(folder: Path) -> None:
    killed = start(folder, *PARTS)
    wait_for("new/.out-unfinished-*", folder, killed)
    killed.kill()
    killed.communicate()
    left = sorted((folder / "new").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o700, 0o700]
    again = ["protect", "people.csv", "-o", "new/out", "--quasi", "a,b,c", "--no-refine", "--no-attack", "--force"]

    def notes() -> list[str]:
        done = run(folder, *again)
        assert done.code == 0, done.err
        return [line for line in done.err.splitlines() if "rm -r" in line]

    private, release = sorted(left, key=lambda path: "private" not in path.name)
    said = "shoal: note: an earlier run was killed and left private data behind; remove it: "
    remedy = f"rm -r {release} {private}"
    assert notes() == [said + remedy]
    subprocess.run(remedy.split(), check=True)
    assert notes() == []
