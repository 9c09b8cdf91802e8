"""verify: does a release hold what its certificate promises?

Independent on purpose: it reads the files, counts, and compares. It imports none of the methods it checks, and
it trusts nothing that the release says about itself but what it then finds to be so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, ShoalError
from shoal.results.claims import Claim, Statement
from shoal.results.sanitizing import Secrets
from shoal.verification.certificate import CERTIFICATE, dump, is_sealed, read_certificate
from shoal.verification.documents import DOCUMENT_FILES, document_claims
from shoal.verification.followup import FOLLOWS, following_claims
from shoal.verification.pages import check_pages
from shoal.verification.release_files import FOLDER_OF_PARTS, Refused, is_part
from shoal.verification.sanitized import sanitized_claims, sanitized_statements
from shoal.verification.sanitized_files import document_name
from shoal.verification.signatures import SIGNATURE, UNSIGNED, signature_claims
from shoal.verification.sketches import SKETCH_FILES, sketch_claims, sketch_statements
from shoal.verification.tables import TABLE_FILES, table_claims

WITHOUT_POLICY = "shoal-certificate/1"  # its reports had no content security policy
PAGES = ("README.md", "report.html")
SANITIZED = "sanitized"
DATA_FILES = {"documents": DOCUMENT_FILES, SANITIZED: (), "sketches": SKETCH_FILES, "table": TABLE_FILES}
FOLDERS = (*FOLDER_OF_PARTS.values(), "documents")  # that a release may have
NOT_PLAIN = "is not a plain file"
CROWD = "k-anonymity"  # the promise of whole rows that are shared by k


@dataclass(frozen=True)
class Verification:
    """Every promise of a release, and whether it holds. True when all do."""

    claims: tuple[Claim, ...]
    stated: tuple[Statement, ...] = ()  # what is the owner's word, and cannot be counted
    signature: str = UNSIGNED  # who vouches for it, in a sentence

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    @property
    def promises_crowd(self) -> bool:
        """Whether it is promised that whole rows are shared by k."""
        return any(claim.promise == CROWD for claim in self.claims)

    @property
    def sanitized(self) -> bool:
        """Whether these are sanitized documents, of which no crowd is expected."""
        return any(claim.promise == "documents" for claim in self.claims)

    @property
    def broken(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.holds


def verify(
    folder: str | os.PathLike[str],
    expect: str | None = None,
    min_k: int | None = None,
    secrets: Secrets | None = None,
    signer: str | os.PathLike[str] | None = None,
    after: str | os.PathLike[str] | None = None,
) -> Verification:
    """Check every promise that can be checked from the release alone.

    A seal shows that nothing changed since it was made, not who made it. `expect` is the seal as its maker gave it
    through another channel: with it, a release that was changed and sealed anew is found out too.

    `min_k` is the crowd that is asked for: a release that promises less, or none, does not hold.

    `secrets` are the owner's, of sanitized documents: with them it is checked that nothing masked is left.

    `signer` is the Ed25519 public key of whoever must have signed the release: a file such as id_ed25519.pub, OpenSSH's
    file of allowed signers, or the text of the key. A release that nobody signed, or somebody else, does not hold.

    `after` is the earlier release of a table that this one follows: it is verified as well, and so is that the two
    together show nobody outside a crowd.

    >>> from shoal import verify
    >>> bool(verify("release"))  # doctest: +SKIP
    True
    """
    release = Path(folder)
    try:
        names = _names(release)
    except (OSError, ValueError):
        raise InputError(f"{str(folder)!r} is not a folder that can be read; give the folder of a release") from None
    try:
        content = read_certificate(release)
    except Refused as refused:
        return Verification((refused.claim,))
    signed, vouching = signature_claims(release, content, dump(content), signer)
    claims = [_sealed(content, expect), *signed, *_file_claims(release, names, content)]
    if min_k is not None:
        claims.append(_enough(content, min_k))
    if any(claim.detail == NOT_PLAIN for claim in claims):  # A pipe would block the reader, a device never end.
        return Verification(tuple(claims), signature=vouching)
    claims += _counted(release, content, secrets)
    if after is not None:
        claims += _followed(release, content, Path(after), all(claim.holds for claim in claims))
    return Verification(tuple(claims), _statements(content, secrets), vouching)


def _followed(release: Path, content: dict[str, Any], earlier: Path, holds: bool) -> Iterator[Claim]:
    """What the pair promises, where both releases hold on their own."""
    before = verify(earlier)
    if not before:
        broken = before.broken[0]
        yield Claim(FOLLOWS, False, f"the earlier release does not hold: {broken.promise}, {broken.detail}")
    elif holds:
        yield from following_claims(release, content, earlier, read_certificate(earlier))


def _statements(content: dict[str, Any], secrets: Secrets | None) -> tuple[Statement, ...]:
    """What is the owner's word."""
    if content["kind"] == SANITIZED:
        return sanitized_statements(secrets)
    return sketch_statements(content) if content["kind"] == "sketches" else ()


