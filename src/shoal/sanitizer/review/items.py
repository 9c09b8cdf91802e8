"""Items: what a reviewer decides about. Entities and blocks that are proposed, and what reviewers add."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from shoal.results.sanitizing import Block, Entity, Hit, Mention

__all__ = ["BLOCK", "Item", "Proposals", "proposals_from", "proposals_line", "text_digest"]

BLOCK = "BLOCK"  # the kind of a stretch that is removed as a whole


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
            Item(name, f"b{number}", BLOCK, _terms(block), (Mention(block.start, block.end),), 1.0)
            for number, block in enumerate(self.blocks)
        )
        return (*entities, *blocks)


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def proposals_line(proposals: Proposals) -> bytes:
    """A line of proposals.jsonl."""
    return (json.dumps(asdict(proposals), ensure_ascii=False, sort_keys=True) + "\n").encode()


def proposals_from(content: Mapping[str, Any]) -> Proposals:
    """What such a line says."""
    entities = (
        Entity(**{**entity, "mentions": tuple(Mention(**mention) for mention in entity["mentions"])})
        for entity in content["entities"]
    )
    blocks = (Block(**{**block, "hits": tuple(Hit(**hit) for hit in block["hits"])}) for block in content["blocks"])
    return Proposals(**{**content, "entities": tuple(entities), "blocks": tuple(blocks)})


def _terms(block: Block) -> str:
    return ", ".join(dict.fromkeys(hit.term for hit in block.hits))
