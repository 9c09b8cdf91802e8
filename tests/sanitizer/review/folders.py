"""Work folders made by hand, without a model: entities are where the test says."""

from __future__ import annotations

from pathlib import Path

from shoal.results.sanitizing import Block, Entity, Hit, Mention
from shoal.sanitizer.review.work import Proposals, Unfinished, WorkFolder, text_digest

SETTINGS = {
    "threshold": 0.3,
    "style": "numbered",
    "scope": "collection",
    "policy": "health",
    "policy_digest": "0" * 64,
    "model": "by hand",
    "reviewers": 1,
}

LETTERS = (
    "Ann Smith met Bob Ray in Girona. The dose was wrong. Smith left.",
    "Bob Ray wrote to ANN-SMITH. Will she come?",
)


def entity(text: str, kind: str, *names: str, probability: float = 0.9) -> Entity:
    """An entity with a mention at the first place of each name."""
    mentions = tuple(Mention(text.index(name), text.index(name) + len(name)) for name in names)
    return Entity(kind, mentions, names[0], "direct", probability)


def letters() -> list[Proposals]:
    """Two letters; the second has Ann Smith in a spelling that was not proposed."""
    first, second = LETTERS
    smith = Entity("PERSON", (Mention(0, 9), Mention(53, 58)), "Ann Smith", "direct", 0.9)
    people = (
        smith,
        entity(first, "PERSON", "Bob Ray", probability=0.6),
        entity(first, "LOC", "Girona", probability=0.1),
    )
    start = first.index("The dose")
    block = Block(start, first.index(" Smith left"), (Hit(start + 4, start + 8, "dose", "dose", "health"),), 0.2)
    return [
        Proposals("d1", "a.txt", text_digest(first), "", False, people, (block,)),
        Proposals("d2", "b.txt", text_digest(second), "", False, (entity(second, "PERSON", "Bob Ray"),), ()),
    ]


def work_folder(
    path: Path, texts: tuple[str, ...] = LETTERS, proposals: list[Proposals] | None = None, **settings: object
) -> WorkFolder:
    unfinished = Unfinished(path, SETTINGS | settings)
    for text, proposed in zip(texts, proposals or letters(), strict=True):
        unfinished.add(proposed, text, None)
    return unfinished.finish()


def named_folder(path: Path, *documents: tuple[str, tuple[Entity, ...]], **settings: object) -> WorkFolder:
    """Of texts with the entities that are proposed in each."""
    proposals = [
        Proposals(f"d{number}", f"{number}.txt", text_digest(text), "", False, entities, ())
        for number, (text, entities) in enumerate(documents, start=1)
    ]
    return work_folder(path, tuple(text for text, _ in documents), proposals, **settings)
