"""Restore the originals of a release, for the owner of its vault."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from shoal import progress
from shoal.data.files import PathLike, reading, shown
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.errors import InputError
from shoal.release.folders import check_free, csv_text, folders_written_aside, private_beside, write_files
from shoal.sanitizer.reading.sources import LOST
from shoal.sanitizer.release.vault import VAULT, Vault, read_sources

INDEX, INDEX_HEADER = "index.csv", ("document", "original")
LONGEST_PART = 60  # characters of a file's or folder's name, of up to four bytes each
UNSAFE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\\\:*?\"<>|]")


@dataclass(frozen=True)
class Unmasked:
    """Originals, and where they are."""

    folder: Path
    documents: int


def unmask(
    release: PathLike,
    out: PathLike,
    *,
    identities: Sequence[str] = (),
    passphrase: str | None = None,
    private: PathLike | None = None,
) -> Unmasked:
    """Write the originals of all released texts into a new folder that is its owner's alone.

    Each has the name it came with; what is not a text by its name (letter.docx) gets .txt added. `index.csv` says which
    document of the release is which.
    """
    folder, target = Path(release), Path(out)
    hidden = private_beside(folder) if private is None else Path(private)
    check_free(target, False, lambda content: False)
    vault = Vault.open(hidden / VAULT, identities, passphrase)
    files = file_names(list(vault.entries), read_sources(hidden, identities, passphrase))
    with folders_written_aside((target, PRIVATE_FOLDER)) as (aside,):
        for number, document in enumerate(vault.entries):
            progress.step("originals", number, len(files))
            path = folder / "documents" / f"{document}.txt"
            with reading(path):
                try:
                    text = path.read_bytes().decode("utf-8")
                except UnicodeDecodeError:
                    raise InputError(f"{shown(path)} was changed; give the release as it was made") from None
            original = aside / files[document]
            original.parent.mkdir(parents=True, exist_ok=True)
            original.write_bytes(vault.unmask(document, text).encode("utf-8", "surrogatepass"))
        progress.step("originals", len(files), len(files))
        write_files(aside, {INDEX: csv_text(INDEX_HEADER, files.items())})
    return Unmasked(target, len(vault.entries))


def file_names(documents: Sequence[str], sources: Mapping[str, str]) -> dict[str, str]:
    """A file below the folder for each document: the one it came from, or its name in the release if that is not free.

    >>> file_names(["document-0001", "document-0002"], {"document-0001": "box 1/letter.docx", "document-0002": "../17"})
    {'document-0001': 'box 1/letter.docx.txt', 'document-0002': '17.txt'}
    """
    plain = [f"{document}.txt" for document in documents]
    taken = {INDEX, *(name.casefold() for name in plain)}  # on some systems Letter.txt is letter.txt
    folders: set[str] = set()
    names = {}
    for document, fallback in zip(documents, plain, strict=True):
        name = _safe(sources.get(document, ""))
        path = PurePosixPath(name.casefold())
        above = {str(parent) for parent in path.parents[:-1]}
        if not name or str(path) in taken | folders or not above.isdisjoint(taken):
            names[document] = fallback
            continue
        taken.add(str(path))
        folders |= above
        names[document] = name
    return names


def _safe(source: str) -> str:
    """A path that leads nowhere but below a folder, and that any system can write; "" if nothing is left."""
    parts = [UNSAFE.sub("_", part).strip(" .")[:LONGEST_PART] for part in source.split("/")]
    path = "/".join(part for part in parts if part)
    is_text = PurePosixPath(path).suffix and PurePosixPath(path).suffix.lower() not in LOST
    return path if not path or is_text else f"{path}.txt"
