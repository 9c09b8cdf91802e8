"""Read documents, find entities and risky blocks, and put the proposals into a work folder for review."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal import progress
from shoal.data.files import PathLike, shown
from shoal.data.records import Skipped
from shoal.errors import InputError
from shoal.results.sanitizing import DEFAULT_THRESHOLD
from shoal.sanitizer.entities.finder import EntityFinder
from shoal.sanitizer.entities.judging import Weights
from shoal.sanitizer.policies.matching import propose_blocks
from shoal.sanitizer.policies.policy import BUILT_IN, Policy
from shoal.sanitizer.policies.words import UNITS
from shoal.sanitizer.reading.language import NAMES, foreign_language
from shoal.sanitizer.reading.sources import SourceText, TextSource
from shoal.sanitizer.release.pseudonyms import SCOPES, STYLES
from shoal.sanitizer.review.work import Proposals, Unfinished, WorkFolder, text_digest

NO_POLICY = "none"


@dataclass(frozen=True)
class Proposing:
    """How proposals are made, and what pseudonyms will look like."""

    policy: str = "eo13526"  # a built-in one, a TOML file, or "none"
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
    entities: int  # that must be decided
    blocks: int


def propose(
    source: PathLike,
    out: PathLike,
    proposing: Proposing = Proposing(),
    *,
    text_column: str | None = None,
    id_column: str | None = None,
) -> Proposed:
    """Read all documents of `source` into the work folder `out`; one that was interrupted goes on where it ended."""
    check_proposing(proposing)
    texts = TextSource(source, text_column=text_column, id_column=id_column)
    _check_apart(texts.path, Path(out))
    policy = None if proposing.policy == NO_POLICY else Policy.read(proposing.policy)
    terms = None if policy is None else policy.finder()
    _check_readable(texts)
    weights = None if proposing.weights is None else Weights.read(proposing.weights)
    finder = EntityFinder(proposing.model, proposing.stays, weights)
    unfinished = Unfinished(Path(out), _settings(proposing, policy, finder.model_name))
    waiting: deque[SourceText] = deque()
    held: list[Skipped] = []
    for entities in finder.find(_new_texts(_readable(texts, finder.language, held), unfinished, waiting)):
        document = waiting.popleft()
        blocks = () if terms is None else propose_blocks(document.text, terms.find(document.text), proposing.unit)
        unfinished.add(
            Proposals(
                unfinished.next_document,
                document.id,
                text_digest(document.text),
                document.lost,
                document.pdf is not None,
                entities,
                blocks,
            ),
            document.text,
            document.pdf,
        )
        progress.step("documents", len(unfinished.done), None)
    skipped = (*texts.skipped, *held)
    work = unfinished.finish(skipped)
    probabilities = [entity.probability for proposals in work.proposals for entity in proposals.entities]
    to_decide = sum(probability >= proposing.threshold for probability in probabilities)
    return Proposed(work, skipped, to_decide, sum(len(proposals.blocks) for proposals in work.proposals))


def _readable(texts: TextSource, language: str, held: list[Skipped]) -> Iterator[SourceText]:
    """Texts in the language of the model. It would find few names in others, so these are held back."""
    for text in texts:
        foreign = foreign_language(text.text, language)
        if foreign is None:
            yield text
        else:
            expected = NAMES.get(language, language)
            held.append(Skipped(shown(text.id), f"is in {foreign}, the model reads {expected}; name a model for it"))


def _new_texts(texts: Iterable[SourceText], unfinished: Unfinished, waiting: deque[SourceText]) -> Iterator[str]:
    """The texts that have not been read in an earlier run; the finder may take several before it answers."""
    done = dict(unfinished.done)
    for text in texts:
        if text.id not in done:
            waiting.append(text)
            yield text.text
        elif text_digest(text.text) != done[text.id]:
            raise InputError(f"{shown(text.id)} has changed since it was read; use another work folder")


def _settings(proposing: Proposing, policy: Policy | None, model: str) -> dict[str, object]:
    """What a work folder remembers. A policy of the user's own is not named: its name may say too much."""
    digest = hashlib.sha256(json.dumps(asdict(policy) if policy else {}, sort_keys=True).encode()).hexdigest()
    known = proposing.policy in (*BUILT_IN, NO_POLICY)
    return asdict(proposing) | {
        "policy": proposing.policy if known else "the owner's own",
        "policy_digest": digest,
        "model": model,
        "weights": proposing.weights and hashlib.sha256(proposing.weights.read_bytes()).hexdigest(),
        "stays": None if proposing.stays is None else sorted(proposing.stays),
    }


def check_proposing(proposing: Proposing) -> None:
    """Refuse settings that are not known."""
    for name, allowed in (("style", STYLES), ("scope", SCOPES), ("unit", UNITS)):
        value = getattr(proposing, name)
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


def _check_readable(texts: TextSource) -> None:
    """Refuse an input of which nothing can be read, before a language model is loaded."""
    if next(iter(texts), None) is None:
        reason = "".join(f": {problem.name} {problem.reason}" for problem in texts.skipped[:1])
        raise InputError(f"{shown(texts.path)} has no document that can be read{reason}")
