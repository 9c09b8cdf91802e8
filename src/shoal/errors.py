"""What can go wrong, as a tree.

    ShoalError
    ├── InputError (ValueError)      the user's data or parameters: exit code 2
    └── MissingExtra (ImportError)   a part of Shoal that is not installed: exit code 2

    SearchStopped (UserWarning)      Ctrl-C ended a search for better groups early, and the work goes on

Every message is one line: the value, the bound, the remedy.
"""

from __future__ import annotations

__all__ = ["InputError", "MissingExtra", "SearchStopped", "ShoalError"]


class ShoalError(Exception):
    """Anything Shoal reports on purpose."""


class InputError(ShoalError, ValueError):
    """Data or a parameter cannot be used as given."""


class MissingExtra(ShoalError, ImportError):
    """An optional part of Shoal is needed and not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra '{extra}'; install it with: pip install 'shoal[{extra}]'")


class SearchStopped(UserWarning):
    """Less was searched than was asked for."""
