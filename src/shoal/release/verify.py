"""verify: does a release hold what its certificate promises?

Independent on purpose: it reads the files, counts, and compares. It imports none of the methods it checks, and
it trusts nothing that the release says about itself but what it then finds to be so.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.release.count_documents import DOCUMENT_FILES, document_claims
from shoal.release.count_rows import TABLE_FILES, table_claims
from shoal.release.released_parts import FOLDER_OF_PARTS, is_part
from shoal.results import Claim

__all__ = ["Verification", "verify"]

CERTIFICATE = "certificate.json"
FORMAT = "shoal-certificate/1"
PAGES = ("README.md", "report.html")
DATA_FILES = {"documents": DOCUMENT_FILES, "table": TABLE_FILES}
PART_FOLDERS = tuple(FOLDER_OF_PARTS.values())
NOT_PLAIN = "is not a plain file"
CROWD = "k-anonymity"  # the promise of whole rows that are shared by k


@dataclass(frozen=True)
class Verification:
    """Every promise of a release, and whether it holds. True when all do."""

    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    @property
    def promises_crowd(self) -> bool:
        """Whether it is promised that whole rows are shared by k."""
        return any(claim.promise == CROWD for claim in self.claims)

    @property
    def broken(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.holds


def verify(folder: str | os.PathLike[str], expect: str | None = None, min_k: int | None = None) -> Verification:
    """Check every promise that can be checked from the release alone.

    A seal shows that nothing changed since it was made, not who made it. `expect` is the seal as its maker gave it by
    another way: with it, a release that was changed and sealed anew is found out too.

    `min_k` is the crowd that is asked for: a release that promises less, or none, does not hold.

    >>> from shoal import verify
    >>> bool(verify("release"))  # doctest: +SKIP
    True
    """
    release = Path(folder)
    try:
        names = _names(release)
    except (OSError, ValueError):
        raise InputError(f"{str(folder)!r} is not a folder that can be read; give the folder of a release") from None
    content, sealed = _certificate(release)
    if content is None:
        return Verification((sealed,))
    if expect is not None and content.get("seal") != expect.strip().lower():
        sealed = Claim("certificate", False, "the seal is not the one expected", CERTIFICATE)
    files = tuple(_file_claims(release, names, content))
    if min_k is not None:
        files += (_enough(content, min_k),)
    if any(claim.detail == NOT_PLAIN for claim in files):  # A pipe would block the reader, a device never end.
        return Verification((sealed, *files))
    return Verification((sealed, *files, *_counted(release, content)))


def _names(release: Path) -> list[str]:
    """What is in the folder; of a folder of parts, what is in that."""
    names = []
    for name in os.listdir(release):
        parts = release / name
        inside = name in PART_FOLDERS and parts.is_dir() and not parts.is_symlink()
        names += ([f"{name}/{part}" for part in os.listdir(parts)] if inside else []) or [name]
    return sorted(names)


def _certificate(release: Path) -> tuple[dict[str, Any] | None, Claim]:
    """The certificate, and whether it is as it was sealed."""

    def broken(detail: str) -> Claim:
        return Claim("certificate", False, detail, CERTIFICATE)

    path = release / CERTIFICATE
    if not path.is_file() or path.is_symlink():
        return None, broken("there is no certificate, so nothing is promised")
    try:
        raw = path.read_bytes()
        content = json.loads(raw)
        rest = {key: value for key, value in content.items() if key != "seal"}
        written = _dump(content)
        seal = hashlib.sha256(_dump(rest)).hexdigest()
    except OSError:
        return None, broken("the certificate cannot be read")
    except (ValueError, AttributeError, RecursionError):
        return None, broken("the certificate is not the JSON that Shoal writes; it was changed")
    if content.get("format") != FORMAT:
        return None, broken(f"this version of Shoal reads {FORMAT} only; take a version that reads the one given")
    if raw != written or content.get("seal") != seal:
        return content, broken("the certificate was changed after it was sealed")
    return content, Claim("certificate", True, "sealed and unchanged", CERTIFICATE)


def _enough(content: dict[str, Any], min_k: int) -> Claim:
    """Whether the crowd that is promised is as large as the one asked for."""
    try:
        promised = content["promises"]["anonymity"]
        k = promised["k"] if promised["whole_rows"] is True and type(promised["k"]) is int else None
    except (KeyError, TypeError):
        k = None
    told = "NO crowd is promised" if k is None else f"k={k} is promised"
    return Claim("least k", k is not None and k >= min_k, f"{told}, at least {min_k} was asked for", CERTIFICATE)


def _dump(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _file_claims(release: Path, names: list[str], content: dict[str, Any]) -> Iterator[Claim]:
    """Each certified file is there unchanged, and there is no other."""
    files = content.get("files")
    if not isinstance(files, dict):
        yield Claim("files", False, "the certificate lists no files", CERTIFICATE)
        return
    # A file that no count looks into could carry anything, whatever the certificate says of it.
    kind = str(content.get("kind"))
    known = {*PAGES, *DATA_FILES.get(kind, ())}
    for name in sorted({*names, *files} - {CERTIFICATE}):
        path = release / name
        if name not in files or not (name in known or is_part(kind, name)):
            yield Claim("files", False, "is not part of the release; take it out", name)
        elif name not in names:
            yield Claim("files", False, "is missing", name)
        elif path.is_symlink() or not path.is_file():
            yield Claim("files", False, NOT_PLAIN, name)
        else:
            same = _fingerprint(path) == files[name]
            yield Claim("files", same, "unchanged (SHA-256)" if same else "was changed: its SHA-256 differs", name)


def _fingerprint(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
    except OSError:
        return None  # equals no certified one


COUNTED: dict[str, Callable[[Path, dict[str, Any]], Iterator[Claim]]] = {
    "documents": document_claims,
    "table": table_claims,
}


def _counted(release: Path, content: dict[str, Any]) -> Iterator[Claim]:
    """The promises about the data, counted anew."""
    claims = COUNTED.get(str(content.get("kind")))
    if claims is None:
        yield Claim("kind", False, "the certificate names no kind of release that is known", CERTIFICATE)
        return
    try:
        yield from claims(release, content["promises"])
    except Exception as problem:  # Whatever a hostile file does to a reader, the answer is that the promise fails.
        yield Claim("data", False, f"the data cannot be read as promised ({type(problem).__name__})")
