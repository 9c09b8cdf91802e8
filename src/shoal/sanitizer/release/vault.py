"""The owner's private side of a release: the vault with all that was masked, and the record, both sealed.

They hold everything that was hidden, so they go nowhere but into files that only the owner's key, or passphrase, opens.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.data.files import PathLike, counted, reading, shown
from shoal.data.keys import opened, sealed
from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.results.sanitizing import Secrets
from shoal.sanitizer.release.masking import Masked, Piece, PlannedDocument, unmasked
from shoal.sanitizer.review.work import DECISIONS, text_digest

VAULT, RECORD = "vault.age", "record.age"
VAULT_FORM, VERSION = "shoal vault", 1
RECORD_FORM = "shoal record"


@dataclass(frozen=True)
class VaultEntry:
    """What was hidden in a document, and the masked text it belongs to."""

    digest: str  # SHA-256 of the masked text
    hidden: tuple[tuple[int, str, str], ...] = field(repr=False)  # where it stood, what stands there now, what did

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple((start, start + len(pseudonym), original) for start, pseudonym, original in self.hidden)


@dataclass(frozen=True)
class Vault:
    """Everything hidden, by document.

    >>> from shoal.sanitizer.release.masking import masked
    >>> letter = masked("Ann met Bob.", [(0, 3, "Pers1"), (8, 11, "Pers2")])
    >>> vault = Vault.of({"letter": letter})
    >>> vault.unmask("letter", letter.text), vault.table("letter")
    ('Ann met Bob.', {'Pers1': ('Ann',), 'Pers2': ('Bob',)})
    """

    entries: Mapping[str, VaultEntry] = field(repr=False)

    @classmethod
    def of(cls, documents: Mapping[str, Masked] | Iterable[tuple[str, Masked]]) -> Vault:
        """The vault of masked documents by their names; as pairs, no text need be held."""
        pairs = documents.items() if isinstance(documents, Mapping) else documents
        entries = {}
        for name, document in pairs:
            hidden = tuple((start, document.text[start:end], original) for start, end, original in document.pieces)
            entries[name] = VaultEntry(text_digest(document.text), hidden)
        return cls(entries)

    def unmask(self, document: str, masked_text: str) -> str:
        """The original of a masked text, exactly; a text that is not the released one is refused."""
        entry = self._entry(document)
        if text_digest(masked_text) != entry.digest:
            raise InputError(
                f"the text given for document {shown(document)} is not the one that was released; give it unchanged, "
                "line ends included"
            )
        return unmasked(masked_text, entry.pieces)

    def table(self, document: str | None = None) -> dict[str, tuple[str, ...]]:
        """All that each pseudonym stands for, in a document or in all of them, in the order of appearance."""
        entries = self.entries.values() if document is None else [self._entry(document)]
        table: dict[str, dict[str, None]] = {}
        for entry in entries:
            for _, pseudonym, original in entry.hidden:
                table.setdefault(pseudonym.rstrip(), {})[original] = None
        return {pseudonym: tuple(originals) for pseudonym, originals in table.items()}

    def seal(self, path: PathLike, recipients: Sequence[str] = (), passphrase: str | None = None) -> None:
        """Into a new file that only its owner can read, for all recipients (age1…) or for a passphrase."""
        content = sealed(json.dumps(self._as_data()).encode("ascii"), recipients, passphrase)
        try:
            with open(path, "xb", opener=private_file) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            raise InputError(f"{shown(path)} exists, and a lost vault cannot be made again; name a new file") from None
        except OSError as problem:
            with suppress(OSError):  # half a vault opens nothing
                os.unlink(path)
            raise InputError(f"{shown(path)} cannot be written ({problem.strerror}); name another file") from None

    @classmethod
    def open(cls, path: PathLike, identities: Sequence[str] = (), passphrase: str | None = None) -> Vault:
        """The vault in a file, opened with a secret key (AGE-SECRET-KEY-1…) or the passphrase."""
        with reading(path):
            content = Path(path).read_bytes()
        try:
            return cls._from_data(json.loads(opened(content, identities, passphrase)))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise InputError(f"{shown(path)} does not hold a vault; give the vault of a release") from None

    def _entry(self, document: str) -> VaultEntry:
        if document not in self.entries:
            raise InputError(
                f"the vault has {counted(len(self.entries), 'document')} and not {shown(document)}; "
                "give the vault of this release"
            )
        return self.entries[document]

    def _as_data(self) -> dict[str, Any]:
        documents = {name: {"sha256": entry.digest, "pieces": entry.hidden} for name, entry in self.entries.items()}
        return {"form": VAULT_FORM, "version": VERSION, "documents": documents}

    @classmethod
    def _from_data(cls, data: Any) -> Vault:
        if data["form"] != VAULT_FORM:
            raise KeyError(VAULT_FORM)
        if data["version"] != VERSION:
            raise InputError(f"the vault has version {data['version']}, and this is read: {VERSION}; update Shoal")
        entries = {}
        for name, stored in data["documents"].items():
            hidden = tuple((start, pseudonym, original) for start, pseudonym, original in stored["pieces"])
            entries[name] = VaultEntry(stored["sha256"], hidden)
        return cls(entries)


def secrets_of(
    planned: Sequence[PlannedDocument], strings: Iterable[str], scope: str, key: str, kept: Mapping[str, dict[str, int]]
) -> Secrets:
    """What was masked in a release; `strings` must not be found in it but as often as `kept` allows."""
    entities = {
        (document.name if scope == "document" else "", *entity) for document in planned for entity in document.entities
    }
    pieces, digests = {}, {}
    for document in planned:
        pieces[document.name], digests[document.name] = document.masked.pieces, text_digest(document.masked.text)
    return Secrets(key, pieces, tuple(sorted(strings)), kept, tuple(sorted(entities)), digests)


def vault_digest(secrets: Secrets) -> str:
    """The fingerprint of all secrets, which nobody can guess without their key."""
    content = [secrets.pieces, secrets.strings, secrets.kept, secrets.entities, secrets.digests]
    message = json.dumps(content, sort_keys=True).encode("ascii")
    return hmac.new(bytes.fromhex(secrets.key), message, hashlib.sha256).hexdigest()


def sealed_record(
    secrets: Secrets, sources: Mapping[str, str], recipients: Sequence[str], passphrase: str | None
) -> bytes:
    """What the vault does not have, and where each document came from, sealed like the vault."""
    record = {
        "form": RECORD_FORM,
        "key": secrets.key,
        "strings": secrets.strings,
        "kept": secrets.kept,
        "entities": secrets.entities,
        "sources": dict(sources),
    }
    return sealed(json.dumps(record).encode("ascii"), recipients, passphrase)


def read_secrets(private: Path, identities: Sequence[str], passphrase: str | None) -> Secrets:
    """From the private side of a release."""
    vault = Vault.open(private / VAULT, identities, passphrase)
    with _record(private, identities, passphrase) as record:
        entities = tuple((str(a), str(b), str(c), str(d)) for a, b, c, d in record["entities"])
        strings = tuple(map(str, record["strings"]))
        kept = {file: dict(counts) for file, counts in record["kept"].items()}
    log = private / DECISIONS
    pieces = {document: entry.pieces for document, entry in vault.entries.items()}
    digests = {document: entry.digest for document, entry in vault.entries.items()}
    lines = log.read_bytes() if log.is_file() else None
    return Secrets(record["key"], pieces, strings, kept, entities, digests, lines)


def read_sources(private: Path, identities: Sequence[str], passphrase: str | None) -> dict[str, str]:
    """Where the documents of a release came from, by their names in it; a record of an older version does not say."""
    with _record(private, identities, passphrase) as record:
        return {str(name): str(source) for name, source in record.get("sources", {}).items()}


@contextmanager
def _record(private: Path, identities: Sequence[str], passphrase: str | None) -> Iterator[dict[str, Any]]:
    with reading(private / RECORD):
        content = (private / RECORD).read_bytes()
    opened_record = opened(content, identities, passphrase)
    try:
        record: dict[str, Any] = json.loads(opened_record)
        if record["form"] != RECORD_FORM:
            raise KeyError(RECORD_FORM)
        yield record
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{shown(private / RECORD)} is not the record of a release; give its private folder") from None
