"""The owner's secrets of a release, gathered: what verification takes, and what goes into the sealed record."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import reading, shown
from shoal.io.sealing import opened, sealed
from shoal.release.sanitized.plan import Planned
from shoal.results.sanitized import Secrets
from shoal.sanitizer.pseudonyms import Vault
from shoal.sanitizer.review.items import text_digest
from shoal.sanitizer.review.strings import Strings, tells

__all__ = [
    "DECISIONS",
    "RECORD",
    "VAULT",
    "occurrences",
    "read_secrets",
    "read_sources",
    "sealed_record",
    "secrets_of",
    "vault_digest",
]

VAULT, RECORD, DECISIONS = "vault.age", "record.age", "decisions.jsonl"
FORM = "shoal record"


def secrets_of(planned: Sequence[Planned], masked_strings: Iterable[str], scope: str, key: str) -> Secrets:
    """Of a release whose texts are not searched yet."""
    strings = tuple(sorted({string for string in masked_strings if tells(string)}))
    entities = {
        (document.name if scope == "document" else "", *entity) for document in planned for entity in document.entities
    }
    pieces, digests = {}, {}
    for document in planned:
        pieces[document.name], digests[document.name] = document.masked.pieces, text_digest(document.masked.text)
    return Secrets(key, pieces, strings, {}, tuple(sorted(entities)), digests)


def occurrences(strings: Strings, text: str) -> dict[str, int]:
    """How often each string is in a text."""
    return dict(sorted(Counter(found.string for found in strings.find(text)).items()))


def vault_digest(secrets: Secrets) -> str:
    """The fingerprint of all secrets, which nobody can guess without their key."""
    return hmac.new(bytes.fromhex(secrets.key), _content(secrets), hashlib.sha256).hexdigest()


def sealed_record(
    secrets: Secrets, sources: Mapping[str, str], recipients: Sequence[str], passphrase: str | None
) -> bytes:
    """What the vault does not have, and where each document came from, sealed like the vault."""
    record = {
        "form": FORM,
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
    with _reading_record(private):
        record = _record(private, identities, passphrase)
        entities = tuple((str(a), str(b), str(c), str(d)) for a, b, c, d in record["entities"])
        strings = tuple(map(str, record["strings"]))
        kept = {file: dict(counts) for file, counts in record["kept"].items()}
    log = private / DECISIONS
    pieces = {document: vault.pieces(document) for document in vault.documents}
    digests = {document: vault.digest(document) for document in vault.documents}
    lines = log.read_bytes() if log.is_file() else None
    return Secrets(record["key"], pieces, strings, kept, entities, digests, lines)


def read_sources(private: Path, identities: Sequence[str], passphrase: str | None) -> dict[str, str]:
    """Where the documents of a release came from, by their names in it; a record of an older version does not say."""
    with _reading_record(private):
        sources = _record(private, identities, passphrase).get("sources", {})
        return {str(name): str(source) for name, source in sources.items()}


def _record(private: Path, identities: Sequence[str], passphrase: str | None) -> dict[str, Any]:
    with reading(private / RECORD):
        content = (private / RECORD).read_bytes()
    record: dict[str, Any] = json.loads(opened(content, identities, passphrase))
    if record["form"] != FORM:
        raise KeyError(FORM)
    return record


@contextmanager
def _reading_record(private: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shown(private / RECORD)} is no record of a release; give its private folder") from None


def _content(secrets: Secrets) -> bytes:
    pieces = {document: [list(piece) for piece in pieces] for document, pieces in secrets.pieces.items()}
    entities = [list(entity) for entity in secrets.entities]
    content = [pieces, list(secrets.strings), secrets.kept, entities, secrets.digests]
    return json.dumps(content, sort_keys=True).encode("ascii")
