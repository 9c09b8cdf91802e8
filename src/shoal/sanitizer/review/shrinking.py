"""Shrinking: less of an item is masked than was proposed, in all its places alike."""

from __future__ import annotations

from dataclasses import replace

from shoal.results.sanitizing import Mention
from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.items import BLOCK, Item
from shoal.sanitizer.review.strings import Strings

__all__ = ["equal_part", "shrunk"]

Span = tuple[int, int]


def shrunk(item: Item, span: Span, text: str) -> Item:
    """A block becomes the span. An entity keeps its places, and each that has the same part shrinks to it; others,
    such as a surname by itself, stay as they are.
    """
    if item.kind == BLOCK:
        return replace(item, mentions=(Mention(*span),))
    part = text[slice(*span)]
    around = next((m for m in item.mentions if m.start <= span[0] and span[1] <= m.end), Mention(*span))
    places = (_shrunk_place(mention, around, span, text) for mention in item.mentions)
    mentions = sorted({Mention(*place) for place in places}, key=lambda mention: (mention.start, mention.end))
    in_name = _place_of(part, item.name)
    name = item.name if in_name is None else item.name[slice(*in_name)]
    return replace(item, mentions=tuple(mentions), name=name)


def equal_part(item: Item, text: str, part: str) -> Span | None:
    """Where an item has a part that another one shrinks to; None if it does not have it."""
    for mention in item.mentions:
        place = _place_of(part, text[mention.start : mention.end])
        if place is not None:
            return mention.start + place[0], mention.start + place[1]
    return None


def _shrunk_place(mention: Mention, around: Mention, span: Span, text: str) -> Span:
    written = text[mention.start : mention.end]
    if written == text[around.start : around.end]:  # the same part, even if it is there twice
        return mention.start + span[0] - around.start, mention.start + span[1] - around.start
    place = _place_of(text[slice(*span)], written)
    return (mention.start, mention.end) if place is None else (mention.start + place[0], mention.start + place[1])


def _place_of(part: str, written: str) -> Span | None:
    """As whole words in any spelling, or else exactly as it is."""
    found = next((one for one in Strings([folded(part)]).find(written) if not one.within), None)
    if found is not None:
        return found.start, found.end
    start = written.find(part)
    return None if start < 0 else (start, start + len(part))