def _names(release: Path) -> list[str]:
    """What is in the folder; of a folder of parts or texts, what is in that."""
    names = []
    for name in os.listdir(release):
        parts = release / name
        inside = name in FOLDERS and parts.is_dir() and not parts.is_symlink()
        names += ([f"{name}/{part}" for part in os.listdir(parts)] if inside else []) or [name]
    return sorted(names)


def _sealed(content: dict[str, Any], expect: str | None) -> Claim:
    """Whether the certificate is as it was sealed, and sealed as expected."""
    if not is_sealed(content):
        return Claim("certificate", False, "the certificate was changed after it was sealed", CERTIFICATE)
    if expect is not None and content["seal"] != expect.strip().lower():
        return Claim("certificate", False, "the seal is not the one expected", CERTIFICATE)
    return Claim("certificate", True, "sealed and unchanged", CERTIFICATE)


def _enough(content: dict[str, Any], min_k: int) -> Claim:
    """Whether the crowd that is promised is as large as the one asked for."""
    promised = content["promises"].get("anonymity", {"whole_rows": False})
    k = promised["k"] if promised["whole_rows"] else None
    promise = "NO crowd is promised" if k is None else f"k={k} is promised"
    return Claim("least k", k is not None and k >= min_k, f"{promise}, at least {min_k} was asked for", CERTIFICATE)


def _file_claims(release: Path, names: list[str], content: dict[str, Any]) -> Iterator[Claim]:
    """Each certified file is there unchanged, and there is no other."""
    # A file that no count looks into could carry anything, whatever the certificate says of it.
    files, kind = content["files"], content["kind"]
    copy = content["promises"].get("copy")
    known = {*PAGES, *DATA_FILES[kind], *([copy["file"]] if copy else [])}
    for name in sorted({*names, *files} - {CERTIFICATE} - ({SIGNATURE} - files.keys())):
        path = release / name
        is_document = kind == SANITIZED and document_name(name) is not None
        if name not in files or not (name in known or is_part(kind, name) or is_document):
            yield Claim("files", False, "is not part of the release; take it out", name)
        elif name not in names:
            yield Claim("files", False, "is missing", name)
        elif path.is_symlink() or not path.is_file():
            yield Claim("files", False, NOT_PLAIN, name)
        else:
            same = _is_file(path, files[name])
            yield Claim("files", same, "unchanged (SHA-256)" if same else "was changed: its SHA-256 differs", name)


def _is_file(path: Path, fingerprint: dict[str, Any]) -> bool:
    """Whether the file has the size and the SHA-256 that the certificate says."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != fingerprint["bytes"]:
                return False
            return bool(hashlib.file_digest(file, "sha256").hexdigest() == fingerprint["sha256"])
    except OSError:
        return False


COUNTED: dict[str, Callable[[Path, dict[str, Any], str], Iterator[Claim]]] = {
    "documents": document_claims,
    "sketches": sketch_claims,
    "table": table_claims,
}


def _counted(release: Path, content: dict[str, Any], secrets: Secrets | None) -> Iterator[Claim]:
    """The promises about the data, counted anew."""
    format = content["format"]
    try:
        check_pages(release, set(content["files"]), with_policy=format != WITHOUT_POLICY)
    except Refused as refused:
        yield refused.claim
    except OSError:
        yield Claim("page", False, "the pages for people cannot be read")
    try:
        if content["kind"] == SANITIZED:
            yield from sanitized_claims(release, content, secrets)
        else:
            yield from COUNTED[content["kind"]](release, content["promises"], format)
    except Refused as refused:
        yield refused.claim
    except ShoalError:  # what cannot be counted here, such as a copy without its library, is no broken promise
        raise
    except Exception as problem:  # Whatever a hostile file does to a reader, the answer is that the promise fails.
        yield Claim("data", False, f"the data cannot be read as promised ({type(problem).__name__})")
