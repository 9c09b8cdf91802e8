"""What stands in the place of an entity, how a text is masked with it and unmasked exactly, and the sealed vault.
A pseudonym is given to an entity, not to a mention: all mentions get the same.
"""

from __future__ import annotations

from shoal.sanitizer.pseudonyms.numbering import SCOPES, STYLES, pseudonyms_of
from shoal.sanitizer.pseudonyms.replacing import REMOVED, Masked, Piece, masked, replacements_of, unmasked
from shoal.sanitizer.pseudonyms.vault import Vault

__all__ = [
    "SCOPES",
    "STYLES",
    "pseudonyms_of",
    "REMOVED",
    "Masked",
    "Piece",
    "masked",
    "replacements_of",
    "unmasked",
    "Vault",
]
