"""Files and folders that are their owner's alone, whatever the umask is."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PRIVATE_FILE", "PRIVATE_FOLDER", "close_to_others", "private_file"]

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def private_file(path: str, flags: int) -> int:
    """For `open(..., opener=private_file)`: nobody else can open the file from now on, even if it was there before."""
    descriptor = os.open(path, flags, PRIVATE_FILE)
    os.fchmod(descriptor, PRIVATE_FILE)
    return descriptor


def close_to_others(folder: Path) -> None:
    """The folder and everything in it. What is closed already stays untouched: another's worker may have written it."""
    for path in (folder, *folder.rglob("*")):
        mode = PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE
        if path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)
