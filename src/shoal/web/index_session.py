"""The index that the workbench is connected to: its server, the token and the key.

The token stays in memory. The key is a file in the private folder, as on the command line. The client's journal is
bound to a thread, so all requests to the server run in one.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.errors import InputError, MissingExtra
from shoal.web.workspace import Workspace

if TYPE_CHECKING:
    from shoal.index.client import IndexClient

T = TypeVar("T")


class IndexSession:
    """A connection to an index, which is closed at first."""

    def __init__(self, workspace: Workspace) -> None:
        self.folder = workspace.folder / "index"
        self.folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        self.server = ""
        self._token = ""
        self._passphrase = ""
        self._client: IndexClient | None = None
        self._thread = ThreadPoolExecutor(1)
        self._trial: ExitStack | None = None  # ends a server in this process

    @property
    def connected(self) -> bool:
        return self._client is not None

    @property
    def key_file(self) -> Path:
        return self.folder / "key.txt"

    @property
    def on_trial(self) -> bool:
        """Whether the server is one that the workbench started for a trial."""
        return self._trial is not None

    @property
    def secrets(self) -> dict[str, str]:
        """The environment of a command, so that no secret is on its command line."""
        known = {"SHOAL_SERVER": self.server, "SHOAL_TOKEN": self._token, "SHOAL_KEY": str(self.key_file)}
        known |= {"SHOAL_PASSPHRASE": self._passphrase} if self._passphrase else {}
        return {**known, "SHOAL_STATE": str(self.folder)}

    async def connect(self, server: str, token: str, key: str, passphrase: str) -> None:
        """Connect to a server, with a key given as text, the stored one, or a new one."""
        await self._in_thread(self._connect, server, token, key, passphrase)

    async def ask(self, question: Callable[[IndexClient], T]) -> T:
        """Call a function with the client."""
        if self._client is None:
            raise InputError("no index is connected; enter its address and your token first")
        return await self._in_thread(question, self._client)

    async def try_here(self) -> None:
        """Start a server on this machine, with an account of its own, and connect to it."""
        await self._in_thread(self._start_trial)

    async def disconnect(self) -> None:
        """Forget the token; a trial server ends, and its documents with it."""
        await self._in_thread(self._disconnect)

    async def _in_thread(self, function: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *given)

    def _connect(self, server: str, token: str, key: str, passphrase: str) -> None:
        try:
            from shoal.index.client import IndexClient, Keys
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
        """Read, store or make the key. A given key never replaces another: without its key, documents are lost."""
        if given:
            if self.key_file.exists():
                raise InputError("there is a key already; save a copy of it and remove it before you load another")
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
            raise InputError("a trial server is running already; disconnect first")
        from shoal.index.client.demo import local_server

        folder = self.folder / "trial"
        shutil.rmtree(folder, ignore_errors=True)  # left by a workbench that was killed
        folder.mkdir(mode=PRIVATE_FOLDER)
        self._trial = ExitStack()
        self._trial.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            server = self._trial.enter_context(local_server(folder / "shoal.db"))
            self._connect(server.address, server.account("me", "operator"), "", "")
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
            self._trial.close()
            self._trial = None
