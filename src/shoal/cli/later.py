"""scipy.stats, loaded when something of it is used.

scikit-learn imports it with every estimator, for a function that no command calls: half a second, a fifth of a first
release. Only the command line does this: in a Python process modules are the user's.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

LATE = "scipy.stats"


class _Later(ModuleType):
    """Stands for a module until one of its names is wanted."""

    _lock = RLock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # what the import system and others ask of any module
            raise AttributeError(name)
        with self._lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def load_scipy_stats_later() -> None:
    """Unless it is loaded already."""
    sys.modules.setdefault(LATE, _Later(LATE))
