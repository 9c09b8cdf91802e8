"""The copy of representatives on the client's disk: ready to be searched, and full pages that are not yet among them.

Representatives never change. They are checked when they are fetched, and pages whenever they are read. What is ready
was checked and is on the disk before it has its name, so that opening it takes no time, however much it is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.index.representatives import Representatives

__all__ = ["PAGE", "Copy", "write_aside"]

PAGE = 5_000  # representatives
READY = "ready-"  # and how many they are
ASIDE = "unfinished-"  # and the process that writes them
ABANDONED = 3_600.0  # seconds after which a process that has not finished never will


@dataclass(frozen=True)
class Copy:
    """The folder of one index."""

    folder: Path
    idf: NDArray[np.float64]

    def open(self) -> Representatives:
        """Those that are ready to be searched; none if nothing is."""
        for count in self._ready():
            try:
                opened = Representatives.open(self.folder / f"{READY}{count}", self.idf)
            except (OSError, ValueError):  # removed by another command meanwhile, or not whole: fetched again
                continue
            if len(opened) == count:
                return opened
        return Representatives(self.idf)

    def keep(self, representatives: Representatives) -> None:
        """Make those ready that are in inverted lists, if they are more than before."""
        before, count = self._ready(), representatives.n_listed
        if count <= max(before, default=0):
            return
        aside = self.folder / f"{ASIDE}{os.getpid()}"
        for left in self.folder.glob(f"{ASIDE}*"):
            if left == aside or left.stat().st_mtime < time.time() - ABANDONED:
                shutil.rmtree(left)
        try:
            aside.mkdir(mode=0o700)
            representatives.save(aside)
            aside.rename(self.folder / f"{READY}{count}")
        except OSError:  # another command did the same, or the disk is full: it can do without
            shutil.rmtree(aside, ignore_errors=True)
            return
        for old in before:
            shutil.rmtree(self.folder / f"{READY}{old}", ignore_errors=True)
        for number in range(count // PAGE):
            self._page_file(number).unlink(missing_ok=True)

    def page(self, number: int) -> bytes | None:
        """A full page that was kept."""
        try:
            return self._page_file(number).read_bytes()
        except FileNotFoundError:
            return None

    def keep_page(self, number: int, body: bytes) -> None:
        """Keep a full page."""
        write_aside(self._page_file(number), body)

    def _ready(self) -> list[int]:
        """How many are ready, the most first."""
        counts = (path.name.removeprefix(READY) for path in self.folder.glob(f"{READY}*"))
        return sorted((int(count) for count in counts if count.isdecimal()), reverse=True)

    def _page_file(self, number: int) -> Path:
        return self.folder / f"{number}.arrow"


def write_aside(file: Path, body: bytes) -> None:
    """The file is whole or not there, also when two commands fetch the same page."""
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    with open(descriptor, "wb") as stream:
        stream.write(body)
    os.replace(aside, file)
