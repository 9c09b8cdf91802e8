"""What an operation did to an index, as data: written to a database, or applied to a copy of the index."""

from __future__ import annotations

from dataclasses import dataclass, field

import scipy.sparse as sp

__all__ = ["Changes"]


@dataclass
class Changes:
    """Everything that changed; what did not is not named."""

    published: dict[str, sp.csr_matrix] = field(default_factory=dict)  # pools by name, in their order
    retired: list[str] = field(default_factory=list)  # names of representatives
    placed: dict[str, tuple[str, float]] = field(default_factory=dict)  # document: representative, place among equals
    waiting: dict[str, tuple[sp.csr_matrix, str]] = field(default_factory=dict)  # document: counts, owner
    gone: list[str] = field(default_factory=list)  # documents

    def __bool__(self) -> bool:
        return any((self.published, self.retired, self.placed, self.waiting, self.gone))

    def wait(self, document: str, counts: sp.csr_matrix, owner: str) -> None:
        """The document is held back."""
        self.waiting[document] = counts, owner

    def place(self, document: str, representative: str, place: float) -> None:
        """The document is in this group now, and waits no longer."""
        self.waiting.pop(document, None)
        self.placed[document] = representative, place

    def leave(self, document: str) -> None:
        """The document is gone."""
        self.waiting.pop(document, None)
        self.placed.pop(document, None)
        self.gone.append(document)
