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
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.data.files import reading, shown
from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.data.records import Skipped
from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Block, Entity, Hit, Mention
from shoal.sanitizer.review.decisions import DecisionLog

BLOCK = "BLOCK"  # the kind of a stretch that is removed as a whole
FORMAT = "shoal-sanitizer/1"
SETTINGS, WITHHELD, DOCUMENTS = "settings.json", "withheld.json", "documents"
PROPOSALS, DECISIONS, LOCKED = "proposals.jsonl", "decisions.jsonl", "locked"
UNFINISHED = "proposals.part.jsonl"  # while documents are still being read


@dataclass(frozen=True, slots=True)
class Item:
    """Something in one document that is masked or stays."""

    document: str
    id: str
    kind: str  # of KINDS, or BLOCK
    name: str  # what it is called; of a block, the terms that caused it
    mentions: tuple[Mention, ...]
    probability: float  # that it must be masked
    role: str = ""
    within: str = ""  # of a repeat: the longer word that it is a part of

    @property
    def key(self) -> tuple[str, str]:
        return self.document, self.id


@dataclass(frozen=True)
class Proposals:
    """What was found in one document."""

    document: str
    source: str  # where it came from: private
    digest: str  # SHA-256 of its text
    lost: str  # what of the source is not in the text
    pdf: bool  # whether the source is kept, to be redacted page by page
    entities: tuple[Entity, ...]
    blocks: tuple[Block, ...]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Entities and blocks by their ids."""
        name = self.document
        entities = (
            Item(name, f"e{number}", entity.kind, entity.name, entity.mentions, entity.probability, entity.role)
            for number, entity in enumerate(self.entities)
        )
        blocks = (
            Item(name, f"b{number}", BLOCK, ", ".join(terms), (Mention(block.start, block.end),), 1.0)
            for number, block in enumerate(self.blocks)
            for terms in [dict.fromkeys(hit.term for hit in block.hits)]
        )
        return (*entities, *blocks)

    @classmethod
    def from_line(cls, line: bytes) -> Proposals:
        """A line of proposals.jsonl."""
        content = json.loads(line)
        if not {entity["kind"] for entity in content["entities"]} <= set(KINDS):
            raise ValueError("kind")
        entities = (
            Entity(**{**entity, "mentions": tuple(Mention(**mention) for mention in entity["mentions"])})
            for entity in content["entities"]
        )
        blocks = (Block(**{**block, "hits": tuple(Hit(**hit) for hit in block["hits"])}) for block in content["blocks"])
        return cls(**{**content, "entities": tuple(entities), "blocks": tuple(blocks)})


def text_digest(text: str) -> str:
    """The SHA-256 of a text, which may hold half of a character."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class WorkFolder:
    """A folder in which all documents have been read.

    Nothing is kept in memory but the proposals: texts are read one at a time.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.settings = _settings(self.path)
        if not (self.path / PROPOSALS).is_file():
            raise InputError(f"{shown(self.path)} is not finished; run the same shoal sanitize again to continue")

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

    def proposals_of(self, document: str) -> Proposals:
        """What was found in a document."""
        for proposals in self.proposals:
            if proposals.document == document:
                return proposals
        raise InputError(f"there is no document {document[:20]!r}; give one of d1 to d{len(self.proposals)}")

    def text(self, proposals: Proposals) -> str:
        """The text of a document, as it was read."""
        path = self.path / DOCUMENTS / f"{proposals.document}.txt"
        with reading(path):
            text = path.read_bytes().decode("utf-8", "surrogatepass")
        if text_digest(text) != proposals.digest:
            raise InputError(f"{shown(path)} has changed since it was read; restore the text, or run sanitize again")
        return text

    def pdf(self, proposals: Proposals) -> bytes:
        """The source of a document that came as PDF."""
        path = self.path / DOCUMENTS / f"{proposals.document}.pdf"
        with reading(path):
            return path.read_bytes()

    def secret_digest(self, *parts: str) -> str:
        """A fingerprint that nobody can guess without the secret of this folder."""
        message = json.dumps(parts).encode("utf-8", "surrogatepass")
        return hmac.new(bytes.fromhex(self.settings["secret"]), message, "sha256").hexdigest()

    @property
    def locked(self) -> bool:
        return (self.path / LOCKED).exists()

    def check_unlocked(self) -> None:
        if self.locked:
            raise InputError(
                f"{shown(self.path)} is locked: a release was made of it; run sanitize again to decide differently"
            )

    def lock(self, seal: str) -> None:
        """From now on nothing can be decided; the seals of the releases are written down."""
        _write(self.path / LOCKED, f"{seal}\n".encode("ascii"), "ab")


class Unfinished:
    """A work folder while documents are read into it; one that was left unfinished goes on where it ended."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """`settings` must be those it was begun with, the secret apart."""
        self.path = path
        self.done: dict[str, str] = {}  # digest of the text of each source that has been read
        if (path / SETTINGS).exists():
            begun = _settings(path)
            if {**begun, "secret": None} != {**settings, "format": FORMAT, "secret": None}:
                raise InputError(f"{shown(path)} was started with other settings; use the same ones, or another folder")
            if (path / PROPOSALS).exists():
                raise InputError(f"{shown(path)} is finished; review it, or choose another folder")
            self._resume()
            return
        aside = path / f"{SETTINGS}.part"
        if path.exists() and any(other != aside for other in path.iterdir()):
            raise InputError(f"{shown(path)} exists and is not a work folder; choose another name")
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(PRIVATE_FOLDER)
        # Settings are there whole or not at all: a folder with half of them could neither go on nor begin anew.
        begun = {**settings, "format": FORMAT, "secret": os.urandom(32).hex()}
        _write(aside, json.dumps(begun, indent=2, sort_keys=True).encode())
        aside.rename(path / SETTINGS)

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
        _write(documents / f"{proposals.document}.txt", text.encode("utf-8", "surrogatepass"))
        if pdf is not None:
            _write(documents / f"{proposals.document}.pdf", pdf.read_bytes())
        line = json.dumps(asdict(proposals), ensure_ascii=False, sort_keys=True) + "\n"
        _write(self.path / UNFINISHED, line.encode(), "ab")
        self.done[proposals.source] = proposals.digest

    def finish(self, withheld: Sequence[Skipped] = ()) -> WorkFolder:
        """All documents have been read, but for those that could not be."""
        if not self.done:
            reason = f": {withheld[0].name} {withheld[0].reason}" if withheld else ""
            raise InputError(f"no document could be read{reason or '; give at least one'}")
        unread = [{"name": skipped.name, "reason": skipped.reason} for skipped in withheld]
        _write(self.path / WITHHELD, json.dumps(unread, indent=2).encode())
        (self.path / UNFINISHED).rename(self.path / PROPOSALS)
        return WorkFolder(self.path)


def _write(path: Path, content: bytes, mode: str = "wb") -> None:
    """Into a file that is its owner's alone."""
    with open(path, mode, opener=private_file) as file:
        file.write(content)


def _settings(path: Path) -> dict[str, Any]:
    content: Any = None
    try:
        content = json.loads((path / SETTINGS).read_bytes())
        known = content["format"] == FORMAT and len(bytes.fromhex(content["secret"])) == 32
    except (OSError, ValueError, TypeError, KeyError):
        known = False
    if known:
        return dict(content)
    if isinstance(content, dict) and str(content.get("format", "")).startswith("shoal-sanitizer/"):
        made = str(content["format"])[:40]
        raise InputError(
            f"{shown(path)} was made by another version of Shoal, or changed ({made!r}, this version reads "
            f"{FORMAT!r}); continue with that version, or run sanitize again"
        )
    raise InputError(f"{shown(path)} is not a work folder; give the one that shoal sanitize made")


def _lines(path: Path) -> Iterator[Proposals]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Proposals.from_line(line)
            except (ValueError, TypeError, KeyError):
                raise InputError(f"{shown(path)} is damaged in line {number}; run sanitize again") from None
