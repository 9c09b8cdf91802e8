"""Keys, and files that only the holders of keys can open, in the age format (https://age-encryption.org/v1).
Any age tool opens what is sealed here. Needs pyrage, which comes with the extras `sanitize` and `service`.
"""

from __future__ import annotations

from shoal.errors import MissingExtra

try:
    import pyrage  # noqa: F401
except ImportError:
    raise MissingExtra("sanitize", "sealing with a key") from None

from shoal.io.sealing.keys import Keys, check_recipient
from shoal.io.sealing.sealed_files import opened, sealed

__all__ = ["Keys", "check_recipient", "opened", "sealed"]
