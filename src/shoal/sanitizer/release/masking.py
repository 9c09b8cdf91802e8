"""A text with its accepted mentions and blocks replaced, and back again to the last character.

The way back goes by place, never by searching for pseudonyms: a text that already has a "Pers1", or that has it twice
for different reasons, comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from shoal.errors import InputError
from shoal.results.sanitizing import Entity

HIDDEN_WORDS = "[…]"  # words that gave a document away
REMOVED = "[removed]"  # the same for every block, whatever its length

_ARTICLE = re.compile(r"\b(?:an?|the)\s+$", re.IGNORECASE)
_LONGEST_ARTICLE = 5  # characters, with the space after it

Replacement = tuple[int, int, str]  # start and end in the original, and what stands there instead
Piece = tuple[int, int, str]  # start and end in the masked text, and what stood there


@dataclass(frozen=True)
class Masked:
    """A masked text, which may be shown, and its pieces, which may not."""

    text: str
    pieces: tuple[Piece, ...] = field(repr=False)  # in the order of the text


def replacements_of(entities: Sequence[Entity], pseudonyms: Sequence[str]) -> list[Replacement]:
    """Every mention of every entity with the entity's pseudonym."""
    return [
        (mention.start, mention.end, pseudonym)
        for entity, pseudonym in zip(entities, pseudonyms, strict=True)
        for mention in entity.mentions
    ]


def masked(text: str, replacements: Iterable[Replacement], blocks: Iterable[tuple[int, int]] = ()) -> Masked:
    """The text without what was accepted.

    Stretches that overlap are hidden together: by a block if one is among them, else by the longest one's pseudonym
    (the first of equally long ones). Blocks that touch become one. A replacement with an article ("a physician") takes
    the place of the article before it, too.

    >>> masked("Ann met Bob.", [(0, 3, "Pers1"), (8, 11, "Pers2")]).text
    'Pers1 met Pers2.'
    """
    joined = _joined(_checked(text, [(start, end, REMOVED) for start, end in blocks]), touching=True)
    stretches = _joined([*joined, *_checked(text, replacements)], touching=False)
    parts: list[str] = []
    pieces: list[Piece] = []
    length = shown_until = 0
    for start, end, shown in stretches:
        start = _with_article(shown, text, start, shown_until)
        if shown[-1:].isdigit() and text[end : end + 1].isdigit():
            shown += " "  # or "Pers1" before a 2 would read as another's pseudonym
        parts += [text[shown_until:start], shown]
        length += start - shown_until
        pieces.append((length, length + len(shown), text[start:end]))
        length += len(shown)
        shown_until = end
    return Masked("".join([*parts, text[shown_until:]]), tuple(pieces))


def unmasked(masked_text: str, pieces: Iterable[Piece]) -> str:
    """The original, exactly: `unmasked(m.text, m.pieces)` is the text that `m` was made from."""
    parts: list[str] = []
    kept_from = 0
    for start, end, original in pieces:
        if not kept_from <= start <= end <= len(masked_text):
            raise InputError(
                f"a piece at {start} to {end} does not fit a masked text of {len(masked_text)} characters; "
                "give the text as it was released, and its own vault"
            )
        parts += [masked_text[kept_from:start], original]
        kept_from = end
    return "".join([*parts, masked_text[kept_from:]])


def _with_article(shown: str, text: str, start: int, free_from: int) -> int:
    """Where a stretch starts if it takes the article before it along: "the physician" becomes "a practitioner"."""
    if not shown.startswith(("a ", "an ")):
        return start
    article = _ARTICLE.search(text, max(start - _LONGEST_ARTICLE, free_from), start)
    return start if article is None else article.start()


def _checked(text: str, stretches: Iterable[Replacement]) -> list[Replacement]:
    listed = list(stretches)
    for start, end, _ in listed:
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"a stretch from {start} to {end} is not in a text of {len(text)} characters; "
                "give places of this text, the end after the start"
            )
    return listed


def _joined(stretches: list[Replacement], touching: bool) -> list[Replacement]:
    """Disjoint stretches in the order of the text; what overlaps is one, with the text of the strongest."""
    joined: list[Replacement] = []
    strength = (False, 0)  # whether it is a block, its length
    for start, end, shown in sorted(stretches, key=lambda stretch: (stretch[0], -stretch[1])):
        own = (shown == REMOVED, end - start)
        if joined and (start < joined[-1][1] or (touching and start == joined[-1][1])):
            before_start, before_end, before_shown = joined.pop()
            joined.append((before_start, max(before_end, end), before_shown if strength >= own else shown))
            strength = max(strength, own)
        else:
            joined.append((start, end, shown))
            strength = own
    return joined
