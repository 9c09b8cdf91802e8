"""Run the command line inside this process, in a folder of its own, and see what it says and leaves behind."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import signal
import stat
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import shoal.cli

NOTE = "shoal: note:"
SHOAL = Path(sys.executable).with_name("shoal")  # for real processes
PATIENCE = 600.0  # seconds; what has not come by then, however busy the machine, never comes


@dataclass(frozen=True)
class Ran:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        """The lines on stderr that are not notes."""
        return [line for line in self.err.splitlines() if not line.startswith(NOTE)]


def run(folder: Path, *argv: str, stdin: bytes = b"") -> Ran:
    """`shoal` with these arguments, as if started in `folder`."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["shoal", *argv]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        try:
            shoal.cli.main()
        except SystemExit as ended:
            return Ran(int(ended.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("main() returned without an exit code")


def default_signals() -> None:
    """For a process that is about to start (`preexec_fn`): it heeds signals, whatever started the tests.

    nohup ignores SIGHUP, a shell's job in the background SIGINT, and what is ignored stays so in children.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def snapshot(folder: Path) -> dict[str, str]:
    """Everything below a folder, with a fingerprint of each file."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(parent) / name
            kind = path.lstat().st_mode
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(kind) else ""
            found[os.path.relpath(path, folder)] = f"{stat.S_IFMT(kind)} {content}"
    return found
