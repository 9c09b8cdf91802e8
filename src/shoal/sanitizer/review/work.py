"""The work folder: texts, proposals and decisions, for the eyes of the owner and the reviewers alone.

- settings.json: how the proposals were made, and a secret that is never published
- withheld.json: what could not be read, and why
- documents/: the texts, and the PDF files that they came from
- proposals.jsonl: a line per document, entities and blocks
- decisions.jsonl: the log
- locked: once a release was made; what it was made of does not change any more
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import reading, shown
from shoal.io.private_files import PRIVATE_FOLDER, private_file
from shoal.io.record_files import Skipped
from shoal.sanitizer.review.items import Proposals, proposals_from, proposals_line, text_digest
from shoal.sanitizer.review.log import DecisionLog

__all__ = ["FORMAT", "Unfinished", "WorkFolder"]

FORMAT = "shoal-sanitizer/1"
SETTINGS, WITHHELD, DOCUMENTS, PROPOSALS, DECISIONS, LOCKED = (
    "settings.json",
    "withheld.json",
    "documents",
    "proposals.jsonl",
    "decisions.jsonl",
    "locked",
)
UNFINISHED = "proposals.part.jsonl"  # while documents are still being read


class WorkFolder:
    """A folder in which all documents have been read.

    Nothing is kept in memory but the proposals: texts are read one at a time.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.settings = _settings(self.path)
        if not (self.path / PROPOSALS).is_file():
            raise InputError(f"{shown(self.path)} is not finished; run the same shoal sanitize again to go on")

    @property
    def withheld(self) -> int:
        """How many documents could not be read."""
        with reading(self.path / WITHHELD):
            return len(json.loads((self.path / WITHHELD).read_bytes()))

    @cached_property
    def proposals(self) -> tuple[Proposals, ...]:
        with reading(self.path / PROPOSALS):
            return tuple(_lines(self.path / PROPOSALS))

    @cached_property
    def log(self) -> DecisionLog:
        """It belongs to these proposals: a log of others does not follow them."""
        with reading(self.path / PROPOSALS), (self.path / PROPOSALS).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return DecisionLog(self.path / DECISIONS, self.secret_digest("log", digest))

    def text(self, proposals: Proposals) -> str:
        """The text of a document, as it was read."""
        path = self.path / DOCUMENTS / f"{proposals.document}.txt"
        with reading(path):
            text = path.read_bytes().decode("utf-8", "surrogatepass")
        if text_digest(text) != proposals.digest:
            raise InputError(f"{shown(path)} was changed since it was read; put back the text, or run sanitize anew")
        return text

    def pdf(self, proposals: Proposals) -> bytes:
        """The source of a document that came as PDF."""
        path = self.path / DOCUMENTS / f"{proposals.document}.pdf"
        with reading(path):
            return path.read_bytes()

    def secret_digest(self, *parts: str) -> str:
        """A fingerprint that nobody can guess who does not know the secret of this folder."""
        message = json.dumps(parts).encode("utf-8", "surrogatepass")
        return hmac.new(bytes.fromhex(self.settings["secret"]), message, "sha256").hexdigest()

    @property
    def locked(self) -> bool:
        return (self.path / LOCKED).exists()

    def check_unlocked(self) -> None:
        if self.locked:
            raise InputError(
                f"{shown(self.path)} is locked, for a release was made of it; run sanitize anew to decide otherwise"
            )

    def lock(self, seal: str) -> None:
        """From now on nothing can be decided; the seals of the releases are written down."""
        with open(self.path / LOCKED, "a", encoding="ascii", opener=private_file) as file:
            file.write(seal + "\n")


class Unfinished:
    """A work folder while documents are read into it; one that was left unfinished goes on where it ended."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """`settings` must be those it was begun with, the secret apart."""
        self.path = path
        self.done: dict[str, str] = {}  # digest of the text of each source that has been read
        if (path / SETTINGS).exists():
            begun = _settings(path)
            if {**begun, "secret": None} != {**settings, "format": FORMAT, "secret": None}:
                raise InputError(f"{shown(path)} was begun with other settings; give the same ones, or another folder")
            if (path / PROPOSALS).exists():
                raise InputError(f"{shown(path)} is finished; review it, or choose another folder")
            self._resume()
            return
        if path.exists() and any(path.iterdir()):
            raise InputError(f"{shown(path)} exists and is no work folder; choose another name")
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(PRIVATE_FOLDER)
        self._begin({**settings, "format": FORMAT, "secret": os.urandom(32).hex()})

    def _begin(self, settings: Mapping[str, Any]) -> None:
        """Settings are there whole or not at all: a folder with half of them could neither go on nor begin anew."""
        aside = self.path / f"{SETTINGS}.part"
        try:
            with open(aside, "w", encoding="utf-8", opener=private_file) as file:
                json.dump(settings, file, indent=2, sort_keys=True)
            aside.rename(self.path / SETTINGS)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise

    def _resume(self) -> None:
        partial = self.path / UNFINISHED
        if partial.exists():
            content = partial.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if whole != content:  # the machine stopped within a line
                os.truncate(partial, len(whole))
            self.done = {proposals.source: proposals.digest for proposals in _lines(partial)}

    @property
    def next_document(self) -> str:
        return f"d{len(self.done) + 1}"

    def add(self, proposals: Proposals, text: str, pdf: Path | None) -> None:
        """Write the text, then the line that says that it is there."""
        documents = self.path / DOCUMENTS
        if not documents.exists():
            documents.mkdir()
            documents.chmod(PRIVATE_FOLDER)
        with open(documents / f"{proposals.document}.txt", "wb", opener=private_file) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        if pdf is not None:
            with open(documents / f"{proposals.document}.pdf", "wb", opener=private_file) as file:
                file.write(pdf.read_bytes())
        with open(self.path / UNFINISHED, "ab", opener=private_file) as file:
            file.write(proposals_line(proposals))
        self.done[proposals.source] = proposals.digest

    def finish(self, withheld: Sequence[Skipped] = ()) -> WorkFolder:
        """All documents have been read, but for those that could not be."""
        if not self.done:
            raise InputError("no document could be read; give at least one")
        with open(self.path / WITHHELD, "w", encoding="utf-8", opener=private_file) as file:
            json.dump([{"name": one.name, "reason": one.reason} for one in withheld], file, indent=2)
        (self.path / UNFINISHED).rename(self.path / PROPOSALS)
        return WorkFolder(self.path)


def _settings(path: Path) -> dict[str, Any]:
    content: Any = None
    try:
        content = json.loads((path / SETTINGS).read_bytes())
        known = content["format"] == FORMAT and len(bytes.fromhex(content["secret"])) == 32
    except (OSError, ValueError, TypeError, KeyError):
        known = False
    if not known and isinstance(content, dict) and str(content.get("format", "")).startswith("shoal-sanitizer/"):
        made = str(content["format"])[:40]
        raise InputError(
            f"{shown(path)} was made by another version of Shoal, or changed ({made!r}, this version reads "
            f"{FORMAT!r}); go on with that version, or run sanitize anew"
        )
    if not known:
        raise InputError(f"{shown(path)} is no work folder; give the one that shoal sanitize made")
    return dict(content)


def _lines(path: Path) -> Iterator[Proposals]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield proposals_from(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise InputError(f"{shown(path)} is not sound in line {number}; run sanitize anew") from None
