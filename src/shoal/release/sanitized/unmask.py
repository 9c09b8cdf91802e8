"""unmask: the way back, for the owner of the vault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.bundle.folders import check_free, folders_written_aside, private_beside
from shoal.errors import InputError
from shoal.io.files import PathLike, reading, shown
from shoal.io.private_files import PRIVATE_FOLDER
from shoal.release.sanitized.secrets import VAULT
from shoal.sanitizer.pseudonyms import Vault

__all__ = ["Unmasked", "unmask"]


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
    """Write the originals of all released texts into a new folder that is its owner's alone."""
    folder, target = Path(release), Path(out)
    hidden = private_beside(folder) if private is None else Path(private)
    check_free(target, False, lambda content: False)
    vault = Vault.open(hidden / VAULT, identities, passphrase)
    with folders_written_aside((target, PRIVATE_FOLDER)) as (aside,):
        for document in vault.documents:
            path = folder / "documents" / f"{document}.txt"
            with reading(path):
                try:
                    text = path.read_bytes().decode("utf-8")
                except UnicodeDecodeError:
                    raise InputError(f"{shown(path)} was changed; give the release as it was made") from None
            (aside / f"{document}.txt").write_bytes(vault.unmask(document, text).encode("utf-8", "surrogatepass"))
    return Unmasked(target, len(vault.documents))
