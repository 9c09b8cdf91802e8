"""Files and folders that are their owner's alone, whatever the umask is; and where the platform keeps a user's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def private_file(path: str, flags: int) -> int:
    """For `open(..., opener=private_file)`: nobody else can open the file from now on, even if it was there before."""
    descriptor = os.open(path, flags, PRIVATE_FILE)
    os.fchmod(descriptor, PRIVATE_FILE)
    return descriptor


def cache_folder() -> Path:
    """What can be made again: SHOAL_CACHE, or the platform's folder for caches."""
    return _folder("SHOAL_CACHE", ("LOCALAPPDATA", "Local"), "Caches", ("XDG_CACHE_HOME", ".cache"))


def config_folder() -> Path:
    """Settings and keys: SHOAL_CONFIG, or the platform's folder for them."""
    return _folder("SHOAL_CONFIG", ("APPDATA", "Roaming"), "Application Support", ("XDG_CONFIG_HOME", ".config"))


def state_folder() -> Path:
    """Journals and copies: SHOAL_STATE, or the platform's folder for what programs remember."""
    return _folder("SHOAL_STATE", ("LOCALAPPDATA", "Local"), "Application Support", ("XDG_STATE_HOME", ".local/state"))


def _folder(chosen: str, windows: tuple[str, str], mac: str, others: tuple[str, str]) -> Path:
    """The folder that a variable names, or Shoal's below the platform's own (variable, default below the home)."""
    if os.environ.get(chosen):
        return Path(os.environ[chosen])
    home = Path.home()
    if sys.platform == "win32":
        base = os.environ.get(windows[0]) or str(home / "AppData" / windows[1])
    elif sys.platform == "darwin":
        base = str(home / "Library" / mac)
    else:
        base = os.environ.get(others[0]) or str(home / others[1])
    return Path(base) / "shoal"
