"""What ends the reading of a release: a file that is not as a release has it."""

from __future__ import annotations

from shoal.results.claims import Claim

__all__ = ["Refused"]


class Refused(Exception):
    """A promise that does not hold, found where reading on would make no sense or do harm."""

    def __init__(self, promise: str, detail: str, file: str) -> None:
        super().__init__(detail)
        self.claim = Claim(promise, False, detail, file)
