"""Run the command line inside this process, in a folder of its own, and see what it says and leaves behind."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import shoal.cli

NOTE = "shoal: note:"


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


def run(folder: Path, *argv: str) -> Ran:
    """`shoal` with these arguments, as if started in `folder`."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["shoal", *argv]),
        # The search for better groups takes its time and is tested elsewhere; real processes below run it.
        mock.patch("shoal.microaggregation.blocks.block.refined", _as_they_are),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        try:
            shoal.cli.main()
        except SystemExit as ended:
            return Ran(int(ended.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("main() returned without an exit code")


def _as_they_are(X: object, groups: Any, *_: object) -> Any:
    return groups


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
