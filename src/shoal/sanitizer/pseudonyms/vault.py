"""The vault: what stood in the place of every pseudonym and every removed block, sealed for its owner.

It has all that was hidden, so it goes nowhere but into a file that only the owner's key, or passphrase, opens.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import PathLike, counted, reading, shown
from shoal.io.private_files import private_file
from shoal.io.sealing import opened, sealed
from shoal.sanitizer.pseudonyms.replacing import Masked, Piece, unmasked

__all__ = ["Vault"]

FORM, VERSION = "shoal vault", 1


@dataclass(frozen=True)
class _Entry:
    """What was hidden in a document, and which masked text it belongs to."""

    digest: str  # SHA-256 of the masked text
    pieces: tuple[Piece, ...] = field(repr=False)
    pseudonyms: tuple[str, ...] = field(repr=False)  # what stands there now, one per piece


@dataclass(frozen=True)
class Vault:
    """Everything hidden, by document.

    >>> from shoal.sanitizer.pseudonyms import masked
    >>> letter = masked("Ann met Bob.", [(0, 3, "Pers1"), (8, 11, "Pers2")])
    >>> vault = Vault.of({"letter": letter})
    >>> vault.unmask("letter", letter.text), vault.table("letter")
    ('Ann met Bob.', {'Pers1': ('Ann',), 'Pers2': ('Bob',)})
    """

    entries: Mapping[str, _Entry] = field(repr=False)

    @classmethod
    def of(cls, documents: Mapping[str, Masked] | Iterable[tuple[str, Masked]]) -> Vault:
        """The vault of masked documents by their names; as pairs, no text need be held."""
        pairs = documents.items() if isinstance(documents, Mapping) else documents
        return cls({name: _entry(document) for name, document in pairs})

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of the documents."""
        return tuple(self.entries)

    def unmask(self, document: str, masked_text: str) -> str:
        """The original of a masked text, exactly; a text that is not the released one is refused."""
        entry = self._entry(document)
        if _digest(masked_text) != entry.digest:
            raise InputError(
                f"the text given for document {shown(document)} is not the one that was released; give it unchanged, "
                "line ends included"
            )
        return unmasked(masked_text, entry.pieces)

    def pieces(self, document: str) -> tuple[Piece, ...]:
        """Places in the masked text of a document, and what stood there."""
        return self._entry(document).pieces

    def digest(self, document: str) -> str:
        """The SHA-256 of the masked text of a document."""
        return self._entry(document).digest

    def table(self, document: str | None = None) -> dict[str, tuple[str, ...]]:
        """All that each pseudonym stands for, in a document or in all of them, in the order of appearance."""
        entries = self.entries.values() if document is None else [self._entry(document)]
        table: dict[str, dict[str, None]] = {}
        for entry in entries:
            for pseudonym, (_, _, original) in zip(entry.pseudonyms, entry.pieces, strict=True):
                table.setdefault(pseudonym.rstrip(), {})[original] = None
        return {pseudonym: tuple(originals) for pseudonym, originals in table.items()}

    def seal(self, path: PathLike, recipients: Sequence[str] = (), passphrase: str | None = None) -> None:
        """Into a new file that only its owner can read, for all recipients (age1…) or for a passphrase."""
        content = sealed(json.dumps(self._as_data()).encode("ascii"), recipients, passphrase)
        try:
            with open(path, "xb", opener=private_file) as file:
                try:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                except BaseException:
                    with suppress(OSError):
                        os.unlink(path)
                    raise
        except FileExistsError:
            raise InputError(f"{shown(path)} exists, and a lost vault cannot be made again; name a new file") from None
        except OSError as problem:
            raise InputError(f"{shown(path)} cannot be written ({problem.strerror}); name another file") from None

    @classmethod
    def open(cls, path: PathLike, identities: Sequence[str] = (), passphrase: str | None = None) -> Vault:
        """The vault in a file, opened with a secret key (AGE-SECRET-KEY-1…) or the passphrase."""
        with reading(path):
            content = Path(path).read_bytes()
        try:
            return cls._from_data(json.loads(opened(content, identities, passphrase)))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise InputError(f"{shown(path)} was opened and holds no vault; give the vault of a release") from None

    def _entry(self, document: str) -> _Entry:
        if document not in self.entries:
            raise InputError(
                f"the vault has {counted(len(self.entries), 'document')} and not {shown(document)}; "
                "give the vault of this release"
            )
        return self.entries[document]

    def _as_data(self) -> dict[str, Any]:
        documents = {
            name: {
                "sha256": entry.digest,
                "pieces": [
                    [start, pseudonym, original]
                    for (start, _, original), pseudonym in zip(entry.pieces, entry.pseudonyms, strict=True)
                ],
            }
            for name, entry in self.entries.items()
        }
        return {"form": FORM, "version": VERSION, "documents": documents}

    @classmethod
    def _from_data(cls, data: Any) -> Vault:
        if data["form"] != FORM:
            raise KeyError(FORM)
        if data["version"] != VERSION:
            raise InputError(f"the vault has version {data['version']}, and this is read: {VERSION}; update Shoal")
        return cls(
            {
                name: _Entry(
                    stored["sha256"],
                    tuple((start, start + len(pseudonym), original) for start, pseudonym, original in stored["pieces"]),
                    tuple(pseudonym for _, pseudonym, _ in stored["pieces"]),
                )
                for name, stored in data["documents"].items()
            }
        )


def _entry(document: Masked) -> _Entry:
    pseudonyms = tuple(document.text[start:end] for start, end, _ in document.pieces)
    return _Entry(_digest(document.text), document.pieces, pseudonyms)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
