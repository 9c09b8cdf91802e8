"""propose: documents are read, entities and risky blocks found, and everything put into a work folder for review."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal import progress
from shoal.errors import InputError, MissingExtra
from shoal.io.files import PathLike, shown
from shoal.io.record_files import Skipped
from shoal.io.texts import SourceText, TextSource
from shoal.sanitizer.blocks import propose_blocks
from shoal.sanitizer.identifying.dial import DEFAULT_THRESHOLD
from shoal.sanitizer.identifying.weights import Weights
from shoal.sanitizer.matching import find_hits
from shoal.sanitizer.policies import BUILT_IN, Policy
from shoal.sanitizer.pseudonyms import SCOPES, STYLES
from shoal.sanitizer.review.items import Proposals, text_digest
from shoal.sanitizer.review.work import Unfinished, WorkFolder

__all__ = ["NO_POLICY", "Proposed", "Proposing", "propose"]

NO_POLICY = "none"
UNITS = ("sentence", "paragraph")


@dataclass(frozen=True)
class Proposing:
    """How proposals are made, and what pseudonyms will look like."""

    policy: str = "eo13526"  # a built-in one, a TOML file, or NO_POLICY
    threshold: float = DEFAULT_THRESHOLD  # least probability of an entity that reviewers must decide about
    style: str = "numbered"
    scope: str = "document"
    unit: str = "sentence"  # bounds of blocks
    reviewers: int = 1  # how many must agree
    model: str | None = None
    weights: Path | None = None  # of a training on one's own documents
    stays: tuple[str, ...] | None = None  # names that are never masked; None: the package's list


@dataclass(frozen=True)
class Proposed:
    """What is in a work folder now."""

    work: WorkFolder
    skipped: tuple[Skipped, ...]

    @property
    def entities(self) -> int:
        """How many must be decided."""
        least = self.work.settings["threshold"]
        return sum(entity.probability >= least for one in self.work.proposals for entity in one.entities)

    @property
    def blocks(self) -> int:
        return sum(len(one.blocks) for one in self.work.proposals)


def propose(
    source: PathLike,
    out: PathLike,
    proposing: Proposing = Proposing(),
    *,
    text_column: str | None = None,
    id_column: str | None = None,
) -> Proposed:
    """Read all documents of `source` into the work folder `out`; one that was interrupted goes on where it ended."""
    _check(proposing)
    texts = TextSource(source, text_column=text_column, id_column=id_column)
    _check_apart(texts.path, Path(out))
    policy = None if proposing.policy == NO_POLICY else Policy.read(proposing.policy)
    terms = () if policy is None else policy.widened()
    ignore = () if policy is None else policy.ignore
    first = next(iter(texts), None)  # what cannot be read at all is told before a model is loaded
    if first is None:
        problem = texts.skipped[0] if texts.skipped else None
        told = f": {problem.name} {problem.reason}" if problem else ""
        raise InputError(f"{shown(source)} has no document that can be read{told}")
    try:
        from shoal.sanitizer.entities.finder import EntityFinder
    except ImportError:
        raise MissingExtra("sanitize", "finding entities") from None
    weights = None if proposing.weights is None else Weights.read(proposing.weights)
    finder = EntityFinder(proposing.model, proposing.stays, weights)
    unfinished = Unfinished(Path(out), _settings(proposing, policy, finder.model_name))
    waiting: deque[SourceText] = deque()
    total = len(unfinished.done)
    for entities in finder.find(_new_texts(texts, unfinished, waiting)):
        text = waiting.popleft()
        proposals = Proposals(
            unfinished.next_document,
            text.id,
            text_digest(text.text),
            text.lost,
            text.pdf is not None,
            tuple(entities),
            propose_blocks(text.text, find_hits(text.text, terms, ignore), proposing.unit) if terms else (),
        )
        unfinished.add(proposals, text.text, text.pdf)
        total += 1
        progress.step("documents", total, None)
    return Proposed(unfinished.finish(texts.skipped), texts.skipped)


def _new_texts(texts: TextSource, unfinished: Unfinished, waiting: deque[SourceText]) -> Iterator[str]:
    """The texts that have not been read in an earlier run; the finder may take several before it answers."""
    done = dict(unfinished.done)
    for text in texts:
        if text.id not in done:
            waiting.append(text)
            yield text.text
        elif text_digest(text.text) != done[text.id]:
            raise InputError(f"{shown(text.id)} was changed since it was read; take another work folder")


def _settings(proposing: Proposing, policy: Policy | None, model: str) -> dict[str, object]:
    """What a work folder remembers. A policy of the user's own is not named: its name may say too much."""
    digest = hashlib.sha256(json.dumps(asdict(policy) if policy else {}, sort_keys=True).encode()).hexdigest()
    known = proposing.policy in (*BUILT_IN, NO_POLICY)
    return {
        "policy": proposing.policy if known else "the owner's own",
        "policy_digest": digest,
        "threshold": proposing.threshold,
        "style": proposing.style,
        "scope": proposing.scope,
        "unit": proposing.unit,
        "reviewers": proposing.reviewers,
        "model": model,
        "weights": proposing.weights and hashlib.sha256(proposing.weights.read_bytes()).hexdigest(),
        "stays": None if proposing.stays is None else sorted(proposing.stays),
    }


def _check(proposing: Proposing) -> None:
    for name, value, allowed in (
        ("style", proposing.style, STYLES),
        ("scope", proposing.scope, SCOPES),
        ("unit", proposing.unit, UNITS),
    ):
        if value not in allowed:
            raise InputError(f"{name}={value!r} is not known; use one of {', '.join(allowed)}")
    if not 0 <= proposing.threshold <= 1:
        raise InputError(f"threshold={proposing.threshold!r} is a probability; give a number from 0 to 1")
    if proposing.reviewers not in (1, 2):
        raise InputError(f"reviewers={proposing.reviewers!r}: one or two must agree; give 1 or 2")


def _check_apart(source: Path, out: Path) -> None:
    """The work folder must not be read as input, nor the input be overwritten."""
    inside = out.resolve()
    if source.resolve() == inside or source.resolve() in inside.parents or inside in source.resolve().parents:
        raise InputError(f"{shown(out)} must not be inside the input, nor the other way round; choose another folder")
