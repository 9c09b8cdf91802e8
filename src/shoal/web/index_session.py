"""The index that the owner works with on this machine: its server, the token and the key.

The token stays in memory. The key is a file of the private folder, as the command line has it. The client's journal is
bound to a thread, so everything that asks the server runs in one.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.errors import InputError, MissingExtra
from shoal.io.private_files import PRIVATE_FOLDER, private_file
from shoal.web.workspace import Workspace

if TYPE_CHECKING:
    from shoal.service.client import IndexClient

__all__ = ["IndexSession"]

T = TypeVar("T")
PATIENCE = 15  # seconds for a server to end
START = 60  # seconds for one to start, on a machine that is busy


class IndexSession:
    """Not connected at first."""

    def __init__(self, workspace: Workspace) -> None:
        self.folder = workspace.folder / "index"
        self.folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        self.server = ""
        self._token = ""
        self._passphrase = ""
        self._client: IndexClient | None = None
        self._thread = ThreadPoolExecutor(1)
        self._trial: subprocess.Popen[bytes] | None = None

    @property
    def connected(self) -> bool:
        return self._client is not None

    @property
    def key_file(self) -> Path:
        return self.folder / "key.txt"

    @property
    def on_trial(self) -> bool:
        """The server is one that the workbench started, to try it."""
        return self._trial is not None

    @property
    def secrets(self) -> dict[str, str]:
        """What a command needs to know; it gets them unseen."""
        known = {"SHOAL_SERVER": self.server, "SHOAL_TOKEN": self._token, "SHOAL_KEY": str(self.key_file)}
        known |= {"SHOAL_PASSPHRASE": self._passphrase} if self._passphrase else {}
        return {**known, "SHOAL_STATE": str(self.folder)}

    async def connect(self, server: str, token: str, key: str, passphrase: str) -> None:
        """Be let in by a server. The key is one that is given as text, the one that is here, or a new one."""
        await self._in_thread(self._connect, server, token, key, passphrase)

    async def ask(self, question: Callable[[IndexClient], T]) -> T:
        """What the client answers."""
        if self._client is None:
            raise InputError("no index is connected; enter its address and your token first")
        return await self._in_thread(question, self._client)

    async def try_here(self) -> None:
        """Start a server on this machine, with an account of its own, and connect to it."""
        await self._in_thread(self._start_trial)

    async def disconnect(self) -> None:
        """Forget the token; a server on trial ends, and what it stored with it."""
        await self._in_thread(self._disconnect)

    async def _in_thread(self, function: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *given)

    def _connect(self, server: str, token: str, key: str, passphrase: str) -> None:
        try:
            from shoal.service.client import IndexClient, Keys
        except ModuleNotFoundError:
            raise MissingExtra("service", "the index") from None
        client = IndexClient(server, token, self._keys(Keys, key, passphrase), folder=self.folder)
        try:
            client.has_index()
        except BaseException:
            client.close()
            raise
        self._disconnect_client()
        self.server, self._token, self._passphrase, self._client = server, token, passphrase, client

    def _keys(self, keys: Any, given: str, passphrase: str) -> Any:
        """A key that is given takes the place of none: who loses a key loses the documents."""
        if given:
            if self.key_file.exists():
                raise InputError("there is a key here already; save a copy of it and remove it before you load another")
            with open(self.key_file, "x", encoding="utf-8", opener=private_file) as file:
                file.write(given)
        elif not self.key_file.exists():
            keys.draw().write(self.key_file, passphrase or None)
        try:
            return keys.read(self.key_file, lambda: passphrase)
        except InputError:
            if given:
                self.key_file.unlink()
            raise

    def _start_trial(self) -> None:
        if self._trial is not None:
            raise InputError("a server to try it with is running already; disconnect first")
        place = self.folder / "trial"
        shutil.rmtree(place, ignore_errors=True)  # of a workbench that was killed
        place.mkdir(mode=PRIVATE_FOLDER)
        shoal = [sys.executable, "-m", "shoal"]
        made = subprocess.run(
            [*shoal, "token", "make", "me", "--role", "operator"], cwd=place, capture_output=True, text=True
        )
        if made.returncode:
            raise InputError(made.stderr.strip().removeprefix("shoal: ") or "no account could be made")
        log = place / "log"
        with open(log, "w", opener=private_file) as file:
            self._trial = subprocess.Popen([*shoal, "serve", "--port", "0"], cwd=place, stderr=file)
        try:
            self._connect(_address(log, self._trial), made.stdout.strip(), "", "")
        except BaseException:
            self._end_trial()
            raise

    def _disconnect(self) -> None:
        self._disconnect_client()
        self._end_trial()

    def _disconnect_client(self) -> None:
        if self._client is not None:
            self._client.close()
        self.server, self._token, self._passphrase, self._client = "", "", "", None

    def _end_trial(self) -> None:
        if self._trial is not None:
            self._trial.terminate()
            try:
                self._trial.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._trial.kill()
                self._trial.wait()
            self._trial = None
            shutil.rmtree(self.folder / "trial", ignore_errors=True)


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    """Where a server that was just started listens."""
    for _ in range(START * 10):
        found = re.search(r"serving on (http://\S+)", log.read_text(encoding="utf-8"))
        if found is not None:
            return found.group(1)
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise InputError("the server did not start; run shoal serve in a shell to see why")
